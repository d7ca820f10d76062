"""Who has a violating partner, by counting partners along the axes of the grid.

Without a restriction on the ordered pair, the comparable partners of an individual form a product over
the attributes: the same value, a window of values, any value, any other value. So the number of partners
with a given decision is a sequence of sums along axes (a window by differences of cumulative sums), for
all individuals at once: ``all`` takes every axis's own value away, ``any`` only the individual's own
assignment. An individual with a partner of another decision is in a violation; no pair is visited.

How sure the model has to be of ``a`` and of ``b`` is asked of each individual by itself, so only the partners are
counted that can take the other's part: an individual is in a violation if it can be ``a`` and has a partner of
another decision that can be ``b``, or the other way round.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.enumerate.census import Census
from fairdsl.ir.expr import Who
from fairdsl.ir.question import Differ, Pair
from fairdsl.numerics.grid import Grid

BoolArray = NDArray[np.bool_]
CountArray = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Marks:
    """Per individual: in a violation, in an admissible pair, in a pair whose demand is undecided."""

    violating: BoolArray
    paired: BoolArray
    undecided: BoolArray


def mark_by_counting(census: Census, pair: Pair, decisions: NDArray[np.int16]) -> Marks:
    """Marks for a question about equal decisions without a target on the ordered pair."""
    admissible, grid = census.admissible, census.grid
    violating = np.zeros(grid.shape, dtype=np.bool_)
    if not grid.size:
        return Marks(violating, violating, violating)
    known = admissible & (decisions >= 0)
    parts = _parts(census, pair)
    for outcome in np.unique(decisions[known]).tolist():
        alike = known & (decisions == outcome)
        for mine, theirs in parts:
            partners = _partner_counts(alike & theirs, pair, grid)
            violating |= known & mine & (decisions != outcome) & (partners > 0)
    paired = _with_partners(admissible, admissible, parts, pair, grid)
    unknown = admissible & ~known
    for who in census.sure:
        unknown |= admissible & census.perhaps(who) & ~census.surely(who)
    if not unknown.any():
        return Marks(violating, paired, np.zeros_like(violating))
    possible = [(census.perhaps(mine), census.perhaps(theirs)) for mine, theirs in _orders(pair)]
    undecided = _with_partners(unknown, admissible, possible, pair, grid)
    undecided |= _with_partners(admissible, unknown, possible, pair, grid)
    return Marks(violating, paired, undecided)


def _orders(pair: Pair) -> tuple[tuple[Who, Who], ...]:
    """Which part an individual takes and which its partner; the second order only where it is another question."""
    return ((Who.A, Who.B), (Who.B, Who.A)) if pair.sure else ((Who.A, Who.B),)


def _parts(census: Census, pair: Pair) -> list[tuple[BoolArray, BoolArray]]:
    """For each order who can be the individual and who its partner."""
    return [(census.surely(mine), census.surely(theirs)) for mine, theirs in _orders(pair)]


def _with_partners(
    chosen: BoolArray, others: BoolArray, parts: list[tuple[BoolArray, BoolArray]], pair: Pair, grid: Grid
) -> BoolArray:
    """Which of the chosen have a comparable partner among the others, in some order."""
    found = np.zeros_like(chosen)
    for mine, theirs in parts:
        found |= chosen & mine & (_partner_counts(others & theirs, pair, grid) > 0)
    return found


def _partner_counts(chosen: BoolArray, pair: Pair, grid: Grid) -> CountArray:
    """For each individual the number of comparable partners among the chosen ones."""
    counts: CountArray = chosen.astype(np.int64)
    for relaxation in pair.relax:
        counts = _windowed(counts, grid, relaxation.attribute, relaxation.by)
    if pair.mode is Differ.EACH:
        for axis in pair.differ:
            counts = counts.sum(axis=axis, keepdims=True) - counts
        return counts
    return np.asarray(counts.sum(axis=pair.differ, keepdims=True) - counts, dtype=np.int64)


def _windowed(counts: CountArray, grid: Grid, axis: int, by: Fraction | None) -> CountArray:
    if by is None:
        return np.broadcast_to(counts.sum(axis=axis, keepdims=True), counts.shape)
    starts, stops = grid.window(axis, by)
    sums = np.concatenate([np.zeros_like(np.take(counts, [0], axis=axis)), np.cumsum(counts, axis=axis)], axis=axis)
    return np.asarray(np.take(sums, stops, axis=axis) - np.take(sums, starts, axis=axis), dtype=np.int64)
