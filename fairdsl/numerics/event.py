"""The favourable outcome as linear demands on the scores.

The outcome is favourable exactly where all demands ``row @ scores > t`` (``>=`` unless strict) hold, or, if
``complement``, exactly where not all of them do. A threshold lies in [low, high]; it is unknown where in the
open interval, unless the two are equal.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from fairdsl.ir.expr import Relation
from fairdsl.ir.model import ByThreshold, Model

_ZERO = Fraction(0)
#: A little further than the slack: whoever is at the end of it is not decided.
_BEYOND = 1 + Fraction(1, 1024)


@dataclass(frozen=True, slots=True)
class Demand:
    """``row @ scores > t`` or ``>= t``; the row has entries -1, 0 and 1."""

    row: tuple[int, ...]
    low: Fraction
    high: Fraction
    strict: bool


@dataclass(frozen=True, slots=True)
class Event:
    """All demands hold; with ``complement``, not all do."""

    demands: tuple[Demand, ...]
    complement: bool = False


def event_of(model: Model) -> Event:
    """When the model decides for its favourable outcome."""
    rule, favourable = model.rule, model.favourable
    if favourable is None or model.beside:
        raise ValueError("there is no one favourable outcome")
    if isinstance(rule, ByThreshold):
        granting = _compared(rule.relation, rule.low, rule.high)
        return granting if favourable == rule.granted else Event(granting.demands, not granting.complement)
    count = model.score_count
    rows = [(other, tuple((k == favourable) - (k == other) for k in range(count))) for other in range(count)]
    slack = rule.slack or (_ZERO,) * count
    # A tie goes to the outcome that is listed first; scores that are off move what is needed by those of both.
    off = [(slack[favourable] + slack[other]) * _BEYOND for other in range(count)]
    return Event(tuple(Demand(row, -off[o], off[o], o < favourable) for o, row in rows if o != favourable))


def _compared(relation: Relation, low: Fraction, high: Fraction) -> Event:
    least, most = Demand((1,), low, high, strict=False), Demand((-1,), -high, -low, strict=False)
    match relation:
        case Relation.GT:
            return Event((Demand((1,), low, high, strict=True),))
        case Relation.GE:
            return Event((least,))
        case Relation.LT:
            return Event((Demand((-1,), -high, -low, strict=True),))
        case Relation.LE:
            return Event((most,))
        case Relation.EQ:
            return Event((least, most))
        case Relation.NE:
            return Event((least, most), complement=True)
