"""Group metrics: ``across`` with its clauses becomes a :class:`~fairdsl.ir.question.GroupMetric` a demand.

Everything a metric is defined by has to be there: a population, the favourable outcome, the label for
error rates, a written graph for causal metrics. docs/semantics.md section 4 has the definitions. A question
holds what its metric reads and nothing else; the property's clauses, in their words, are its ``details``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from fairdsl.diagnostics import Reporter
from fairdsl.ir.expr import conjoin
from fairdsl.ir.metric import Metric
from fairdsl.ir.question import GroupMetric, Precision, Quantity, Threshold
from fairdsl.prelude import PairMetric, metrics
from fairdsl.semantics import errors
from fairdsl.semantics.checked import CheckedDistribution, CheckedModel, Demand, Subtrahend
from fairdsl.semantics.coined import check_coined
from fairdsl.semantics.errors.wording import listing
from fairdsl.semantics.questions.group_clauses import GroupClauses, Groups
from fairdsl.semantics.questions.influences import Drawn, check_influence, influence_on
from fairdsl.semantics.questions.metric_terms import MetricScope, ReadMetric, metric_name
from fairdsl.semantics.questions.needs import Needs, has_clause
from fairdsl.semantics.questions.paths import Edges
from fairdsl.semantics.questions.precision import precision_of, words_of_precision
from fairdsl.semantics.questions.thresholds import TwoMetrics, metric_comparison, metric_threshold, two_metrics
from fairdsl.source import Span
from fairdsl.syntax import tree
from fairdsl.syntax.format_expression import text_of


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """A ``require`` clause, or an item of ``measure``: where it stands, what it compares with, and its extras."""

    clause: tree.RequireClause | tree.MeasureItem
    span: Span
    threshold: Threshold | None = None
    confidence: Fraction | None = None
    precision: Precision | None = None
    beyond: tuple[Span, ...] = ()

    @property
    def required(self) -> bool:
        return isinstance(self.clause, tree.RequireClause)

    def text(self, name: str | None = None) -> str:
        """The demand as written; with a ``name``, as if that alone stood there."""
        word = "require" if self.required else "measure"
        if name is None:
            written = text_of(self.clause)
            return written if self.required else f"{word} {written}"
        bound = f" {self.threshold.relation.value} {self.threshold.text}" if self.threshold else ""
        return f"{word} {name}{bound}"


@dataclass(slots=True)
class GroupBuilder:
    """Builds the questions of one property about groups, reporting whatever is wrong."""

    node: tree.Property
    model: CheckedModel
    models: Mapping[str, CheckedModel | None]
    protected: Sequence[str]
    distributions: Mapping[str, CheckedDistribution | None]
    graphs: Mapping[str, tuple[tree.Graph, Edges]]
    metrics: Mapping[str, tree.Metric | None]
    conditions: Mapping[str, tree.NamedCondition]
    reporter: Reporter
    _read: list[Metric] = field(default_factory=list)

    def demands(self) -> tuple[Demand, ...]:
        """One demand for each ``require`` and each measured metric, and one for each set of an influence."""
        groups = GroupClauses(
            self.node, self.model, self.protected, self.distributions, self.graphs, self.conditions, self.reporter
        ).groups()
        demands: list[Demand] = []
        for clause in self.node.clauses:
            match clause:
                case tree.RequireClause():
                    demands += self._required(clause, groups)
                case tree.MeasureClause(items=items):
                    for item in items:
                        demands += self._measured(item, groups)
        self._check_clauses_in_use()
        return tuple(demands)

    # ---- what is demanded ------------------------------------------------------------------------

    def _required(self, clause: tree.RequireClause, groups: Groups) -> list[Demand]:
        comparison = clause.demand
        if isinstance(comparison, tree.Comparison) and isinstance(comparison.left, tree.Influence):
            if not isinstance(comparison.right, tree.Number):
                help_text = "compare it with a number, as in `influence of age on impact_ratio <= 5%`"
                self.reporter.report(errors.demand_not_understood(comparison.span, help_text))
                return []
            # An influence is a difference of two values of the metric, so it may be negative.
            limit = metric_threshold(None, comparison.relation, comparison.right, self.reporter)
            confidence, precision = self._certainty(clause, groups.population)
            asked = _Asked(clause=clause, span=clause.span, threshold=limit, confidence=confidence, precision=precision)
            return self._influences(comparison.left, asked, groups)
        if (both := two_metrics(comparison)) is not None:
            return self._difference(both, clause, groups)
        found = metric_comparison(comparison)
        if found is None:
            help_text = "write a metric and a number, as in `require impact_ratio >= 80%`"
            if isinstance(comparison, tree.Conjunction):
                lines = listing(f"require {part.span.text}" for part in comparison.parts)
                help_text = f"write {lines}, a line each"
            self.reporter.report(errors.demand_not_understood(clause.demand.span, help_text))
            return []
        side, relation, number = found
        metric = self._metric(side, groups)
        if metric is None:
            return []
        threshold = metric_threshold(metric.metric, relation, number, self.reporter)
        confidence, precision = self._certainty(clause, groups.population, metric.metric)
        asked = _Asked(clause=clause, span=clause.span, threshold=threshold, confidence=confidence, precision=precision)
        return [self._demand(metric, asked, groups)]

    def _difference(self, both: TwoMetrics, clause: tree.RequireClause, groups: Groups) -> list[Demand]:
        """A metric held against another one, of this model or of another."""
        left, right = self._metric(both.left, groups), self._metric(both.right, groups)
        if left is None or right is None:
            return []
        confidence, precision = self._certainty(clause, groups.population, left.metric)
        # Both intervals have to cover: each may miss with half of the probability, and have half of the length.
        each = None if confidence is None else (1 + confidence) / 2
        place, half = words_of_precision(clause), None
        if precision is not None and precision.within is not None:
            half = replace(precision, within=precision.within / 2, confidence=(1 + precision.confidence) / 2)
        # How near to each other two draws have to come no threshold says.
        beyond = () if place is None or half is not None or confidence is not None else (place,)
        asked = _Asked(
            clause=clause, span=clause.span, threshold=both.threshold, confidence=each, precision=half, beyond=beyond
        )
        demand, other = self._demand(left, asked, groups), self._demand(right, asked, groups)
        if not (isinstance(demand.question, GroupMetric) and isinstance(other.question, GroupMetric)):
            raise AssertionError("metrics of groups make questions about groups")
        metric = f"{demand.metric} - {other.metric}"
        return [
            replace(
                demand,
                metric=f"{self._whole_name(left)} - {self._whole_name(right)}" if left.of != right.of else metric,
                less=Subtrahend(question=other.question, of=other.of),
            )
        ]

    def _whole_name(self, read: ReadMetric) -> str:
        return f"{read.metric.name} of {read.of or self.model.declaration.name}"

    def _measured(self, item: tree.MeasureItem, groups: Groups) -> list[Demand]:
        if isinstance(item.metric, tree.Influence):
            confidence, precision = self._certainty(item, groups.population)
            asked = _Asked(clause=item, span=item.span, confidence=confidence, precision=precision)
            return self._influences(item.metric, asked, groups)
        metric = self._metric(item.metric, groups)
        if metric is None:
            return []
        confidence, precision = self._certainty(item, groups.population, metric.metric)
        asked = _Asked(clause=item, span=item.span, confidence=confidence, precision=precision)
        return [self._demand(metric, asked, groups)]

    def _influences(self, influence: tree.Influence, asked: _Asked, groups: Groups) -> list[Demand]:
        """One demand for each set of attributes."""
        metric = self._metric(influence.metric, groups)
        if metric is None:
            return []
        if metric.metric.rate.is_mean:
            why = "the influence on a mean is not computed"
            help_text = "ask for the influence on a rate, such as `rate(score > 50)`"
            self.reporter.report(errors.clause_out_of_place("influence", influence.span, why, help_text))
            return []
        normals = () if groups.population is None else groups.population.distributions
        subsets = check_influence(influence, groups.across, self.model.domain, normals, self.reporter)
        return [self._demand(metric, asked, groups, subset) for subset in subsets]

    def _demand(self, read: ReadMetric, asked: _Asked, groups: Groups, influence: Drawn = ((), ())) -> Demand:
        metric = read.metric
        if metric.rate.is_mean and asked.confidence is not None and asked.clause.confidence is not None:
            why = "scores have no bounds, so no interval covers the sampling error of their mean"
            place = asked.clause.confidence.span
            self.reporter.report(errors.clause_out_of_place("with confidence", place, why, "leave it out"))
        name = influence_on(influence, self.model.domain, metric.name) if influence[0] else metric.name
        if read.of is not None:
            name = f"{name} of {read.of}"
        label = groups.population.label if groups.population else None
        return Demand(
            text=asked.text(name if influence[0] else None),
            metric=name,
            question=GroupMetric(
                metric=metric,
                across=groups.across,
                derived=groups.derived,
                population=groups.population.name if groups.population else None,
                given=conjoin(groups.given, read.among),
                given_each=groups.given_each,
                deserving=label.deserving if label and metric.rate.about_deserving else None,
                privileged=groups.privileged if metric.signed else None,
                baseline=groups.baseline if metric.rate.along_paths else None,
                allowed=groups.allowed if metric.rate.along_paths else frozenset(),
                excluding=groups.excluding,
                excluding_below=groups.excluding_below,
                influence=influence[0],
                drawn_from=influence[1],
                confidence=asked.confidence,
                details=groups.details,
                span=self.node.name.span,
            ),
            quantity=Quantity.METRIC,
            threshold=asked.threshold,
            required=asked.required,
            of=read.of,
            precision=asked.precision,
            beyond=asked.beyond,
            span=asked.span,
        )

    def _certainty(
        self,
        clause: tree.RequireClause | tree.MeasureItem,
        population: CheckedDistribution | None,
        metric: Metric | None = None,
    ) -> tuple[Fraction | None, Precision | None]:
        """What ``within`` and ``with confidence`` ask for: the table of docs/semantics.md, section 5.

        The probability with which an interval covers the sampling error of the rows, or the precision of a draw.
        """
        within, confidence = clause.within, clause.confidence
        drawn = within is not None or (population is not None and not population.sampled)
        if confidence is not None and not drawn:
            return confidence.value, None
        if confidence is not None and within is None and isinstance(clause, tree.MeasureItem):
            name = f"`{population.name}`" if population else "the distribution"
            why = f"{name} rests on no rows, and nothing says how close a draw shall come"
            place = words_of_precision(clause) or confidence.span
            help_text = "write a distance before it, as in `within 1% with confidence 95%`"
            self.reporter.report(errors.clause_out_of_place("with confidence", place, why, help_text))
            return None, None
        share = metric is None or metric.is_share or not metric.rate.is_mean
        return None, precision_of(within, confidence, self.reporter, share=share)

    def _metric(self, node: tree.Expression | tree.Name, groups: Groups) -> ReadMetric | None:
        """The metric that is written, if everything that defines it is there."""
        if isinstance(node, tree.OfModel):
            model = self._other_model(node.model)
            if model is None:
                return None
            read = self._metric_of(model, node.metric, groups)
            own = model.declaration.name == self.model.declaration.name
            return read if read is None or own else replace(read, of=model.declaration.name)
        return self._metric_of(self.model, node, groups)

    def _other_model(self, name: tree.Name) -> CheckedModel | None:
        """The model of that name, if it decides about the people of this property."""
        if name.text not in self.models:
            self.reporter.report(errors.unknown_declaration("model", name.text, name.span, tuple(self.models)))
            return None
        model = self.models[name.text]
        if model is not None and model.domain != self.model.domain:
            why = f"it is about `{model.domain.name}`, and the property about `{self.model.domain.name}`"
            help_text = "compare models of one domain"
            self.reporter.report(errors.clause_out_of_place(f"of {name.text}", name.span, why, help_text))
            return None
        return model

    def _metric_of(self, model: CheckedModel, node: tree.Expression | tree.Name, groups: Groups) -> ReadMetric | None:
        population = groups.population
        scope = MetricScope(
            declared=self.metrics,
            model=model,
            columns=groups.columns,
            labelled=population is not None and population.label is not None,
            privileged=has_clause(self.node, tree.PrivilegedClause),
            reporter=self.reporter,
        )
        read = scope.read(node)
        if isinstance(read, PairMetric):
            self.reporter.report(
                errors.clause_out_of_place(
                    read.name,
                    node.span,
                    "it counts pairs of individuals, and this property is about groups",
                    "write a property with `compare a, b` and `differ in`",
                )
            )
            return None
        if read is None:
            return None
        self._read.append(read.metric)
        label = groups.columns.attributes[-1] if scope.labelled else None
        name = metric_name(node)
        if name is not None and name.text not in self.metrics:
            check_coined(read.metric, name, self.node, label, self.reporter)
        Needs(self.node, model, groups, self.graphs, self.reporter).check(read.metric, node.span)
        return read

    # ---- clauses that nothing reads --------------------------------------------------------------

    def _check_clauses_in_use(self) -> None:
        """A clause that none of the metrics reads would look as if it were in force."""
        if self.reporter.has_errors:
            return
        if not any(metric.signed for metric in self._read):
            readers = [metric.name for metric in metrics() if metric.signed]
            self._unread(tree.PrivilegedClause, readers)
        if not any(metric.rate.along_paths for metric in self._read):
            readers = [metric.name for metric in metrics() if metric.rate.along_paths]
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
