"""Which columns of a box are independent of all others there, and how each of them is distributed.

On a box a column is independent if in none of its tables another column has more than one cell left.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.rates.distribution import Distribution
from fairdsl.numerics.axes import Axis

__all__ = ["Chances", "Independent"]

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]
#: By column the probabilities of the atoms of a box, each with an error of some roundings; None where all are 0.
Chances = dict[int, FloatArray | None]


class Independent:
    """The tables of a distribution as floats, and what they say of single columns."""

    def __init__(self, distribution: Distribution, axes: Mapping[int, Axis]) -> None:
        self._cells = {column: axes[column].cells for column in distribution.sizes}
        self._weights = {
            column: np.array([weight / axes[column].denominator for weight in axes[column].weights])
            for column in distribution.sizes
        }
        self._tables = [
            (table.columns, np.asarray(table.numbers / scale, dtype=np.float64))
            for table, scale in zip(distribution.tables, distribution.scales, strict=True)
            if table.columns
        ]

    def chances(self, start: IntArray, stop: IntArray) -> Chances:
        """The independent columns of a box, whose ranges are [columns]."""
        cells = {column: own[start[column] : stop[column]] for column, own in self._cells.items()}
        wide = {column for column, own in cells.items() if own[0] != own[-1]}
        bound = set[int]()
        for columns, _ in self._tables:
            several = wide.intersection(columns)
            bound |= several if len(several) > 1 else set()
        found: Chances = {}
        for column, own in cells.items():
            if column in bound:
                continue
            masses = self._weights[column][start[column] : stop[column]]
            # Within one cell the tables say nothing of the atoms; a wider column is alone in each of its tables.
            for columns, numbers in self._tables if column in wide else ():
                if column in columns:
                    masses = masses * numbers[tuple(own if each == column else cells[each][0] for each in columns)]
            whole = float(masses.sum())
            found[column] = masses / whole if whole else None
        return found
