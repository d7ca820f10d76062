"""Scores of a structure: how well parents explain a column, in natural logarithms.

With N_jk the rows in cell k of the column whose parents have combination j, N_j their sum over k, r the number of
cells of the column and q the number of combinations of the parents' cells, both counting cells that occur:

* K2 (Cooper and Herskovits 1992): sum_j [lgamma(r) - lgamma(N_j + r) + sum_k lgamma(N_jk + 1)].
* BDeu (Heckerman, Geiger and Chickering 1995) with equivalent sample size s:
  sum_j [lgamma(s/q) - lgamma(N_j + s/q) + sum_k (lgamma(N_jk + s/(qr)) - lgamma(s/(qr)))].
* BIC (Schwarz 1978): sum_jk N_jk ln(N_jk / N_j) - ln(n) q (r - 1) / 2.

A score of a network is the sum over its columns. Combinations that do not occur add nothing to the sums.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import lgamma, log, prod

import numpy as np
from numpy.typing import NDArray

from fairdsl.populations.counts import CodeArray, numbered

#: Up to so many times the rows, keys are counted in a table of all; beyond, they are sorted.
_ROOM = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """What the scores read: the N_j and N_jk that are not 0, and r, q and s of the module's text."""

    rows: NDArray[np.intp]
    cells: NDArray[np.intp]
    size: int
    combinations: int
    equivalent_sample_size: float


class FamilyScore:
    """The score of one column with given parents, remembered; ``codes`` are the rows' cells, [rows, columns]."""

    def __init__(self, codes: CodeArray, score: str, equivalent_sample_size: float) -> None:
        self._codes = [numbered(column) for column in codes.T]
        self._sizes = [int(column.max()) + 1 for column in self._codes]
        self._score = SCORES[score]
        self._equivalent_sample_size = equivalent_sample_size
        self._known: dict[tuple[int, frozenset[int]], float] = {}

    def __call__(self, column: int, parents: frozenset[int]) -> float:
        """The column's share of the network's score."""
        key = (column, parents)
        if key not in self._known:
            self._known[key] = self._score(self._family(column, sorted(parents)))
        return self._known[key]

    def _family(self, column: int, parents: Sequence[int]) -> Family:
        keys, size = np.zeros(len(self._codes[column]), dtype=np.intp), 1
        for parent in parents:
            if size > _ROOM * len(keys):
                # Numbered anew, there are no more keys than rows, and they never outgrow their type.
                keys = numbered(keys)
                size = int(keys.max()) + 1
            keys = keys * self._sizes[parent] + self._codes[parent]
            size *= self._sizes[parent]
        return Family(
            rows=_occurring(keys),
            cells=_occurring(keys * self._sizes[column] + self._codes[column]),
            size=self._sizes[column],
            combinations=prod(self._sizes[parent] for parent in parents),
            equivalent_sample_size=self._equivalent_sample_size,
        )


def _occurring(keys: NDArray[np.intp]) -> NDArray[np.intp]:
    """How often each key occurs that does."""
    if int(keys.max()) <= _ROOM * len(keys):
        counts = np.bincount(keys)
        return counts[counts > 0]
    return np.unique(keys, return_counts=True)[1]


def _k2(family: Family) -> float:
    of_rows = len(family.rows) * lgamma(family.size) - _lgamma_sum(family.rows, family.size)
    return of_rows + _lgamma_sum(family.cells, 1)


def _bdeu(family: Family) -> float:
    row = family.equivalent_sample_size / family.combinations
    cell = row / family.size
    of_rows = len(family.rows) * lgamma(row) - _lgamma_sum(family.rows, row)
    return of_rows + _lgamma_sum(family.cells, cell) - len(family.cells) * lgamma(cell)


def _bic(family: Family) -> float:
    likelihood = _entropy_sum(family.cells) - _entropy_sum(family.rows)
    return likelihood - log(int(family.rows.sum())) / 2 * family.combinations * (family.size - 1)


def _lgamma_sum(counts: NDArray[np.intp], more: float) -> float:
    """The sum of lgamma(count + more); counts repeat, so each distinct one is computed once."""
    distinct, times = np.unique(counts, return_counts=True)
    return sum(
        lgamma(float(count) + more) * int(time) for count, time in zip(distinct.tolist(), times.tolist(), strict=True)
    )


def _entropy_sum(counts: NDArray[np.intp]) -> float:
    """The sum of count ln(count)."""
    return float((counts * np.log(counts)).sum())


#: By their names in `set score`; the first one is taken where none is written.
SCORES: dict[str, Callable[[Family], float]] = {"bic": _bic, "k2": _k2, "bdeu": _bdeu}
