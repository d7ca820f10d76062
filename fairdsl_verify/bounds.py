"""The integer network that a question and a model's file come to, and bounds of it on boxes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import cached_property
from itertools import chain
from math import gcd, lcm
from operator import add, mul, sub
from typing import NamedTuple

from fairdsl_verify import reject
from fairdsl_verify.chain import Network, merged
from fairdsl_verify.margin import Float32
from fairdsl_verify.question import Box, Model, integral, side_of

#: Slopes of relaxations are multiples of 1 / 2^16.
BITS = 16


class Integers:
    """``Z1 = origin + what each attribute adds``, ``Zk = W max(Z(k - 1), 0) + b``: all whole numbers.

    ReLU is positively homogeneous, so each layer may be multiplied by a positive number that makes it whole; the score
    less its threshold has the sign of the last Z. A layer is kept by rows and by columns.
    """

    def __init__(self, question: Model, network: Network) -> None:
        if question.of != (of := "probability" if network.sigmoid else "score"):
            reject(f"the file computes a {of}, and the question takes it for a {question.of}")
        first, *above = map(merged, network.nodes)
        width = len(question.attributes)
        if len(question.reads) != len(first.weight[0]):
            reject(f"the file reads {len(first.weight[0])} columns, the question fills {len(question.reads)}")
        #: Whether a score of exactly the threshold is on the lower side, and whether the decision is the one above.
        self.zero_is_low, self.upward = question.relation in (">", "<="), question.relation in (">", ">=")
        # What the first layer makes of somebody at position 0 of each attribute, and what each adds at other positions;
        # of attributes without tables that is linear in the position.
        origin, rows = first.of([column.of([0] * width) for column in question.reads]), []
        listed = [any(place in each.tables for each in question.reads) for place in range(width)]
        for place, attribute in enumerate(question.attributes):
            positions = range(attribute.size if listed[place] else 2)
            points = [[at if each == place else 0 for each in range(width)] for at in positions]
            made = [first.of([column.of(point) for column in question.reads]) for point in points]
            rows.append([list(map(sub, row, origin)) for row in made])
        biases = [origin, *(layer.bias for layer in above)]
        biases[-1] = [biases[-1][0] - (question.threshold if question.of == "score" else 0)]
        scale = lcm(*(value.denominator for row in (biases[0], *chain(*rows)) for value in row))
        self.origin = _whole(biases[0], scale)
        #: What an attribute adds: multiples of one row, or (None) a row for each position; and whether that is nothing.
        self.rows: list[list[list[int]]] = []
        self.multiples: list[Sequence[int] | None] = []
        self.idle: list[bool] = []
        for place, attribute in enumerate(question.attributes):
            added = [_whole(row, scale) for row in rows[place]]
            step, multiples = _multiples(added) if listed[place] else (added[1], range(attribute.size))
            self.rows.append(added if multiples is None else [step])
            self.multiples.append(multiples)
            self.idle.append(not any(map(any, added)))
        self.weights: list[list[list[int]]] = []
        self.columns: list[list[tuple[int, ...]]] = []
        self.biases: list[list[int]] = []
        #: What a unit of 1 of each layer is here.
        self._scales = [scale]
        for layer, bias in zip(above, biases[1:], strict=True):
            factor = lcm(*(value.denominator for row in layer.weight for value in row))
            factor *= lcm(*((value * scale * factor).denominator for value in bias))
            self.weights.append([_whole(row, factor) for row in layer.weight])
            self.columns.append(list(zip(*self.weights[-1], strict=True)))
            scale *= factor
            self._scales.append(scale)
            self.biases.append(_whole(bias, scale))
        #: What a score of 1 is here, and how far from the threshold one has to be to count.
        self.scale, self.margin = scale, 0
        self.question, self._network, nothing = question, network, [0] * len(self.origin)
        #: What is known of the whole domain: of networks nothing is kept from box to box.
        self.start = None
        self.moves = [self.adds(nothing, zip(question.differ, each, strict=True)) for each in question.assignments]

    def adds(self, base: Sequence[int], at: Iterable[tuple[int, int]]) -> list[int]:
        """The first layer from a base on, with what attributes add at their positions."""
        added = []
        for place, position in at:
            rows, multiples = self.rows[place], self.multiples[place]
            added.append(rows[position] if multiples is None else [multiples[position] * each for each in rows[0]])
        return list(map(sum, zip(base, *added, strict=True)))

    def high(self, known: None, point: Sequence[int]) -> int:
        """On which side of the threshold an individual is, as far as that is known."""
        layers = [self.adds(self.origin, enumerate(point))]
        for rows, biases in zip(self.weights, self.biases, strict=True):
            below = [value if value > 0 else 0 for value in layers[-1]]
            layers.append([sum(map(mul, row, below), bias) for row, bias in zip(rows, biases, strict=True)])
        off = self.off([(at, at) for at in point], [(values, values) for values in layers])
        return side_of(layers[-1][0], layers[-1][0], off, zero_is_low=self.zero_is_low)

    def narrowed(self, known: None, place: int, ends: tuple[int, int]) -> None:
        """What is known of a part of a box."""

    def bounded(self, box: Box, only: Sequence[int], known: None, slopes: Sequence[int] = ()) -> Pass:
        """One pass over the box, for some assignments of what differs; ``slopes`` of lines are tried as well."""
        return Pass(self, box, [self.moves[number] for number in only], slopes)

    def cuts(self, known: None, place: int, ends: tuple[int, int]) -> Sequence[int]:
        """Positions from which on people of a range are told apart from those before."""
        return range(0) if self.idle[place] else range(ends[0] + 1, ends[1] + 1)

    def rounding(self) -> Fraction:
        """How far off the score of anybody may be in float32."""
        whole = tuple((0, attribute.size - 1) for attribute in self.question.attributes)
        return Fraction(self.float32.off(whole, Pass(self, whole, self.moves).bounds), self.scale)

    @cached_property
    def float32(self) -> Float32:
        """What float32 makes of the file."""
        return Float32(self.question, self._network, self._scales)

    def off(self, box: Sequence[tuple[int, int]], bounds: Sequence[tuple[Sequence[int], Sequence[int]]]) -> int:
        """How far from the threshold scores have to be to count, on a box where the units have these bounds."""
        if not self.margin or not self.question.deployed:
            return self.margin
        return min(self.margin, self.float32.off(box, bounds))


def _whole(row: Sequence[Fraction], scale: int) -> list[int]:
    return [integral(value * scale) for value in row]


def _multiples(rows: list[list[int]]) -> tuple[list[int], list[int] | None]:
    """The row that all are multiples of, and these where they only grow or only fall; else None."""
    unit = next((number for number, most in enumerate(rows[-1]) if most), 0)
    factors = [row[unit] for row in rows]
    if not factors[-1] or factors not in (sorted(factors), sorted(factors, reverse=True)):
        return [], None
    shared = gcd(*factors)
    step, multiples = [each * shared // factors[-1] for each in rows[-1]], [factor // shared for factor in factors]
    return step, multiples if rows == [[factor * each for each in step] for factor in multiples] else None


#: A line in units of 2^-BITS: slope and intercept.
Line = tuple[int, int]


class Below(NamedTuple):
    """What lies below a unit, times a positive number: a sum over the units of the first layer, and a constant."""

    slopes: Sequence[int]
    constant: int


class Pass:
    """Bounds of every unit on a box, for some assignments of what differs: linear relaxations, layer by layer.

    A unit that may have either sign lies above 0 or its pre-activation, and below the chord; each is a line, and
    whatever the chord's slope is rounded to, the intercept is such that the line lies above ReLU at both ends of the
    unit's range. Any line through 0 with a slope from 0 to 1 lies below ReLU: those of ``slopes`` are tried for each
    row beside the usual ones. Where a unit's sign is known by the ranges of those below it, these are enough.
    """

    #: Of networks nothing but the side says that all get the same decision.
    same = False

    def __init__(self, net: Integers, box: Box, moves: Sequence[list[int]], slopes: Sequence[int] = ()) -> None:
        self.net, self.moves, self._slopes = net, moves, (None, *slopes)
        #: What lies in a range, and the first layer where everything else is.
        self.ranges = [at for at in net.question.shared if box[at][0] < box[at][1] and not net.idle[at]]
        fixed = [(place, box[place][0]) for place in net.question.shared if place not in self.ranges]
        self.box, self.fixed = box, net.adds(net.origin, fixed)
        corners = [
            [net.adds([0] * len(self.fixed), [(at, end)]) for end in self.positions(at, box[at])] for at in self.ranges
        ]
        low = high = self.fixed
        for rows in (moves, *corners):
            columns = list(zip(*rows, strict=True))
            low, high = list(map(add, low, map(min, columns))), list(map(add, high, map(max, columns)))
        #: The least and the greatest that is known of each unit, by layers.
        self.bounds = [(low, high)]
        self._lines: list[list[tuple[Line, Line]]] = []
        #: What lies below the score less the threshold, and below its opposite.
        self.lower, self.upper = Below([1], 0), Below([-1], 0)
        for weights, biases in zip(net.weights, net.biases, strict=True):
            self._lines.append([_lines(*ends) for ends in zip(*self.bounds[-1], strict=True)])
            found = [self._range(row, bias) for row, bias in zip(weights, biases, strict=True)]
            self.bounds.append(([least for least, _ in found], [most for _, most in found]))

    def _range(self, row: Sequence[int], bias: int) -> tuple[int, int]:
        """From where to where a unit is: by the ranges of those below it and, where its sign is open, by lines."""
        least = most = bias
        for weight, low, high in zip(row, *self.bounds[-1], strict=True):
            ends = weight * max(low, 0), weight * max(high, 0)
            least, most = least + min(ends), most + max(ends)
        top = len(self._lines) == len(self.net.weights)
        if top or least < 0 < most:
            least, self.lower = self._least(row, bias, least)
        if top or least < 0 < most:
            most, self.upper = self._least([-weight for weight in row], -bias, -most)
            most = -most
        return least, most

    def _least(self, row: Sequence[int], bias: int, least: int) -> tuple[int, Below]:
        """The least of a row, which is no less than this one, and the best of what lies below it."""
        found = []
        for slope in self._slopes:
            below, known = self._below(row, bias, slope)
            found.append((self.least(below), below))
            least = max(least, known, found[-1][0] >> BITS * len(self._lines))
            if least > 0:
                break
        return least, max(found, key=lambda one: one[0])[1]

    def positions(self, place: int, ends: tuple[int, int]) -> Sequence[int]:
        """Where what an attribute adds has its extremes: anywhere, or at the ends."""
        return range(ends[0], ends[1] + 1) if self.net.multiples[place] is None else ends

    def adds(self, below: Below, place: int, positions: Iterable[int]) -> list[int]:
        """What an attribute adds at positions."""
        rows, multiples = self.net.rows[place], self.net.multiples[place]
        if multiples is None:
            return [sum(map(mul, below.slopes, rows[at])) for at in positions]
        slope = sum(map(mul, below.slopes, rows[0]))
        return [slope * multiples[at] for at in positions]

    def start(self, below: Below) -> int:
        """The least of it without what lies in a range."""
        fixed = below.constant + sum(map(mul, below.slopes, self.fixed))
        return int(fixed + min(sum(map(mul, below.slopes, move)) for move in self.moves))

    def least(self, below: Below) -> int:
        """The least of it on the box."""
        return self.start(below) + sum(
            min(self.adds(below, place, self.positions(place, self.box[place]))) for place in self.ranges
        )

    def _below(self, weights: Sequence[int], constant: int, tried: int | None) -> tuple[Below, int]:
        """What lies below ``weights @ max(Z, 0) + constant`` of the last layer, by substitution down to the first.

        ``tried`` is the slope of the lines below units of open sign, if it is not their own. Beside it stands what the
        ranges of the layers on the way down say, whichever of them says most.
        """
        known = []
        for layer in reversed(range(len(self._lines))):
            ranged, below = constant, []
            lows, highs = self.bounds[layer]
            constant <<= BITS
            for weight, low, high, (under, over) in zip(weights, lows, highs, self._lines[layer], strict=True):
                slope, intercept = under if weight > 0 else over
                if weight > 0 and tried is not None and low < 0 < high:
                    slope = tried
                below.append(weight * slope)
                constant += weight * intercept
                ranged += weight * max(low if weight > 0 else high, 0)
            known.append(ranged >> BITS * (len(self._lines) - 1 - layer))
            if layer:
                constant += sum(map(mul, below, self.net.biases[layer - 1]))
                weights = [sum(map(mul, below, column)) for column in self.net.columns[layer - 1]]
        return Below(below, constant), max(known)

    @property
    def side(self) -> int:
        """YES: all are above the threshold; NO: none is; MAYBE: this pass does not say."""
        low, high = self.bounds[-1]
        return side_of(low[0], high[0], self.off, zero_is_low=self.net.zero_is_low)

    @cached_property
    def off(self) -> int:
        """How far from the threshold scores have to be to count."""
        return self.net.off(self.box, self.bounds)


def _lines(low: int, high: int) -> tuple[Line, Line]:
    """Lines below and above ``max(z, 0)`` for z in [low, high]."""
    one = 1 << BITS
    if low >= 0:
        return (one, 0), (one, 0)
    if high <= 0:
        return (0, 0), (0, 0)
    slope = (high << BITS) // (high - low)
    return (one if high > -low else 0, 0), (slope, max(-slope * low, (one - slope) * high))
