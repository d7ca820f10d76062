"""Open boxes, the one of which most is open first: arrays that grow, of which the first rows are in use."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.rates.arithmetic import Masses

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


@dataclass(slots=True)
class Open:
    """Boxes that wait to be cut."""

    #: Ranges of atoms, the first and the one behind the last, [boxes, columns].
    start: IntArray
    stop: IntArray
    #: Which root they are parts of, [boxes].
    root: IntArray
    #: Their probabilities by the cells of the keys, [boxes, cells].
    mass: Masses
    #: Which part of the mass is favourable at least, and which is not, where the condition holds for certain; [boxes].
    least: FloatArray
    less: FloatArray
    #: Where they are cut, [boxes].
    column: IntArray
    at: IntArray
    #: How much of them is open, [boxes].
    priority: FloatArray
    #: Their numbers in the tree of boxes, where one is kept, [boxes].
    node: IntArray

    def __len__(self) -> int:
        return len(self.start)

    def rows(self, chosen: NDArray[np.int64] | NDArray[np.bool_] | slice) -> Open:
        """Some of them."""
        return Open(*(getattr(self, each.name)[chosen] for each in fields(self)))

    @classmethod
    def joined(cls, found: Sequence[Open]) -> Open:
        """All of them in one."""
        return cls(*(np.concatenate([getattr(each, one.name) for each in found]) for one in fields(cls)))


class Frontier:
    """Rows that are added, and taken by their priority."""

    def __init__(self, empty: Open) -> None:
        self._all, self._size = empty, 0

    def __len__(self) -> int:
        return self._size

    def by_priority(self) -> Open:
        """Copies of all of them, that of which most is open first."""
        return self._all.rows(np.argsort(-self._all.priority[: self._size], kind="stable"))

    @property
    def open(self) -> Open:
        """All of them, in no order."""
        return self._all.rows(slice(0, self._size))

    def add(self, more: Open) -> None:
        """Put boxes in."""
        size = self._size + len(more)
        if size > len(self._all):
            self._grow(max(1024, 2 * size))
        for each in fields(more):
            getattr(self._all, each.name)[self._size : size] = getattr(more, each.name)
        self._size = size

    def take(self, count: int) -> Open:
        """Take those of which most is open out."""
        size, left = self._size, max(0, self._size - count)
        chosen = np.arange(size)
        if left:
            chosen = np.sort(np.argpartition(self._all.priority[:size], left)[left:])
        taken = self._all.rows(chosen)
        holes = chosen[chosen < left]
        movers = np.setdiff1d(np.arange(left, size), chosen, assume_unique=True)
        for each in fields(self._all):
            rows = getattr(self._all, each.name)
            rows[holes] = rows[movers]
        self._size = left
        return taken

    def _grow(self, room: int) -> None:
        for each in fields(self._all):
            rows = getattr(self._all, each.name)
            larger = np.zeros((room, *rows.shape[1:]), dtype=rows.dtype)
            larger[: self._size] = rows[: self._size]
            setattr(self._all, each.name, larger)
