"""``outward``: from given rows into their surroundings, and from what is found nearest to a row to its neighbours.

For violations that look like people who exist: a uniform individual of a wide domain is like nobody. The search tries
the rows themselves first. Then two arms take turns as a bandit decides (:mod:`.portfolio`): what is beside
counterexamples, those of the nearest counterexamples first, and what is beside the rows. What comes early is near; it
is not promised to be the nearest there is.

Beside something lies any other value of a category, and a number that is a quarter of its scale in the data away
(:mod:`..nearness`), or the next one if that is farther. Next numbers throughout would fill the table with
people who ask for one euro more.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.search.ground import Ground
from fairdsl.backends.search.strategy import Proposal, Proposing

FloatArray = NDArray[np.float64]

#: Steps of numbers as a part of their scale.
_PART = 1 / 4


def surroundings(ground: Ground) -> Proposing:
    """Whatever is beside a given row, in random order of rows, then draws several steps from them."""
    if ground.given is not None:
        people = ground.given.people[ground.rng.permutation(len(ground.given.people))]
        start, at_once = 0, max(1, ground.batch // _steps(ground))
        while start < len(people):
            yield Proposal(ground.source, _beside(ground, ground.space.of(people[start : start + at_once])))
            start += at_once
    while True:
        yield Proposal(ground.source, ground.draw(ground.batch))


def expansion(ground: Ground) -> Proposing:
    """Whatever is beside the nearest counterexamples; without any, draws."""
    while True:
        if ground.pool.waiting:
            rows = ground.pool.take(max(1, ground.batch // _steps(ground)))
            yield Proposal("neighbours", _beside(ground, rows))
        else:
            yield Proposal(ground.source, ground.draw(ground.batch))


def _steps(ground: Ground) -> int:
    """How many candidates are beside one at most."""
    return max(1, sum(2 if column.ordered else (column.count or 2) - 1 for column in ground.space.columns))


def _beside(ground: Ground, rows: FloatArray) -> FloatArray:
    """All candidates beside the rows, [m, w]."""
    parts = [rows[:0]]
    for position in ground.free:
        for values in _others(ground, rows, position):
            there = np.flatnonzero(values != rows[:, position])
            moved = rows[there]
            moved[:, position] = values[there]
            parts.append(moved)
    return np.concatenate(parts)


def _others(ground: Ground, rows: FloatArray, position: int) -> Iterator[FloatArray]:
    column, given = ground.space.columns[position], ground.given
    scale = np.nan if given is None else given.scale(int(ground.space.attributes[position]))
    stride = _PART * scale
    if not column.ordered or np.isnan(stride) or (column.whole and stride < 2):
        yield from (
            np.where(np.isnan(values), rows[:, position], values) for values in column.beside(rows[:, position])
        )
        return
    for sign in (-1.0, 1.0):
        yield column.settle(rows[:, position] + sign * (np.rint(stride) if column.whole else stride))
