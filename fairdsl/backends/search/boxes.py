"""Boxes of shared parts: a range of each number, some values of each name; their size, their members, random ones.

A box is what a reader can take in: ``age = 25 .. 40, job = clerk | cook``. It is a product of sets of values, before
``where`` and the target, and so its size is exact wherever the attributes are finite.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import prod

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.search.sampling import Column

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Span:
    """The values of an ordered attribute from ``low`` to ``high``, both included."""

    low: float
    high: float

    def contains(self, values: FloatArray) -> BoolArray:
        """Which values lie in it, of those that the attribute has."""
        return (values >= self.low) & (values <= self.high)

    def meets(self, other: Side) -> bool:
        """Whether some number lies in both."""
        return isinstance(other, Span) and self.low <= other.high and other.low <= self.high

    def count(self, column: Column) -> int | None:
        """How many values of the attribute lie in it; None of reals."""
        if not column.whole:
            return 1 if self.low == self.high else None
        if column.listed is None:
            return int(self.high - self.low) + 1
        return int(self.contains(column.listed).sum())

    def values(self, column: Column) -> FloatArray:
        """All of them, where they are counted."""
        if not column.whole:
            return np.array([self.low])
        if column.listed is None:
            return np.arange(self.low, self.high + 1)
        return column.listed[self.contains(column.listed)]

    def draw(self, column: Column, count: int, rng: np.random.Generator) -> FloatArray:
        """Uniform values; of reals the nearest ones that the search writes down."""
        if not column.whole:
            drawn = column.settle(self.low + (self.high - self.low) * rng.random(count))
            return np.asarray(np.clip(drawn, self.low, self.high), dtype=np.float64)
        if column.listed is None:
            return rng.integers(int(self.low), int(self.high), count, endpoint=True).astype(np.float64)
        values = self.values(column)
        return values[rng.integers(0, len(values), count)]


@dataclass(frozen=True, slots=True)
class Names:
    """Some values of an attribute without an order, ascending."""

    chosen: tuple[float, ...]

    def contains(self, values: FloatArray) -> BoolArray:
        """Which values are among them."""
        return np.isin(values, self.chosen)

    def meets(self, other: Side) -> bool:
        """Whether they have a value in common."""
        return isinstance(other, Names) and not set(self.chosen).isdisjoint(other.chosen)

    def count(self, _: Column) -> int:
        """How many there are."""
        return len(self.chosen)

    def values(self, _: Column) -> FloatArray:
        """All of them."""
        return np.array(self.chosen, dtype=np.float64)

    def draw(self, _: Column, count: int, rng: np.random.Generator) -> FloatArray:
        """Uniform values."""
        return self.values(_)[rng.integers(0, len(self.chosen), count)]


Side = Span | Names


@dataclass(frozen=True, slots=True)
class Box:
    """A side for each coordinate of a space."""

    sides: tuple[Side, ...]

    @classmethod
    def around(cls, row: Sequence[float], columns: Sequence[Column]) -> Box:
        """The box of one candidate."""
        return cls(
            tuple(
                Span(value, value) if column.ordered else Names((value,))
                for value, column in zip(row, columns, strict=True)
            )
        )

    def with_side(self, position: int, side: Side) -> Box:
        """The same with another side."""
        return replace(self, sides=(*self.sides[:position], side, *self.sides[position + 1 :]))

    def contains(self, rows: FloatArray) -> BoolArray:
        """Which rows [n, w] lie in it."""
        found = np.ones(len(rows), dtype=np.bool_)
        for position, side in enumerate(self.sides):
            found &= side.contains(rows[:, position])
        return found

    def meets(self, other: Box) -> bool:
        """Whether the two overlap."""
        return all(mine.meets(its) for mine, its in zip(self.sides, other.sides, strict=True))

    def count(self, columns: Sequence[Column]) -> int | None:
        """How many candidates it holds, before conditions; None where reals vary."""
        counts = [side.count(column) for side, column in zip(self.sides, columns, strict=True)]
        return None if None in counts else prod(count for count in counts if count is not None)

    def some(self, columns: Sequence[Column], count: int, rng: np.random.Generator) -> FloatArray:
        """All its candidates if there are at most ``count``, else so many at random, uniformly; [n, w]."""
        held = self.count(columns)
        if held is not None and held <= count:
            listed = [side.values(column).tolist() for side, column in zip(self.sides, columns, strict=True)]
            return np.array(list(product(*listed)), dtype=np.float64).reshape(held, len(columns))
        return self.draw(columns, count, rng)

    def draw(self, columns: Sequence[Column], count: int, rng: np.random.Generator) -> FloatArray:
        """So many candidates at random, uniformly, [n, w]."""
        drawn = [side.draw(column, count, rng) for side, column in zip(self.sides, columns, strict=True)]
        return np.column_stack(drawn) if drawn else np.empty((count, 0))
