"""Models with hidden units bounded over many boxes: lines around the score, and how much of a box they decide."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.rates.bounding import Bounder
from fairdsl.backends.rates.cuts import Look
from fairdsl.backends.rates.distribution import Distribution
from fairdsl.backends.rates.halfspace import HalfSpace
from fairdsl.backends.rates.independent import Independent
from fairdsl.backends.rates.splitting import Splitter
from fairdsl.metrics.subject import Subject
from fairdsl.numerics.event import event_of
from fairdsl.numerics.rounding import float_above, float_below
from fairdsl.numerics.truth import Truths

__all__ = ["UnitBounds"]

IntArray = NDArray[np.int64]


class UnitBounds:
    """Bounds of one model's event over boxes in which every key has one cell."""

    def __init__(self, subject: Subject, truths: Truths, distribution: Distribution) -> None:
        event = event_of(subject.model)
        self._axes = truths.axes
        self._bounder = Bounder(subject.model, event, truths)
        self._half = HalfSpace(subject.model, event, truths)
        self._independent = Independent(distribution, truths.axes)
        self._splitter = Splitter(subject.model, len(subject.network.columns))

    def look(self, start: IntArray, stop: IntArray) -> Look:
        """What is to be said of boxes; ranges are [boxes, columns]. Nobody looks at the clock: boxes would be lost."""
        bounded = self._bounder.bound(start, stop)
        least, most = bounded.certain.astype(np.float64), (~bounded.impossible).astype(np.float64)
        chances = [self._independent.chances(*box) for box in zip(start, stop, strict=True)]
        # Where most columns depend on each other the half-spaces would say next to nothing.
        chances = [found if 2 * len(found) > len(self._axes) else {} for found in chances]
        for place in np.flatnonzero(least < most).tolist():
            if chances[place]:
                box = {column: (int(start[place, column]), int(stop[place, column])) for column in self._axes}
                low, high = self._half.shares(bounded, place, box, chances[place])
                least[place], most[place] = float_below(low), float_above(high)
        column = self._splitter.columns(bounded, start, stop, [list(found) for found in chances])
        rows = np.arange(len(start))
        at = (start[rows, column] + stop[rows, column]) // 2
        return Look(bounded.certain, bounded.impossible, column, at, least, most)
