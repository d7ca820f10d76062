"""The joint of one subject enclosed by boxes that are cut, and beside them by combinations, the heaviest first."""

from __future__ import annotations

from fairdsl.backends.rates.cover import Cover
from fairdsl.backends.rates.engine import TooManyError
from fairdsl.backends.rates.heavy import Heavy
from fairdsl.clock import Work, spend
from fairdsl.metrics.joint import Bounds, Joint
from fairdsl.metrics.subject import Subject

__all__ = ["Narrowing"]

#: After so many steps of one a step of the other.
_OTHER = 6
#: What is counted where effort is given.
_WEIGHED, _COMBINED = Work("boxes weighed", 10), Work("combinations looked at", 0.2)


class Narrowing:
    """Boxes, and combinations once they are asked for."""

    def __init__(self, subject: Subject) -> None:
        self._subject = subject
        self._cover = Cover(subject)
        self._heavy: Heavy | None = None
        #: Whether boxes leave less open than combinations, as far as that was seen; and steps so far.
        self._ahead, self._steps = True, 0

    def by_weight(self) -> None:
        """Go through combinations as well, where that can be done."""
        try:
            self._heavy = Heavy(self._subject)
        except TooManyError:
            return

    @property
    def finished(self) -> bool:
        """Whether nothing is left to be done."""
        return self._cover.finished or (self._heavy is not None and self._heavy.finished)

    @property
    def full(self) -> bool:
        """Whether there is no room for more boxes, and nothing else to be done."""
        return self._cover.full and self._heavy is None

    @property
    def boxes(self) -> int:
        """How many were weighed."""
        return self._cover.boxes

    @property
    def individuals(self) -> int:
        """How many were decided one by one."""
        return self._cover.individuals

    @property
    def combinations(self) -> int:
        """How many were looked at."""
        return 0 if self._heavy is None else self._heavy.combinations

    def improve(self) -> None:
        """A step of the one that leaves less open, now and then of the other."""
        self._steps += 1
        if self._heavy is None or (self._ahead != (self._steps % _OTHER == 0) and not self._cover.full):
            before = self.boxes
            self._cover.improve()
            spend(_WEIGHED, 1 + self.boxes - before)
            return
        before = self.combinations
        self._heavy.improve()
        spend(_COMBINED, 1 + self.combinations - before)

    def joint(self) -> Joint:
        """What is known by now: both enclose the same masses."""
        joint = self._cover.joint()
        if self._heavy is None:
            return joint
        other = self._heavy.joint()
        self._ahead = _open(joint) < _open(other)
        return Joint(
            favourable={key: _both(bounds, other.favourable[key]) for key, bounds in joint.favourable.items()},
            total={key: _both(bounds, other.total[key]) for key, bounds in joint.total.items()},
        )


def _open(joint: Joint) -> float:
    return float(sum(bounds.high - bounds.low for bounds in joint.favourable.values()))


def _both(one: Bounds, other: Bounds) -> Bounds:
    return Bounds(low=max(one.low, other.low), high=min(one.high, other.high))
