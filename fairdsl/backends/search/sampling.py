"""Individuals of the target, at random: drawn from narrowed value sets, repaired, and checked.

Nothing outside domain and target is ever returned. Real values are float32 numbers, so that what is
found can be given to a deployed model as it is.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.search.repair import repair
from fairdsl.ir.domain import Domain, Integer, Real
from fairdsl.ir.expr import Predicate, Who, conjoin
from fairdsl.numerics.narrow import Finite, Interval, ValueSet, narrow, without_not
from fairdsl.numerics.predicates import mask
from fairdsl.numerics.rounding import float_above, float_below

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
IntArray = NDArray[np.int64]

#: Rounds of repair before a draw is given up.
_REPAIRS = 6
#: The greatest float32.
_GREATEST = float(np.finfo(np.float32).max)


class Column:
    """The values of one attribute: how to draw them, step among them, and recognise them."""

    def __init__(self, values: ValueSet, ordered: bool) -> None:
        self.ordered = ordered
        self.whole = isinstance(values, Finite)
        self.listed: FloatArray | None = None
        self.low, self.high = _ends(values)
        if isinstance(values, Finite):
            self.single = values.count == 1
            gapless = isinstance(values.values, range)
            if not gapless or values.count <= 64:
                self.listed = np.array([float(value) for value in values.values], dtype=np.float64)
            self.gapless = gapless
            self.count: int | None = values.count
        else:
            self.single = False
            self.gapless = True
            self.count = None

    def draw(self, count: int, rng: np.random.Generator) -> FloatArray:
        """Values at random: uniform where bounded, over many magnitudes where not."""
        if self.listed is not None:
            return self.listed[rng.integers(0, len(self.listed), count)]
        if np.isfinite(self.low) and np.isfinite(self.high):
            if self.whole:
                return rng.integers(int(self.low), int(self.high), count, endpoint=True).astype(np.float64)
            return self.settle(self.low + (self.high - self.low) * rng.random(count))
        start = self.low if np.isfinite(self.low) else self.high if np.isfinite(self.high) else 0.0
        return self.settle(start + rng.standard_normal(count) * 10.0 ** rng.uniform(-2, 5, count))

    def settle(self, wanted: FloatArray) -> FloatArray:
        """The nearest (or nearly nearest) values of the attribute."""
        if self.listed is not None:
            after = np.clip(np.searchsorted(self.listed, wanted), 1, max(1, len(self.listed) - 1))
            after = np.minimum(after, len(self.listed) - 1)
            before = np.maximum(after - 1, 0)
            nearer = np.abs(self.listed[before] - wanted) <= np.abs(self.listed[after] - wanted)
            return np.asarray(np.where(nearer, self.listed[before], self.listed[after]), dtype=np.float64)
        if self.whole:
            rounded = np.rint(wanted)
        else:  # beyond the range of float32 its last number: infinity is not a value
            rounded = np.clip(wanted, -_GREATEST, _GREATEST).astype(np.float32).astype(np.float64)
        return np.asarray(np.clip(rounded, self.low, self.high), dtype=np.float64)

    def step(self, values: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Values near the given ones, at all scales; any value of a category."""
        count = len(values)
        if not self.ordered:
            return self.draw(count, rng)
        if self.listed is not None:
            places = np.searchsorted(self.listed, values) + rng.choice((-1, 1), count)
            near = self.listed[np.clip(places, 0, len(self.listed) - 1)]
            return np.where(rng.random(count) < 0.5, near, self.draw(count, rng))
        span = self.high - self.low if np.isfinite(self.high - self.low) else 1e4
        least = 1.0 if self.whole else max(span * 1e-6, 1e-30)
        scale = np.exp(rng.uniform(np.log(least), np.log(max(span, 2 * least)), count))
        moved = self.settle(values + rng.choice((-1.0, 1.0), count) * scale)
        extreme = rng.random(count) < 0.05
        ends = np.where(rng.random(count) < 0.5, self.low, self.high)
        return np.where(extreme & np.isfinite(ends), ends, moved)

    def places(self, values: FloatArray) -> IntArray:
        """The position of each value among all of them, from 0; ValueError for reals."""
        if self.count is None:
            raise ValueError("reals have no positions")
        if self.listed is not None and not self.gapless:
            return np.searchsorted(self.listed, values)
        return (values - self.low).astype(np.int64)

    def beside(self, values: FloatArray) -> Iterator[FloatArray]:
        """The neighbours of each value, array by array; nan where there is none.

        Of numbers the next one below and above, of reals a hundredth of their range away; of a category each other
        value.
        """
        if self.listed is None or self.ordered:
            for by in (-1, 1):
                moved = self.shifted(values, by)
                yield np.where(moved != values, moved, np.nan)
            return
        places, size = self.places(values), len(self.listed)
        for step in range(1, size):
            yield self.listed[(places + step) % size]

    def shifted(self, values: FloatArray, by: int) -> FloatArray:
        """So many numbers up, of reals so many hundredths of their range, and no farther than the end."""
        if self.listed is not None:
            return self.listed[np.clip(self.places(values) + by, 0, len(self.listed) - 1)]
        return self.settle(values + by * (1.0 if self.whole else self._stride(values)))

    def _stride(self, values: FloatArray) -> FloatArray:
        """How far apart neighbouring reals are."""
        if np.isfinite(self.high - self.low):
            return np.full(len(values), (self.high - self.low) / 100)
        return np.asarray(np.maximum(1.0, np.abs(values)) / 100, dtype=np.float64)

    def contains(self, values: FloatArray) -> BoolArray:
        """Membership, value by value."""
        if self.listed is not None:
            return np.isin(values, self.listed)
        inside = (values >= self.low) & (values <= self.high)
        return inside & (np.rint(values) == values) if self.whole else inside


