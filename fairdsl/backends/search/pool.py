"""The candidates that violate, as a frontier to expand and as a pool to vary."""

from __future__ import annotations

from heapq import heappop, heappush

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


class Pool:
    """Rows of candidates in the order in which they were found."""

    def __init__(self, width: int, rng: np.random.Generator) -> None:
        self._rows = np.empty((1024, width))
        self._rng = rng
        self._count = 0
        self._expanded = 0

    def __len__(self) -> int:
        return self._count

    @property
    def waiting(self) -> int:
        """How many were not taken for expansion yet."""
        return self._count - self._expanded

    def add(self, rows: FloatArray) -> None:
        """Enter new ones, in random order: a frontier taken in order would stay in one corner of the domain."""
        self._append(rows[self._rng.permutation(len(rows))])

    def _append(self, rows: FloatArray) -> None:
        needed = self._count + len(rows)
        if needed > len(self._rows):
            grown = np.empty((max(needed, 2 * len(self._rows)), self._rows.shape[1]))
            grown[: self._count] = self._rows[: self._count]
            self._rows = grown
        self._rows[self._count : needed] = rows
        self._count = needed

    def take(self, count: int) -> FloatArray:
        """The next counterexamples, at most ``count``, none of which was taken before."""
        end = min(self._count, self._expanded + count)
        taken = self._rows[self._expanded : end].copy()
        self._expanded = end
        return taken

    def some(self, count: int) -> FloatArray:
        """Some of them at random, with repetitions; ValueError if there are none."""
        if not self._count:
            raise ValueError("nothing is found yet")
        return self._rows[self._rng.integers(0, self._count, count)]


class NearestFirst(Pool):
    """Pool that are taken for expansion in the order of their distance from given rows."""

    def __init__(self, width: int, rng: np.random.Generator) -> None:
        super().__init__(width, rng)
        self._queue: list[tuple[float, int]] = []

    @property
    def waiting(self) -> int:
        """How many were not taken for expansion yet."""
        return len(self._queue)

    def enter(self, rows: FloatArray, distances: FloatArray) -> None:
        """Enter new counterexamples with their distances; of equal distances the earlier one is taken first."""
        start = len(self)
        self._append(rows)
        for place, distance in enumerate(distances.tolist(), start):
            heappush(self._queue, (distance, place))

    def take(self, count: int) -> FloatArray:
        """The nearest counterexamples, at most ``count``, none of which was taken before."""
        chosen = [heappop(self._queue)[1] for _ in range(min(count, len(self._queue)))]
        return self._rows[chosen]
