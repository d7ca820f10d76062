"""The integer network that a question and a model's file come to, and bounds of it on boxes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import lcm
from operator import mul

from fairdsl_verify import reject
from fairdsl_verify.chain import Affine, Network
from fairdsl_verify.question import MAYBE, MOST_EVALUATED, Box, Model, integral, side_of

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
        if len(question.reads) != len(network.first.weight[0]):
            reject(f"the file reads {len(network.first.weight[0])} columns, the question fills {len(question.reads)}")
        layers = [network.first, *network.above]
        if question.of == "score":
            last = layers[-1]
            layers[-1] = Affine(last.weight, [last.bias[0] - question.threshold])
        #: Whether a score of exactly the threshold is on the lower side.
        self.zero_is_low = question.relation in (">", "<=")
        #: Whether the question's decision is the one above the threshold.
        self.upward = question.relation in (">", ">=")
        origin, steps, tables = self._first(question, layers[0])
        rows = [origin, *(step or [] for step in steps), *(row for table in tables for row in table or [])]
        scale = lcm(*(value.denominator for row in rows for value in row))
        self.origin = [integral(value * scale) for value in origin]
        self.steps = [None if row is None else [integral(value * scale) for value in row] for row in steps]
        self.tables = [
            None if rows is None else [[integral(value * scale) for value in row] for row in rows] for rows in tables
        ]
        #: Attributes of which nothing is read.
        self.idle = [
            not any(step) if step is not None else all(row == (table or [])[0] for row in table or [])
            for step, table in zip(self.steps, self.tables, strict=True)
        ]
        self.weights: list[list[list[int]]] = []
        self.columns: list[list[tuple[int, ...]]] = []
        self.biases: list[list[int]] = []
        for layer in layers[1:]:
            factor = lcm(*(value.denominator for row in layer.weight for value in row))
            factor *= lcm(*((value * scale * factor).denominator for value in layer.bias))
            self.weights.append([[integral(value * factor) for value in row] for row in layer.weight])
            self.columns.append(list(zip(*self.weights[-1], strict=True)))
            scale *= factor
            self.biases.append([integral(value * scale) for value in layer.bias])
        #: What is known of the whole domain.
        self.start: Bounds = []
        self.question, nothing = question, [0] * len(self.origin)
        self.moves = [self.adds(nothing, zip(question.differ, each, strict=True)) for each in question.assignments]

    @staticmethod
    def _first(
        question: Model, first: Affine
    ) -> tuple[list[Fraction], list[list[Fraction] | None], list[list[list[Fraction]] | None]]:
        """What the first layer is at no position, and what each attribute adds: a step a position, or a table."""
        origin, count, nothing = list(first.bias), len(question.attributes), [Fraction(0)] * len(first.bias)
        steps: list[list[Fraction] | None] = [nothing for _ in range(count)]
        tables: list[list[list[Fraction]] | None] = [None] * count
        for column, weights in zip(question.reads, zip(*first.weight, strict=True), strict=True):
            origin = _plus(origin, weights, column.constant)
            for place, factor in column.factors.items():
                attribute = question.attributes[place]
                origin = _plus(origin, weights, factor * attribute.start)
                steps[place] = _plus(steps[place] or nothing, weights, factor * attribute.step)
            for place, entries in column.tables.items():
                rows = tables[place] or [nothing] * len(entries)
                tables[place] = [_plus(row, weights, entry) for row, entry in zip(rows, entries, strict=True)]
        for place, table in enumerate(tables):
            if table is not None:  # of a column's table and another one's step one table is made
                tables[place] = [_plus(row, steps[place] or nothing, Fraction(at)) for at, row in enumerate(table)]
                steps[place] = None
        return origin, steps, tables

    def adds(self, base: Sequence[int], at: Iterable[tuple[int, int]]) -> list[int]:
        """The first layer from a base on, with what attributes add at their positions."""
        added = []
        for place, position in at:
            table, step = self.tables[place], self.steps[place]
            added.append(table[position] if table is not None else [position * each for each in step or []])
        return list(map(sum, zip(base, *added, strict=True)))

    def high(self, known: Bounds, point: Sequence[int]) -> bool:
        """On which side of the threshold an individual is."""
        values = self.adds(self.origin, enumerate(point))
        for rows, biases in zip(self.weights, self.biases, strict=True):
            below = [value if value > 0 else 0 for value in values]
            values = [sum(map(mul, row, below), bias) for row, bias in zip(rows, biases, strict=True)]
        return values[0] > 0 or (values[0] == 0 and not self.zero_is_low)

    def narrowed(self, known: Bounds, place: int, ends: tuple[int, int]) -> Bounds:
        """Bounds of a box hold in each part of it."""
        return known

    def bounded(self, box: Box, only: Sequence[int], known: Bounds) -> Pass:
        """One pass over the box, for some assignments of what differs."""
        return Pass(self, self.question.shared, box, [self.moves[number] for number in only], known)

    def cells(self, known: Bounds, place: int, ends: tuple[int, int]) -> list[tuple[int, int]]:
        """Positions that stand for all, each with the measure of those who are alike."""
        attribute = self.question.attributes[place]
        if self.idle[place] or ends[0] == ends[1]:
            return [(ends[0], attribute.measure(ends))]
        if attribute.real or attribute.measure(ends) > MOST_EVALUATED:
            reject("a leaf is evaluated that has a range of reals, or too many individuals")
        return [(position, 1) for position in range(ends[0], ends[1] + 1)]


def _plus(row: Sequence[Fraction], weights: Sequence[Fraction], factor: Fraction) -> list[Fraction]:
    return [have + weight * factor for have, weight in zip(row, weights, strict=True)]


#: Lower and upper bounds of the units of each layer.
Bounds = list[tuple[list[int], list[int]]]
#: A line in units of 2^-BITS: slope and intercept.
Line = tuple[int, int]


class Pass:
    """Bounds of every unit on a box, for some assignments of what differs: linear relaxations, layer by layer.

    ``known`` are bounds that hold there already, those of a box around it. A unit that may have either sign lies above
    0 and its pre-activation, and below the chord; each is a line, and whatever the chord's slope is rounded to, the
    intercept is such that the line lies above ReLU at both ends of the unit's range.
    """

    def __init__(
        self,
        net: Integers,
        shared: Sequence[int],
        box: Sequence[tuple[int, int]],
        moves: Sequence[list[int]],
        known: Bounds,
    ) -> None:
        self._net = net
        self._fixed = list(net.origin)
        #: What lies in a range: the attribute, its step and ends; its table. The first table is what differs.
        self.linear: list[tuple[int, list[int], int, int]] = []
        self.tables: list[tuple[int, Sequence[list[int]]]] = [(-1, moves)]
        for place in shared:
            low, high = box[place]
            step, table = net.steps[place], net.tables[place]
            if low == high or net.idle[place]:
                self._fixed = net.adds(self._fixed, [(place, low)])
            elif step is not None:
                self.linear.append((place, step, low, high))
            elif table is not None:
                self.tables.append((place, table[low : high + 1]))
        self._lines: list[list[tuple[Line, Line]]] = []
        self.bounds: Bounds = []
        #: What the units of the first layer count in the last bound: a hint for whoever splits.
        self.slopes: list[int] = []
        self._first(known)
        for layer in range(len(net.weights)):
            self._next(layer, known)

    def _first(self, known: Bounds) -> None:
        low, high = list(self._fixed), list(self._fixed)
        for _, step, first, last in self.linear:
            for unit, each in enumerate(step):
                low[unit] += each * (first if each > 0 else last)
                high[unit] += each * (last if each > 0 else first)
        for _, table in self.tables:
            for unit, column in enumerate(zip(*table, strict=True)):
                low[unit] += min(column)
                high[unit] += max(column)
        self._keep(low, high, known)

    def _keep(self, low: list[int], high: list[int], known: Bounds) -> None:
        if len(known) > len(self.bounds):
            below, above = known[len(self.bounds)]
            low, high = list(map(max, low, below)), list(map(min, high, above))
        self.bounds.append((low, high))
        self._lines.append([_lines(below, above) for below, above in zip(low, high, strict=True)])

    def _next(self, layer: int, known: Bounds) -> None:
        rows, biases = self._net.weights[layer], self._net.biases[layer]
        before = known[layer + 1] if len(known) > layer + 1 else None
        low, high, last = [], [], layer == len(self._net.weights) - 1
        for unit, (row, bias) in enumerate(zip(rows, biases, strict=True)):
            if before is not None and not last and (before[0][unit] >= 0 or before[1][unit] <= 0):
                low.append(before[0][unit])
                high.append(before[1][unit])
                continue
            low.append(self._least(layer, row, bias))
            high.append(-self._least(layer, [-weight for weight in row], -bias))
        self._keep(low, high, known)

    def _least(self, layer: int, row: Sequence[int], bias: int) -> int:
        """A lower bound of ``row @ max(Z, 0) + bias`` over the units of a layer, by substitution down to the inputs."""
        weights, constant, scale = row, bias, 0
        while True:
            lines = self._lines[layer]
            constant <<= BITS
            below = []
            for weight, (under, over) in zip(weights, lines, strict=True):
                slope, intercept = under if weight > 0 else over
                below.append(weight * slope)
                constant += weight * intercept
            scale += BITS
            if not layer:
                break
            layer -= 1
            constant += sum(map(mul, below, self._net.biases[layer]))
            weights = [sum(map(mul, below, column)) for column in self._net.columns[layer]]
        constant += sum(map(mul, below, self._fixed))
        for _, step, low, high in self.linear:
            slope = sum(map(mul, below, step))
            constant += slope * (low if slope > 0 else high)
        for _, table in self.tables:
            constant += min(sum(map(mul, below, entry)) for entry in table)
        self.slopes = below
        return int(constant >> scale)

    @property
    def side(self) -> int:
        """YES: all are above the threshold; NO: none is; MAYBE: this pass does not say."""
        low, high = self.bounds[-1]
        return side_of(low[0], high[0], zero_is_low=self._net.zero_is_low)

    @property
    def same(self) -> bool:
        """Whether all get the same decision."""
        return self.side != MAYBE


def _lines(low: int, high: int) -> tuple[Line, Line]:
    """Lines below and above ``max(z, 0)`` for z in [low, high]."""
    one = 1 << BITS
    if low >= 0:
        return (one, 0), (one, 0)
    if high <= 0:
        return (0, 0), (0, 0)
    slope = (high << BITS) // (high - low)
    return (one if high > -low else 0, 0), (slope, max(-slope * low, (one - slope) * high))
