"""Who has a violating partner, pair by pair: for targets on the ordered pair and for gaps of scores.

Individuals that can be partners share the values of all attributes that neither differ nor are relaxed.
So the grid is seen as a table, one row for each assignment of the shared attributes and one column for
each of the free ones; the comparable pairs of columns are the same in every row.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.contract import Budget, Observer
from fairdsl.backends.enumerate.census import UNSEEN, Census
from fairdsl.backends.enumerate.marks import Marks
from fairdsl.clock import Work, spend
from fairdsl.ir.expr import TRUE, Relation, Who, variables
from fairdsl.ir.model import Model
from fairdsl.ir.opaque import BlackBox
from fairdsl.ir.question import Differ, Pair, Relaxation, ScoreGap
from fairdsl.numerics.exact import Enclosed, enclosed_scores, gap_keeps, settled_gap
from fairdsl.numerics.grid import Grid
from fairdsl.numerics.predicates import mask
from fairdsl.numerics.rounding import float_above, float_below

__all__ = ["free_axes", "mark_by_pairs"]

BoolArray = NDArray[np.bool_]
IntArray = NDArray[np.int64]

#: What is counted where effort is given.
_PAIRS = Work("pairs compared", 0.02)
#: Pairs handled at once.
_BLOCK = 2**18
_UNIT_ROUNDOFF = 2.0**-53


def free_axes(pair: Pair) -> list[int]:
    """The attributes that need not be equal."""
    return sorted({*pair.differ, *(relaxation.attribute for relaxation in pair.relax)})


def mark_by_pairs(census: Census, pair: Pair, model: Model, budget: Budget, observer: Observer) -> Marks:
    """Marks for any question; pairs that the budget does not reach are undecided.

    Of a one-sided question those are marked whom its target names.
    """
    size = census.grid.size
    violating, paired, undecided = (np.zeros(size, dtype=np.bool_) for _ in range(3))
    ends = (Who.A, Who.B) if pair.one_sided is None else (pair.one_sided,)
    judge = _GapJudge(census, pair.demand, model) if isinstance(pair.demand, ScoreGap) else None
    named = {variable.attribute for variable in variables(pair.pair_target)}
    surely_a, surely_b = (census.surely(who).reshape(-1) for who in (Who.A, Who.B))
    perhaps_a, perhaps_b = (census.perhaps(who).reshape(-1) for who in (Who.A, Who.B))
    for done, a, b in _blocks(census, pair):
        if pair.pair_target != TRUE:
            points = {Who.A: census.grid.points(a, named), Who.B: census.grid.points(b, named)}
            inside = mask(pair.pair_target, points)
            a, b = a[inside], b[inside]
        if pair.sure:
            inside = perhaps_a[a] & perhaps_b[b]
            a, b = a[inside], b[inside]
        breaks, unknown = _decisions(census, a, b) if judge is None else judge.pairs(a, b, budget)
        spend(_PAIRS, len(a))
        if budget.exhausted:
            # Who has a partner at all is then not known either: everybody's demand is undecided.
            undecided[:] = True
            break
        admitted = np.ones(len(a), dtype=np.bool_)
        if pair.sure:
            # Where it stays open whether the pair counts, so does what it would break.
            admitted = surely_a[a] & surely_b[b]
            breaks, unknown = breaks & admitted, unknown | ~admitted
        for marked, chosen in ((paired, admitted), (violating, breaks), (undecided, unknown)):
            for end in ends:
                marked[(a if end is Who.A else b)[chosen]] = True
        observer.progress("pairs", done, "")
    if judge is not None:
        census.exactly += judge.exactly
    shape = census.grid.shape
    return Marks(violating.reshape(shape), paired.reshape(shape), undecided.reshape(shape) & census.admissible)


def _decisions(census: Census, a: IntArray, b: IntArray) -> tuple[BoolArray, BoolArray]:
    flat = census.decisions.reshape(-1)
    first, second = flat[a], flat[b]
    known = (first >= 0) & (second >= 0)
    return known & (first != second), ~known


def _blocks(census: Census, pair: Pair) -> Iterator[tuple[float, IntArray, IntArray]]:
    """Comparable ordered pairs of admissible individuals as flat indices, with the fraction done."""
    grid = census.grid
    if not census.admissible.any():
        return
    free = free_axes(pair)
    fixed = [axis for axis in range(len(grid.shape)) if axis not in free]
    columns = int(np.prod([grid.shape[axis] for axis in free], dtype=np.int64))
    table = np.arange(grid.size, dtype=np.int64).reshape(grid.shape).transpose([*fixed, *free])
    table = table.reshape(-1, columns)
    admissible = census.admissible.reshape(-1)[table]
    at_once = max(1, _BLOCK // columns)
    for start in range(0, columns, at_once):
        firsts = np.arange(start, min(start + at_once, columns))
        first, second = np.nonzero(_comparable(grid, pair, free, firsts, columns))
        first += start
        if not first.size:
            continue
        rows_at_once = max(1, _BLOCK // first.size)
        for row in range(0, len(table), rows_at_once):
            rows = slice(row, row + rows_at_once)
            present = admissible[rows][:, first] & admissible[rows][:, second]
            done = (start + len(firsts) * min(1.0, (row + rows_at_once) / len(table))) / columns
            yield done, table[rows][:, first][present], table[rows][:, second][present]


def _comparable(grid: Grid, pair: Pair, free: list[int], firsts: IntArray, columns: int) -> BoolArray:
    """[firsts, columns]: which pairs of free assignments are comparable."""
    shape = tuple(grid.shape[axis] for axis in free)
    left = dict(zip(free, np.unravel_index(firsts, shape), strict=True))
    right = dict(zip(free, np.unravel_index(np.arange(columns), shape), strict=True))
    apart = [left[axis][:, None] != right[axis][None, :] for axis in pair.differ]
    found = np.logical_and.reduce(apart) if pair.mode is Differ.EACH else np.logical_or.reduce(apart)
    for relaxation in pair.relax:
        found &= _within(grid, relaxation, left[relaxation.attribute], right[relaxation.attribute])
    return np.asarray(found, dtype=np.bool_)


def _within(grid: Grid, relaxation: Relaxation, left: IntArray, right: IntArray) -> BoolArray:
    starts, stops = grid.window(relaxation.attribute, relaxation.by)
    return (starts[left][:, None] <= right[None, :]) & (right[None, :] < stops[left][:, None])


class _GapJudge:
    """Compares gaps of scores with the limit: by error bounds, and exactly where they do not suffice."""

    def __init__(self, census: Census, demand: ScoreGap, model: Model) -> None:
        if census.scores is None or census.errors is None:
            raise ValueError("gaps need the census to keep scores")
        self._census, self._demand, self._model = census, demand, model
        self._scores, self._errors = census.scores.reshape(-1), census.errors.reshape(-1)
        self._unseen = census.decisions.reshape(-1)
        self._exact: dict[int, Enclosed] = {}
        self._below, self._above = float_below(demand.limit), float_above(demand.limit)

    def pairs(self, a: IntArray, b: IntArray, budget: Budget) -> tuple[BoolArray, BoolArray]:
        """For each pair whether it breaks the demand, and whether that is not known."""
        seen = (self._unseen[a] != UNSEEN) & (self._unseen[b] != UNSEEN)
        error = self._errors[a] + self._errors[b]
        with np.errstate(all="ignore"):
            gap = np.abs(self._scores[a] - self._scores[b])
            reach = np.abs(self._scores[a]) + np.abs(self._scores[b])
            # Scores without error are multiples of a common power of two, far from 2**53 of them
            # (numerics/evaluate.py), so their difference is exact as well.
            # Those of a black box are any floats, so there only the scores are without error.
            rounded = np.asarray((error > 0) | isinstance(self._model.opaque, BlackBox))
            slack = np.where(rounded, 2 * error + 8 * _UNIT_ROUNDOFF * reach, 0.0)
            above, below = gap - slack > self._above, gap + slack < self._below
            exact = ~rounded
            above |= exact & (gap >= self._above) & (gap != self._below)
            below |= exact & (gap <= self._below) & (gap != self._above)
            equal = exact & (gap == self._above) & (gap == self._below)
        breaks = above if self._demand.relation is Relation.LE else above | equal
        breaks &= seen
        unknown = ~seen
        doubtful = np.flatnonzero(seen & ~(above | below | equal))
        for count, position in enumerate(doubtful.tolist()):
            if count % 64 == 0 and budget.exhausted:
                break
            kept = self._keeps(int(a[position]), int(b[position]))
            breaks[position], unknown[position] = kept is False, kept is None
        return breaks, unknown

    def _keeps(self, a: int, b: int) -> bool | None:
        """Whether one pair keeps to the demand; None where that stays open."""
        relation, limit = self._demand.relation, self._demand.limit
        kept = gap_keeps(self._score(a), self._score(b), relation, limit)
        if kept is not None:
            return kept
        return settled_gap(self._model, (self._census.grid.point(a), self._census.grid.point(b)), relation, limit)

    def _score(self, index: int) -> Enclosed:
        if index not in self._exact:
            if self._errors[index] == 0:
                self._exact[index] = Enclosed((Fraction(float(self._scores[index])),), (Fraction(0),))
            else:
                self._exact[index] = enclosed_scores(self._model, self._census.grid.point(index))
        return self._exact[index]

    @property
    def exactly(self) -> int:
        """How many scores exact arithmetic had to compute."""
        return sum(1 for index in self._exact if self._errors[index] != 0)
