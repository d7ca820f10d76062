"""Aequitas's two phases: what its three strategies share.

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

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.search.ground import Ground
from fairdsl.backends.search.strategy import Proposal, Proposing
from fairdsl.options.commands import Search

__all__ = ["Choice", "walk"]

FloatArray = NDArray[np.float64]

#: Steps that are proposed together, at first and at most.
_FIRST, _MOST = 32, 256


class Choice(Protocol):
    """How a local step is chosen, by numbers that are uniform in [0, 1), and what is learnt from it."""

    def attribute(self, number: float) -> int:
        """Which of the free coordinates to change, by its place among them."""

    def down(self, place: int, number: float) -> bool:
        """Whether to go down."""

    def learn(self, place: int, down: bool, discriminatory: bool) -> None:
        """Hear what the step came to."""


def walk(name: str, ground: Ground, choice: Callable[[int, Search], Choice]) -> Proposing:
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


def _local(name: str, ground: Ground, choice: Choice, row: FloatArray) -> Proposing:
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


def _chosen(choice: Choice, numbers: Sequence[float]) -> tuple[int, bool]:
    place = choice.attribute(numbers[0])
    return place, choice.down(place, numbers[1])


def _heard(
    choice: Choice, planned: Sequence[tuple[int, bool]], numbers: Sequence[Sequence[float]]
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
