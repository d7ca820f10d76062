"""A look at many boxes of a network together: what the checker's pass over each comes to, in float64.

What it says is not believed; it says which claims are worth a pass, and where a box is to be cut.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairdsl_verify.bounds import BITS, Integers
from fairdsl_verify.question import Box
from fairdsl_verify.tree import Checker

__all__ = ["Floats", "Looking", "crossed", "reached"]

Floats = NDArray[np.float64]

#: How much it counts how far an attribute moves the bounds, against how far apart its slopes may lie.
_MOVES = 1 / 16

#: How steep a logistic curve is that is close to the normal distribution's.
_STEEP = 1.702


class Look(NamedTuple):
    """What a look at boxes says: the score of each assignment from and to, [boxes, assignments], what moves it most.

    ``crossed`` is about which part of a box the checker cannot say that the decision does not change in, as it is
    (-1), or by lines along the attribute of the number ``along``.
    """

    low: Floats
    high: Floats
    influence: Floats
    crossed: Floats
    along: NDArray[np.int64]


class Rows(NamedTuple):
    """What lies below numbers of boxes: the least of it, [boxes, rows], and slopes, [boxes, rows, attributes]."""

    least: Floats
    slopes: Floats


class Passed(NamedTuple):
    """A pass over boxes.

    The ranges of units by layers; by layers, and of the score, what lies below them, and then below their opposites;
    what the least of the score and of its opposite is of each assignment, and their slopes.
    """

    ranges: list[tuple[Floats, Floats]]
    rows: list[Rows]
    moved: Floats
    slopes: Floats


class Looking:
    """A network in float64, each layer by a power of two so large that no number overflows."""

    def __init__(self, checker: Checker, net: Integers) -> None:
        self._places = [place for place in checker.shared if not net.idle[place]]
        steps = [net.rows[place][0] for place in self._places]
        #: Where attributes do not simply count, by which multiple of its row each adds at a position.
        self._multiples = [
            np.array(multiples, dtype=np.float64) if isinstance(multiples := net.multiples[place], list) else None
            for place in self._places
        ]
        unit = _power(net.origin, *steps, *net.moves)
        self._origin = _floats(net.origin, unit)
        self._steps = np.array([_floats(step, unit) for step in steps]).reshape(len(steps), len(net.origin))
        self._moves = np.array([_floats(move, unit) for move in net.moves])
        #: Of what differs how far it may move the first layer, and the least step between two positions of the others.
        differ = [(at, checker.question.attributes[at].size - 1) for at in checker.question.differ]
        ends = [[_floats(each, unit) for each in net.extremes(at, (0, last))] for at, last in differ]
        self._sloped = np.vstack((self._steps, *(each[-1] - each[0] for each in ends))).T
        self._gaps = np.array([1.0 if each is None else np.abs(np.diff(each)).min() for each in self._multiples])
        self._measured = [(place, not checker.question.attributes[place].real) for place in self._places]
        self._layers: list[tuple[Floats, Floats]] = []
        for rows, biases in zip(net.weights, net.biases, strict=True):
            above = _power([value * unit for row in rows for value in row], biases)
            weight = np.array([[value * unit / above for value in row] for row in rows])
            self._layers.append((weight, _floats(biases, above)))
            unit = above

    def look(self, boxes: Sequence[Box]) -> Look:
        """One pass over each of the boxes."""
        low, high = self.ends(boxes)
        ranges, rows, moved, slopes = self.passed(low, high)
        least, most = self._slopes(ranges)
        unsure = (most - least)[:, : len(self._places)]
        influence = (unsure + _MOVES * np.abs(slopes).sum(axis=1)) * (high - low)
        open_ = crossed(rows[-1].least, slopes, low, high)
        open_[:, 1:] *= self._of_lines(boxes, least, most)
        return Look(moved[:, 0], -moved[:, 1], influence, open_.min(axis=1), open_.argmin(axis=1) - 1)

    def passed(self, low: Floats, high: Floats, signs: Sequence[NDArray[np.int8]] = ()) -> Passed:
        """One pass over boxes, whose ends are given.

        ``signs``: of each layer's units in each box whether they are known to be at least 0 (1), or at most (-1).
        """
        steps = np.vstack((self._steps.T, -self._steps.T))
        base = np.hstack((self._origin + self._moves.min(axis=0), -self._origin - self._moves.max(axis=0)))
        found = base + low @ np.maximum(steps, 0).T + high @ np.minimum(steps, 0).T
        rows = [Rows(found, np.broadcast_to(steps, (len(low), *steps.shape)))]
        ranges, lines = list[tuple[Floats, Floats]](), list[tuple[Floats, Floats, Floats]]()
        moved = slopes = np.zeros(0)
        for layer, (weight, bias) in enumerate(self._layers):
            under, over = np.hsplit(rows[-1].least, 2)
            over = -over
            if layer:
                least, most = _through(self._layers[layer - 1][0], *(np.maximum(ends, 0) for ends in ranges[-1]))
                added = self._layers[layer - 1][1]
                # As the checker has it: where ranges tell the sign, no line is asked for.
                least, most = least + added, most + added
                under = np.where((least < 0) & (most > 0), np.maximum(under, least), least)
                over = np.where((under < 0) & (most > 0), np.minimum(over, most), most)
            if len(signs):
                above, below = signs[layer] > 0, signs[layer] < 0
                under = np.where(above, np.maximum(under, 0), np.where(below, np.minimum(under, 0), under))
                over = np.where(above, np.maximum(over, 0), np.where(below, np.minimum(over, 0), over))
            ranges.append((under, over))
            lines.append(_lines(under, over))
            both, biases = np.vstack((weight, -weight)), np.hstack((bias, -bias))
            found, moved, slopes = self._least(layer, both, biases, lines, low, high)
            rows.append(Rows(found + moved.min(axis=2), slopes))
        return Passed(ranges, rows, moved + found[:, :, None], slopes)

    def _of_lines(self, boxes: Sequence[Box], least: Floats, most: Floats) -> Floats:
        """About which part of a line along each attribute may be decided differently (``slab.on_a_line``)."""
        count = len(self._places)
        rise = np.maximum(np.maximum(least, -most), 0)[:, :count] * self._gaps
        moved = np.maximum(np.abs(least), np.abs(most))[:, count:].sum(axis=1)
        sizes = [[box[place][1] - box[place][0] + real for place, real in self._measured] for box in boxes]
        reached = rise * np.array(sizes).reshape(rise.shape)
        many: Floats = np.clip(np.ceil(moved[:, None] / (rise + 1e-300)) * rise / (reached + 1e-300), 0.0, 1.0)
        return np.where(rise > 0, many, 1.0)

    def _slopes(self, ranges: Sequence[tuple[Floats, Floats]]) -> tuple[Floats, Floats]:
        """From where to where each attribute's slope is on the boxes, and what comes of all that differs."""
        (row, _) = self._layers[-1]
        least = most = np.broadcast_to(row, (len(ranges[0][0]), row.shape[1]))
        for (under, over), weight in zip(
            reversed(ranges), (*(weight for weight, _ in self._layers[-2::-1]), self._sloped), strict=True
        ):
            on, off = under >= 0, over <= 0
            least = np.where(on, least, np.where(off, 0.0, np.minimum(least, 0)))
            most = np.where(on, most, np.where(off, 0.0, np.maximum(most, 0)))
            least, most = _through(weight.T, least, most)
        return least, most

    @property
    def weighed(self) -> list[Floats]:
        """How much each unit counts for the score at most, by layers."""
        found = [np.ones(1)]
        for weight, _ in reversed(self._layers):
            found.insert(0, found[0] @ np.abs(weight))
        return found[:-1]

    def place_of(self, number: int) -> int:
        """Which attribute an influence is of."""
        return self._places[number]

    def ends(self, boxes: Sequence[Box]) -> tuple[Floats, Floats]:
        """From where to where attributes are, as what they add is counted."""
        ends = np.array([[box[place] for place in self._places] for box in boxes], dtype=np.int64)
        found = ends.reshape(len(boxes), len(self._places), 2).astype(np.float64)
        for number, multiples in enumerate(self._multiples):
            if multiples is not None:
                found[:, number] = multiples[ends[:, number]]
        found.sort(axis=2)
        return found[:, :, 0], found[:, :, 1]

    def _least(
        self, layer: int, rows: Floats, biases: Floats, lines: Sequence[Sequence[Floats]], low: Floats, high: Floats
    ) -> tuple[Floats, Floats, Floats]:
        """Lower bounds of rows over a layer's units, without what differs; what that adds; slopes of attributes."""
        weights, constant = np.broadcast_to(rows, (len(low), *rows.shape)), biases
        while True:
            under, over, intercept = (each[:, None, :] for each in lines[layer])
            falling = np.minimum(weights, 0)
            below = weights * under + falling * (over - under)
            constant = constant + np.einsum("bru,bu->br", falling, intercept[:, 0])
            if not layer:
                break
            layer -= 1
            weight, bias = self._layers[layer]
            constant, weights = constant + below @ bias, _product(below, weight)
        slopes = _product(below, self._steps.T)
        reached = np.where(slopes > 0, slopes * low[:, None, :], slopes * high[:, None, :])
        return constant + below @ self._origin + reached.sum(axis=2), _product(below, self._moves.T), slopes


