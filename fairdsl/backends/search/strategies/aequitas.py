"""Aequitas's two phases, and its three strategies: ``random``, ``semi-directed`` and ``fully-directed``.

Udeshi, Arora and Chattopadhyay, *Automated Directed Fairness Testing*, ASE 2018. The *global* phase draws uniformly and
keeps what is discriminatory. The *local* phase walks from each of these: one attribute a step, so many units up or
down. The strategies differ in how they choose the attribute and the direction; :class:`Search` has their parameters.

Generalised here: any number of protected attributes (they are not coordinates: no step is wasted on them), categories
(any other value, since they have no order), reals (a hundredth of the range). Everything is drawn from one seeded
generator. The numerical minimiser of the authors' scripts is left out: what it minimises is constant between
whole numbers, so it never moves.

A walk goes one individual at a time, and each step may depend on what became of the one before. But a step changes
probabilities by a thousandth, so the next ones are nearly always those that would be chosen without it. They are
proposed together, as if nothing were learnt on the way; where something would have been chosen otherwise, the rest is
dropped and the walk goes on from there. So the walk is the same as one individual at a time.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.search.ground import Ground
from fairdsl.backends.search.strategy import Proposal, Proposing
from fairdsl.options.commands import Search

FloatArray = NDArray[np.float64]

#: Steps that are proposed together, at first and at most.
_FIRST, _MOST = 32, 256


class Undirected:
    """How a local step is chosen, by numbers uniform in [0, 1): here anything is as likely as anything else."""

    def __init__(self, count: int, _: Search) -> None:
        self._count = count

    def attribute(self, number: float) -> int:
        """Which of the free coordinates to change, by its place among them."""
        return int(number * self._count)

    def down(self, place: int, number: float) -> bool:
        """Whether to go down."""
        return number < 0.5

    def learn(self, place: int, down: bool, discriminatory: bool) -> None:
        """Hear what the step came to; nothing is learnt from it here."""


def walk(name: str, ground: Ground, choice: Callable[[int, Search], Undirected]) -> Proposing:
    """Global phases of so many draws, and local ones of so many steps a start, in turn."""
    options = ground.options
    chooser = choice(len(ground.free), options)
    while True:
        starts, left = list[FloatArray](), options.draws
        while left > 0:
            drawn = min(left, ground.batch)
            rows = ground.draw(drawn)
            tried = yield Proposal(name, rows)
            starts.extend(rows[tried.violating])
            left -= drawn
        for start in starts if ground.free else []:
            yield from _local(name, ground, chooser, start)


def _local(name: str, ground: Ground, choice: Undirected, row: FloatArray) -> Proposing:
    """One local walk."""
    left, ahead, drawn = ground.options.steps, _FIRST, np.empty((0, 3))
    while left > 0:
        count = min(left, ahead, ground.batch)
        # Numbers of steps that were dropped are used again: how many go together changes nothing.
        drawn = np.concatenate([drawn, ground.rng.random((max(0, count - len(drawn)), 3))])
        numbers = drawn[:count].tolist()
        planned = [_chosen(choice, each) for each in numbers]
        path = _path(ground, row, planned, drawn[:count, 2])
        tried = yield Proposal(name, path, until=_heard(choice, planned, numbers))
        done = len(tried.violating)
        row, drawn, left = path[done - 1], drawn[done:], left - done
        ahead = min(_MOST, 2 * ahead) if done == count else max(1, done)


def _chosen(choice: Undirected, numbers: Sequence[float]) -> tuple[int, bool]:
    place = choice.attribute(numbers[0])
    return place, choice.down(place, numbers[1])


def _heard(
    choice: Undirected, planned: Sequence[tuple[int, bool]], numbers: Sequence[Sequence[float]]
) -> Callable[[NDArray[np.bool_]], int]:
    """Learns from the steps one by one, and says how many were as they are chosen then."""

    def taken(violating: NDArray[np.bool_]) -> int:
        for done, (step, drawn, found) in enumerate(zip(planned, numbers, violating.tolist(), strict=True)):
            if done and _chosen(choice, drawn) != step:
                return done
            choice.learn(*step, found)
        return len(planned)

    return taken


def _path(ground: Ground, row: FloatArray, planned: Sequence[tuple[int, bool]], numbers: FloatArray) -> FloatArray:
    """Where the steps lead, [n, coordinates]; whoever is at a bound stays there."""
    free, size = ground.free, ground.options.step
    path, row = np.empty((len(planned), len(row))), row.copy()
    for index, (place, down) in enumerate(planned):
        position = free[place]
        column = ground.space.columns[position]
        value = row[position : position + 1]
        if column.ordered:
            value[:] = column.shifted(value, -size if down else size)
        else:
            others = list(column.beside(value))
            value[:] = others[int(numbers[index] * len(others))]
        path[index] = row
    return path


def random_walk(ground: Ground) -> Proposing:
    """``random``: attribute and direction of a local step are drawn uniformly; nothing is learnt."""
    return walk("random", ground, Undirected)


class Directions(Undirected):
    """Probabilities of stepping down, which are learnt; attributes are drawn uniformly.

    For each attribute the probability begins at ``init_prob``, 1/2. A step that leads to a discriminatory individual
    makes its direction likelier by ``delta_v``, 0.001, any other step makes it less likely.
    """

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
    """``semi-directed``: with directions that are learnt."""
    return walk("semi-directed", ground, Directions)


#: No attribute becomes less likely by itself: the last one would leave nothing to scale.
_LEAST = 0.001


class Attributes(Directions):
    """Probabilities of directions and of attributes.

    Those of attributes are equal to begin with; a step that leads to a discriminatory individual makes its attribute
    likelier by ``delta_pr``, 0.001, any other step less likely, and they are scaled to sum to 1 again. (The sign of the
    reward is the paper's. The authors' script for scikit-learn has it the other way round.)
    """

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
    """``fully-directed``: with attributes and directions that are learnt."""
    return walk("fully-directed", ground, Attributes)
