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

Floats = NDArray[np.float64]

#: How steep a logistic curve is that is close to the normal distribution's.
_STEEP = 1.702
#: How much it counts how far an attribute moves the bounds, against how far apart its slopes may lie.
_MOVES = 1 / 16


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


class Look(NamedTuple):
    """What a look at boxes says: the score of each assignment from and to, [boxes, assignments], what moves it most.

    ``crossed`` is about which part of a box the checker cannot say that the decision does not change in, as it is
    (-1), or by lines along the attribute of the number ``along``. ``apart`` is about which part it says is decided
    differently of the ``pair`` of assignments that are furthest apart, and ``left`` what is left open then.
    """

    low: Floats
    high: Floats
    influence: Floats
    crossed: Floats
    along: NDArray[np.int64]
    apart: Floats
    left: Floats
    pair: NDArray[np.int64]


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
        ends = self._ends(boxes)
        ranges, rows = self._passed(ends)
        reach = ends.high - ends.low
        least, most = self._slopes(ranges)
        unsure = (most - least)[:, : len(self._places)]
        influence = (unsure + _MOVES * np.abs(rows.slopes).sum(axis=1)) * reach
        open_ = _crossed(rows, ends)
        open_[:, 1:] *= self._of_lines(boxes, least, most)
        moved = rows.moved + (rows.least(ends) - rows.moved.min(axis=2))[:, :, None]
        # Of the pair each is bounded by itself, at least so well.
        sure = 1 - _below(moved.max(axis=2), np.abs(rows.slopes) * reach[:, None])
        apart = np.maximum(sure.sum(axis=1) - 1, 0.0)
        left = np.maximum(open_[:, 0] - apart, 0.0)
        along, pair = open_.argmin(axis=1) - 1, moved.argmax(axis=2)
        return Look(moved[:, 0], -moved[:, 1], influence, open_.min(axis=1), along, apart, left, pair)

    def _passed(self, ends: Ends) -> tuple[list[tuple[Floats, Floats]], Rows]:
        """One pass over boxes: from where to where hidden units are, and what lies below the score and its opposite."""
        steps, moves = np.vstack((self._steps.T, -self._steps.T)), np.vstack((self._moves.T, -self._moves.T))
        start, boxes = np.hstack((self._origin, -self._origin)), (len(ends.low),)
        rows = Rows(*(np.broadcast_to(each, boxes + each.shape) for each in (start, moves, steps)))
        known = np.full(rows.constant.shape, -np.inf)
        ranges, lines = list[tuple[Floats, Floats]](), list[tuple[Floats, Floats, Floats]]()
        for layer, (weight, bias) in enumerate(self._layers):
            under, over = np.hsplit(np.maximum(rows.least(ends), known), 2)
            over = -over
            if layer:
                below_, added = self._layers[layer - 1]
                least, most = _through(below_, *(np.maximum(each, 0) for each in ranges[-1]))
                # As the checker has it: where ranges tell the sign, no line is asked for.
                least, most = least + added, most + added
                under = np.where((least < 0) & (most > 0), np.maximum(under, least), least)
                over = np.where((under < 0) & (most > 0), np.minimum(over, most), most)
            ranges.append((under, over))
            lines.append(_lines(under, over))
            rows, known = self._carried(np.vstack((weight, -weight)), np.hstack((bias, -bias)), lines, ranges)
        return ranges, rows

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

    def place_of(self, number: int) -> int:
        """Which attribute an influence is of."""
        return self._places[number]

    def _ends(self, boxes: Sequence[Box]) -> Ends:
        """From where to where attributes are, as what they add is counted."""
        ends = np.array([[box[place] for place in self._places] for box in boxes], dtype=np.int64)
        found = ends.reshape(len(boxes), len(self._places), 2).astype(np.float64)
        for number, multiples in enumerate(self._multiples):
            if multiples is not None:
                found[:, number] = multiples[ends[:, number]]
        found.sort(axis=2)
        return Ends(found[:, :, 0], found[:, :, 1])

    def _carried(
        self, rows: Floats, biases: Floats, lines: Sequence[Sequence[Floats]], ranges: Sequence[tuple[Floats, Floats]]
    ) -> tuple[Rows, Floats]:
        """What lies below rows over the last of these layers, and the best that ranges say of them on the way down."""
        boxes = len(ranges[0][0])
        weights, constant, known = (
            np.broadcast_to(rows, (boxes, *rows.shape)),
            biases,
            np.full((boxes, len(rows)), -np.inf),
        )
        for layer in reversed(range(len(lines))):
            under, over, intercept = (each[:, None, :] for each in lines[layer])
            least, most = (np.maximum(each, 0)[:, None, :] for each in ranges[layer])
            falling = np.minimum(weights, 0)
            known = np.maximum(known, constant + ((weights - falling) * least + falling * most).sum(axis=2))
            weights = weights * under + falling * (over - under)
            constant = constant + (falling * intercept).sum(axis=2)
            if layer:
                weight, bias = self._layers[layer - 1]
                constant, weights = constant + weights @ bias, _product(weights, weight)
        made = Rows(
            constant + weights @ self._origin, _product(weights, self._moves.T), _product(weights, self._steps.T)
        )
        return made, known


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


def _crossed(rows: Rows, ends: Ends) -> Floats:
    """About how much of a box the checker says is open (``fairdsl_verify.slab``) by the score's rows.

    And, behind that, how many of the lines along each attribute lie between them.
    """
    slopes, (low, high) = rows.slopes, ends
    least, both, reach = rows.least(ends), slopes.sum(axis=1), high - low
    reached = np.minimum(slopes * low[:, None], slopes * high[:, None])
    gap = (least - reached.sum(axis=2)).sum(axis=1) + np.minimum(both * low, both * high).sum(axis=1)
    spread = np.abs(slopes[:, 0]) * reach
    along = np.hstack((np.zeros((len(low), 1)), spread))
    # Without the attribute of a line the widest one of all may be another.
    left = np.where(np.eye(spread.shape[1] + 1, spread.shape[1], -1, dtype=bool), 0.0, spread[:, None])
    under, share = (_below(least[:, :1] - at, left) for at in (gap[:, None] - along, 0.0))
    halves = share[:, 0] + _below(least[:, 1], np.abs(slopes[:, 1]) * reach) - 1
    share = np.clip(share - under, 0.0, 1.0)
    share[:, 0] = np.clip(halves, 0.0, 1.0)
    return share


def _below(least: Floats, spread: Floats) -> Floats:
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
