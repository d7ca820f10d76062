"""``neighbours``: the neighbours of every find, then those of what was found there, and so on.

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

__all__ = ["neighbours"]

FloatArray = NDArray[np.float64]


def neighbours(ground: Ground) -> Proposing:
    """Expand the frontier; where it is empty, draw."""
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
