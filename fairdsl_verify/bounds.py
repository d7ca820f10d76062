"""The integer network that a question and a model's file come to, and bounds of it on boxes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import accumulate, chain
from math import gcd, lcm
from operator import add, mul, sub

from fairdsl_verify import reject
from fairdsl_verify.chain import Network, merged
from fairdsl_verify.margin import Float32
from fairdsl_verify.question import Box, Model, integral, side_of

#: Slopes of relaxations are multiples of 1 / 2^16.
BITS = 16


class Lanes:
    """Rows of whole numbers, each as one: adding these adds those, while no sum has larger entries than ``most``."""

    def __init__(self, most: Sequence[int]) -> None:
        bits = max(most).bit_length() // 8 * 8 + 8
        self._size, self._count, self._half = bits // 8, len(most), 1 << bits - 1
        self._halves = self.packed([self._half] * self._count)

    def packed(self, row: Iterable[int]) -> int:
        """A row as one number."""
        return sum(value << 8 * self._size * at for at, value in enumerate(row))

    def signed(self, row: Sequence[int]) -> tuple[int, int]:
        """What is positive of a row, and the opposite of what is negative."""
        return self.packed(max(value, 0) for value in row), self.packed(max(-value, 0) for value in row)

    def ends(self, rows: Sequence[Sequence[int]]) -> tuple[int, int]:
        """The least and the greatest of rows, entry by entry."""
        columns = list(zip(*rows, strict=True))
        return self.packed(map(min, columns)), self.packed(map(max, columns))

    def of(self, number: int) -> list[int]:
        """The row that a number is."""
        size, half = self._size, self._half
        whole = (number + self._halves).to_bytes(self._count * size, "little")
        return [int.from_bytes(whole[at : at + size], "little") - half for at in range(0, len(whole), size)]


class Integers:
    """``Z1 = origin + what each attribute adds``, ``Zk = W max(Z(k - 1), 0) + b``: all whole numbers.

    Each layer is multiplied by a positive number, which ReLU lets through; the last Z is the score less its threshold.
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
        # What comes of somebody at position 0 of each attribute, and what others add, linear where there is no table.
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
        self.weights, self.biases = list[list[list[int]]](), list[list[int]]()
        self._scales = [scale]  # what a unit of 1 of each layer is here
        for layer, bias in zip(above, biases[1:], strict=True):
            entries = chain([value * scale for value in bias], *layer.weight)
            factor = lcm(*(value.denominator for value in entries))
            self.weights.append([_whole(row, factor) for row in layer.weight])
            scale *= factor
            self._scales.append(scale)
            self.biases.append(_whole(bias, scale))
        #: What a score of 1 is here, and how far from the threshold one has to be to count.
        self.scale, self.margin = scale, 0
        self.question, self._network, nothing = question, network, [0] * len(self.origin)
        #: What is known of the whole domain: of networks nothing is kept from box to box.
        self.start = None
        self.moves = [self.adds(nothing, zip(question.differ, each, strict=True)) for each in question.assignments]
        self._lay_out()

    def _lay_out(self) -> None:
        """Layers as lanes: upward for ranges of units, downward for rows that are carried down to the attributes."""
        most = list(map(abs, self.origin))
        for place, attribute in enumerate(self.question.attributes):
            columns = zip(*self.extremes(place, (0, attribute.size - 1)), strict=True)
            most = [known + max(map(abs, column)) for known, column in zip(most, columns, strict=True)]
        self._first, self._up = Lanes(list(map(add, most, most))), list[tuple[Lanes, int, list[tuple[int, int]]]]()
        self._added = lru_cache(1 << 16)(lambda place, ends: self._first.ends(self.extremes(place, ends)))
        self._moved = lru_cache(64)(lambda only: self._first.ends([self.moves[number] for number in only]))
        #: Of each layer's units, and of the score, the constant and what it is a sum of.
        self.units = [list(zip(self.origin, *chain(*self.rows), strict=True))]
        for weights, biases in zip(self.weights, self.biases, strict=True):
            most = [sum(map(mul, map(abs, row), most), abs(bias)) for row, bias in zip(weights, biases, strict=True)]
            lanes = Lanes(list(map(add, most, most)))
            self._up.append((lanes, lanes.packed(biases), list(map(lanes.signed, zip(*weights, strict=True)))))
            self.units.append([(bias, *row) for row, bias in zip(weights, biases, strict=True)])
        #: What a score is that is a sum itself, and its opposite; from which summand on each attribute's rows are.
        self.sums = [[sign * each for each in self.units[0][0]] for sign in (1, -1)]
        self.starts = list(accumulate(map(len, self.rows), initial=1))
        #: The same of each layer's units as lanes.
        self.down: list[tuple[Lanes, list[int]]] = []
        reached = 1
        for weights, units in zip(reversed(self.weights), reversed(self.units[:-1]), strict=True):
            # Rows that are carried down from here, or from above, have no coefficients that are larger.
            reached = max(reached, *map(abs, chain(*weights))) * sum(max(map(abs, unit)) for unit in units) << BITS
            lanes = Lanes([reached] * len(units[0]))
            self.down.insert(0, (lanes, list(map(lanes.packed, units))))

    def positions(self, place: int, ends: tuple[int, int]) -> Sequence[int]:
        """Where what an attribute adds has its extremes: anywhere, or at the ends."""
        return range(ends[0], ends[1] + 1) if self.multiples[place] is None else ends

    def extremes(self, place: int, ends: tuple[int, int]) -> list[list[int]]:
        """What an attribute adds where that has its extremes."""
        return [self.adds([0] * len(self.origin), [(place, at)]) for at in self.positions(place, ends)]

    def first(self, box: Box, only: Sequence[int]) -> tuple[list[int], list[int]]:
        """The least and the greatest of each unit of the first layer."""
        added = [self._moved(tuple(only)), *(self._added(place, box[place]) for place in self.question.shared)]
        origin = self._first.packed(self.origin)
        low, high = (self._first.of(origin + sum(each)) for each in zip(*added, strict=True))
        return low, high

    def above(self, layer: int, below: Iterable[tuple[int, int, int]], bias: int = 1) -> list[list[int]]:
        """The least and the greatest of each unit above a layer, by what some of its units give; all others give 0."""
        lanes, biases, columns = self._up[layer]
        low = high = bias * biases
        for unit, least, most in below:
            plus, minus = columns[unit]
            low, high = low + least * plus - most * minus, high + most * plus - least * minus
        return [lanes.of(low), lanes.of(high)]

    def adds(self, base: Sequence[int], at: Iterable[tuple[int, int]]) -> list[int]:
        """The first layer from a base on, with what attributes add at their positions."""
        added = []
        for place, position in at:
            rows, multiples = self.rows[place], self.multiples[place]
            added.append(rows[position] if multiples is None else [multiples[position] * each for each in rows[0]])
        return list(map(sum, zip(base, *added, strict=True)))

    def high(self, known: None, box: Box) -> int:
        """On which side of the threshold all of a box are whom nothing tells apart, as far as that is known."""
        layers = [self.adds(self.origin, enumerate(low for low, _ in box))]
        for rows, biases in zip(self.weights, self.biases, strict=True):
            below = [value if value > 0 else 0 for value in layers[-1]]
            layers.append([sum(map(mul, row, below), bias) for row, bias in zip(rows, biases, strict=True)])
        off = self.off(box, [(values, values) for values in layers])
        return side_of(layers[-1][0], layers[-1][0], off, zero_is_low=self.zero_is_low)

    def narrowed(self, known: None, place: int, ends: tuple[int, int]) -> None:
        """What is known of a part of a box."""

    def bounded(self, box: Box, only: Sequence[int], known: None, slopes: Sequence[int] = ()) -> Pass:
        """One pass over the box, for some assignments of what differs; ``slopes`` of lines are tried as well."""
        return Pass(self, box, only, slopes)

    def cuts(self, known: None, place: int, ends: tuple[int, int]) -> Sequence[int]:
        """Positions from which on people of a range are told apart from those before."""
        return range(0) if self.idle[place] else range(ends[0] + 1, ends[1] + 1)

    def rounding(self) -> Fraction:
        """How far off the score of anybody may be in float32."""
        whole = tuple((0, attribute.size - 1) for attribute in self.question.attributes)
        return Fraction(self.float32.off(whole, Pass(self, whole, range(len(self.moves))).bounds), self.scale)

    @cached_property
    def float32(self) -> Float32:
        """What float32 makes of the file."""
        return Float32(self.question, self._network, self._scales)

    def off(self, box: Sequence[tuple[int, int]], bounds: Sequence[tuple[Sequence[int], Sequence[int]]]) -> int:
        """How far from the threshold scores have to be to count, on a box where the units have these bounds."""
        deployed = self.margin and self.question.deployed
        return min(self.margin, self.float32.off(box, bounds)) if deployed else self.margin


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


