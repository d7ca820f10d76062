"""Sound bounds of the demands on the scores over many boxes at once.

:mod:`fairdsl.numerics.bounds` bounds the model over boxes of inputs; here boxes of atoms become boxes of inputs. An
indicator that a box decides is a constant, and of a group of which exactly one is 1 the only one that may be true is 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fairdsl.ir.feature import AttributeInput, IndicatorInput
from fairdsl.ir.model import Model
from fairdsl.numerics.bounds import LayerBounds, Lines, float_layers, greatest, preactivation_bounds, upper_lines
from fairdsl.numerics.choices import choices_of
from fairdsl.numerics.event import Demand, Event
from fairdsl.numerics.rounding import float_above, float_below
from fairdsl.numerics.truth import Truths

__all__ = ["Bounded", "Bounder"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Bounded:
    """``certain`` and ``impossible`` [boxes]: the event holds everywhere in the box, or nowhere.

    ``lines`` are above ``row @ scores`` of the demands and, after them, above ``-row @ scores``; ``low`` and ``high``
    [boxes, inputs] are what the model reads; ``layers`` its pre-activations.
    """

    certain: BoolArray
    impossible: BoolArray
    lines: Lines
    low: FloatArray
    high: FloatArray
    layers: tuple[LayerBounds, ...]


class Bounder:
    """Bounds of one model's event."""

    def __init__(self, model: Model, event: Event, truths: Truths) -> None:
        self._model, self._event, self._truths = model, event, truths
        self._layers, self._choices = float_layers(model), choices_of(model)
        rows = np.array([demand.row for demand in event.demands], dtype=np.float64).reshape(-1, model.score_count)
        self._rows = np.vstack([rows, -rows])

    def bound(self, start: IntArray, stop: IntArray) -> Bounded:
        """The event over boxes of atoms, [boxes, columns]."""
        low, high = self._inputs(start, stop)
        layers = preactivation_bounds(self._layers, low, high, self._choices)
        lines = upper_lines(self._layers, layers, low, high, self._rows)
        tops = np.minimum(greatest(lines, low, high, self._choices), _interval(self._rows, layers[-1]))
        certain, impossible = self._decided(tops)
        return Bounded(certain, impossible, lines, low, high, layers)

    def _decided(self, tops: FloatArray) -> tuple[BoolArray, BoolArray]:
        demands = self._event.demands
        certain = np.ones(len(tops), dtype=np.bool_)
        impossible = np.zeros(len(tops), dtype=np.bool_)
        for place, demand in enumerate(demands):
            certain &= _always(demand, -tops[:, len(demands) + place])
            impossible |= _never(demand, tops[:, place])
        return (impossible, certain) if self._event.complement else (certain, impossible)

    def _inputs(self, start: IntArray, stop: IntArray) -> tuple[FloatArray, FloatArray]:
        low, high = np.zeros((2, len(start), len(self._model.inputs)))
        for place, item in enumerate(self._model.inputs):
            if isinstance(item, AttributeInput):
                axis = self._truths.axes[item.attribute]
                low[:, place] = axis.low[start[:, item.attribute]]
                high[:, place] = axis.high[stop[:, item.attribute] - 1]
        places = [p for p, item in enumerate(self._model.inputs) if isinstance(item, IndicatorInput)]
        predicates = [item.predicate for item in self._model.inputs if isinstance(item, IndicatorInput)]
        for place, (true, false) in zip(places, self._truths.of(predicates, start, stop), strict=True):
            low[:, place], high[:, place] = ~false, true
        for group in self._model.one_of:
            members = list(group)
            alone = high[:, members].sum(axis=1, keepdims=True) == 1
            low[:, members] = np.where(alone, high[:, members], low[:, members])
        return low, high


def _interval(rows: FloatArray, scores: LayerBounds) -> FloatArray:
    """Upper bounds of ``rows @ scores`` of rows with a single entry of 1 or -1; of others nothing is said."""
    tops = np.full((len(scores.low), len(rows)), np.inf)
    for place, row in enumerate(rows):
        (entries,) = np.nonzero(row)
        if len(entries) == 1:
            entry = int(entries[0])
            tops[:, place] = scores.high[:, entry] if row[entry] > 0 else -scores.low[:, entry]
    return tops


def _always(demand: Demand, low: FloatArray) -> BoolArray:
    """Whether the demand holds of every number from ``low`` on, wherever its threshold is."""
    limit = float_above(demand.high)
    exact = limit == float_below(demand.high)
    # Above the nearest float above the threshold; at that float itself where it is not the threshold, or may be met.
    return np.asarray(low > limit if exact and demand.strict else low >= limit, dtype=np.bool_)


def _never(demand: Demand, high: FloatArray) -> BoolArray:
    """Whether the demand holds of no number up to ``high``."""
    limit = float_below(demand.low)
    exact = limit == float_above(demand.low)
    return np.asarray(high < limit if exact and not demand.strict else high <= limit, dtype=np.bool_)
