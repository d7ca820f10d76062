"""``fully-directed``: Aequitas's fully-directed strategy (Udeshi, Arora and Chattopadhyay, ASE 2018).

Beside the directions of ``semi-directed`` the attributes have probabilities. All are equal to begin with; a step that
leads to a discriminatory individual makes its attribute likelier by ``delta_pr``, 0.001, any other step less likely,
and the probabilities are scaled to sum to 1 again. (The sign of the reward is the paper's. The authors' script for
scikit-learn has it the other way round.)
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate

from fairdsl.backends.search.ground import Ground
from fairdsl.backends.search.strategies.aequitas import walk
from fairdsl.backends.search.strategies.semi_directed import Directions
from fairdsl.backends.search.strategy import Proposing
from fairdsl.options.commands import Search

__all__ = ["Attributes", "fully_directed"]

#: No attribute becomes less likely by itself: the last one would leave nothing to scale.
_LEAST = 0.001


class Attributes(Directions):
    """Probabilities of directions and of attributes."""

    def __init__(self, count: int, options: Search) -> None:
        super().__init__(count, options)
        self._reward = float(options.delta_pr)
        self.probability = [1 / count] * count if count else []
        self._ends = list(accumulate(self.probability))

    def attribute(self, number: float) -> int:
        """A place, by its probability."""
        return min(bisect_right(self._ends, number), len(self._ends) - 1)

    def learn(self, place: int, down: bool, discriminatory: bool) -> None:
        """Reward the direction and the attribute, or neither."""
        super().learn(place, down, discriminatory)
        change = self._reward if discriminatory else -self._reward
        self.probability[place] = max(_LEAST, self.probability[place] + change)
        total = sum(self.probability)
        self.probability = [each / total for each in self.probability]
        self._ends = list(accumulate(self.probability))


def fully_directed(ground: Ground) -> Proposing:
    """Walk with attributes and directions that are learnt."""
    return walk("fully-directed", ground, Attributes)
