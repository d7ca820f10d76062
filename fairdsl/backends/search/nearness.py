"""How far individuals are from given ones, in the given data's own scale, and which row is the nearest.

The distance of two individuals is that of Wachter, Mittelstadt and Russell (*Counterfactual Explanations without
Opening the Black Box*, Harvard Journal of Law & Technology 31, 2018): a sum over attributes,

    d(x, r) = sum over numbers of |x_k - r_k| / MAD_k  +  the number of other attributes in which x and r differ,

where MAD_k is the median over all rows of the distance of attribute k from its median. Where more than half of the rows
have one value, MAD_k is 0; then the mean of those distances takes its place, and where all rows are alike the
attribute counts as one without an order: 0 where it is as in the data, 1 elsewhere.

The nearest row is exact, not approximate. All distances are first taken in float32, rounding included: with the scaled
numbers x, r of W attributes and S = sum of |x_k| + max |r_k|, conversion, subtraction and the W additions each err by
at most 2^-24 S, so the distance, or a sum of some of its terms, by no more than (W + 2) 2^-24 S (to first order). The
distance to any one row is a bound from above: rows beyond it by four times that error are out of the question, and the
others are compared in float64; of equal ones the first counts. That is tried after a third of the attributes and after
two: points near the data are then seen to be far from nearly all rows.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from fairdsl.ir.domain import Domain, Integer, Real

FloatArray = NDArray[np.float64]
SingleArray = NDArray[np.float32]
IntArray = NDArray[np.int64]

#: Points and rows that are compared at once: their distances fit into a core's own cache.
_POINTS, _ROWS = 8, 8192
#: After each of so many parts of the columns rows that are too far by now are left out, if no more than a part remains.
_STAGES, _FEW = 3, 0.02
_UNIT = 2.0**-24


def scales_of(rows: FloatArray, domain: Domain, attributes: Sequence[int]) -> FloatArray:
    """What a difference in each of these attributes is divided by, [w]; nan where only being equal counts."""
    return np.array([_scale(rows[:, index], domain, index) for index in attributes], dtype=np.float64)


def _scale(values: FloatArray, domain: Domain, index: int) -> float:
    if not isinstance(domain.attributes[index].type, Integer | Real):
        return np.nan
    apart = np.abs(values - np.median(values))
    scale = float(np.median(apart)) or float(apart.mean())
    return scale if 0.0 < scale < np.inf else np.nan


class Nearest:
    """Pool of many points the nearest of some rows; ``scales`` as :func:`scales_of` gives them."""

    def __init__(self, rows: FloatArray, scales: FloatArray) -> None:
        if not len(rows):
            raise ValueError("there are no rows to be near to")
        # Of equal rows the first is enough.
        self._first = np.sort(np.unique(rows, axis=0, return_index=True)[1])
        self._rows = rows[self._first]
        self._numbers, self._names = np.flatnonzero(~np.isnan(scales)), np.flatnonzero(np.isnan(scales))
        self._scales = scales[self._numbers]
        self._middle = np.median(self._rows, axis=0)
        self._values = [np.unique(self._rows[:, column]) for column in self._names.tolist()]
        with np.errstate(over="ignore"):
            self._single = np.ascontiguousarray(self._as_single(self._rows).T)
        self._reach = np.abs(self._single).max(axis=1, initial=0.0)
        self._unordered = frozenset(self._names.tolist())
        self._stages = np.array_split(self._by_spread(), _STAGES)

    def _by_spread(self) -> IntArray:
        """The columns, those first in which two rows are seldom near: they tell most rows from a point."""
        halves = np.roll(self._rows, max(1, len(self._rows) // 2), axis=0)
        with np.errstate(over="ignore", invalid="ignore"):
            single = np.abs(self._as_single(self._rows) - self._as_single(halves))
        apart = np.nan_to_num(np.minimum(single, np.float32(1.0)), nan=1.0).mean(axis=0)
        return np.asarray(np.argsort(-apart, kind="stable"), dtype=np.int64)

    def of(self, points: FloatArray) -> tuple[FloatArray, IntArray]:
        """The distance of each point [n, w] from the nearest row, and the row."""
        distances, nearest = np.empty(len(points)), np.empty(len(points), dtype=np.int64)
        block = np.empty((_POINTS, len(self._rows)), dtype=np.float32)
        with np.errstate(over="ignore", invalid="ignore"):
            for start in range(0, len(points), _POINTS):
                part = slice(start, min(start + _POINTS, len(points)))
                distances[part], nearest[part] = self._of_block(points[part], block[: part.stop - start])
        return distances, nearest

    def _of_block(self, points: FloatArray, block: SingleArray) -> tuple[FloatArray, IntArray]:
        single = self._as_single(points)
        size = np.abs(single).sum(axis=1, dtype=np.float64) + float(self._reach.sum(dtype=np.float64))
        margin = 4 * (single.shape[1] + 2) * _UNIT * size
        block[:] = 0.0
        everyone = np.arange(len(points))
        for columns in self._stages:
            self._add(columns, single, block)
            # Any row bounds the least distance from above; the one that is nearest so far does it well.
            bound = self._apart(points, self._rows[np.argmin(block, axis=1)])
            # What overflows in float32 is not above anything, and so among those that are compared in float64.
            limit = np.nextafter((bound + margin).astype(np.float32), np.float32(np.inf))
            far = block > limit[:, None]
            if far.size - np.count_nonzero(far) <= _FEW * far.size:
                break
        owners, rows = np.divmod(np.flatnonzero(~far), block.shape[1])
        exact = self._apart(points[owners], self._rows[rows])
        order = np.lexsort((rows, exact, owners))
        best = order[np.searchsorted(owners[order], everyone)]
        return exact[best], self._first[rows[best]]

    def _add(self, columns: IntArray, points: SingleArray, block: SingleArray) -> None:
        """Add to the distances of all rows what some columns contribute, in float32."""
        for start in range(0, block.shape[1], _ROWS):
            here = block[:, start : start + _ROWS]
            term = np.empty(here.shape, dtype=np.float32)
            for column in columns.tolist():
                np.subtract(points[:, column, None], self._single[column, start : start + _ROWS], out=term)
                np.abs(term, out=term)
                if column in self._unordered:
                    np.minimum(term, np.float32(1.0), out=term)
                np.add(here, term, out=here)

    def _as_single(self, points: FloatArray) -> SingleArray:
        """Numbers around the middle and in units of their scale; of the others the place among the rows' values.

        Places are whole numbers, so two of them are equal or at least 1 apart; -1 stands for a value of no row.
        """
        found = np.empty(points.shape, dtype=np.float32)
        found[:, self._numbers] = (points[:, self._numbers] - self._middle[self._numbers]) / self._scales
        for column, values in zip(self._names.tolist(), self._values, strict=True):
            places = np.minimum(np.searchsorted(values, points[:, column]), len(values) - 1)
            found[:, column] = np.where(values[places] == points[:, column], places, -1)
        return found

    def _apart(self, points: FloatArray, rows: FloatArray) -> FloatArray:
        """The distances of points and rows one by one, [n]."""
        numbers = np.abs(points[:, self._numbers] - rows[:, self._numbers]) / self._scales
        names = points[:, self._names] != rows[:, self._names]
        return np.asarray(numbers.sum(axis=1) + names.sum(axis=1), dtype=np.float64)
