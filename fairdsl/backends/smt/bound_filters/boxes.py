"""Many boxes at once: for each attribute the distinct value sets, and for each box which of them it takes.

So whatever depends on the values of an attribute is computed once for every distinct set, and is a table
to look up for a thousand boxes; partitions of a grid share a handful of sets. :class:`Draw` takes random values of an
attribute for many rows, each from a set of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from fairdsl.ir.domain import Point
from fairdsl.numerics.narrow import Finite, ValueSet
from fairdsl.numerics.rounding import float_above, float_below

#: The values of each attribute, in the order of the domain.
Box = tuple[ValueSet, ...]

IntArray = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Boxes:
    """Box ``p`` takes the set ``sets[attribute][codes[p, attribute]]`` of each attribute."""

    sets: tuple[tuple[ValueSet, ...], ...]
    codes: IntArray

    def __len__(self) -> int:
        return len(self.codes)

    @classmethod
    def of(cls, boxes: Sequence[Box]) -> Boxes:
        """Any boxes over the same attributes; at least one."""
        columns = [list(dict.fromkeys(column)) for column in zip(*boxes, strict=True)]
        places = [{values: place for place, values in enumerate(column)} for column in columns]
        codes = [[place[values] for place, values in zip(places, box, strict=True)] for box in boxes]
        return cls(tuple(tuple(column) for column in columns), np.array(codes, dtype=np.int64))

    def box(self, place: int) -> Box:
        """One of the boxes."""
        return tuple(sets[code] for sets, code in zip(self.sets, self.codes[place].tolist(), strict=True))

    def subset(self, places: IntArray) -> Boxes:
        """Some of the boxes."""
        return Boxes(self.sets, self.codes[places])

    def tabulated(
        self, attributes: Sequence[int], value: Callable[[tuple[ValueSet, ...]], tuple[float, float]]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """``value`` of the sets of some attributes, box by box: two numbers each, as two arrays [boxes]."""
        if not attributes:
            low, high = value(())
            return np.full(len(self), low), np.full(len(self), high)
        distinct, where = np.unique(self.codes[:, list(attributes)], axis=0, return_inverse=True)
        table = np.array(
            [
                value(tuple(self.sets[attribute][code] for attribute, code in zip(attributes, row, strict=True)))
                for row in distinct.tolist()
            ]
        )
        return table[where.ravel(), 0], table[where.ravel(), 1]


def has_unit_of(box: Box, a: Point, differ: Collection[int]) -> bool:
    """Whether the unit of ``a`` lies in the box: all its values but those of the attributes that ``differ``."""
    return all(index in differ or values.contains(a[index]) for index, values in enumerate(box))


FloatArray = NDArray[np.float64]


class Draw:
    """Random values of an attribute that takes a set of its own in every row: ``sets[code]``."""

    def __init__(self, sets: Sequence[ValueSet]) -> None:
        self._whole = isinstance(sets[0], Finite)
        self._low = np.array([-np.inf if one.low is None else float_above(one.low) for one in sets])
        self._high = np.array([np.inf if one.high is None else float_below(one.high) for one in sets])
        self._counts = np.array([one.count if isinstance(one, Finite) else 0 for one in sets], dtype=np.int64)
        self._table: FloatArray | None = None
        if any(isinstance(one, Finite) and not isinstance(one.values, range) for one in sets):
            self._table = np.zeros((len(sets), int(self._counts.max())))
            for row, one in enumerate(sets):
                assert isinstance(one, Finite)
                self._table[row, : one.count] = [float(value) for value in one.values]

    def values(self, codes: IntArray, rng: np.random.Generator) -> FloatArray:
        """Uniform values; over many magnitudes where an interval has no end."""
        if self._whole:
            return self._at(codes, rng.integers(0, np.maximum(self._counts[codes], 1)))
        low, high = self._low[codes], self._high[codes]
        bounded = np.isfinite(low) & np.isfinite(high)
        start = np.where(np.isfinite(low), low, np.where(np.isfinite(high), high, 0.0))
        with np.errstate(invalid="ignore"):
            inside = low + (high - low) * rng.random(len(codes))
        anywhere = start + rng.standard_normal(len(codes)) * 10.0 ** rng.uniform(-2, 5, len(codes))
        return self._representable(np.where(bounded, inside, anywhere), low, high)

    def moved(self, values: FloatArray, codes: IntArray, rng: np.random.Generator) -> FloatArray:
        """A step at some scale, or for half of the rows a fresh value."""
        fresh = self.values(codes, rng)
        if self._table is not None:
            return fresh
        low, high = self._low[codes], self._high[codes]
        span = np.where(np.isfinite(high - low), high - low, 1e4)
        scale = np.exp(rng.random(len(values)) * np.log(np.maximum(span, 2.0)))
        stepped = values + rng.choice((-1.0, 1.0), len(values)) * (np.rint(scale) if self._whole else scale)
        stepped = np.clip(stepped, low, high) if self._whole else self._representable(stepped, low, high)
        ends = np.where(rng.random(len(values)) < 0.5, low, high)
        chosen = np.where(rng.random(len(values)) < 0.5, stepped, fresh)
        return np.where((rng.random(len(values)) < 0.1) & np.isfinite(ends), ends, chosen)

    def near(self, values: FloatArray, by: Fraction | None, rng: np.random.Generator) -> FloatArray:
        """Values at most ``by`` away, mostly at the ends of what is allowed; any where ``by`` is None."""
        codes = np.zeros(len(values), dtype=np.int64)
        if by is None or self._table is not None:
            return self.values(codes, rng)
        reach = float_below(by)
        step = (
            reach
            * rng.choice((-1.0, 1.0), len(values))
            * np.where(rng.random(len(values)) < 0.7, 1.0, rng.random(len(values)))
        )
        low, high = np.maximum(self._low[0], values - reach), np.minimum(self._high[0], values + reach)
        if self._whole:
            return np.clip(np.trunc(values + step), np.ceil(low), np.floor(high))
        return self._representable(values + step, low, high)

    def _at(self, codes: IntArray, places: IntArray) -> FloatArray:
        if self._table is not None:
            return np.asarray(self._table[codes, places], dtype=np.float64)
        return np.asarray(self._low[codes] + places, dtype=np.float64)

    @staticmethod
    def _representable(values: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
        """float32 numbers where one lies within the ends, since deployed files read no others."""
        single = values.astype(np.float32).astype(np.float64)
        return np.where((single >= low) & (single <= high), single, np.clip(values, low, high))