class Pass:
    """Bounds of every unit on a box (docs/proof-format.md, One pass); ``slopes`` are tried beside the usual ones."""

    #: Of networks nothing but the side says that all get the same decision.
    same = False

    def __init__(self, net: Integers, box: Box, only: Sequence[int], slopes: Sequence[int] = ()) -> None:
        self.net, self.box, self._slopes, self._only = net, box, [None, *slopes], only
        #: What lies in a range, and what stands at one position.
        self.ranges = [at for at in net.question.shared if box[at][0] < box[at][1] and not net.idle[at]]
        self._fixed = [at for at in net.question.shared if at not in self.ranges and not net.idle[at]]
        #: The least and the greatest that is known of each unit, by layers.
        self.bounds = [self.within(0, net.first(box, only))]
        #: Of each layer, the units that may be above zero, with what `_lines` says and their rows.
        self.live: list[list[tuple[int, int, int, int, int]]] = []
        #: What lies below the score less the threshold, and below its opposite: a constant, and what all rows count.
        self.lower, self.upper = net.sums
        for layer, (weights, biases) in enumerate(zip(net.weights, net.biases, strict=True)):
            ends = zip(*self.bounds[-1], net.down[layer][1], strict=True)
            self.live.append([(at, *_lines(low, high), row) for at, (low, high, row) in enumerate(ends) if high > 0])
            lows, highs = self.bounds[-1]
            known = net.above(layer, ((at, max(lows[at], 0), highs[at]) for at, *_ in self.live[-1]))
            found = [self._range(*each) for each in zip(weights, biases, zip(*known, strict=True), strict=True)]
            self.bounds.append(self.within(layer + 1, ([least for least, _ in found], [most for _, most in found])))
        (low, *_), (high, *_) = self.bounds[-1]
        #: How far from the threshold scores have to be; YES: all are above; NO: none is; MAYBE: it is not said.
        self.off = net.off(box, self.bounds)
        self.side = side_of(low, high, self.off, zero_is_low=net.zero_is_low)

    def within(self, layer: int, ends: tuple[list[int], list[int]]) -> tuple[list[int], list[int]]:
        """The ranges of a layer's units, of whom the bounds are about."""
        return ends

    def _range(self, row: Sequence[int], bias: int, known: tuple[int, int]) -> tuple[int, int]:
        """From where to where a unit is: what is known by ranges and, where its sign is open, what lines say."""
        (least, most), top = known, len(self.live) == len(self.net.weights)
        if top or least < 0 < most:
            least, self.lower = self._least(row, bias, least)
        if top or least < 0 < most:
            most, self.upper = self._least([-weight for weight in row], -bias, -most)
            most = -most
        return least, most

    def _least(self, row: Sequence[int], bias: int, least: int) -> tuple[int, list[int]]:
        """The least of a row, which is no less than this one, and the best of what lies below it."""
        found = []
        for slope in self._slopes:
            below, known = self._below(row, bias, slope)
            found.append((self.least(below), below))
            least = max(least, known, found[-1][0] >> BITS * len(self.live))
            if least > 0:
                break
        return least, max(found, key=lambda one: one[0])[1]

    def adds(self, below: list[int], place: int, positions: Iterable[int]) -> list[int]:
        """What an attribute adds at positions."""
        start, multiples = self.net.starts[place], self.net.multiples[place]
        if multiples is None:
            return [below[start + at] for at in positions]
        return [below[start] * multiples[at] for at in positions]

    def start(self, below: list[int]) -> int:
        """The least of it without what lies in a range."""
        known, question = below[0], self.net.question
        for place in self._fixed:
            known += self.adds(below, place, self.box[place][:1])[0]
        moves = [self.adds(below, place, range(question.attributes[place].size)) for place in question.differ]
        if len(self._only) == len(question.assignments):
            return known + sum(map(min, moves))
        return known + min(sum(map(list.__getitem__, moves, question.assignments[one])) for one in self._only)

    def least(self, below: list[int]) -> int:
        """The least of it on the box."""
        return self.start(below) + sum(
            min(self.adds(below, place, self.net.positions(place, self.box[place]))) for place in self.ranges
        )

    def _below(self, weights: Sequence[int], constant: int, tried: int | None) -> tuple[list[int], int]:
        """What lies below ``weights @ max(Z, 0) + constant``, by lines (``tried`` below open units) or ranges."""
        known = []
        for layer in reversed(range(len(self.live))):
            ranged, below = constant, 0
            constant <<= BITS
            lows, highs = self.bounds[layer]
            for unit, under, over, intercept, lanes in self.live[layer]:
                weight = weights[unit]
                if weight > 0:
                    ranged += weight * max(lows[unit], 0)
                    below += weight * (under if tried is None or lows[unit] >= 0 else tried) * lanes
                else:
                    ranged += weight * highs[unit]
                    below += weight * over * lanes
                    constant += weight * intercept
            known.append(ranged >> BITS * (len(self.live) - 1 - layer))
            added, *weights = self.net.down[layer][0].of(below)
            constant += added
        return [constant, *weights], max(known)


def _lines(low: int, high: int) -> tuple[int, int, int]:
    """Slopes of lines below, through 0, and above ``max(z, 0)`` for z up to high > 0, and where the latter starts."""
    one = 1 << BITS
    if low >= 0:
        return one, one, 0
    slope = (high << BITS) // (high - low)
    return one if high > -low else 0, slope, max(-slope * low, (one - slope) * high)