def _product(rows: Floats, weight: Floats) -> Floats:
    """The rows of each box times a matrix, all in one product."""
    found: Floats = (rows.reshape(-1, rows.shape[2]) @ weight).reshape(*rows.shape[:2], weight.shape[1])
    return found


def _through(weight: Floats, least: Floats, most: Floats) -> tuple[Floats, Floats]:
    """From where to where rows are, by intervals of what they are over."""
    up, down = np.maximum(weight, 0).T, np.minimum(weight, 0).T
    return least @ up + most @ down, most @ up + least @ down


def _power(*rows: Sequence[int]) -> int:
    """A power of two that is no less than the numbers of each row together."""
    return 1 << sum(max(map(abs, row), default=0) for row in rows).bit_length()


def _floats(row: Sequence[int], unit: int) -> Floats:
    return np.array([value / unit for value in row], dtype=np.float64)


def _lines(low: Floats, high: Floats) -> tuple[Floats, Floats, Floats]:
    """Slopes of the lines below and above ``max(z, 0)``, and the upper one's intercept, as the checker has them."""
    on, open_ = low >= 0, (low < 0) & (high > 0)
    one = float(1 << BITS)
    with np.errstate(divide="ignore", invalid="ignore"):
        slope = np.where(open_, np.floor(one * high / (high - low)) / one, on)
    under = np.where(on | (open_ & (high > -low)), 1.0, 0.0)
    return under, slope, np.where(open_, np.maximum(-slope * low, (1 - slope) * high), 0.0)


