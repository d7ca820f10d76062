"""Given rows in a search: individuals to begin with, to draw around, and to measure counterexamples by.

Rows outside the domain are for the caller to leave out. Rows outside the target are nobody to begin with, but people
all the same: counterexamples may be near them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.search.nearness import Nearest, scales_of
from fairdsl.backends.search.sampling import Sampler
from fairdsl.ir.domain import Domain, Real
from fairdsl.ir.question import Pair
from fairdsl.numerics.rounding import float_above, float_below

__all__ = ["Given", "as_deployed"]

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
IntArray = NDArray[np.int64]


def as_deployed(rows: FloatArray, domain: Domain) -> FloatArray:
    """The rows with real values as float32 numbers, as a deployed file reads them, where the domain has them."""
    found = rows.copy()
    for index, attribute in enumerate(domain.attributes):
        if isinstance(attribute.type, Real):
            with np.errstate(over="ignore"):
                rounded = rows[:, index].astype(np.float32).astype(np.float64)
            low, high = attribute.bounds
            inside = np.isfinite(rounded)
            inside &= rounded >= (-np.inf if low is None else float_above(low))
            inside &= rounded <= (np.inf if high is None else float_below(high))
            found[:, index] = np.where(inside, rounded, rows[:, index])
    return found


class Given:
    """The rows [n, attributes] of one question."""

    def __init__(self, rows: FloatArray, domain: Domain, pair: Pair, sampler: Sampler) -> None:
        self._shared = [index for index in range(rows.shape[1]) if index not in pair.differ]
        self._sampler = sampler
        self.rows = as_deployed(rows, domain)
        self.scales = scales_of(self.rows, domain, self._shared)
        self._nearest = Nearest(self.rows[:, self._shared], self.scales)
        #: Those in the target, as far as its ranges tell: the search begins with them.
        self.people = self.rows[self._inside(pair)]
        self._free = [index for index in self._shared if not sampler.columns[index].single]

    def _inside(self, pair: Pair) -> BoolArray:
        """Which rows have values that the target leaves.

        Without relaxations the values of differing attributes are replaced by all others, so they do not matter.
        """
        found = np.full(len(self.rows), not self._sampler.empty)
        for index in range(self.rows.shape[1]) if pair.relax else self._shared:
            found &= self._sampler.columns[index].contains(self.rows[:, index])
        return found

    def scale(self, attribute: int) -> float:
        """What a difference in an attribute is divided by; nan where only being equal counts, or it does not count."""
        return float(self.scales[self._shared.index(attribute)]) if attribute in self._shared else np.nan

    def nearest(self, a: FloatArray, b: FloatArray) -> tuple[FloatArray, IntArray]:
        """The distance of each pair from the nearest row, and the row: of the two the one that is nearer.

        Attributes in ``differ`` do not count. Without relaxations the two are alike in all the others.
        """
        of_a, of_b = a[:, self._shared], b[:, self._shared]
        distances, rows = self._nearest.of(of_a)
        apart = np.flatnonzero((of_a != of_b).any(axis=1))
        others, rows_of_others = self._nearest.of(of_b[apart])
        nearer = others < distances[apart]
        distances[apart[nearer]], rows[apart[nearer]] = others[nearer], rows_of_others[nearer]
        return distances, rows

    def draw(self, count: int) -> FloatArray:
        """People around those given: one at random, with one attribute or more moved by a random step.

        The number of moved attributes is geometric: one in half of the draws, two in a quarter. Whoever the step
        leads out of the target is left out.
        """
        rng, columns = self._sampler.rng, self._sampler.columns
        if not len(self.people) or not self._free:
            return self._sampler.draw(count)
        drawn = self.people[rng.integers(0, len(self.people), count)]
        moves = np.minimum(rng.geometric(0.5, count), len(self._free))
        ranks = np.argsort(rng.random((count, len(self._free))), axis=1)
        for place, index in enumerate(self._free):
            mine = np.flatnonzero(ranks[:, place] < moves)
            drawn[mine, index] = columns[index].step(drawn[mine, index], rng)
        return drawn
