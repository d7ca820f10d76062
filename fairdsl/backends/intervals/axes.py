"""Axes: the attributes that two compared individuals share, as positions from 0.

Integers and codes that a network reads as they are form a lattice. What it reads through indicators has a
table, one column a position. Reals are cut into equally long cells.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.intervals.task import AttributeKind
from fairdsl.numerics.products import product

#: numpy's object arrays: elements are Python ``int`` or ``Fraction``.
ObjectArray = NDArray[Any]

#: Tables up to this size are sorted by what they contribute; longer ones keep the order of their values.
_SORTED = 256
#: Numbers up to it are squared and added without overflow.
_LARGE = 2**500


@dataclass(frozen=True, kw_only=True, eq=False)
class Axis:
    """One shared attribute; None: the differing attributes' assignment, where individuals are counted.

    Position p of a lattice is ``start + p * step``, of a table ``values[p]``, and the cell from
    ``start + p * step`` to ``start + (p + 1) * step`` for reals. ``columns`` are [coordinates, units], exact.
    """

    attribute: int | None
    kind: AttributeKind
    size: int
    start: Fraction
    step: Fraction
    values: tuple[int | Fraction, ...] | None
    columns: ObjectArray

    @property
    def real(self) -> bool:
        """Whether positions are cells."""
        return self.kind is AttributeKind.REAL

    def value(self, position: int) -> Fraction:
        """The value at a position; the middle of a cell."""
        if self.values is not None:
            return Fraction(self.values[position])
        return self.start + self.step * (Fraction(2 * position + 1, 2) if self.real else position)

    @property
    def denominator(self) -> int:
        """All values, and all ends of cells, are multiples of one over this."""
        if self.values is None:
            return lcm(self.start.denominator, self.step.denominator)
        return lcm(*(Fraction(value).denominator for value in self.values))

    def among(self, values: frozenset[Fraction]) -> NDArray[np.int64]:
        """The positions whose value is one of these, ascending; not for reals."""
        if self.values is not None:
            return np.flatnonzero([value in values for value in self.values]).astype(np.int64)
        places = ((value - self.start) / self.step for value in values)
        return np.array(sorted(int(p) for p in places if p.denominator == 1 and 0 <= p < self.size), dtype=np.int64)

    def numerators(self, denominator: int) -> Numerators:
        """The values as integers over a multiple of the axis's denominator."""
        if self.values is None:
            return Numerators(int(self.start * denominator), int(self.step * denominator), None, self.real)
        listed = np.array([int(Fraction(value) * denominator) for value in self.values], dtype=object)
        return Numerators(0, 0, listed, False)


@dataclass(frozen=True, eq=False)
class Numerators:
    """An axis's values as integers: the least and the greatest over ranges of positions."""

    start: int
    step: int
    listed: ObjectArray | None
    real: bool

    def reach(self, size: int) -> int:
        """The largest magnitude."""
        if self.listed is not None:
            return int(np.abs(self.listed).max())
        return max(abs(self.start), abs(self.start + self.step * size))

    def ends(self, low: NDArray[np.int64], high: NDArray[np.int64], kind: type) -> tuple[ObjectArray, ObjectArray]:
        """The least and the greatest value at positions ``low`` to ``high``; ``kind`` is object or int64."""
        if self.listed is None:
            first: ObjectArray = self.start + self.step * low.astype(kind)
            last: ObjectArray = self.start + self.step * (high.astype(kind) + int(self.real))
            return first, last
        if self._ascending:
            return self.listed[low].astype(kind), self.listed[high].astype(kind)
        least, most = self._extremes
        return least[low, high].astype(kind), most[low, high].astype(kind)

    @cached_property
    def _ascending(self) -> bool:
        assert self.listed is not None, "only lists have an order"
        return bool(np.all(self.listed[:-1] <= self.listed[1:]))

    @cached_property
    def _extremes(self) -> tuple[ObjectArray, ObjectArray]:
        """[low, high]: the least and greatest of the listed values there."""
        assert self.listed is not None, "a progression has its ends at its ends"
        size = len(self.listed)
        least = np.zeros((size, size), dtype=object)
        most = np.zeros((size, size), dtype=object)
        for low in range(size):
            least[low, low:] = np.minimum.accumulate(self.listed[low:])
            most[low, low:] = np.maximum.accumulate(self.listed[low:])
        return least, most


def lattice(attribute: int | None, start: Fraction, step: Fraction, size: int, column: ObjectArray) -> Axis:
    """Equally spaced values that are read as numbers, or not at all; ``column`` is of one step."""
    return Axis(
        attribute=attribute,
        kind=AttributeKind.LATTICE,
        size=size,
        start=start,
        step=step,
        values=None,
        columns=column.reshape(1, -1),
    )


def cells(attribute: int, low: Fraction, high: Fraction, count: int, slope: ObjectArray) -> Axis:
    """A bounded real attribute in equal cells; ``slope`` is the contribution of one unit of length."""
    step = (high - low) / count
    return Axis(
        attribute=attribute,
        kind=AttributeKind.REAL,
        size=count,
        start=low,
        step=step,
        values=None,
        columns=(slope * step).reshape(1, -1),
    )


def table(attribute: int, values: Sequence[int | Fraction], columns: ObjectArray, *, sort: bool) -> Axis:
    """One column a value; sorted by what they contribute, so that ranges of positions are alike."""
    order = _by_contribution(columns) if sort and len(values) <= _SORTED else list(range(len(values)))
    return Axis(
        attribute=attribute,
        kind=AttributeKind.TABLE,
        size=len(values),
        start=Fraction(0),
        step=Fraction(0),
        values=tuple(values[position] for position in order),
        columns=columns[order],
    )


def _by_contribution(columns: ObjectArray) -> list[int]:
    """Positions along the direction in which the contributions vary most; any order is sound."""
    # The numerators may be longer than any float; only their proportions count.
    unit = max((abs(Fraction(number)) for number in columns.ravel().tolist()), default=Fraction(0))
    rows = (columns / unit).astype(np.float64) if unit > _LARGE else columns.astype(np.float64)
    rows = rows - rows.mean(axis=0)
    largest = np.abs(rows).max(initial=0.0)
    if not np.isfinite(largest) or largest == 0.0:
        return list(range(len(columns)))
    _, _, directions = np.linalg.svd(rows / largest, full_matrices=False)
    # The last digits are the processor's.
    order: list[int] = np.argsort(np.round(product(rows / largest, directions[0]), 9), kind="stable").tolist()
    return order
