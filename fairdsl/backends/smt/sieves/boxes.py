"""Many boxes at once: for each attribute the distinct value sets, and for each box which of them it takes.

So whatever depends on the values of an attribute is computed once for every distinct set, and is a table
to look up for a thousand boxes; partitions of a grid share a handful of sets.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fairdsl.ir.domain import Point
from fairdsl.numerics.narrow import ValueSet

__all__ = ["Box", "Boxes", "has_unit_of"]

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
