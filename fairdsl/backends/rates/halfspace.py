"""Sound bounds of the demands on the scores over many boxes at once.

:mod:`fairdsl.numerics.bounds` bounds the model over boxes of inputs; here boxes of atoms become boxes of inputs. An
indicator that a box decides is a constant, and of a group of which exactly one is 1 the only one that may be true is 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, inf, isfinite

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.rates.arithmetic import Distribution
from fairdsl.ir.feature import AttributeInput, IndicatorInput
from fairdsl.ir.model import Model
from fairdsl.numerics.axes import Axis, mentioned
from fairdsl.numerics.bounds import LayerBounds, Lines, float_layers, greatest, preactivation_bounds, upper_lines
from fairdsl.numerics.choices import choices_of
from fairdsl.numerics.event import Demand, Event
from fairdsl.numerics.rounding import float_above, float_below
from fairdsl.numerics.truth import Truths

__all__ = ["Bounded", "Bounder", "Chances", "HalfSpace", "Independent"]

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
# Which columns of a box are independent of all others there, and how each of them is distributed.
#
# On a box a column is independent if in none of its tables another column has more than one cell left.

#: By column the probabilities of the atoms of a box, each with an error of some roundings; None where all are 0.
Chances = dict[int, FloatArray | None]


class Independent:
    """The tables of a distribution as floats, and what they say of single columns."""

    def __init__(self, distribution: Distribution, axes: Mapping[int, Axis]) -> None:
        self._cells = {column: axes[column].cells for column in distribution.sizes}
        self._weights = {
            column: np.array([weight / axes[column].denominator for weight in axes[column].weights])
            for column in distribution.sizes
        }
        self._tables = [
            (table.columns, np.asarray(table.numbers / scale, dtype=np.float64))
            for table, scale in zip(distribution.tables, distribution.scales, strict=True)
            if table.columns
        ]

    def chances(self, start: IntArray, stop: IntArray) -> Chances:
        """The independent columns of a box, whose ranges are [columns]."""
        cells = {column: own[start[column] : stop[column]] for column, own in self._cells.items()}
        wide = {column for column, own in cells.items() if own[0] != own[-1]}
        bound = set[int]()
        for columns, _ in self._tables:
            several = wide.intersection(columns)
            bound |= several if len(several) > 1 else set()
        found: Chances = {}
        for column, own in cells.items():
            if column in bound:
                continue
            masses = self._weights[column][start[column] : stop[column]]
            # Within one cell the tables say nothing of the atoms; a wider column is alone in each of its tables.
            for columns, numbers in self._tables if column in wide else ():
                if column in columns:
                    masses = masses * numbers[tuple(own if each == column else cells[each][0] for each in columns)]
            whole = float(masses.sum())
            found[column] = masses / whole if whole else None
        return found


# --------------------------------------------------------------------------------------------------
# The share of a box in which a demand may hold, from the line above it: a half-space of the box.
#
# Let U be a line above ``row @ scores`` on the box B, ``t`` the threshold's lower end. Where the demand holds, U >= t.
# So Pr[demand, B] <= Pr[U >= t, B]; and for the negated row Pr[not demand, B] <= Pr[U' >= -t', B], t' the upper end.
# Columns that are independent on B contribute to U independently of each other. All others, and inputs that depend on
# several columns, count as a constant, the most that they may contribute.
#
# Its law is computed on a grid. With a grid of step h, a contribution c of a column whose least one is m counts as
# g = ceil((c - m) / h) steps, so that sum c <= sum m + h sum g: every probability Pr[U >= t] is at most that of the
# grid. Probabilities are non-negative floats, convolved directly (``numpy.convolve`` adds products, no transform); n
# roundings in a row make a relative error of at most gamma_n (Higham, section 3.1), which is added, as is 1e-250 for
# underflow. The contributions' own rounding, a few units in the last place of their sizes for each, lowers t.

#: Steps of the grid.
_GRID = 512
_LEAST_STEP = 1e-290


@dataclass(frozen=True, slots=True)
class _Read:
    """Inputs by what they depend on: numbers and indicators of one column, groups with exactly one 1, and others."""

    numbers: tuple[tuple[int, int], ...]
    indicators: tuple[tuple[int, int, FloatArray, FloatArray], ...]
    groups: tuple[tuple[int, ...], ...]
    others: tuple[int, ...]


class HalfSpace:
    """Shares of boxes above a line of one model's inputs."""

    def __init__(self, model: Model, event: Event, truths: Truths) -> None:
        self._event, self._truths = event, truths
        self._read = _read(model, truths)

    def shares(
        self, bounded: Bounded, place: int, box: Mapping[int, tuple[int, int]], chances: Chances
    ) -> tuple[Fraction, Fraction]:
        """Bounds of Pr[event | box]; several demands by Bonferroni's inequality."""
        demands = self._event.demands
        fails, meets = Fraction(0), Fraction(1)
        ends = (bounded.low[place], bounded.high[place])

        def share(line: int, threshold: float) -> Fraction:
            coefficients = bounded.lines.coefficients[place, line]
            return self.share(coefficients, float(bounded.lines.constants[place, line]), ends, box, chances, threshold)

        for number, demand in enumerate(demands):
            meets = min(meets, share(number, float_below(demand.low)))
            fails += share(len(demands) + number, float_below(-demand.high))
        low, high = max(Fraction(0), 1 - fails), meets
        return (1 - high, 1 - low) if self._event.complement else (low, high)

    def share(
        self,
        coefficients: FloatArray,
        constant: float,
        ends: tuple[FloatArray, FloatArray],
        box: Mapping[int, tuple[int, int]],
        chances: Chances,
        threshold: float,
    ) -> Fraction:
        """At least Pr[coefficients @ inputs + constant >= threshold | box], at most 1.

        ``ends`` are the inputs' bounds on the box; the threshold is a float on the safe side.
        """
        if not isfinite(constant):
            return Fraction(1)
        columns, size = self._contributions(coefficients, box)
        fixed, others = self._apart(coefficients, *ends)
        for column in [column for column in columns if column not in chances]:
            # Not independent of the others: the most that it contributes, whatever they are.
            fixed += float(columns.pop(column).max())
        if not isfinite(size + others):
            return Fraction(1)
        spread = 0.0
        for column, values in columns.items():
            least = float(values.min())
            fixed += least
            columns[column] = values - least
            spread += float(columns[column].max())
        needed = threshold - constant - fixed
        # An addition for each input and two for each column, a product each; doubled against its own rounding.
        rounds = 2 * (len(coefficients) + 2 * len(box) + 8)
        needed -= rounds * 2.0**-52 * (size + others + abs(constant) + abs(threshold)) + 1e-300
        if not needed > 0:
            return Fraction(1)
        if spread <= 0 or needed > spread * (1 + 1e-9):
            # A sum of contributions is at most their spread above the least, up to the rounding counted above.
            return Fraction(0)
        step = spread / _GRID
        if not _LEAST_STEP < step < inf:
            # Quotients by it could overflow, or be none of what they stand for.
            return Fraction(1)
        return self._above(columns, chances, needed, step)

    def _above(self, columns: Mapping[int, FloatArray], chances: Chances, needed: float, step: float) -> Fraction:
        """Pr[sum of the contributions >= needed] at most; contributions are not negative here."""
        grid = np.ones(1)
        rounds = 8
        for column, values in columns.items():
            law = chances[column]
            if law is None:
                return Fraction(0)
            if not values.any():
                continue
            # 1e-6 of a step covers the rounding of the quotient, which is at most the grid's length.
            steps = np.ceil(values / step + 1e-6).astype(np.int64)
            masses = np.bincount(steps, weights=law)
            grid = np.convolve(grid, masses)
            rounds += 2 * (len(values) + len(masses) + len(chances) + 8)
        first = max(0, ceil(needed / step * (1 - 1e-12) - 1e-6))
        share = float(grid[first:].sum()) if first < len(grid) else 0.0
        rounds += len(grid)
        return min(Fraction(1), Fraction(share) * (1 + Fraction(2 * rounds, 2**53)) + Fraction(1, 10**250))

    def _contributions(
        self, coefficients: FloatArray, box: Mapping[int, tuple[int, int]]
    ) -> tuple[dict[int, FloatArray], float]:
        """By column, the most that it may contribute at each atom of the box; and the sizes of what was added."""
        found: dict[int, FloatArray] = {}
        size = 0.0
        for place, column in self._read.numbers:
            factor, axis, (start, stop) = float(coefficients[place]), self._truths.axes[column], box[column]
            if factor:
                side = (axis.high if factor > 0 else axis.low)[start:stop]
                found[column] = found.get(column, 0.0) + factor * side
                size += abs(factor) * float(np.abs(side).max())
        for place, column, true, false in self._read.indicators:
            factor, (start, stop) = float(coefficients[place]), box[column]
            if factor:
                # 1 where it cannot be false, 0 where it cannot be true, whichever is more where it may be both.
                at = true[start:stop] if factor > 0 else 1.0 - false[start:stop]
                found[column] = found.get(column, 0.0) + factor * at
                size += abs(factor)
        return found, size

    def _apart(self, coefficients: FloatArray, low: FloatArray, high: FloatArray) -> tuple[float, float]:
        """The most that all other inputs contribute together, and the sizes of what was added."""
        total = size = 0.0
        for place in self._read.others:
            ends = (coefficients[place] * low[place], coefficients[place] * high[place])
            total += float(max(ends))
            size += float(max(abs(end) for end in ends))
        for group in self._read.groups:
            members = np.array(group, dtype=np.int64)
            possible = members[high[members] > 0]
            values = coefficients[possible if len(possible) else members]
            total += float(values.max())
            size += float(np.abs(values).max())
        return total, size


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
    return _Read(tuple(numbers), tuple(indicators), tuple(groups), tuple(others))


def _alone(model: Model, group: Sequence[int]) -> bool:
    """Whether all of a group's indicators are about one column each."""
    inputs = [model.inputs[place] for place in group]
    return all(isinstance(item, IndicatorInput) and len(mentioned(item.predicate)) == 1 for item in inputs)
