"""``gradient``: for networks, one step onto the decision boundary.

At random candidates the gradient of the mean score (:mod:`..aim`) tells for each coordinate by how much it would have
to change, all else equal, for the mean to reach the threshold: Newton's step in one coordinate. Candidates on the
boundary are those whose members it may part, so no find is needed to start from. Whole numbers have to be rounded,
which leads off the boundary again; a second step in the coordinate that fits best takes up what is left.

White-box search for discriminatory inputs by gradients is ADF's (Zhang et al., ICSE 2020) and EIDIG's (Zhang et al.,
ISSTA 2021); their steps follow the sign of a loss's gradient one unit at a time.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.search.aim import aim
from fairdsl.backends.search.ground import Ground
from fairdsl.backends.search.slopes import Slopes
from fairdsl.backends.search.strategy import Proposal, Proposing

FloatArray = NDArray[np.float64]


def gradient(ground: Ground) -> Proposing:
    """Draw centres, step from each in every coordinate."""
    slopes = Slopes(ground.problem.model)
    width = max(1, len(ground.free))
    while True:
        centres = ground.draw(max(1, ground.batch // width))
        if not len(centres):
            yield Proposal("gradient", centres)
            continue
        measured = ground.measure(centres)
        goal = aim(ground, measured)
        count, size, attributes = measured.members.shape
        flat = slopes.backward(measured.members.reshape(-1, attributes), goal.weights.reshape(count * size, -1))
        ground.evaluator.charge(count * size)
        of_members = flat.reshape(count, size, attributes)[:, :, ground.space.attributes]
        slope = np.einsum("nkw,wk->nw", of_members, ground.space.touches)
        yield Proposal("gradient", stepped(ground, centres, goal.value(measured.scores), slope))


def stepped(ground: Ground, centres: FloatArray, value: FloatArray, slope: FloatArray) -> FloatArray:
    """The centres with one ordered coordinate moved to where a line of that slope is 0, [m, w].

    ``value`` [n] is the number at the centres, ``slope`` [n, w]. Those that would leave the domain are left out. Whole
    numbers are rounded at random, for a violation may lie on one side only.
    """
    parts = [centres[:0]]
    for position in ground.free:
        column = ground.space.columns[position]
        if not column.ordered:
            continue
        with np.errstate(all="ignore"):
            wanted = centres[:, position] - value / slope[:, position]
        inside = np.flatnonzero((wanted > column.low - 1) & (wanted < column.high + 1))
        rounding = ground.rng.uniform(-0.5, 0.5, len(inside)) if column.whole else 0.0
        moved = centres[inside]
        moved[:, position] = column.settle(wanted[inside] + rounding)
        if column.whole:
            change = moved[:, position] - centres[inside, position]
            moved = _corrected(ground, moved, value[inside] + slope[inside, position] * change, slope[inside], position)
        parts.append(moved)
    return np.concatenate(parts)


def _corrected(ground: Ground, rows: FloatArray, left: FloatArray, slope: FloatArray, done: int) -> FloatArray:
    """The rows with one more whole-numbered coordinate moved, the one that leaves the least of what rounding left over.

    ``left`` [n] is what the line says is left. Rows that no coordinate brings nearer stay as they are.
    """
    best, least = rows.copy(), np.abs(left)
    for position in ground.free:
        column = ground.space.columns[position]
        if position == done or not (column.ordered and column.whole):
            continue
        with np.errstate(all="ignore"):
            steps = np.rint(-left / slope[:, position])
            values = rows[:, position] + steps
            missing = np.abs(left + slope[:, position] * steps)
            nearer = np.flatnonzero((missing < least) & (values >= column.low) & (values <= column.high))
        best[nearer] = rows[nearer]
        best[nearer, position] = values[nearer]
        least[nearer] = missing[nearer]
    return best
