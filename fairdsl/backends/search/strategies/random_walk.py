"""``random``: Aequitas's random strategy (Udeshi, Arora and Chattopadhyay, ASE 2018).

Attribute and direction of a local step are drawn uniformly; nothing is learnt.
"""

from __future__ import annotations

from fairdsl.backends.search.ground import Ground
from fairdsl.backends.search.strategies.aequitas import walk
from fairdsl.backends.search.strategy import Proposing
from fairdsl.options.commands import Search

__all__ = ["Undirected", "random_walk"]


class Undirected:
    """Everything is as likely as anything else."""

    def __init__(self, count: int, _: Search) -> None:
        self._count = count

    def attribute(self, number: float) -> int:
        """A place, uniformly."""
        return int(number * self._count)

    def down(self, place: int, number: float) -> bool:
        """Either way."""
        return number < 0.5

    def learn(self, place: int, down: bool, discriminatory: bool) -> None:
        """Nothing."""


def random_walk(ground: Ground) -> Proposing:
    """Walk at random."""
    return walk("random", ground, Undirected)
