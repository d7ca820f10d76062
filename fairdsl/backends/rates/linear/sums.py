"""Joints of an :class:`Independent`: in float64 with a bound on the error, and exactly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cached_property

from fairdsl.backends.rates.linear.event import Goal, joint_with
from fairdsl.backends.rates.linear.halves import Halves, Ratios, halved
from fairdsl.backends.rates.linear.independent import Independent
from fairdsl.backends.rates.linear.packed import ExactHalves
from fairdsl.backends.rates.linear.score import Event
from fairdsl.backends.rates.linear.window import Meter
from fairdsl.metrics.joint import Bounds, Joint, Key

__all__ = ["Sums"]

_ONE = Fraction(1)
#: Exact arithmetic comes first where cells times scores times bytes of a numerator are so few.
_CELLS, _BYTES = 1 << 17, 1 << 21
#: Arrays of all scores: so many at most, and not where all but one in so many were empty.
_DENSE, _SHORT, _SPARSE_BITS = 1 << 22, 1 << 14, 6


class Sums:
    """Sums of independent numbers and the event that counts."""

    def __init__(self, of: Independent, event: Event) -> None:
        self._of = of
        self._event = event
        extents = [_extent(column.adds) for column in of.columns]
        order = sorted(range(len(extents)), key=extents.__getitem__)
        # Two parts that reach about as far, each from the columns that reach least to those that reach most.
        columns = [of.columns[place] for place in order]
        self._halves = columns[::2], columns[1::2]
        ascending = [extents[place] for place in order]
        self._rooms = sum(ascending[::2]), sum(ascending[1::2])
        self._extent = sum(extents)

    @property
    def dense(self) -> bool:
        """Whether arrays of all scores are the way: they are short, or most of their scores are sums."""
        if self._extent <= _SHORT:
            return True
        bits = sum((len(column.adds) - 1).bit_length() for column in self._of.columns)
        return self._extent <= _DENSE and self._extent.bit_length() <= bits // 2 + _SPARSE_BITS

    @property
    def small(self) -> bool:
        """Whether exact arithmetic takes about as little time as float64 does."""
        columns = self._of.columns
        work = sum([len(column.adds) for column in columns]) * self._extent
        if work > _CELLS:
            return False
        laws = max((len(column.laws) for column in columns), default=1)
        bits = sum(column.laws[0][0].denominator.bit_length() for column in columns)
        return work * laws * bits // 16 <= _BYTES

    def bounded(self, meter: Meter) -> Joint:
        """In float64, moved outward by the error bound; TooLargeError and OutOfTimeError are raised by the meter."""
        return self._joint(halved(self._halves, self._rooms, meter), meter)

    def exact(self, meter: Meter) -> Joint:
        """In whole numbers over a common denominator."""
        return self._joint(ExactHalves(self._halves, meter), meter)

    def _joint(self, halves: Halves | ExactHalves, meter: Meter) -> Joint:
        return joint_with(self._event, self._total, lambda low, high: self._reaching(halves, low, high, meter))

    @cached_property
    def _total(self) -> dict[Key, Bounds]:
        found: dict[Key, Fraction] = {}
        for key, mass, _ in self._of.groups:
            found[key] = min(_ONE, found[key] + mass) if key in found else mass
        return {key: Bounds(low=mass, high=mass) for key, mass in found.items()}

    def _reaching(self, halves: Halves | ExactHalves, low: Goal, high: Goal, meter: Meter) -> Mapping[Key, Bounds]:
        """Group by group, the probability of the group times that of its columns reaching the rest."""
        least = low.target(self._of.constant, self._of.scale)
        most = least if high is low else high.target(self._of.constant, self._of.scale)
        known: dict[tuple[int, int], Ratios] = {}

        def reached(target: int, place: int) -> Ratios:
            name = (0 if halves.shared else place, target)
            if name not in known:
                meter.tick()
                known[name] = halves.reaching(target, place)
            return known[name]

        found: dict[Key, tuple[Fraction, Fraction]] = {}
        for place, group in enumerate(self._of.groups):
            below, high_below, under = reached(least - group.adds, place)
            above, over = (high_below, under) if most == least else reached(most - group.adds, place)[1:]
            numerator, denominator = group.mass.as_integer_ratio()
            first = Fraction(numerator * below, denominator * under)
            second = first if (above, over) == (below, under) else Fraction(numerator * above, denominator * over)
            if group.key in found:
                sums = found[group.key]
                first, second = min(_ONE, sums[0] + first), min(_ONE, sums[1] + second)
            found[group.key] = first, second
        return {key: Bounds(low=ends[0], high=ends[1]) for key, ends in found.items()}


def _extent(adds: Sequence[int]) -> int:
    return abs(adds[1] - adds[0]) if len(adds) == 2 else max(adds) - min(adds)
