"""Second opinions: every other backend that can decide a demand is asked it too, and the verdicts are compared.

Each backend's verdict is true if the backend is right, so two of them may differ in what they leave open and in nothing
else: a proof beside a violation, or two intervals without a common number, say that one backend is wrong. Then nothing
is known, and that is the verdict.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from fairdsl.backends.contract import Budget, Observer
from fairdsl.ir.problem import Problem
from fairdsl.plan.execute import execute
from fairdsl.plan.negotiate import Plan
from fairdsl.verdict import Evidence, Holds, Reason, Refused, Shares, Unknown, Value, Verdict, Violated

__all__ = ["contradiction", "cross_checked"]

_Interval = tuple[Fraction, Fraction]


def cross_checked(plan: Plan, problem: Problem, budget: Budget, observer: Observer) -> Verdict:
    """The plan's verdict, with a note on what each other backend makes of the demand; Unknown if one contradicts."""
    verdict = execute(plan, problem, budget.share(1 + len(plan.others)), observer)
    if isinstance(verdict, Refused | Unknown) or (isinstance(verdict, Shares) and verdict.reason is Reason.INTERRUPTED):
        return verdict
    for place, stage in enumerate(plan.others):
        name = stage.procedure.name
        second = execute(Plan((stage,), ()), problem, budget.share(len(plan.others) - place), observer)
        against = contradiction(verdict, second)
        if against is not None:
            return _contradicted(verdict.evidence, name, against)
        verdict = _noted(verdict, f"cross-checked: `{name}` {_opinion(second)}")
    return verdict


def contradiction(one: Verdict, other: Verdict) -> str | None:
    """Why not both of two verdicts on one demand can be true; None where they can."""
    match one, other:
        case (Holds(), Violated()) | (Violated(), Holds()):
            return "one proves what the other has a violation of"
        case Shares(), Shares():
            if _apart((one.certified, 1 - one.falsified), (other.certified, 1 - other.falsified)):
                return "their shares have no number in common"
        case Value(), Value():
            return next((why for why, *pair in _numbers(one, other) if _apart(*pair)), None)
    return None


def _numbers(one: Value, other: Value) -> Iterator[tuple[str, _Interval, _Interval]]:
    """The numbers that both know: the value where it is one, and the rates of the groups."""
    if Reason.UNDEFINED not in (one.reason, other.reason):
        yield "their intervals have no number in common", (one.low, one.high), (other.low, other.high)
    rates = {(rate.group, rate.given): (rate.low, rate.high) for rate in other.rates}
    for rate in one.rates:
        known = rates.get((rate.group, rate.given))
        if known is not None:
            yield "their rates of a group have no number in common", (rate.low, rate.high), known


def _apart(one: _Interval, other: _Interval) -> bool:
    return one[1] < other[0] or other[1] < one[0]


def _opinion(verdict: Verdict) -> str:
    """What a verdict that contradicts nothing adds."""
    match verdict:
        case Value() if verdict.exact:
            return "comes to the same number"
        case Value() | Shares():
            return "comes to an interval that agrees"
        case Holds() | Violated():
            return "comes to the same verdict"
        case Unknown() | Refused():
            return "came to no verdict"


def _noted(verdict: Holds | Violated | Shares | Value, note: str) -> Holds | Violated | Shares | Value:
    return replace(verdict, evidence=replace(verdict.evidence, notes=(*verdict.evidence.notes, note)))


def _contradicted(evidence: Evidence, name: str, why: str) -> Unknown:
    return Unknown(
        reason=Reason.CONTRADICTION,
        detail=f"`{evidence.backend}` and `{name}` contradict each other: {why}; please report it",
        evidence=evidence,
    )
