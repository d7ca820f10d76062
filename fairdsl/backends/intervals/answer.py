"""What the bounds of a refinement say: shares, or whether everybody is treated alike."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from fairdsl.backends.intervals.refine import Bounds
from fairdsl.backends.intervals.task import Task
from fairdsl.ir.question import Quantity
from fairdsl.verdict import Evidence, Holds, Known, Parts, Reason, Shares, Unknown, Vacuous


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """What the units of a task are: ``factor`` units of the demand each.

    ``vacuous`` ones have no partner, and of the ``unsure`` ones among the others it is not known whether they have one.
    """

    quantity: Quantity
    measure: str
    unit: str
    factor: int
    vacuous: int
    unsure: int


def verdict_of(
    task: Task, bounds: Bounds, counted: Counted, evidence: Evidence, open_for: Reason
) -> Holds | Vacuous | Unknown | Shares:
    """The verdict, as far as it needs no pair to be shown; ``open_for``: why undecided units were left so."""
    if counted.quantity is Quantity.HOLDS:
        if task.total == counted.vacuous:
            return Vacuous(evidence=evidence)
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


def shares_of(task: Task, bounds: Bounds, counted: Counted, evidence: Evidence, open_for: Reason) -> Shares | Vacuous:
    """Fractions of the units in question; Vacuous where there are none."""
    if task.total == counted.vacuous:
        return Vacuous(evidence=evidence)
    parts = _parts(task, bounds.violating, bounds.falsified, counted)
    deployed = bounds.violating_float32
    settled = not task.undetermined and not counted.unsure
    return Shares(
        certified=parts.certified,
        falsified=parts.falsified,
        undecided=parts.undecided,
        vacuous=parts.vacuous,
        measure=counted.measure,
        unit=counted.unit,
        evidence=evidence,
        total=(task.total - counted.vacuous) * counted.factor if settled and counted.measure == "counting" else None,
        reason=open_for if parts.undecided else None,
        float32_certified=None
        if deployed is None
        else min(parts.certified, _parts(task, deployed, bounds.falsified, counted).certified),
    )


def _parts(task: Task, violating: Fraction, falsified: Fraction, counted: Counted) -> Parts:
    """At most ``violating`` units are unfair, any of those that have or may have a partner, and ``falsified`` are."""
    sure = task.total - task.undetermined - counted.vacuous - counted.unsure
    fair = max(Fraction(0), sure - violating)
    undecided = max(Fraction(0), sure + task.undetermined - fair - falsified)
    possible = task.total - counted.vacuous
    unsure = possible - fair - falsified - undecided
    return Known(fair=fair, unfair=falsified, undecided=undecided, unsure=unsure, vacuous=counted.vacuous).parts()


def _percent(share: Fraction) -> str:
    """Rounded up."""
    hundredths = -(-share * 10_000 // 1)
    return f"{float(hundredths) / 100:.2f}%"
