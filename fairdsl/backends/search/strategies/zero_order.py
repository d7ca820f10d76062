"""``zero-order``: for black boxes, steps along differences instead of gradients.

Each centre is tried with every coordinate changed by a random amount, all of it in one batch. The difference of the
number to steer by (:mod:`..aim`) gives a slope, and the secant in that coordinate where the number would be 0: the
derivative-free counterpart of ``gradient``. Of the changed candidates the one nearest to 0 is the next centre, until
nothing is gained any more. That estimated gradients serve as well as true ones is MAFT's observation (Wang, Zhang,
Tian and Ye, ICSE 2024).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.search.aim import aim
from fairdsl.backends.search.ground import Ground
from fairdsl.backends.search.strategies.gradient import stepped
from fairdsl.backends.search.strategy import Proposal, Proposing

FloatArray = NDArray[np.float64]

#: Steps of a centre at most.
_STEPS = 12


def zero_order(ground: Ground) -> Proposing:
    """Draw centres, and follow the differences from each."""
    width = max(1, len(ground.free))
    while True:
        centres = ground.draw(max(1, ground.batch // (width + 1)))
        for _ in range(_STEPS):
            if not len(centres):
                yield Proposal("zero-order", centres)
                break
            changed = _changed(ground, centres)
            value, values = _values(ground, centres, changed)
            proposed = [
                _nearer(changed, value, values),
                stepped(ground, centres, value, _slope(centres, changed, values, value)),
            ]
            yield Proposal("zero-order", np.concatenate(proposed))
            best = np.argmin(np.abs(values), axis=0)
            rows = np.arange(len(centres))
            gained = np.abs(values[best, rows]) < np.abs(value)
            centres = changed[best, rows][gained]


def _changed(ground: Ground, centres: FloatArray) -> FloatArray:
    """The centres with each free coordinate changed at random, [free, n, w]."""
    free = ground.free
    changed = np.repeat(centres[None], max(1, len(free)), axis=0)
    for place, position in enumerate(free):
        column = ground.space.columns[position]
        changed[place, :, position] = column.step(centres[:, position], ground.rng)
    return changed


def _values(ground: Ground, centres: FloatArray, changed: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The number to steer by: of the centres [n], and of the changed ones [free, n]; infinite where there is none."""
    measured = ground.measure(centres)
    goal = aim(ground, measured)
    values = np.stack([goal.value(ground.measure(rows).scores) for rows in changed])
    return _finite(goal.value(measured.scores)), _finite(values)


def _finite(values: FloatArray) -> FloatArray:
    return np.where(np.isfinite(values), values, np.inf)


def _nearer(changed: FloatArray, value: FloatArray, values: FloatArray) -> FloatArray:
    """The changed candidates that are nearer to 0 than their centre, or on its other side."""
    nearer: FloatArray = changed[(np.abs(values) < np.abs(value)) | (np.sign(values) != np.sign(value))]
    return nearer


def _slope(centres: FloatArray, changed: FloatArray, values: FloatArray, value: FloatArray) -> FloatArray:
    """The slope of the number along each coordinate, [n, w]; nan where nothing was changed."""
    with np.errstate(all="ignore"):
        steps = np.where(changed != centres[None], changed - centres[None], np.nan)
        slopes = (values - value)[:, :, None] / steps
    # Each coordinate was changed in one of the arrays at most.
    return np.asarray(np.where(np.isnan(slopes), 0.0, slopes).sum(axis=0), dtype=np.float64)
