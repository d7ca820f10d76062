"""Group metrics: ``across`` with its clauses becomes a :class:`~fairdsl.ir.question.GroupMetric`.

Everything a metric is defined by has to be there: a population, the favourable outcome, the label for
error rates, a written graph for causal metrics. docs/semantics.md section 4 has the definitions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fairdsl.diagnostics import Reporter
from fairdsl.ir.domain import Domain
from fairdsl.ir.expr import And, Member, Predicate
from fairdsl.ir.question import GroupMetric, Quantity, Threshold
from fairdsl.semantics import errors
from fairdsl.semantics.checked import CheckedDistribution, CheckedModel, Demand, LabelDeclaration
from fairdsl.semantics.conditions import lower_condition
from fairdsl.semantics.metrics import ALIASES, METRICS, Metric, known_metrics
from fairdsl.semantics.paths import Edges, check_allowed_paths
from fairdsl.semantics.populations import domain_with_label
from fairdsl.semantics.scope import ConditionScope
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
        across = self._across()
        population = self._population()
        details = self._details(across, population)
        demands: list[Demand] = []
        for clause in self.node.clauses:
            match clause:
                case tree.RequireClause():
                    demands += self._required(clause, across, population, details)
                case tree.MeasureClause(items=items):
                    for item in items:
                        demands += self._measured(item, across, population, details)
        return tuple(demands)

    # ---- who and where ---------------------------------------------------------------------------

    @property
    def _domain(self) -> Domain:
        return self.model.domain

    def _across(self) -> tuple[int, ...]:
        indices: list[int] = []
        for clause in self.node.clauses:
            for name in clause.names if isinstance(clause, tree.AcrossClause) else ():
                index = self._attribute(name)
                if index is None:
                    continue
                if name.text not in self.protected:
                    self.reporter.report(errors.not_protected(name.text, name.span, "across", self.protected))
                indices.append(index)
        return tuple(indices)

    def _attribute(self, name: tree.Name) -> int | None:
        try:
            return self._domain.index(name.text)
        except KeyError:
            known = [attribute.name for attribute in self._domain.attributes]
            domain = self._domain
            self.reporter.report(errors.unknown_attribute(name.text, name.span, domain.name, domain.span, known))
            return None

    def _population(self) -> CheckedDistribution | None:
        clause = next((clause for clause in self.node.clauses if isinstance(clause, tree.UnderClause)), None)
        if clause is None:
            self.reporter.report(
                errors.clause_missing(
                    self.node.name.text,
                    self.node.name.span,
                    "does not say under which population",
                    "declare a `distribution` and write `under NAME`: a rate is a rate among somebody",
                )
            )
            return None
        name = clause.distribution
        if name.text not in self.distributions:
            known = tuple(self.distributions)
            self.reporter.report(errors.unknown_declaration("distribution", name.text, name.span, known))
            return None
        return self.distributions[name.text]

    def _details(self, across: tuple[int, ...], population: CheckedDistribution | None) -> tuple[tuple[str, str], ...]:
        """The clauses in force beyond groups and population, checked and in the spec's words."""
        label = population.label if population else None
        scope = ConditionScope(domain=domain_with_label(self._domain, label))
        details: list[tuple[str, str]] = []
        for clause in self.node.clauses:
            match clause:
                case tree.GivenClause(condition=condition):
                    self._given(condition, scope)
                case tree.BaselineClause(group=group):
                    self._group(group, across, scope)
                case tree.PrivilegedClause(group=group):
                    self._group(group, across, scope)
                case tree.ExcludingClause(rows=tree.Number() as rows) if rows.value < 1 or rows.value.denominator != 1:
                    self.reporter.report(
                        errors.number_out_of_place(
                            "a number of rows is whole and positive", rows.span, "write 1 or more"
                        )
                    )
                case tree.AllowClause(path=path):
                    check_allowed_paths(self.node, path, self.model, self.protected, self.graphs, self.reporter)
                case tree.ExcludingClause():
                    pass
                case _:
                    continue
            word, _, rest = " ".join(clause.span.text.split()).partition(" ")
            details.append((word, rest))
        return tuple(details)

    def _given(self, condition: tree.Expression, scope: ConditionScope) -> None:
        """A condition, or an attribute: then the metric is taken for each of its values."""
        bare = isinstance(condition, tree.Reference) and condition.owner is None
        names = [attribute.name for attribute in scope.domain.attributes]
        if bare and isinstance(condition, tree.Reference) and condition.name.text in names:
            return
        lower_condition(condition, scope, self.reporter)

    def _group(self, group: tree.Expression, across: tuple[int, ...], scope: ConditionScope) -> None:
        """``sex = male and race = white``: every attribute of ``across`` fixed, nothing else."""
        if isinstance(group, tree.Reference) and group.name.text == "most_favoured":
            return
        predicate = lower_condition(group, scope, self.reporter)
        if predicate is None:
            return
        fixed = _fixed(predicate)
        missing = [self._domain.attributes[index].name for index in across if index not in fixed]
        if missing or None in fixed:
            self.reporter.report(errors.baseline_not_one_group(group.span, missing))

    # ---- what is demanded ------------------------------------------------------------------------

    def _required(
        self,
        clause: tree.RequireClause,
        across: tuple[int, ...],
        population: CheckedDistribution | None,
        details: tuple[tuple[str, str], ...],
    ) -> list[Demand]:
        comparison = clause.demand
        if isinstance(comparison, tree.Comparison) and isinstance(comparison.left, tree.Influence):
            influence = comparison.left
            metric = self._metric(influence.metric, population)
            self._influenced(influence)
            if metric is None or not isinstance(comparison.right, tree.Number):
                return []
            # An influence is a difference of two values of the metric, so it may be negative.
            limit = metric_threshold("influence", comparison.relation, comparison.right, self.reporter)
            return [self._demand(clause, f"influence on {metric.name}", limit, across, population, details)]
        found = metric_comparison(comparison, self.reporter)
        if found is None:
            self.reporter.report(
                errors.demand_not_understood(
                    clause.demand.span,
                    "write a metric and a number, as in `require disparate_impact >= 80%`",
                )
            )
            return []
        name, threshold, span = found
        metric = self._metric(name, population)
        if metric is not None and metric.is_group:
            self.reporter.report(
                errors.metric_needs(name.text, span, "no threshold: it is a group", f"write `measure {name.text}`")
            )
        return [] if metric is None else [self._demand(clause, metric.name, threshold, across, population, details)]

    def _measured(
        self,
        item: tree.MeasureItem,
        across: tuple[int, ...],
        population: CheckedDistribution | None,
        details: tuple[tuple[str, str], ...],
    ) -> list[Demand]:
        if isinstance(item.metric, tree.Influence):
            self._influenced(item.metric)
            metric = self._metric(item.metric.metric, population)
            name = f"influence on {metric.name}" if metric else ""
        else:
            metric = self._metric(item.metric, population)
            name = metric.name if metric else ""
        return [] if metric is None else [self._demand(item, name, None, across, population, details)]

    def _demand(
        self,
        node: tree.RequireClause | tree.MeasureItem,
        metric: str,
        threshold: Threshold | None,
        across: tuple[int, ...],
        population: CheckedDistribution | None,
        details: tuple[tuple[str, str], ...],
    ) -> Demand:
        required = isinstance(node, tree.RequireClause)
        text = " ".join(node.span.text.split())
        return Demand(
            text=text if required else f"measure {text}",
            metric=metric,
            question=GroupMetric(
                metric=metric,
                across=across,
                population=population.name if population else None,
                details=details,
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
                self._attribute(name)

    def _metric(self, name: tree.Name, population: CheckedDistribution | None) -> Metric | None:
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
        self._check_needs(metric, name.span, population)
        return metric

    def _check_needs(self, metric: Metric, span: Span, population: CheckedDistribution | None) -> None:
        declaration = self.model.declaration
        has = {type(clause) for clause in self.node.clauses}
        if declaration.favourable is None:
            outcome = declaration.outcomes[-1]
            self.reporter.report(
                errors.model_incomplete(
                    declaration.name,
                    declaration.span,
                    "does not say which outcome is favourable",
                    f"`{metric.name}` counts it: write for instance `favourable {outcome}`",
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
        if metric.needs_privileged and tree.PrivilegedClause not in has:
            nearest = "statistical_parity" if not metric.needs_label else "equalized_odds"
            self.reporter.report(
                errors.metric_needs(
                    metric.name,
                    span,
                    "a privileged group: it is signed",
                    f"write `privileged GROUP`, or use `{nearest}`, which needs none",
                )
            )
        if metric.needs_path and not {tree.AllowClause, tree.BaselineClause} <= has:
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


def _fixed(predicate: Predicate) -> set[int | None]:
    """Attributes that a conjunction of equalities fixes; None stands for any other condition."""
    match predicate:
        case Member(variable=variable, values=values) if len(values) == 1:
            return {variable.attribute}
        case And(parts):
            return {index for part in parts for index in _fixed(part)}
        case _:
            return {None}
