"""``semi-directed``: Aequitas's semi-directed strategy (Udeshi, Arora and Chattopadhyay, ASE 2018).

For each attribute the probability of stepping down begins at ``init_prob``, 1/2. A step that leads to a discriminatory
individual makes its direction likelier by ``delta_v``, 0.001, any other step makes it less likely.
"""

from __future__ import annotations

from fairdsl.backends.search.ground import Ground
from fairdsl.backends.search.strategies.aequitas import walk
from fairdsl.backends.search.strategies.random_walk import Undirected
from fairdsl.backends.search.strategy import Proposing
from fairdsl.options.commands import Search

__all__ = ["Directions", "semi_directed"]


class Directions(Undirected):
    """Probabilities of stepping down, which are learnt; attributes are drawn uniformly."""

    def __init__(self, count: int, options: Search) -> None:
        super().__init__(count, options)
        self._change = float(options.delta_v)
        self.down_probability = [float(options.init_prob)] * count

    def down(self, place: int, number: float) -> bool:
        """By the attribute's probability."""
        return number < self.down_probability[place]

    def learn(self, place: int, down: bool, discriminatory: bool) -> None:
        """Reward the direction, or the other one."""
        change = self._change if down == discriminatory else -self._change
        self.down_probability[place] = min(1.0, max(0.0, self.down_probability[place] + change))


def semi_directed(ground: Ground) -> Proposing:
    """Walk with directions that are learnt."""
    return walk("semi-directed", ground, Directions)
