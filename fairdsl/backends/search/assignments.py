"""The values that the differing attributes may take together: all of them, or a sample with the extreme ones."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.search.sampling import Column

FloatArray = NDArray[np.float64]


class Assignments:
    """Assignments of some columns: all if there are at most ``most``, otherwise ``sampled`` drawn anew each time."""

    def __init__(self, columns: Sequence[Column], *, most: int, sampled: int) -> None:
        self._columns, self._sampled = columns, sampled
        self._all = self._listed(most)

    def _listed(self, most: int) -> FloatArray | None:
        listed = [column.listed for column in self._columns]
        if any(values is None for values in listed):
            return None
        known = [values for values in listed if values is not None]
        if int(np.prod([len(values) for values in known])) > most:
            return None
        return np.array(list(product(*known)), dtype=np.float64)

    @property
    def complete(self) -> bool:
        """Whether every assignment is among them."""
        return self._all is not None

    @property
    def size(self) -> int:
        """How many there are at once."""
        return self._sampled if self._all is None else len(self._all)

    def take(self, rng: np.random.Generator) -> FloatArray:
        """The assignments [size, columns]; of a sample the first two are the lowest and the highest, where bounded."""
        if self._all is not None:
            return self._all
        drawn = np.column_stack([column.draw(self._sampled, rng) for column in self._columns])
        for row, end in ((0, "low"), (1, "high")):
            ends = np.array([getattr(column, end) for column in self._columns])
            drawn[row] = np.where(np.isfinite(ends), ends, drawn[row])
        return drawn
