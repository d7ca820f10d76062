"""``random``: Aequitas's random strategy (Udeshi, Arora and Chattopadhyay, ASE 2018).

Attribute and direction of a local step are drawn uniformly; nothing is learnt.
"""

from __future__ import annotations

import numpy as np

from fairdsl.backends.search.ground import Ground
from fairdsl.backends.search.strategies.aequitas import walk
from fairdsl.backends.search.strategy import Proposing

__all__ = ["Undirected", "random_walk"]


class Undirected:
    """Everything is as likely as anything else."""

    def __init__(self, count: int) -> None:
        self._count = count

    def attribute(self, rng: np.random.Generator) -> int:
        """A place, uniformly."""
        return int(rng.integers(0, self._count))

    def down(self, place: int, rng: np.random.Generator) -> bool:
        """Either way."""
        return bool(rng.random() < 0.5)

    def learn(self, place: int, down: bool, discriminatory: bool) -> None:
        """Nothing."""


def random_walk(ground: Ground) -> Proposing:
    """Walk at random."""
    return walk("random", ground, Undirected(len(ground.free)))
