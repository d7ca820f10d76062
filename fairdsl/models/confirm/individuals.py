"""Whom a file and its reading are compared on: corners, every value, both sides of borders, and many at random.

They are of the value sets of the domain's attributes; whom `where` leaves out is tried as well, for the file's reading
has to be right for them too. Where the domain has few individuals, they are all of them. Numbers that need not be whole
are float32 numbers, which a file is given as they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf

import numpy as np
from numpy.typing import NDArray

from fairdsl.ir.domain import Attribute, Domain, Real
from fairdsl.models.basis import Block, Dense

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

#: So many individuals are compared, of wide networks fewer, but so many at least, as need no more multiplications.
INDIVIDUALS, _FEWEST, _MULTIPLICATIONS = 2048, 128, 1 << 31
#: How far numbers go for which the domain has no end.
_FAR = 1000.0
#: Values that are tried one by one: of lists so many, of numbers those near the ends.
_LISTED, _BORDERS = 64, 512


def how_many(blocks: Sequence[Block]) -> int:
    """How many individuals are compared of a network of these blocks: a wide one computes the more of each."""
    arguments = [block.argument for block in blocks if block.argument is not None]
    weights = sum(part.matrix.size for each in arguments for part in each.parts.values() if isinstance(part, Dense))
    return min(INDIVIDUALS, max(_FEWEST, _MULTIPLICATIONS // max(weights, 1)))


def everybody(domain: Domain, most: int = INDIVIDUALS) -> FloatArray | None:
    """All individuals of the attributes' value sets, [n, attributes], where they are at most so many."""
    size = domain.size
    if size is None or size > most:
        return None
    values = [np.array(attribute.values, dtype=np.float64) for attribute in domain.attributes]
    grids = np.meshgrid(*values, indexing="ij") if values else []
    return np.stack([grid.reshape(-1) for grid in grids], axis=1) if grids else np.zeros((1, 0))


def spread(count: int, most: int) -> NDArray[np.int64]:
    """At most so many of the first ``count`` numbers, evenly spread."""
    return np.unique(np.linspace(0, count - 1, min(count, most)).astype(np.int64))


