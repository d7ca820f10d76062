"""The procedure: refine the joint probabilities until the metric is known as well as it has to be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from math import ceil

from fairdsl.backends.contract import Budget, Capability, Facts, Observer, Offer, Refusal
from fairdsl.backends.subset_sum.offer import offer
from fairdsl.backends.subset_sum.refinement import Refinement
from fairdsl.backends.subset_sum.rounded import Arithmetic
from fairdsl.backends.subset_sum.subject import Subject, subject_of, with_baseline, with_influence
from fairdsl.backends.subset_sum.unknown_rows import allowing_for_unknown, with_unknown
from fairdsl.backends.subset_sum.window import OutOfTimeError
from fairdsl.ir.domain import show_number
from fairdsl.ir.population import Population
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import MOST_FAVOURED, GroupMetric
from fairdsl.metrics.hull import hull_of
from fairdsl.metrics.joint import Counted, Joint, Key
from fairdsl.metrics.value import decided, most_favoured_groups, value_of
from fairdsl.replay import rows_counted
from fairdsl.verdict import Evidence, Reason, Refused, Unknown, Value

__all__ = ["SubsetSum"]


class SubsetSum:
    """Answers metrics of groups of models with one linear score under a network."""

    name = "subset_sum"
    about = Capability(
        questions=("metrics of groups: across, under, given, label, excluding, privileged, influence, allow",),
        quantities=("every metric of groups",),
        models=(
            "one linear score of attributes and indicators",
            "rules and trees with one score",
        ),
    )

    def offer(self, problem: Problem) -> Offer | Refusal:
        """Refuses hidden layers, several scores, ranges without end that carry weight, and too large tables."""
        return offer(problem)

    def answer(self, problem: Problem, facts: Facts, budget: Budget, observer: Observer) -> Value | Refused | Unknown:
        """The metric, exactly or as an interval that decides the threshold; wider when the budget ends first."""
        question, population = problem.question, problem.population
        if not isinstance(question, GroupMetric) or population is None:
            raise ValueError("subset sums were asked what they refuse")
        try:
            return _from_law(problem, question, population, budget, observer)
        except OutOfTimeError:
            return _nothing(Reason.TIMEOUT, "the budget ended before any bound was known")


def _nothing(reason: Reason, detail: str) -> Unknown:
    return Unknown(reason=reason, detail=detail, evidence=Evidence(backend=SubsetSum.name, method="subset sums"))


def _from_law(
    problem: Problem, question: GroupMetric, population: Population, budget: Budget, observer: Observer
) -> Value | Refused | Unknown:
    own = subject_of(problem)
    if question.metric.rate.along_paths:
        return _along_paths(problem, question, own, budget, observer)
    asked = _Asked(problem, question, population, budget, observer)
    return asked.value(with_influence(own, question.influence))


def _along_paths(
    problem: Problem, question: GroupMetric, own: Subject, budget: Budget, observer: Observer
) -> Value | Refused | Unknown:
    """One subject a baseline; where the most favoured group is the baseline, one for each that may be it."""
    population = own.network
    asked = _Asked(problem, question, population, budget, observer)
    if question.baseline == MOST_FAVOURED:
        favoured = Refinement(own, budget, observer)
        while favoured.improve():
            assert favoured.joint is not None, "an improvement is one"
            baselines = most_favoured_groups(question, favoured.joint, population)
            if len(baselines) == 1:
                break
        if favoured.joint is None:
            return _nothing(Reason.MEMORY_OUT, "the tables of the law are too large")
    elif isinstance(question.baseline, tuple):
        baselines = (question.baseline,)
    else:
        raise ValueError("a path-specific gap has a baseline")
    values: list[Value] = []
    for baseline in baselines:
        set_ = with_baseline(own, dict(zip(question.across, baseline, strict=True)), question.allowed)
        laws = with_influence(set_, question.influence)
        found = asked.value([allowing_for_unknown(each) for each in laws])
        if not isinstance(found, Value):
            return found
        values.append(found)
    return hull_of(values)


class _Asked:
    """A question whose subjects are refined together until their joints decide it."""

    def __init__(
        self, problem: Problem, question: GroupMetric, population: Population, budget: Budget, observer: Observer
    ) -> None:
        self._problem = problem
        self._question = question
        self._population = population
        self._budget = budget
        self._observer = observer

    def value(self, subjects: Sequence[Subject]) -> Value | Refused | Unknown:
        """The value of one subject, or of the first less the second."""
        refinements = [Refinement(subject, self._budget, self._observer) for subject in subjects]
        found = self._refine(refinements)
        if not isinstance(found, Reason):
            return found
        if any(each.joint is None for each in refinements):
            if found is Reason.TIMEOUT:
                return _nothing(found, "the budget ended before any bound was known")
            return _nothing(Reason.MEMORY_OUT, "the tables of the law are too large")
        joint, without = self._joints(refinements)
        evidence = _evidence(refinements)
        return value_of(self._question, joint, self._population, evidence, without=without, reason=found)

    def _refine(self, refinements: Sequence[Refinement]) -> Value | Refused | Reason:
        """What is decided, or why it ended without."""
        try:
            while True:
                improved = [each.improve() for each in refinements]
                if all(each.joint is not None for each in refinements):
                    found = self._decided(refinements)
                    if found is not None:
                        return found
                if not any(improved):
                    return Reason.INCOMPLETE
        except OutOfTimeError:
            return Reason.TIMEOUT

    def _decided(self, refinements: Sequence[Refinement]) -> Value | Refused | None:
        question, population = self._question, self._population
        joint, without = self._joints(refinements)
        value = value_of(question, joint, population, _evidence(refinements), without=without)
        settled = decided(question, self._problem.threshold, joint, population, without=without, value=value)
        return value if settled else None

    def _joints(self, refinements: Sequence[Refinement]) -> tuple[Joint, Joint | None]:
        """The joint with its counts, and that without influence."""
        joint, *others = [with_unknown(each.joint, each.subject) for each in refinements if each.joint is not None]
        return (replace(joint, counts=self._counts) if self._counts else joint), (others[0] if others else None)

    @cached_property
    def _counts(self) -> dict[Key, Counted]:
        return rows_counted(self._question, self._population, self._problem.model)


def _evidence(refinements: Sequence[Refinement]) -> Evidence:
    exact = all(each.arithmetic is Arithmetic.EXACT for each in refinements)
    how = "in exact arithmetic" if exact else "in float64 with a bound on the error"
    columns = max(each.columns for each in refinements)
    notes = tuple(dict.fromkeys(note for each in refinements for note in each.notes))
    open_ = max((mass for each in refinements for mass in each.subject.unknown.values()), default=Fraction(0))
    if open_:
        part = f"up to {show_number(Fraction(ceil(open_ * 10**4), 100))}% of a group"
        notes += (f"{part} have parents that no row has, and of these any decision is allowed for",)
    return Evidence(backend=SubsetSum.name, method=f"the score's law over {columns} columns {how}", notes=notes)
