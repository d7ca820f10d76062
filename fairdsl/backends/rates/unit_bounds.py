"""Which column of an open box to cut: the one that the looseness of the bounds depends on most.

A unit whose pre-activation z lies in [l, u], l < 0 < u, is relaxed with a gap of -l u / (u - l); the gap is charged
to the inputs in proportion to the size of all paths of weights to the unit, times the width of the input, and
weighted with the size of all paths from the unit to the scores. What is left, the inputs' own spread in the lines,
counts in full where no half-space takes care of it. These
are preferences, and nothing rests on them.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.rates.arithmetic import Distribution
from fairdsl.backends.rates.halfspace import Bounded, Bounder, HalfSpace
from fairdsl.backends.rates.tree_bounds import Look
from fairdsl.ir.feature import AttributeInput, Input
from fairdsl.ir.model import Model
from fairdsl.metrics.subject import Subject
from fairdsl.numerics.axes import mentioned
from fairdsl.numerics.bounds import float_layers
from fairdsl.numerics.event import event_of
from fairdsl.numerics.products import product
from fairdsl.numerics.truth import Truths

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]

#: What an input's own spread counts where half-spaces take care of it.
_LINEAR = 0.3
#: The effort of a box: of its half-spaces, and of a multiplication of weights.
_HALVED, _LAYERED = 1.5, 5e-5


class Splitter:
    """Chooses a column for every box."""

    def __init__(self, model: Model, columns: int) -> None:
        self._of_inputs = _shares(model.inputs, columns)
        layers = float_layers(model)
        sizes = [np.abs(layer.weight) for layer in layers]
        self._slopes = [layer.slope for layer in layers[:-1]]
        self._to: list[FloatArray] = []
        for size in sizes[:-1]:
            self._to.append(size if not self._to else product(size, self._to[-1]))
        after = [np.ones(layers[-1].weight.shape[0])]
        for size in reversed(sizes[1:]):
            after.insert(0, product(after[0], size))
        self._from = after[:-1]

    def columns(self, bounded: Bounded, start: IntArray, stop: IntArray, independent: NDArray[np.bool_]) -> IntArray:
        """The column to cut of each box, -1 where none can be; ``independent`` says which columns are, by box."""
        linear = np.where(independent, _LINEAR, 1.0)
        with np.errstate(all="ignore"):
            wide = bounded.high - bounded.low
            wide = np.where(np.isfinite(wide), wide, 0.0)
            spread = np.abs(bounded.lines.coefficients).sum(axis=1) * wide
            scores = product(spread, self._of_inputs) * linear + product(self._relaxed(bounded, wide), self._of_inputs)
            scores = np.nan_to_num(scores)
            scores /= np.maximum(scores.max(axis=1, keepdims=True), 1e-300)
        lengths = stop - start
        # Where nothing speaks for a column, the longest.
        scores += 1e-6 * lengths / np.maximum(lengths.max(axis=1, keepdims=True), 1)
        scores = np.where(lengths > 1, scores, -1.0)
        best = np.argmax(scores, axis=1)
        return np.where(scores[np.arange(len(best)), best] < 0, -1, best)

    def _relaxed(self, bounded: Bounded, wide: FloatArray) -> FloatArray:
        """The gaps of all units that are not stable, charged to the inputs, [boxes, inputs]."""
        total = np.zeros_like(wide)
        for layer, slope, to, after in zip(bounded.layers, self._slopes, self._to, self._from, strict=False):
            low, high = layer.low, layer.high
            crosses = (low < 0) & (high > 0) & (slope < 1)
            gaps = np.where(crosses, -low * high / np.maximum(high - low, 1e-300), 0.0) * (1 - slope) * after
            reach = product(wide, to.T)
            total += wide * product(np.nan_to_num(gaps / np.maximum(reach, 1e-300)), to)
        return total


def _shares(inputs: Sequence[Input], columns: int) -> FloatArray:
    """How much of an input each column is, [inputs, columns]."""
    shares = np.zeros((len(inputs), columns))
    for place, item in enumerate(inputs):
        names = (item.attribute,) if isinstance(item, AttributeInput) else mentioned(item.predicate)
        for column in names:
            shares[place, column] = 1.0 / len(names)
    return shares


# --------------------------------------------------------------------------------------------------
# Models with hidden units bounded over many boxes: lines around the score, and how much of a box they decide.


class UnitBounds:
    """Bounds of one model's event over boxes in which every key has one cell."""

    def __init__(self, subject: Subject, truths: Truths, distribution: Distribution) -> None:
        event = event_of(subject.model)
        self._bounder = Bounder(subject.model, event, truths)
        self._half = HalfSpace(subject.model, event, truths, distribution)
        self._splitter = Splitter(subject.model, len(subject.network.columns))
        widths = [layer.weight.shape for layer in subject.model.layers]
        below = accumulate(rows * columns for rows, columns in widths)
        #: Times the effort of a box without units: half-spaces are weighed one by one, and each layer goes through all
        #: below it.
        self.of_a_box = _HALVED + _LAYERED * sum(rows * size for (rows, _), size in zip(widths, below, strict=True))

    def look(self, start: IntArray, stop: IntArray) -> Look:
        """What is to be said of boxes; ranges are [boxes, columns]. Nobody looks at the clock: boxes would be lost."""
        bounded = self._bounder.bound(start, stop)
        certain, impossible = bounded.certain, bounded.impossible
        low, high, independent = self._half.shares(bounded, start, stop, ~(certain | impossible))
        least = np.where(certain, 1.0, np.where(impossible, 0.0, low))
        most = np.where(impossible, 0.0, np.where(certain, 1.0, high))
        column = self._splitter.columns(bounded, start, stop, independent)
        rows = np.arange(len(start))
        at = (start[rows, column] + stop[rows, column]) // 2
        return Look(bounded.certain, bounded.impossible, column, at, least, most)
