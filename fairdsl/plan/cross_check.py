"""Second opinions: every other backend that can decide a demand is asked it too, and the verdicts are compared.

Each backend's verdict is true if the backend is right, so two of them may differ in what they leave open and in nothing
else: a proof beside a violation, or two intervals without a common number, say that one backend is wrong. Then nothing
is known, and that is the verdict.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from math import ceil, floor

from fairdsl.backends.contract import Budget, Observer
from fairdsl.ir.domain import show_number
from fairdsl.ir.enclosure import Enclosure
from fairdsl.ir.problem import Problem
from fairdsl.plan.execute import execute
from fairdsl.plan.joining import contradicted, contradiction, numbers_of
from fairdsl.plan.negotiate import Plan
from fairdsl.verdict import (
    Estimated,
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
            return contradicted(verdict.evidence, name, against)
        verdict = _noted(verdict, f"cross-checked: `{name}` {opinion_in_words(verdict, second)}")
    return verdict if plan.others else _noted(verdict, "cross-checked: nobody else can decide it")


def opinion_in_words(verdict: Verdict, second: Verdict) -> str:
    """What a second verdict that contradicts nothing adds."""
    match verdict, second:
        case Value(), Value():
            return _of_values(verdict, second)
        case Shares(), Shares():
            one, other = verdict.share, second.share
            return "comes to the same number" if _same([(one, other)]) else _agrees(other)
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
    pairs = [(known, found) for _, known, found in numbers_of(one, other)]
    rates = pairs[1:] if one.defined else pairs
    if one.defined and _same(pairs[:1]):
        return "comes to the same number"
    if one.defined and rates and _same(rates) and pairs[0][0] == pairs[0][1]:
        return "comes to the same numbers"
    return _agrees(other.number)


def _same(pairs: Sequence[tuple[Enclosure, Enclosure]]) -> bool:
    """Whether all numbers are known exactly, and alike."""
    return all(one == other and one.exact for one, other in pairs)


def _agrees(number: Enclosure) -> str:
    """Where the other backend says that the number lies, rounded outward."""
    low, high = number
    if number.exact:
        return f"comes to {_rounded(low, floor, 'about ')}, which agrees"
    return f"comes to an interval that agrees, from {_rounded(low, floor)} to {_rounded(high, ceil)}"


def _rounded(number: Fraction, towards: Callable[[Fraction], int], about: str = "") -> str:
    """A decimal of six places at most; ``about`` in front where that is not the number itself."""
    places = Fraction(towards(number * _PLACES), _PLACES)
    return ("" if places == number else about) + show_number(places)


_Answered = Holds | Vacuous | Violated | Shares | Estimated | Value


def _noted(verdict: _Answered, note: str) -> _Answered:
    return replace(verdict, evidence=replace(verdict.evidence, notes=(*verdict.evidence.notes, note)))
