"""Draws, and what is next to counterexamples: their neighbours, then those of what was found there, and so on.

Candidates that violate lie together: along a decision boundary that a protected attribute moves, one step in any
other attribute often stays beside it. So breadth-first search from a few random counterexamples reaches the connected
neighbourhood of each. Neighbours differ in one coordinate: numbers by one step, categories in any other value.
Trying the neighbourhood of known discriminatory inputs is Aequitas's local search (Udeshi, Arora and
Chattopadhyay, ASE 2018); going through all of it once, in batches and with the counterexamples as new seeds, is ours.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.search.ground import Ground
from fairdsl.backends.search.strategy import Proposal, Proposing
from fairdsl.numerics.evaluate import Around

FloatArray = NDArray[np.float64]


def neighbours(ground: Ground) -> Proposing:
    """``neighbours``: expand the open ones; where there are none, draw."""
    while True:
        if not ground.pool.waiting:
            yield Proposal(ground.source, ground.draw(ground.batch))
            continue
        steps = max(1, sum(2 if column.ordered else (column.count or 2) - 1 for column in ground.space.columns))
        centres = ground.pool.take(max(1, ground.batch // steps))
        rows, owners = _owned(ground, centres)
        yield Proposal("neighbours", rows, Around(centres, owners))


def _owned(ground: Ground, rows: FloatArray) -> tuple[FloatArray, NDArray[np.int64]]:
    """All neighbours of the rows, [m, w], and whose they are, [m]."""
    parts, owners = [rows[:0]], [np.empty(0, dtype=np.int64)]
    for position in ground.free:
        for values in ground.space.columns[position].beside(rows[:, position]):
            there = np.flatnonzero(~np.isnan(values))
            moved = rows[there]
            moved[:, position] = values[there]
            parts.append(moved)
            owners.append(there)
    return np.concatenate(parts), np.concatenate(owners)


def resample(ground: Ground) -> Proposing:
    """``resample``: one coordinate of a known counterexample drawn anew; without any, draw.

    A longer step than a neighbour's: it leaves the neighbourhood and keeps all but one of the values.
    """
    free = np.array(ground.free, dtype=np.int64)
    while True:
        if not len(ground.pool) or not free.size:
            yield Proposal(ground.source, ground.draw(ground.batch))
            continue
        rows = ground.pool.some(ground.batch)
        chosen = free[ground.rng.integers(0, len(free), len(rows))]
        for position in free.tolist():
            mine = np.flatnonzero(chosen == position)
            rows[mine, position] = ground.space.columns[position].draw(len(mine), ground.rng)
        yield Proposal("resample", rows)


def uniform(ground: Ground) -> Proposing:
    """``uniform``: candidates drawn uniformly from the domain, in batches; any other strategy has to be better.

    Drawing is uniform over the product of the attributes' values where no condition ties attributes together; elsewhere
    draws are moved into the target (:mod:`..repair`). Where rows are given, draws are around them.
    """
    while True:
        yield Proposal(ground.source, ground.draw(ground.batch))
