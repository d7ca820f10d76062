"""Second opinions: every other backend that can decide a demand is asked it too, and the verdicts are compared.

Each backend's verdict is true if the backend is right, so two of them may differ in what they leave open and in nothing
else: a proof beside a violation, or two intervals without a common number, say that one backend is wrong. Then nothing
is known, and that is the verdict.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from math import ceil, floor

from fairdsl.backends.contract import Budget, Observer
from fairdsl.ir.domain import show_number
from fairdsl.ir.problem import Problem
from fairdsl.plan.execute import execute
from fairdsl.plan.negotiate import Plan
from fairdsl.verdict import (
    Estimated,
    Evidence,
    Holds,
    Reason,
    Refused,
    Shares,
    Unknown,
    Vacuous,
    Value,
    Verdict,
    Violated,
)

__all__ = ["contradiction", "cross_checked"]

_Interval = tuple[Fraction, Fraction]

#: Numbers in notes are rounded to one in so many.
_PLACES = 10**6


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
        verdict = _noted(verdict, f"cross-checked: `{name}` {_opinion(verdict, second)}")
    return verdict if plan.others else _noted(verdict, "cross-checked: nobody else can decide it")


def contradiction(one: Verdict, other: Verdict) -> str | None:
    """Why not both of two verdicts on one demand can be true; None where they can."""
    match one, other:
        case (Holds(), Violated()) | (Violated(), Holds()):
            return "one proves what the other has a violation of"
        case (Vacuous(), Violated()) | (Violated(), Vacuous()):
            return "one has a violation where the other proves that nobody is compared"
        case Shares(), Shares():
            if _apart((one.certified, 1 - one.falsified), (other.certified, 1 - other.falsified)):
                return "their shares have no number in common"
        case Value(), Value():
            return next((why for why, *pair in _numbers(one, other) if _apart(*pair)), None)
    return None


def _numbers(one: Value, other: Value) -> Iterator[tuple[str, _Interval, _Interval]]:
    """The numbers that both know: the value where it is one, and the rates of the groups."""
    if one.defined and other.defined:
        yield "their intervals have no number in common", (one.low, one.high), (other.low, other.high)
    rates = {(rate.group, rate.given): (rate.low, rate.high) for rate in other.rates}
    for rate in one.rates:
        known = rates.get((rate.group, rate.given))
        if known is not None:
            yield "their rates of a group have no number in common", (rate.low, rate.high), known


def _apart(one: _Interval, other: _Interval) -> bool:
    return one[1] < other[0] or other[1] < one[0]


def _opinion(verdict: Verdict, second: Verdict) -> str:
    """What a second verdict that contradicts nothing adds."""
    match verdict, second:
        case Value(), Value():
            return _of_values(verdict, second)
        case Shares(), Shares():
            one, other = ((each.certified, 1 - each.falsified) for each in (verdict, second))
            return "comes to the same number" if _same([(one, other)]) else _agrees(*other)
        case _, Holds() | Vacuous() | Violated():
            return "comes to the same verdict"
        case _, Estimated():
            return "estimates it, which proves nothing"
    return "came to no verdict"


def _of_values(one: Value, other: Value) -> str:
    """The value may be known exactly where not every rate is; of several rates it is the span, and no single number."""
    if not other.defined:
        same = not one.defined and one.reason is other.reason
        return "comes to no number either" if same else "came to no number"
    pairs = [(known, found) for _, known, found in _numbers(one, other)]
    rates = pairs[1:] if one.defined else pairs
    if one.defined and _same(pairs[:1]):
        return "comes to the same number"
    if one.defined and rates and _same(rates) and len(set(pairs[0])) == 1:
        return "comes to the same numbers"
    return _agrees(other.low, other.high)


def _same(pairs: Sequence[tuple[_Interval, _Interval]]) -> bool:
    """Whether all numbers are known exactly, and alike."""
    return all(one == other and one[0] == one[1] for one, other in pairs)


def _agrees(low: Fraction, high: Fraction) -> str:
    """Where the other backend says that the number lies, rounded outward."""
    if low == high:
        return f"comes to {_rounded(low, floor, 'about ')}, which agrees"
    return f"comes to an interval that agrees, from {_rounded(low, floor)} to {_rounded(high, ceil)}"


def _rounded(number: Fraction, towards: Callable[[Fraction], int], about: str = "") -> str:
    """A decimal of six places at most; ``about`` in front where that is not the number itself."""
    places = Fraction(towards(number * _PLACES), _PLACES)
    return ("" if places == number else about) + show_number(places)


_Answered = Holds | Vacuous | Violated | Shares | Estimated | Value


def _noted(verdict: _Answered, note: str) -> _Answered:
    return replace(verdict, evidence=replace(verdict.evidence, notes=(*verdict.evidence.notes, note)))


def _contradicted(evidence: Evidence, name: str, why: str) -> Unknown:
    return Unknown(
        reason=Reason.CONTRADICTION,
        detail=f"`{evidence.backend}` and `{name}` contradict each other: {why}; please report it",
        evidence=evidence,
    )
