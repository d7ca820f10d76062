"""Aequitas's two phases, one individual at a time: what its three strategies share.

Udeshi, Arora and Chattopadhyay, *Automated Directed Fairness Testing*, ASE 2018. The *global* phase draws uniformly and
keeps what is discriminatory. The *local* phase walks from each of these: one attribute a step, one unit up or
down. The strategies differ in how they choose the attribute and the direction.

Generalised here: any number of protected attributes (they are not coordinates: no step is wasted on them), categories
(any other value, since they have no order), reals (a hundredth of the range). Everything is drawn from one seeded
generator. The numerical minimiser of the authors' scripts is left out: what it minimises is constant between
whole numbers, so it never moves.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.search.ground import Ground
from fairdsl.backends.search.strategy import Proposal, Proposing

__all__ = ["STEP", "Choice", "walk"]

FloatArray = NDArray[np.float64]

#: Individuals that the global phase draws, and steps of each local walk, as in the authors' scripts.
_GLOBAL, _LOCAL = 1000, 1000
#: By how much a probability is changed after a step.
STEP = 0.001


class Choice(Protocol):
    """How a local step is chosen, and what is learnt from it."""

    def attribute(self, rng: np.random.Generator) -> int:
        """Which of the free coordinates to change, by its place among them."""

    def down(self, place: int, rng: np.random.Generator) -> bool:
        """Whether to go down."""

    def learn(self, place: int, down: bool, discriminatory: bool) -> None:
        """Hear what the step came to."""


def walk(name: str, ground: Ground, choice: Choice, drawn: int = _GLOBAL) -> Proposing:
    """Global phases of so many draws, and local ones of a fixed number of steps a start, in turn."""
    free = ground.free
    while True:
        starts = []
        for _ in range(drawn):
            row = ground.draw(1)
            tried = yield Proposal(name, row)
            if tried.violating.any():
                starts.append(row)
        for row in starts if free else []:
            for _ in range(_LOCAL):
                place = choice.attribute(ground.rng)
                down = choice.down(place, ground.rng)
                row = _step(ground, row, free[place], down)
                tried = yield Proposal(name, row)
                choice.learn(place, down, bool(tried.violating[0]))


def _step(ground: Ground, row: FloatArray, position: int, down: bool) -> FloatArray:
    """One step in one coordinate; at a bound the individual stays where it is."""
    column = ground.space.columns[position]
    beside = [values[0] for values in column.beside(row[:, position])]
    moved = row.copy()
    if not column.ordered:
        moved[0, position] = beside[int(ground.rng.integers(0, len(beside)))]
    elif not np.isnan(value := beside[0 if down else 1]):
        moved[0, position] = value
    return moved
