"""Group metrics: ``across`` with its clauses becomes a :class:`~fairdsl.ir.question.GroupMetric`.

Everything a metric is defined by has to be there: a population, the favourable outcome, the label for
error rates, a written graph for causal metrics. docs/semantics.md section 4 has the definitions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fairdsl.diagnostics import Reporter
from fairdsl.ir.question import GroupMetric, Quantity, Threshold
from fairdsl.semantics import errors
from fairdsl.semantics.checked import CheckedDistribution, CheckedModel, Demand, LabelDeclaration
from fairdsl.semantics.errors.wording import listing
from fairdsl.semantics.group_clauses import GroupClauses, Groups
from fairdsl.semantics.metrics import ALIASES, METRICS, Metric, known_metrics
from fairdsl.semantics.paths import Edges
from fairdsl.semantics.scope import attribute_index
from fairdsl.semantics.thresholds import metric_comparison, metric_threshold
from fairdsl.source import Span
from fairdsl.syntax import tree

__all__ = ["GroupBuilder"]


@dataclass(slots=True)
class GroupBuilder:
    """Builds the questions of one property about groups, reporting whatever is wrong."""

    node: tree.Property
    model: CheckedModel
    protected: Sequence[str]
    distributions: Mapping[str, CheckedDistribution | None]
    labels: Mapping[str, LabelDeclaration]
    graphs: Mapping[str, tuple[tree.Graph, Edges]]
    reporter: Reporter

    def demands(self) -> tuple[Demand, ...]:
        """One demand for each ``require`` and each measured metric."""
        clauses = GroupClauses(self.node, self.model, self.protected, self.distributions, self.graphs, self.reporter)
        groups = clauses.groups()
        demands: list[Demand] = []
        for clause in self.node.clauses:
            match clause:
                case tree.RequireClause():
                    demands += self._required(clause, groups)
                case tree.MeasureClause(items=items):
                    for item in items:
                        demands += self._measured(item, groups)
        self._check_clauses_in_use(demands)
        return tuple(demands)

    # ---- what is demanded ------------------------------------------------------------------------

    def _required(
        self,
        clause: tree.RequireClause,
        groups: Groups,
    ) -> list[Demand]:
        comparison = clause.demand
        if isinstance(comparison, tree.Comparison) and isinstance(comparison.left, tree.Influence):
            influence = comparison.left
            metric = self._metric(influence.metric, groups)
            self._influenced(influence)
            if not isinstance(comparison.right, tree.Number):
                help_text = "compare it with a number, as in `influence of age on disparate_impact <= 5%`"
                self.reporter.report(errors.demand_not_understood(comparison.span, help_text))
                return []
            if metric is None:
                return []
            # An influence is a difference of two values of the metric, so it may be negative.
            limit = metric_threshold("influence", comparison.relation, comparison.right, self.reporter)
            return [self._demand(clause, f"influence on {metric.name}", limit, groups)]
        found = metric_comparison(comparison, self.reporter, signed=self._has(tree.PrivilegedClause))
        if found is None:
            self.reporter.report(
                errors.demand_not_understood(
                    clause.demand.span,
                    "write a metric and a number, as in `require disparate_impact >= 80%`",
                )
            )
            return []
        name, threshold, span = found
        metric = self._metric(name, groups)
        if metric is not None and metric.is_group:
            self.reporter.report(
                errors.metric_needs(name.text, span, "no threshold: it is a group", f"write `measure {name.text}`")
            )
        return [] if metric is None else [self._demand(clause, metric.name, threshold, groups)]

    def _measured(
        self,
        item: tree.MeasureItem,
        groups: Groups,
    ) -> list[Demand]:
        if isinstance(item.metric, tree.Influence):
            self._influenced(item.metric)
            metric = self._metric(item.metric.metric, groups)
            name = f"influence on {metric.name}" if metric else ""
        else:
            metric = self._metric(item.metric, groups)
            name = metric.name if metric else ""
        return [] if metric is None else [self._demand(item, name, None, groups)]

    def _demand(
        self,
        node: tree.RequireClause | tree.MeasureItem,
        metric: str,
        threshold: Threshold | None,
        groups: Groups,
    ) -> Demand:
        required = isinstance(node, tree.RequireClause)
        text = " ".join(node.span.text.split())
        return Demand(
            text=text if required else f"measure {text}",
            metric=metric,
            question=GroupMetric(
                metric=metric,
                across=groups.across,
                population=groups.population.name if groups.population else None,
                details=groups.details,
                span=self.node.name.span,
            ),
            quantity=Quantity.METRIC,
            threshold=threshold,
            required=required,
            span=node.span,
        )

    def _influenced(self, influence: tree.Influence) -> None:
        for subset in influence.subsets:
            for name in subset:
                attribute_index(name, self.model.domain, self.reporter)

    def _metric(self, name: tree.Name, groups: Groups) -> Metric | None:
        """The metric of that name, if everything that defines it is there."""
        metric = METRICS.get(ALIASES.get(name.text, name.text))
        if metric is None:
            self.reporter.report(errors.unknown_metric(name.text, name.span, known_metrics()))
            return None
        if metric.about_pairs:
            self.reporter.report(
                errors.clause_out_of_place(
                    name.text,
                    name.span,
                    "it counts pairs of individuals, and this property is about groups",
                    "write a property with `compare a, b` and `differ in`",
                )
            )
            return None
        self._check_needs(metric, name.span, groups.population)
        return metric

    def _check_needs(self, metric: Metric, span: Span, population: CheckedDistribution | None) -> None:
        declaration = self.model.declaration
        if declaration.favourable is None:
            outcome = declaration.outcomes[-1]
            self.reporter.report(
                errors.model_incomplete(
                    declaration.name,
                    declaration.span,
                    "does not say which outcome is favourable",
                    f"a metric of groups counts it: write for instance `favourable {outcome}`",
                )
            )
        if metric.needs_label and population is not None and population.label is None:
            self.reporter.report(
                errors.metric_needs(
                    metric.name,
                    span,
                    "the true outcome",
                    "declare `label NAME : boolean` and write `distribution ... over DOMAIN, NAME`",
                )
            )
        if metric.needs_privileged and not self._has(tree.PrivilegedClause):
            nearest = "statistical_parity" if not metric.needs_label else "equalized_odds"
            self.reporter.report(
                errors.metric_needs(
                    metric.name,
                    span,
                    "a privileged group: it is signed",
                    f"write `privileged GROUP`, or use `{nearest}`, which needs none",
                )
            )
        if metric.needs_path and not (self._has(tree.AllowClause) and self._has(tree.BaselineClause)):
            self.reporter.report(
                errors.metric_needs(
                    metric.name,
                    span,
                    "allowed paths and a baseline",
                    "write `allow a -> b -> model` and `baseline GROUP`",
                )
            )
        if metric.needs_path and population is not None and population.kind == "learned":
            self.reporter.report(errors.graph_was_learned(span, population.name))

    def _has(self, kind: type[tree.Clause]) -> bool:
        return any(isinstance(clause, kind) for clause in self.node.clauses)

    def _check_clauses_in_use(self, demands: Sequence[Demand]) -> None:
        """A clause that none of the metrics reads would look as if it were in force."""
        if self.reporter.has_errors:
            return
        asked = [METRICS[demand.metric.removeprefix("influence on ")] for demand in demands]
        if not any(metric.takes_privileged for metric in asked):
            readers = [metric.name for metric in METRICS.values() if metric.takes_privileged]
            self._unread(tree.PrivilegedClause, readers)
        if not any(metric.needs_path for metric in asked):
            readers = [metric.name for metric in METRICS.values() if metric.needs_path]
            self._unread(tree.AllowClause, readers)
            self._unread(tree.BaselineClause, readers)

    def _unread(self, kind: type[tree.Clause], readers: Sequence[str]) -> None:
        for clause in self.node.clauses:
            if isinstance(clause, kind):
                word = clause.span.text.split()[0]
                self.reporter.report(
                    errors.clause_out_of_place(
                        word, clause.span, f"none of its metrics reads it; {listing(readers)} would", f"remove `{word}`"
                    )
                )