def crossed(least: Floats, slopes: Floats, low: Floats, high: Floats) -> Floats:
    """About how much of a box lies between the two half-spaces that the checker counts (``fairdsl_verify.slab``).

    And, behind that, how many of the lines along each attribute they meet.
    """
    reached = np.minimum(slopes * low[:, None], slopes * high[:, None])
    both = slopes.sum(axis=1)
    gap = (least - reached.sum(axis=2)).sum(axis=1) + np.minimum(both * low, both * high).sum(axis=1)
    spread = np.abs(slopes[:, 0]) * (high - low)
    along = np.hstack((np.zeros((len(low), 1)), spread))
    # Without the attribute of a line the widest one of all may be another.
    left = np.where(np.eye(spread.shape[1] + 1, spread.shape[1], -1, dtype=bool), 0.0, spread[:, None])
    below, above = (_below(least[:, :1] - at, left) for at in (gap[:, None] - along, 0.0))
    share: Floats = np.clip(above - below, 0.0, 1.0)
    return share


def reached(rows: Rows, low: Floats, high: Floats) -> Floats:
    """About how much of a box each row leaves at most 0, [boxes, rows]."""
    return _below(rows.least, np.abs(rows.slopes) * (high - low)[:, None])


def _below(least: Floats, spread: Floats) -> Floats:
    """Which part of a sum is at most 0, about: it is no less than this, and its terms are spread uniformly, so far.

    The widest term is taken as it is, and a logistic curve stands for the normal distribution of all others.
    """
    widest, every = spread.max(axis=-1, initial=0.0), spread.sum(axis=-1)
    deviation = np.sqrt(np.maximum((spread**2).sum(axis=-1) - widest**2, 0) / 12)
    deviation = np.maximum(deviation, 1e-6 * every) + 1e-100
    steep, width = _STEEP / deviation, np.maximum(widest, 1e-3 * deviation)
    at = -(least + (every - widest) / 2)
    # The mean of the curve over the widest term's range, in closed form.
    share: Floats = (np.logaddexp(0, steep * at) - np.logaddexp(0, steep * (at - width))) / (steep * width)
    return np.where(least > 0, 0.0, np.clip(share, 0.0, 1.0))
