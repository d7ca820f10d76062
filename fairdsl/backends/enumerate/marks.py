"""Who has a violating partner, by counting partners along the axes of the grid.

Without a restriction on the ordered pair, the comparable partners of an individual form a product over
the attributes: the same value, a window of values, any value, any other value. So the number of partners
with a given decision is a sequence of sums along axes (a window by differences of cumulative sums), for
all individuals at once: ``all`` takes every axis's own value away, ``any`` only the individual's own
assignment. An individual with a partner of another decision is in a violation; no pair is visited.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.enumerate.census import Census
from fairdsl.ir.question import Differ, Pair
from fairdsl.numerics.grid import Grid

__all__ = ["Marks", "mark_by_counting"]

BoolArray = NDArray[np.bool_]
CountArray = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Marks:
    """Per individual: in a violation, in an admissible pair, in a pair whose demand is undecided."""

    violating: BoolArray
    paired: BoolArray
    undecided: BoolArray


def mark_by_counting(census: Census, pair: Pair, decisions: NDArray[np.int16]) -> Marks:
    """Marks for a question about equal decisions with symmetric pairs."""
    admissible, grid = census.admissible, census.grid
    violating = np.zeros(grid.shape, dtype=np.bool_)
    if not grid.size:
        return Marks(violating, violating, violating)
    known = admissible & (decisions >= 0)
    for outcome in np.unique(decisions[known]).tolist():
        partners = _partner_counts(known & (decisions == outcome), pair, grid)
        violating |= known & (decisions != outcome) & (partners > 0)
    paired = admissible & (_partner_counts(admissible, pair, grid) > 0)
    unknown = admissible & ~known
    undecided = unknown & paired
    if unknown.any():
        undecided |= admissible & (_partner_counts(unknown, pair, grid) > 0)
    return Marks(violating, paired, undecided)


def _partner_counts(chosen: BoolArray, pair: Pair, grid: Grid) -> CountArray:
    """For each individual the number of comparable partners among the chosen ones."""
    counts: CountArray = chosen.astype(np.int64)
    for relaxation in pair.relax:
        counts = _windowed(counts, grid, relaxation.attribute, relaxation.by)
    if pair.mode is Differ.ALL:
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
