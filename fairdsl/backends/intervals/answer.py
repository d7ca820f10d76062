"""What the bounds of a refinement say: shares, or whether everybody is treated alike."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from fairdsl.backends.intervals.refine import Bounds
from fairdsl.backends.intervals.task import Task
from fairdsl.ir.question import Quantity
from fairdsl.verdict import Evidence, Holds, Reason, Shares, Unknown

__all__ = ["Counted", "shares_of", "verdict_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """What the units of a task are: ``factor`` units of the demand each; ``vacuous`` have no partner."""

    quantity: Quantity
    measure: str
    unit: str
    factor: int
    vacuous: int


def verdict_of(
    task: Task, bounds: Bounds, counted: Counted, evidence: Evidence, open_for: Reason
) -> Holds | Unknown | Shares:
    """The verdict, as far as it needs no pair to be shown; ``open_for``: why undecided units were left so."""
    if counted.quantity is Quantity.HOLDS:
        return _holds(task, bounds, evidence, open_for)
    return shares_of(task, bounds, counted, evidence, open_for)


def _holds(task: Task, bounds: Bounds, evidence: Evidence, open_for: Reason) -> Holds | Unknown:
    """Everybody is treated alike where nobody can be unfair, in either arithmetic."""
    if bounds.falsified:
        detail = "some units are certainly treated unfairly, but no pair of individuals was replayed"
        return Unknown(reason=Reason.INCOMPLETE, detail=detail, evidence=evidence)
    if bounds.violating or task.undetermined:
        left = (bounds.violating + task.undetermined) / task.total
        detail = f"at most {_percent(left)} of the units are left undecided"
        return Unknown(reason=open_for, detail=detail, evidence=evidence)
    if bounds.violating_float32:
        detail = "it holds in exact arithmetic; in the deployed file's, rounding may still decide otherwise"
        return Unknown(reason=Reason.NUMERIC_GAP, detail=detail, evidence=evidence)
    return Holds(evidence=evidence)


def shares_of(task: Task, bounds: Bounds, counted: Counted, evidence: Evidence, open_for: Reason) -> Shares:
    """Fractions of ``total``.

    The target has t units with decided + vacuous <= t <= total. What is certainly fair, over the larger
    total, is at most the fair share; what is certainly unfair, over it, at most the rest.
    """
    if not task.total:
        one, none = Fraction(1), Fraction(0)
        return Shares(
            certified=one,
            falsified=none,
            undecided=none,
            vacuous=one,
            measure=counted.measure,
            unit=counted.unit,
            evidence=evidence,
            total=0,
        )
    certified = _certified(task, bounds.violating)
    falsified = bounds.falsified / task.total
    undecided = 1 - certified - falsified
    deployed = bounds.violating_float32
    return Shares(
        certified=certified,
        falsified=falsified,
        undecided=undecided,
        vacuous=Fraction(counted.vacuous, task.total),
        measure=counted.measure,
        unit=counted.unit,
        evidence=evidence,
        total=None if task.undetermined or counted.measure != "counting" else task.total * counted.factor,
        reason=open_for if undecided else None,
        float32_certified=None if deployed is None else min(certified, _certified(task, deployed)),
    )


def _certified(task: Task, violating: Fraction) -> Fraction:
    fair = max(Fraction(0), task.decided - violating) + task.vacuous
    return fair / task.total


def _percent(share: Fraction) -> str:
    """Rounded up."""
    hundredths = -(-share * 10_000 // 1)
    return f"{float(hundredths) / 100:.2f}%"
