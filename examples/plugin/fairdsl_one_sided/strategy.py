"""A strategy: everybody in the corners of the domain, where a monotone score is most extreme."""

from __future__ import annotations

import numpy as np

from fairdsl.backends.search import Ground
from fairdsl.backends.search.strategy import Proposal, Proposing, Strategy

__all__ = ["CORNERS"]


def corners(ground: Ground) -> Proposing:
    """Each coordinate at one of its ends, at random; then the same of those that were found, one moved inwards."""
    ends = np.array([[column.low, column.high] for column in ground.space.columns])
    ends = np.where(np.isfinite(ends), ends, 0.0)
    while True:
        which = ground.rng.integers(0, 2, size=(ground.batch, len(ends)))
        rows = np.take_along_axis(ends.T, which, axis=0)
        tried = yield Proposal("corners", rows)
        found = rows[tried.violating]
        if len(found) and len(ends):
            inwards = ground.rng.integers(0, len(ends), size=len(found))
            moved = found.copy()
            moved[np.arange(len(found)), inwards] = ends.mean(axis=1)[inwards]
            yield Proposal("corners", moved)


CORNERS = Strategy(name="corners", about="the corners of the domain", run=corners)
