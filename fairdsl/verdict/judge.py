"""Judging numbers against thresholds and joining verdicts. Unknown is never true and never false."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from fractions import Fraction

from fairdsl.ir.enclosure import Enclosure
from fairdsl.ir.expr import Relation
from fairdsl.ir.question import Quantity


class Judgement(Enum):
    """What a property or demand comes to."""

    HOLDS = "holds"
    VACUOUS = "vacuous"
    VIOLATED = "violated"
    UNKNOWN = "unknown"
    MEASURED = "measured"
    REFUSED = "refused"


def judge(number: Enclosure, relation: Relation, limit: Fraction) -> Judgement:
    """Whether every, no, or only some value that it may have stands in ``relation`` to ``limit``."""
    low, high = number
    match relation:
        case Relation.EQ:
            always, never = low == high == limit, not low <= limit <= high
        case Relation.NE:
            always, never = not low <= limit <= high, low == high == limit
        case _:
            # The four order relations are monotone, so the two ends decide.
            ends = (relation.compares(low, limit), relation.compares(high, limit))
            always, never = all(ends), not any(ends)
    if always:
        return Judgement.HOLDS
    return Judgement.VIOLATED if never else Judgement.UNKNOWN


def share_value(fair: Enclosure, quantity: Quantity) -> Enclosure:
    """The fair share, or its exact complement, the discrimination rate."""
    return fair if quantity is Quantity.FAIR_SHARE else fair.complement


#: From the strongest to the weakest claim on a conjunction. A refusal outranks `unknown`: the spec asks
#: for something that was not even tried.
_ORDER = (
    Judgement.VIOLATED,
    Judgement.REFUSED,
    Judgement.UNKNOWN,
    Judgement.VACUOUS,
    Judgement.HOLDS,
    Judgement.MEASURED,
)


def combine(judgements: Iterable[Judgement]) -> Judgement:
    """The conjunction: any violated > any refused > any unknown > any vacuous > holds; only measures: measured."""
    present = set(judgements)
    return next((j for j in _ORDER if j in present), Judgement.MEASURED)
