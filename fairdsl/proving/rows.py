"""What lies below numbers of many boxes, linear in their attributes, and which part of a box it leaves, in float64.

Nothing of it is believed: it says what the checker is about to find (``fairdsl_verify.slab`` and ``.regions``).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

#: How steep a logistic curve is that is close to the normal distribution's.
_STEEP = 1.702


class Ends(NamedTuple):
    """From where to where the attributes of boxes are, [boxes, attributes]."""

    low: Floats
    high: Floats


class Rows(NamedTuple):
    """A constant, what each assignment adds, and slopes of attributes: [boxes, rows], and for each of these."""

    constant: Floats
    moved: Floats
    slopes: Floats

    def start(self) -> Floats:
        """The least of each without attributes."""
        found: Floats = self.constant + self.moved.min(axis=2)
        return found

    def reached(self, ends: Ends) -> Floats:
        """The least that attributes add to each."""
        found: Floats = np.minimum(self.slopes * ends.low[:, None], self.slopes * ends.high[:, None]).sum(axis=2)
        return found

    def least(self, ends: Ends) -> Floats:
        """The least of each on its box."""
        return self.start() + self.reached(ends)

    def one(self, number: int) -> Self:
        """The row of this number."""
        return type(self)(*(each[:, number : number + 1] for each in self))

    def of(self, chosen: NDArray[np.int64]) -> Self:
        """One row of each box; of some (-1) nothing."""
        at, there = np.arange(len(chosen)), (chosen >= 0)[:, None]
        constant, moved, slopes = (each[at, chosen] for each in self)
        return type(self)(np.where(there, constant[:, None], 0), (moved * there)[:, None], (slopes * there)[:, None])

    def plus(self, others: Self, times: float = 1.0) -> Self:
        """These and multiples of others, row by row."""
        return type(self)(*(mine + times * other for mine, other in zip(self, others, strict=True)))

    def cut(self, halves: Sequence[Self], ends: Ends) -> Self:
        """Each row with multiples of half-spaces that make its least greatest (``Region.cut``)."""
        if not halves:
            return self
        from fairdsl.backends.intervals import add_multiples

        constant, moved, slopes = (each.copy() for each in self)
        its_constant, its_moved, its_slopes = (np.stack(each)[:, :, 0] for each in zip(*halves, strict=True))
        add_multiples(constant, moved, slopes, its_constant, its_moved, its_slopes, ends.low, ends.high)
        return type(self)(constant, moved, slopes)


def below(least: Floats, spread: Floats) -> Floats:
    """Which part of a sum is at most 0, about: it is no less than this, and its terms are spread uniformly, so far.

    The widest term is taken as it is, and a logistic curve stands for the normal distribution of all others.
    """
    widest, every = spread.max(axis=-1, initial=0.0), spread.sum(axis=-1)
    deviation = np.sqrt(np.maximum((spread**2).sum(axis=-1) - widest**2, 0) / 12)
    deviation = np.maximum(deviation, 1e-6 * every) + 1e-100
    steep, width = _STEEP / deviation, np.maximum(widest, 1e-3 * deviation)
    at = -(least + (every - widest) / 2)
    # The mean of the curve over the widest term's range, in closed form; what hardly varies is on one side.
    share: Floats = (np.logaddexp(0, steep * at) - np.logaddexp(0, steep * (at - width))) / (steep * width)
    return np.where(least > 0, 0.0, np.where(least + every <= 0, 1.0, np.clip(share, 0.0, 1.0)))
