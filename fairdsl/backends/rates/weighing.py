"""Masses of many boxes of atoms at once, by the cells of the keys: variable elimination, the box as one more axis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.rates.arithmetic import Arithmetic, Masses
from fairdsl.backends.rates.boxes import Live, eliminated, elimination_order, width_of
from fairdsl.backends.rates.distribution import Distribution
from fairdsl.numerics.axes import Axis

__all__ = ["Weigher", "denominator_of"]

IntArray = NDArray[np.int64]

#: Entries of tables that are made at once.
_BATCH = 1 << 20
#: Weights below it are int64.
_FITS = 1 << 62


def denominator_of(distribution: Distribution, axes: Mapping[int, Axis]) -> int:
    """What the masses of boxes are whole numbers over."""
    return prod(distribution.scales) * prod(axes[column].denominator for column in distribution.sizes)


@dataclass(frozen=True, eq=False)
class _Cells:
    """A column's atoms by cells: the weights of the atoms before each, and where the cells begin and end."""

    column: int
    before: Masses
    first: IntArray
    last: IntArray
    denominator: int

    @classmethod
    def of(cls, column: int, axis: Axis, cells: int) -> _Cells:
        before = [0]
        for weight in axis.weights:
            before.append(before[-1] + weight)
        ranges = np.array([axis.range_of(cell) for cell in range(cells)], dtype=np.int64).reshape(-1, 2)
        kind = np.int64 if before[-1] < _FITS else object
        return cls(column, np.array(before, dtype=kind), ranges[:, 0], ranges[:, 1], axis.denominator)

    def inside(self, start: IntArray, stop: IntArray) -> Masses:
        """How much of each cell lies in ranges of atoms, over the denominator, [ranges, cells]; without rounding."""
        ends = np.clip(stop[:, None], self.first, self.last)
        return self.before[ends] - self.before[np.clip(start[:, None], self.first, self.last)]


class Weigher:
    """The masses of boxes in one kind of arithmetic."""

    def __init__(
        self, distribution: Distribution, axes: Mapping[int, Axis], keys: Sequence[int], arithmetic: Arithmetic
    ) -> None:
        self.arithmetic = arithmetic
        self._order, self._keys = elimination_order(distribution, keys), tuple(keys)
        self._shape = tuple(distribution.sizes[key] for key in keys)
        self._cells = [_Cells.of(column, axes[column], size) for column, size in distribution.sizes.items()]
        self._tables: Live = [
            (table.columns, arithmetic.numbers(np.asarray(table.numbers, dtype=object), scale)[None])
            for table, scale in zip(distribution.tables, distribution.scales, strict=True)
        ]
        for cells in self._cells:  # for what is counted of them
            arithmetic.numbers(np.diff(cells.before).astype(object), cells.denominator)
        arithmetic.roundings += sum(4 + size for size in distribution.sizes.values()) + len(self._tables)
        self._batch = max(1, _BATCH // max(1, width_of(distribution, keys)))

    @property
    def width(self) -> int:
        """How many cells the keys have together."""
        return prod(self._shape)

    def masses(self, start: IntArray, stop: IntArray) -> Masses:
        """The masses of boxes; ranges are [boxes, columns], the result [boxes, cells of the keys]."""
        parts = [
            self._masses(start[at : at + self._batch], stop[at : at + self._batch])
            for at in range(0, max(1, len(start)), self._batch)
        ]
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def _masses(self, start: IntArray, stop: IntArray) -> Masses:
        live = list(self._tables)
        for cells in self._cells:
            inside = cells.inside(start[:, cells.column], stop[:, cells.column])
            live.append(((cells.column,), self.arithmetic.shares(inside, cells.denominator)))
        found = eliminated(live, self._order, self._keys, self._shape)
        return np.broadcast_to(found, (len(start), *self._shape)).reshape(len(start), self.width)
