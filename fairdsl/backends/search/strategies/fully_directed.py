"""``fully-directed``: Aequitas's fully-directed strategy (Udeshi, Arora and Chattopadhyay, ASE 2018).

Beside the directions of ``semi-directed`` the attributes have probabilities. All are equal to begin with; a step that
leads to a discriminatory individual makes its attribute likelier by 0.001, any other step less likely, and
the probabilities are scaled to sum to 1 again. (The sign of the reward is the paper's. The authors' script for
scikit-learn has it the other way round.)
"""

from __future__ import annotations

import numpy as np

from fairdsl.backends.search.ground import Ground
from fairdsl.backends.search.strategies.aequitas import STEP, walk
from fairdsl.backends.search.strategies.semi_directed import Directions
from fairdsl.backends.search.strategy import Proposing

__all__ = ["Attributes", "fully_directed"]


class Attributes(Directions):
    """Probabilities of directions and of attributes."""

    def __init__(self, count: int, step: float = STEP) -> None:
        super().__init__(count, step)
        self.probability = np.full(count, 1 / max(1, count))

    def attribute(self, rng: np.random.Generator) -> int:
        """A place, by its probability."""
        return min(int(np.searchsorted(np.cumsum(self.probability), rng.random())), self.count - 1)

    def learn(self, place: int, down: bool, discriminatory: bool) -> None:
        """Reward the direction and the attribute, or neither."""
        super().learn(place, down, discriminatory)
        change = self.step if discriminatory else -self.step
        # None may vanish: the last one would leave nothing to scale.
        self.probability[place] = max(STEP, self.probability[place] + change)
        self.probability /= self.probability.sum()


def fully_directed(ground: Ground) -> Proposing:
    """Walk with attributes and directions that are learnt."""
    return walk("fully-directed", ground, Attributes(len(ground.free)))
