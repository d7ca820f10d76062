"""The product of finite value sets as a grid: flat indices, coordinates and arrays of points."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterator, Sequence
from fractions import Fraction
from math import floor, prod

import numpy as np
from numpy.typing import NDArray

from fairdsl.ir.domain import Point
from fairdsl.numerics.narrow import Finite

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


class Grid:
    """All points of the product, in row-major order: one axis an attribute, in the order of the domain.

    Every value must be a float64 number (see :meth:`representable`), so that arrays of points are exact.
    """

    def __init__(self, sets: Sequence[Finite]) -> None:
        self.sets = tuple(sets)
        self.shape = tuple(values.count for values in self.sets)
        self.size = prod(self.shape)
        self._floats = [np.array([float(v) for v in values.values], dtype=np.float64) for values in self.sets]

    @staticmethod
    def representable(values: Finite) -> bool:
        """Whether every value of the set is exactly a float64 number."""
        listed = values.values
        if isinstance(listed, range):
            return not listed or max(abs(listed[0]), abs(listed[-1])) <= 2**53
        return all(abs(Fraction(v)) <= 2**53 and Fraction(float(v)) == v for v in listed)

    def points(self, indices: IntArray, attributes: Collection[int] | None = None) -> FloatArray:
        """The points [n, attributes] at flat indices; only the columns asked for are meaningful."""
        # Columns are written and read one by one, so each is kept contiguous.
        found = np.empty((len(indices), len(self.shape)), order="F")
        rest = indices
        for axis in reversed(range(len(self.shape))):
            coordinates: IntArray | int = 0
            if self.shape[axis] > 1:
                rest, coordinates = np.divmod(rest, self.shape[axis])
            if attributes is None or axis in attributes:
                found[:, axis] = self._floats[axis][coordinates]
        return found

    def point(self, index: int) -> Point:
        """The exact point at a flat index."""
        coordinates = np.unravel_index(index, self.shape)
        return tuple(Fraction(s.values[int(c)]) for s, c in zip(self.sets, coordinates, strict=True))

    def chunks(self, rows: int) -> Iterator[IntArray]:
        """All flat indices, in order, at most ``rows`` at a time."""
        for start in range(0, self.size, rows):
            yield np.arange(start, min(start + rows, self.size), dtype=np.int64)

    def along(self, index: int, axes: Sequence[int]) -> IntArray:
        """Flat indices of all points that share the other coordinates with the one at ``index``."""
        coordinates = [np.array([c]) for c in np.unravel_index(index, self.shape)]
        for axis in axes:
            coordinates[axis] = np.arange(self.shape[axis])
        if not coordinates:
            return np.zeros(1, dtype=np.int64)
        flat: IntArray = np.ravel_multi_index(np.ix_(*coordinates), self.shape).ravel().astype(np.int64)
        return flat

    def window(self, axis: int, by: Fraction | None) -> tuple[IntArray, IntArray]:
        """For each value of the axis the positions [start, stop) of the values at most ``by`` away."""
        return window(self.sets[axis], by)


def window(values: Finite, by: Fraction | None) -> tuple[IntArray, IntArray]:
    """For each of the values the positions [start, stop) of those at most ``by`` away; None is any distance."""
    listed, count = values.values, values.count
    positions = np.arange(count, dtype=np.int64)
    if by is None:
        return np.zeros_like(positions), np.full_like(positions, count)
    if isinstance(listed, range) and listed.step == 1:
        reach = min(floor(by), count)
        return np.maximum(positions - reach, 0), np.minimum(positions + reach + 1, count)
    starts = [bisect_left(listed, value - by) for value in listed]
    stops = [bisect_right(listed, value + by) for value in listed]
    return np.array(starts, dtype=np.int64), np.array(stops, dtype=np.int64)
