"""The event that counts, as scores that have to be reached."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor

from fairdsl.backends.rates.linear.score import Event
from fairdsl.ir.expr import Relation
from fairdsl.metrics.joint import Bounds, Joint, Key

__all__ = ["Goal", "Reaching", "joint_with"]

_ZERO = Fraction(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """The score has to be at least ``needed`` (strict: above it)."""

    needed: Fraction
    strict: bool

    def target(self, constant: Fraction, scale: Fraction) -> int:
        """The least whole number n such that ``constant + n / scale`` is enough."""
        needed = (self.needed - constant) * scale
        return floor(needed) + 1 if self.strict else ceil(needed)


#: Bounds by key of the probability of reaching a goal: the lower ones of the first goal, the upper ones of the second.
Reaching = Callable[[Goal, Goal], Mapping[Key, Bounds]]


def joint_with(event: Event, total: Mapping[Key, Bounds], reaching: Reaching) -> Joint:
    """The joint of an event ``S >= t``, ``S > t``, ``S = t`` or ``S != t``; all others are turned upward."""
    match event.relation:
        case Relation.EQ:
            found = _equal(event, total, reaching)
        case Relation.NE:
            equal = _equal(event, total, reaching)
            found = {key: _less(whole, equal[key]) for key, whole in total.items()}
        case _:
            found = _above(event, event.relation is Relation.GT, reaching)
    if any(bounds.high > total[key].high for key, bounds in found.items()):
        found = {key: _clipped(bounds, total[key]) for key, bounds in found.items()}
    return Joint(favourable=found, total=total)


def _equal(event: Event, total: Mapping[Key, Bounds], reaching: Reaching) -> Mapping[Key, Bounds]:
    """Pr[S = t] = Pr[S >= t] - Pr[S > t]."""
    if event.low != event.high:
        return {key: Bounds.exactly(_ZERO) for key in total}  # no score is irrational
    above, least = _above(event, True, reaching), _above(event, False, reaching)
    return {key: _less(least[key], above[key]) for key in least}


def _above(event: Event, strict: bool, reaching: Reaching) -> Mapping[Key, Bounds]:
    if event.low == event.high:
        goal = Goal(needed=event.low, strict=strict)
        return reaching(goal, goal)
    # The threshold lies strictly between: a score that reaches the upper end is above it, and one above it is
    # above the lower end.
    return reaching(Goal(needed=event.high, strict=False), Goal(needed=event.low, strict=True))


def _clipped(part: Bounds, whole: Bounds) -> Bounds:
    """A part is at most the whole."""
    high = min(part.high, whole.high)
    return Bounds(low=min(part.low, high), high=high)


def _less(whole: Bounds, part: Bounds) -> Bounds:
    """What is left of the whole without a part of it."""
    high = max(_ZERO, whole.high - part.low)
    return Bounds(low=min(high, max(_ZERO, whole.low - part.high)), high=high)