def _ends(values: ValueSet) -> tuple[float, float]:
    if isinstance(values, Finite):
        return (float(values.low or 0), float(values.high or 0))
    return _inner(values)


def _inner(interval: Interval) -> tuple[float, float]:
    """The least and greatest float32 in the interval; float64 ones where it holds no float32."""
    low = -np.inf if interval.low is None else float_above(interval.low)
    high = np.inf if interval.high is None else float_below(interval.high)
    with np.errstate(over="ignore"):
        single_low, single_high = np.float32(low), np.float32(high)
    if single_low < low:
        single_low = np.nextafter(single_low, np.float32(np.inf))
    if single_high > high:
        single_high = np.nextafter(single_high, np.float32(-np.inf))
    return (float(single_low), float(single_high)) if single_low <= single_high else (low, high)


class Sampler:
    """Draws and moves individuals of one domain and target."""

    def __init__(self, domain: Domain, target: Predicate, rng: np.random.Generator) -> None:
        self.rng = rng
        self.sets = narrow(domain, target)
        self.empty = any(values.count == 0 for values in self.sets)
        self.columns = [
            Column(values, ordered=isinstance(attribute.type, Integer | Real))
            for attribute, values in zip(domain.attributes, self.sets, strict=True)
        ]
        self._wanted = without_not(conjoin(domain.where, target))
        self._checked = [index for index, column in enumerate(self.columns) if not column.gapless]

    def inside(self, points: FloatArray) -> BoolArray:
        """Which points are individuals of domain and target, given values between each column's ends."""
        found = mask(self._wanted, {Who.EACH: points})
        for index in self._checked:
            found &= self.columns[index].contains(points[:, index])
        return found

    def draw(self, count: int) -> FloatArray:
        """At most ``count`` individuals; fewer where the target is hard to hit."""
        if self.empty:
            return np.empty((0, len(self.columns)))
        points = np.column_stack([column.draw(count, self.rng) for column in self.columns])
        for _ in range(_REPAIRS):
            failing = np.flatnonzero(~self.inside(points))
            if not failing.size:
                break
            points[failing] = repair(self._wanted, points[failing], self.columns, self.rng)
        kept: FloatArray = points[self.inside(points)]
        return kept
