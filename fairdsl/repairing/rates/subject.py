"""What is repaired: a model of a spec, and demands about rates of groups that are taken over the rows of a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from fairdsl.backends.contract import Budget, Facts, Refusal, Silent
from fairdsl.backends.rows import OverRows
from fairdsl.diagnostics import DiagnosticError
from fairdsl.elaborate import elaborate
from fairdsl.elaborate.few_rows import counted
from fairdsl.ir.declaration import FileSource
from fairdsl.ir.metric import Metric
from fairdsl.ir.model import Model
from fairdsl.ir.population import Rows
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import GroupMetric
from fairdsl.repairing import errors
from fairdsl.repairing.parts import Part
from fairdsl.repairing.subject import Trainee
from fairdsl.semantics import CheckedSpec
from fairdsl.semantics.checked import CheckedProperty, Demand
from fairdsl.verdict import Judgement, Refused, Value, judged

_INSTEAD = "name a property with `across`, `under` a distribution, whose demands are about one model"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A demand about the rows of the table, or some of them: its problem has a model and rows."""

    demand: Demand
    problem: Problem

    @property
    def question(self) -> GroupMetric:
        """What is asked of the rows."""
        assert isinstance(self.problem.question, GroupMetric), "the property was chosen for its rates"
        return self.problem.question

    @property
    def rows(self) -> Rows:
        """The rows that it is asked about."""
        assert isinstance(self.problem.population, Rows), "every distribution was replaced by the rows"
        return self.problem.population

    @property
    def metric(self) -> Metric:
        """The number that is compared."""
        return self.question.metric

    def of(self, part: Part) -> Asked:
        """The same of some rows."""
        sample = self.rows.sample
        rows = replace(self.rows, sample=replace(sample, values=sample.values.at(part.places)))
        return replace(self, problem=replace(self.problem, population=rows, question=counted(self.question, rows)))

    def value(self, budget: Budget, confidence: Fraction | None = None) -> Value:
        """The number of these rows, with an interval for whom they were drawn from where there is a ``confidence``.

        Raises DiagnosticError where there is none: a group without rows, or the time is up.
        """
        question = replace(self.question, confidence=confidence or self.question.confidence)
        verdict = OverRows().answer(replace(self.problem, question=question), Facts(), budget, Silent())
        match verdict:
            case Value(defined=True):
                return verdict
            case Refused(diagnostics=findings):
                raise DiagnosticError(*findings)
        reason = f"`{self.demand.text}` is not a number of these rows, or what was given ended before it was known"
        raise DiagnosticError(errors.not_repairable(reason, self.demand.span, "give more rows, or more time or effort"))


@dataclass(frozen=True, slots=True, kw_only=True)
class RateSubject(Trainee):
    """The model that is to be trained again, and the property that it is asked, under the rows of the table.

    ``spec`` has this property alone, and the table in place of the data of its distribution.
    """

    spec: CheckedSpec

    def asked(self, model: Model) -> tuple[Asked, ...]:
        """The demands of a model over all rows; raises DiagnosticError where they cannot be."""
        found = elaborate(self.spec, {}, opened={self.declaration.name: model}, hold=False).demands
        for each in found:
            if each.refusal is not None:
                raise DiagnosticError(each.refusal)
            offer = OverRows().offer(each.problem)
            if isinstance(offer, Refusal):
                raise DiagnosticError(errors.not_repairable(offer.why, each.demand.span, _INSTEAD))
        return tuple(Asked(demand=each.demand, problem=each.problem) for each in found)


def rate_subject_of(spec: CheckedSpec, checked: CheckedProperty, train: str) -> RateSubject:
    """What the rows at ``train`` are asked for the property; raises DiagnosticError (E0562, E0592)."""
    (name,) = set(_distributions(checked))  # a property is under one
    distribution = spec.distributions[name]
    rows = replace(
        distribution,
        kind="empirical",
        source=FileSource(path=train, format=None, sha256=None, span=distribution.span),
        settings=(),
        distributions=(),
        graph=None,
        edges=(),
        given=(),
    )
    asked = replace(spec.restricted_to((checked.name,)), distributions={**spec.distributions, name: rows})
    return RateSubject.of(spec, checked, spec=asked)


def _distributions(checked: CheckedProperty) -> Iterator[str]:
    for demand in checked.demands:
        question = demand.question
        alone = isinstance(question, GroupMetric) and demand.less is None and demand.of in (None, checked.model)
        if not alone or not isinstance(question, GroupMetric) or question.population is None:
            reason = "it is about no rates of groups of one model"
            raise DiagnosticError(errors.not_repairable(reason, demand.span, _INSTEAD))
        yield question.population


def decisive(demands: Sequence[Asked]) -> Sequence[Asked]:
    """The demands that something is required of; all of them where nothing is."""
    return [each for each in demands if each.demand.threshold is not None] or demands


def shortfall(asked: Asked, value: Value) -> tuple[bool, Fraction]:
    """Whether a requirement is missed, and how far its number is from it: from the ideal where none is required."""
    threshold, ideal = asked.demand.threshold, asked.metric.ideal
    if threshold is not None and judged(value, threshold) is Judgement.HOLDS:
        return False, Fraction(0)
    limit = ideal if threshold is None else threshold.limit
    sampled = value.sampling if value.confidence is not None else None
    ends = sampled or value.number
    return threshold is not None, Fraction(0) if limit is None else max(abs(limit - end) for end in ends)
