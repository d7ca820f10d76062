"""``resample``: one coordinate of a known find drawn anew.

A longer step than a neighbour's: it leaves the neighbourhood of a find and keeps all but one of the values that made
it one.
"""

from __future__ import annotations

import numpy as np

from fairdsl.backends.search.ground import Ground
from fairdsl.backends.search.strategy import Proposal, Proposing

__all__ = ["resample"]


def resample(ground: Ground) -> Proposing:
    """Vary counterexamples; without any, draw."""
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
