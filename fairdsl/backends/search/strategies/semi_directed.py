"""``semi-directed``: Aequitas's semi-directed strategy (Udeshi, Arora and Chattopadhyay, ASE 2018).

For each attribute the probability of stepping down begins at 1/2. A step that leads to a discriminatory individual
makes its direction likelier by 0.001, any other step makes it less likely.
"""

from __future__ import annotations

import numpy as np

from fairdsl.backends.search.ground import Ground
from fairdsl.backends.search.strategies.aequitas import STEP, walk
from fairdsl.backends.search.strategy import Proposing

__all__ = ["Directions", "semi_directed"]


class Directions:
    """Probabilities of stepping down, changed by ``step`` each time; attributes are drawn uniformly."""

    def __init__(self, count: int, step: float = STEP) -> None:
        self.count, self.step = count, step
        self.down_probability = np.full(count, 0.5)

    def attribute(self, rng: np.random.Generator) -> int:
        """A place, uniformly."""
        return int(rng.integers(0, self.count))

    def down(self, place: int, rng: np.random.Generator) -> bool:
        """By the attribute's probability."""
        return bool(rng.random() < self.down_probability[place])

    def learn(self, place: int, down: bool, discriminatory: bool) -> None:
        """Reward the direction, or the other one."""
        change = self.step if down == discriminatory else -self.step
        self.down_probability[place] = min(1.0, max(0.0, self.down_probability[place] + change))


def semi_directed(ground: Ground) -> Proposing:
    """Walk with directions that are learnt."""
    return walk("semi-directed", ground, Directions(len(ground.free)))
