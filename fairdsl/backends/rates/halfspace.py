"""Sound bounds of the demands on the scores over many boxes at once.

:mod:`fairdsl.numerics.bounds` bounds the model over boxes of inputs; here boxes of atoms become boxes of inputs. An
indicator that a box decides is a constant, and of a group of which exactly one is 1 the only one that may be true is 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.rates.arithmetic import Distribution
from fairdsl.backends.rates.kernels.above import GRID, Layout, Lined, Room, shares_above
from fairdsl.ir.feature import AttributeInput, IndicatorInput
from fairdsl.ir.model import Model
from fairdsl.numerics.axes import Axis, mentioned
from fairdsl.numerics.bounds import LayerBounds, Lines, float_layers, greatest, preactivation_bounds, upper_lines
from fairdsl.numerics.choices import choices_of
from fairdsl.numerics.event import Demand, Event
from fairdsl.numerics.rounding import float_above, float_below
from fairdsl.numerics.truth import Truths

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


# --------------------------------------------------------------------------------------------------
# The share of a box in which a demand may hold, from the line above it: a half-space of the box.
#
# Let U be a line above ``row @ scores`` on the box B, ``t`` the threshold's lower end. Where the demand holds, U >= t.
# So Pr[demand, B] <= Pr[U >= t, B]; and for the negated row Pr[not demand, B] <= Pr[U' >= -t', B], t' the upper end.
# On a box a column is independent if in none of its tables another column has more than one cell left. Columns that
# are independent contribute to U independently of each other. All others, and inputs that depend on several columns,
# count as a constant, the most that they may contribute.
#
# The law of what all independent columns but the widest one contribute is computed on a grid. With a grid of step h, a
# contribution c of a column whose least one is m counts as g = ceil((c - m) / h) steps, so that sum c <= sum m + h sum
# g: every probability Pr[U >= t] is at most that of the grid. The widest one, whose contributions w_i have the
# probabilities p_i, needs none: Pr[U >= t] is the sum of p_i Pr[the others >= t - w_i]. Probabilities are non-negative
# floats, convolved directly (no transform); n roundings in a row make a relative error of at most gamma_n (Higham,
# section 3.1), which is added, as is 1e-250 for underflow. The contributions' own rounding, a few units in the last
# place of their sizes for each, lowers t.


@dataclass(frozen=True, slots=True)
class _Read:
    """Inputs by what they depend on: numbers and indicators of one column, groups with exactly one 1, and others."""

    numbers: tuple[tuple[int, int], ...]
    indicators: tuple[tuple[int, int, FloatArray, FloatArray], ...]
    groups: tuple[IntArray, ...]
    others: IntArray


class HalfSpace:
    """Shares of boxes above lines of one model's inputs."""

    def __init__(self, model: Model, event: Event, truths: Truths, distribution: Distribution) -> None:
        self._event = event
        self._read = _read(model, truths)
        #: The columns in the order in which the loops have them.
        self._columns = np.array(sorted(distribution.sizes), dtype=np.int64)
        axes = [truths.axes[column] for column in self._columns.tolist()]
        self._layout = _layout(self._read, axes, self._columns.tolist(), distribution)
        atoms, columns = len(self._layout.weights), len(axes)
        grids = np.zeros((3, GRID + columns + 2))
        self._room = Room(np.zeros(atoms), np.zeros(atoms), np.zeros(columns), *grids)
        demands = event.demands
        ends = [float_below(demand.low) for demand in demands] + [float_below(-demand.high) for demand in demands]
        self._thresholds = np.array(ends, dtype=np.float64)

    def shares(
        self, bounded: Bounded, start: IntArray, stop: IntArray, asked: BoolArray
    ) -> tuple[FloatArray, FloatArray, BoolArray]:
        """Bounds of Pr[event | box] of the boxes that are asked for, several demands by Bonferroni's inequality.

        And which columns of a box are independent, [boxes, columns]; where that are few, none.
        """
        lines, count = bounded.lines, len(self._event.demands)
        fixed, sizes = self._apart(lines.coefficients, bounded.low, bounded.high)
        lined = Lined(np.ascontiguousarray(lines.coefficients), lines.constants, self._thresholds, fixed, sizes)
        shares, alone = np.ones(fixed.shape), np.zeros((len(start), len(self._columns)), dtype=np.bool_)
        starts, stops = (np.ascontiguousarray(ends[:, self._columns]) for ends in (start, stop))
        shares_above(self._layout, starts, stops, lined, asked, self._room, shares, alone)
        most = shares[:, :count].min(axis=1)
        # 2^-50 covers the rounding of the sum and of the difference.
        least = np.maximum(0.0, 1.0 - shares[:, count:].sum(axis=1) * (1.0 + count * 2.0**-50) - 2.0**-50)
        independent = np.zeros(start.shape, dtype=np.bool_)
        independent[:, self._columns] = alone
        if self._event.complement:
            least, most = np.maximum(0.0, 1.0 - most - 2.0**-50), np.minimum(1.0, 1.0 - least + 2.0**-50)
        return least, most, independent

    def _apart(self, coefficients: FloatArray, low: FloatArray, high: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The most that inputs of several columns contribute together, and the sizes of what was added."""
        factors, low, high = coefficients[:, :, self._read.others], low[:, None], high[:, None]
        with np.errstate(all="ignore"):
            ends = np.array([factors * low[..., self._read.others], factors * high[..., self._read.others]])
            total, size = ends.max(axis=0).sum(axis=-1), np.abs(ends).max(axis=0).sum(axis=-1)
        for members in self._read.groups:
            possible = high[..., members] > 0
            possible |= ~possible.any(axis=-1, keepdims=True)
            values = coefficients[:, :, members]
            total = total + np.where(possible, values, -np.inf).max(axis=-1)
            size = size + np.where(possible, np.abs(values), 0.0).max(axis=-1)
        return total, size


def _layout(read: _Read, axes: Sequence[Axis], columns: Sequence[int], distribution: Distribution) -> Layout:
    """What the loops read, one behind the other."""
    place = {column: number for number, column in enumerate(columns)}
    ends = [(at, column, axes[place[column]].high, axes[place[column]].low) for at, column in read.numbers]
    # 1 where it cannot be false, 0 where it cannot be true, whichever is more where it may be both.
    ends += [(at, column, true, 1.0 - false) for at, column, true, false in read.indicators]
    tables = [
        (table.columns, np.ascontiguousarray(table.numbers / scale, dtype=np.float64))
        for table, scale in zip(distribution.tables, distribution.scales, strict=True)
        if table.columns
    ]
    touches = [[number for number, (own, _) in enumerate(tables) if column in own] for column in columns]
    members = [place[column] for own, _ in tables for column in own]
    strides = [stride // numbers.itemsize for _, numbers in tables for stride in numbers.strides]
    return Layout(
        first=_before([len(axis.weights) for axis in axes])[:-1],
        weights=_joined([np.array([weight / axis.denominator for weight in axis.weights]) for axis in axes]),
        cells=np.concatenate([np.zeros(0, dtype=np.int64), *(axis.cells for axis in axes)]),
        places=np.array([at for at, *_ in ends], dtype=np.int64),
        columns=np.array([place[column] for _, column, *_ in ends], dtype=np.int64),
        at=_before([len(most) for _, _, most, _ in ends])[:-1],
        most=_joined([most for _, _, most, _ in ends]),
        least=_joined([least for *_, least in ends]),
        begins=_before([numbers.size for _, numbers in tables])[:-1],
        numbers=_joined([numbers.ravel() for _, numbers in tables]),
        owns=_before([len(own) for own, _ in tables]),
        members=np.array(members, dtype=np.int64),
        strides=np.array(strides, dtype=np.int64),
        touches=_before([len(each) for each in touches]),
        tables=np.array([number for each in touches for number in each], dtype=np.int64),
    )


def _before(counts: Sequence[int]) -> IntArray:
    return np.cumsum([0, *counts], dtype=np.int64)


def _joined(parts: Sequence[FloatArray]) -> FloatArray:
    return np.concatenate([np.zeros(0), *parts])


def _read(model: Model, truths: Truths) -> _Read:
    numbers: list[tuple[int, int]] = []
    indicators: list[tuple[int, int, FloatArray, FloatArray]] = []
    others: list[int] = []
    groups = [tuple(group) for group in model.one_of if not _alone(model, group)]
    apart = {place for group in groups for place in group}
    for place, item in enumerate(model.inputs):
        match item:
            case AttributeInput(attribute=column):
                numbers.append((place, column))
            case IndicatorInput(predicate=predicate) if place not in apart:
                if len(mentioned(predicate)) != 1:
                    others.append(place)
                    continue
                column, true, false = truths.table(predicate)
                indicators.append((place, column, true.astype(np.float64), false.astype(np.float64)))
    return _Read(
        tuple(numbers),
        tuple(indicators),
        tuple(np.array(group, dtype=np.int64) for group in groups),
        np.array(others, dtype=np.int64),
    )


def _alone(model: Model, group: Sequence[int]) -> bool:
    """Whether all of a group's indicators are about one column each."""
    inputs = [model.inputs[place] for place in group]
    return all(isinstance(item, IndicatorInput) and len(mentioned(item.predicate)) == 1 for item in inputs)