class Draw:
    """Draws individuals of a domain, the same ones every time."""

    def __init__(self, domain: Domain, borders: Mapping[int, Sequence[float]]) -> None:
        """``borders`` are numbers at which what was read compares an attribute, by its position."""
        self._random = np.random.default_rng(20)
        self._attributes = domain.attributes
        self._values = [_listed(attribute) for attribute in domain.attributes]
        self._ends = [_ends(attribute, borders.get(i, ())) for i, attribute in enumerate(domain.attributes)]
        self._borders = {index: self._beside(index, numbers) for index, numbers in borders.items()}

    def random(self, count: int) -> FloatArray:
        """So many individuals, each attribute by itself."""
        columns = [self.column(index, count) for index in range(len(self._attributes))]
        return np.stack(columns, axis=1) if columns else np.zeros((count, 0))

    def column(self, index: int, count: int) -> FloatArray:
        """So many values of an attribute: any of them alike, but at ends and borders more often."""
        low, high = self._ends[index]
        values = self._values[index]
        if values is not None:
            found = values[self._random.integers(0, len(values), count)]
        elif isinstance(self._attributes[index].type, Real):
            found = self._random.uniform(low, high, count)
        else:
            found = np.floor(self._random.uniform(low, high + 1, count))
        return self._inside(index, found)

    def ends(self, index: int) -> tuple[float, float]:
        """The least and the greatest value of an attribute."""
        return self._ends[index]

    def corners(self, count: int) -> FloatArray:
        """Individuals whose attributes are all at one end or the other, first all low and all high."""
        low, high = (np.array([end[side] for end in self._ends]) for side in (0, 1))
        chosen = self._random.integers(0, 2, (count, len(self._ends))).astype(np.bool_)
        chosen[:1], chosen[1:2] = False, True
        return self.inside(np.where(chosen, high, low))

    def each_value(self) -> FloatArray:
        """For every value of a list, and both sides of borders, somebody who has it."""
        found = []
        for index in range(len(self._attributes)):
            values = self._values[index]
            chosen = np.array(self._ends[index]) if values is None else values
            chosen = np.concatenate([self._some(chosen, _LISTED), self._some(self._borders.get(index), _BORDERS)])
            rows = self.random(len(chosen))
            rows[:, index] = chosen
            found.append(rows)
        rows = np.concatenate(found) if found else np.zeros((0, 0))
        return self._some(rows, INDIVIDUALS // 2)

    def changed(self, rows: FloatArray) -> FloatArray:
        """The rows with one attribute of each drawn again, or put to an end."""
        changed = rows.copy()
        which = self._random.integers(0, max(rows.shape[1], 1), len(rows))
        for index in range(rows.shape[1]):
            at = np.flatnonzero(which == index)
            drawn = self.column(index, len(at))
            side = self._random.integers(0, 4, len(at))
            drawn[side == 0], drawn[side == 1] = self._ends[index]
            changed[at, index] = drawn
        return self.inside(changed)

    def inside(self, rows: FloatArray) -> FloatArray:
        """The rows with every number at a value of its attribute."""
        for index in range(rows.shape[1]):
            rows[:, index] = self._inside(index, rows[:, index])
        return rows

    def _some(self, rows: FloatArray | None, most: int) -> FloatArray:
        if rows is None:
            return np.zeros(0)
        return rows if len(rows) <= most else rows[self._random.choice(len(rows), most, replace=False)]

    def _inside(self, index: int, numbers: FloatArray) -> FloatArray:
        """The nearest values of the attribute: of a list one of it, whole numbers, float32 numbers."""
        values = self._values[index]
        if values is not None:
            order = np.sort(values)
            place = np.clip(np.searchsorted(order, numbers), 1, max(len(order) - 1, 1))
            left, right = order[place - 1], order[np.minimum(place, len(order) - 1)]
            return np.where(numbers - left < right - numbers, left, right)
        low, high = self._ends[index]
        if not isinstance(self._attributes[index].type, Real):
            return np.clip(np.round(numbers), low, high)
        single = numbers.astype(np.float32)
        single = np.where(single < low, np.nextafter(single, np.float32(inf)), single)
        single = np.where(single > high, np.nextafter(single, np.float32(-inf)), single)
        return np.clip(single.astype(np.float64), low, high)

    def _beside(self, index: int, numbers: Sequence[float]) -> FloatArray:
        """Values of the attribute at, just below and just above the numbers."""
        at = np.array(sorted(set(numbers)), dtype=np.float64)
        if isinstance(self._attributes[index].type, Real):
            single = at.astype(np.float32)
            down, up = np.nextafter(single, np.float32(-inf)), np.nextafter(single, np.float32(inf))
            beside = np.concatenate([single, down, up]).astype(np.float64)
        else:
            beside = np.concatenate([np.floor(at), np.floor(at) + 1, np.ceil(at) - 1])
        low, high = self._ends[index]
        return np.unique(self._inside(index, beside[(beside >= low) & (beside <= high)]))


def _listed(attribute: Attribute) -> FloatArray | None:
    """The values of an attribute with few of them."""
    size = attribute.size
    values = attribute.values
    return None if values is None or size is None or size > _LISTED else np.array(values, dtype=np.float64)


def _ends(attribute: Attribute, borders: Sequence[float]) -> tuple[float, float]:
    """Finite ends of an attribute's values; where it has none, some way beyond all borders."""
    low, high = (None if end is None else float(end) for end in attribute.bounds)
    reach = max([_FAR, *(2 * abs(border) for border in borders)])
    if low is None:
        low = -reach if high is None else min(-reach, high - reach)
    return low, max(reach, low + reach) if high is None else high
