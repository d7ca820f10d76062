"""The procedure: refine the joint probabilities until the metric is known as well as it has to be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from time import monotonic

from fairdsl.backends.contract import Budget, Capability, Facts, Observer, Offer, Refusal
from fairdsl.backends.groups import subjects_of
from fairdsl.backends.masses.offer import offer
from fairdsl.backends.masses.refine import Refinement
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import GroupMetric
from fairdsl.metrics.joint import Joint
from fairdsl.metrics.value import decided, value_of
from fairdsl.replay import rows_counted
from fairdsl.verdict import Evidence, Reason, Refused, Unknown, Value

__all__ = ["Masses"]


class Masses:
    """Answers metrics of groups of piecewise-linear models under a law over columns."""

    name = "masses"
    about = Capability(
        questions=("metrics of groups: across, under, given, label, excluding, privileged, influence",),
        quantities=("every metric of groups but path_specific_gap",),
        models=("networks of linear pieces", "trees and forests", "rules", "one score or the highest of several"),
    )

    def offer(self, problem: Problem) -> Offer | Refusal:
        """Refuses curved units, normal laws of columns that are looked at, paths, and too large tables."""
        return offer(problem)

    def answer(self, problem: Problem, facts: Facts, budget: Budget, observer: Observer) -> Value | Refused | Unknown:
        """The metric, exactly or as an interval that decides the threshold; wider when the budget ends first."""
        question, population = problem.question, problem.population
        if not isinstance(question, GroupMetric) or population is None:
            raise ValueError("masses were asked for of a question that is refused")
        refinements = [Refinement(subject) for subject in subjects_of(problem)]
        counts = rows_counted(question, population, problem.model)
        reason = None
        told = monotonic()
        while True:
            joints = [replace(each.joint(), counts=counts) for each in refinements]
            if _decided(problem, question, joints):
                break
            if all(each.finished for each in refinements):
                reason = Reason.INCOMPLETE
                break
            if budget.exhausted:
                reason = Reason.TIMEOUT
                break
            if monotonic() - told > 0.5:
                observer.progress("masses", None, f"{sum(each.boxes for each in refinements):,} boxes")
                told = monotonic()
            # Two laws take turns: the one of which more is open is not known without its metric.
            for each in refinements:
                each.improve(budget.deadline)
        without = joints[1] if len(joints) > 1 else None
        return value_of(question, joints[0], population, _evidence(refinements), without=without, reason=reason)


def _decided(problem: Problem, question: GroupMetric, joints: Sequence[Joint]) -> bool:
    assert problem.population is not None, "checked by the caller"
    without = joints[1] if len(joints) > 1 else None
    return decided(question, problem.threshold, joints[0], problem.population, without=without)


def _evidence(refinements: Sequence[Refinement]) -> Evidence:
    boxes = sum(each.boxes for each in refinements)
    people = sum(each.individuals for each in refinements)
    return Evidence(
        backend=Masses.name,
        method=f"masses of {boxes:,} boxes bounded and of {people:,} individuals decided one by one",
    )
