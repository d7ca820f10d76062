"""The product network put together: two copies of the model, conditions beside them, and the numbers that are stored.

The copies read what :mod:`~fairdsl.backends.smt.vnnlib.networks` computes before them; conditions read the inputs
themselves. Numbers are float32 where that is possible or changes little (``single``), otherwise float64.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, reduce
from itertools import pairwise
from math import gcd, lcm

from fairdsl.backends.smt.cases import Atom
from fairdsl.backends.smt.vnnlib.chain import Affine, Chain, FloatArray, Stored, beside, chained, in_float32, rounded
from fairdsl.backends.smt.vnnlib.constraints import All, Formula, Line, Sets, Some
from fairdsl.ir.model import Model
from fairdsl.ir.problem import Problem

_ONE = Fraction(1)
_MINUS = Fraction(-1)


@dataclass(frozen=True)
class Networks:
    """The network as a file has it, and the parts that are in it side by side."""

    whole: Chain
    parts: tuple[Chain, ...]

    def errors(self, reach: FloatArray) -> tuple[float, ...]:
        """A bound for each output of what storing the network changed; inputs are at most ``reach`` in size.

        Each part by itself: where one is stored exactly, what rounds the other does not matter to it.
        """
        return tuple(error for part in self.parts for error in part.errors(reach).tolist())

    def in_float32(self, reach: FloatArray) -> Networks:
        """The networks rounded to float32 where they are not stored so and it changes little; otherwise as they are."""
        if self.whole.single:
            return self
        found = [rounded(part, reach) for part in self.parts]
        kept = tuple(part for part in found if part is not None)
        return Networks(_joined(kept), kept) if len(kept) == len(self.parts) else self


@lru_cache(maxsize=128)  # the partitions of a question differ in their boxes alone
def networks(
    model: Model,
    atoms: tuple[Atom, ...],
    inputs: tuple[Line, ...],
    first: tuple[Affine, ...],
    conditions: tuple[Formula, ...],
    columns: int,
) -> Networks:
    """The network from ``columns`` inputs to atoms and then conditions, its numbers as exact as they can be stored.

    ``inputs`` are what a's copy and then b's reads, in terms of the outputs of ``first``, or of the columns where that
    is empty. The copies with what comes first are at least as deep as the conditions.
    """
    rows, bias, layer = [], [], model.layers[0]
    width = len(first[-1].bias) if first else columns
    for read in (inputs[: len(model.inputs)], inputs[len(model.inputs) :]):
        for weights, constant in zip(layer.weight.exact, layer.bias.exact, strict=True):
            row, shift = _summed(weights, read, width)
            rows.append(row)
            bias.append(constant + shift)
    ways = [(*atom.a, *atom.b) for atom in atoms]
    copies = chained(Affine(rows, bias, width), model.layers, ways, [atom.constant for atom in atoms])
    pair = Chain((*(map_.stored() for map_ in first), *copies.layers))
    parts = (pair, conditions_chain(conditions, columns, len(pair.layers) - 1)) if conditions else (pair,)
    whole = _joined(parts)
    return Networks(whole if whole.single else in_float32(whole) or whole, parts)


def _joined(parts: tuple[Chain, ...]) -> Chain:
    return reduce(beside, parts)


def _summed(weights: Sequence[Fraction], inputs: Sequence[Line], width: int) -> tuple[list[Fraction], Fraction]:
    row, shift = [Fraction(0)] * width, Fraction(0)
    for weight, line in zip(weights, inputs, strict=True):
        if weight:
            shift += weight * line.constant
            for name, factor in line.terms:
                row[input_position(name)] += weight * factor
    return row, shift


# ---- the first layers ----------------------------------------------------------------------------
#
# The first layers of a product network: relaxed values of b are clipped, everything else passes.
#
# A column of declared least value low passes as ``relu(x - low) + low``, one without as ``relu(x) - relu(-x)``;
# b's value is ``min(max(a + d, low), high) = low + relu(a + d - low) - relu(a + d - high)``, and with one end or none
# accordingly. What such a layer computes is never negative, so further layers that only wait are the identity.


@dataclass(frozen=True, slots=True)
class Column:
    """An input of the product network and its box; None where unbounded.

    ``role``: ``both``, ``a`` or ``b`` (an attribute's value), ``offset`` (b's value less a's), ``flag`` (an
    indicator) or ``nothing`` (where nothing is left to choose). ``attribute`` is None for the last two.
    """

    role: str
    low: Fraction | None
    high: Fraction | None
    attribute: int | None = None
    meaning: str = ""


class Prefix:
    """The layers, and what attributes and columns are in terms of their outputs.

    ``ends`` are the values that b's relaxed attributes can have. There is a layer where something is clipped, and
    there are ``least`` in any case. ``maps`` are the layers before their ReLUs.
    """

    def __init__(self, problem: Problem, columns: Sequence[Column], ends: Sets, least: int = 0) -> None:
        self._units: list[Line] = []
        self._columns = [Line(((input_name(index), _ONE),)) for index in range(len(columns))]
        self._clipped: dict[int, Line] = {}
        self.maps: tuple[Affine, ...] = ()
        offsets = [(index, column) for index, column in enumerate(columns) if column.role == "offset"]
        if not offsets and not least:
            return
        passing = {
            index: self._passed(Line(((input_name(index), _ONE),)), _least(problem, column))
            for index, column in enumerate(columns)
            if column.role != "offset"
        }
        for index, column in offsets:
            assert column.attribute is not None
            own = next(i for i, c in enumerate(columns) if c.role == "a" and c.attribute == column.attribute)
            total = Line(((input_name(own), _ONE), (input_name(index), _ONE)))
            values = ends[column.attribute]
            self._clipped[column.attribute] = self._clip(total, values.low, values.high)
        self._columns = [passing.get(index, Line()) for index in range(len(columns))]
        weight = tuple(tuple(_row(unit, len(columns))) for unit in self._units)
        clipping = Affine(weight, tuple(unit.constant for unit in self._units), len(columns))
        self.maps = (clipping, *[_identity(len(self._units))] * (least - 1))

    def read(self, line: Line) -> Line:
        """An expression over the columns as one over what the next layer reads."""
        total = Line(constant=line.constant)
        for name, factor in line.terms:
            total = total + self._columns[input_position(name)].scaled(factor)
        return total

    def clipped(self, attribute: int) -> Line:
        """b's value of a relaxed attribute."""
        return self._clipped[attribute]

    def _unit(self, before: Line) -> Line:
        self._units.append(before)
        return Line(((input_name(len(self._units) - 1), _ONE),))

    def _passed(self, line: Line, low: Fraction | None) -> Line:
        if low is None:
            return self._unit(line) + self._unit(line.scaled(-_ONE)).scaled(-_ONE)
        return self._unit(line.plus(-low)).plus(low)

    def _clip(self, line: Line, low: Fraction | None, high: Fraction | None) -> Line:
        if low is None and high is None:
            return self._passed(line, None)
        if low is None:
            assert high is not None
            return self._unit(line.scaled(-_ONE).plus(high)).scaled(-_ONE).plus(high)
        least = self._unit(line.plus(-low)).plus(low)
        return least if high is None else least + self._unit(line.plus(-high)).scaled(-_ONE)


def _least(problem: Problem, column: Column) -> Fraction | None:
    """The least value that a column can ever have."""
    return Fraction(0) if column.attribute is None else problem.domain.attributes[column.attribute].bounds[0]


def _identity(width: int) -> Affine:
    weight = tuple(tuple(Fraction(int(row == column)) for column in range(width)) for row in range(width))
    return Affine(weight, (Fraction(0),) * width, width)


def _row(line: Line, width: int) -> list[Fraction]:
    row = [Fraction(0)] * width
    for name, factor in line.terms:
        row[input_position(name)] += factor
    return row


def input_name(index: int) -> str:
    """An input, as VNN-LIB 1.0 calls it; also what the layer behind a prefix reads."""
    return f"X_{index}"


def input_position(name: str) -> int:
    """Which input that is."""
    return int(name.removeprefix("X_"))


# ---- conditions as outputs -----------------------------------------------------------------------
#
# Conditions between inputs as outputs of a network: how far a point falls short of each.
#
# Many verifiers take a box of inputs and linear constraints of outputs, nothing else. So a condition becomes one.
#
# Definition. The shortfall of an inequality ``g >= 0`` is ``relu(-g)``, that of a conjunction the sum of its parts',
# and that of a disjunction the least of its parts'. By induction a shortfall is never negative, and is 0 exactly where
# the formula holds; inequalities may therefore be multiplied by positive numbers, which makes their coefficients whole.
#
# Layers. ``min(p, q) = p - relu(p - q)``, so a disjunction of n parts takes about log2(n) layers behind those of its
# parts. Whatever is not negative passes a ReLU unchanged, which is how parts wait for others. The output is the
# shortfall negated, and at least 0 iff the formula holds. Of an inequality the linear relaxation of the ReLU loses
# nothing: of all ``v >= relu(-g)`` the least is 0 iff ``g >= 0``. A network without ReLUs has inequalities themselves
# as outputs.


@lru_cache(maxsize=128)
def conditions_chain(formulas: Sequence[Formula], width: int, depth: int) -> Chain:
    """From ``width`` inputs to an output for each formula, at least 0 iff it holds; ``depth`` ReLUs deep, or deeper.

    Formulas are over the names of the inputs, and have no empty parts.
    """
    lines = [formula for formula in formulas if isinstance(formula, Line)]
    if not depth and len(lines) == len(formulas):
        return Chain((_stored([_whole(line) for line in lines], width),))
    layers = _Layers(width)
    trees = [layers.missed(formula) for formula in formulas]
    while layers.depth < depth or not all(isinstance(tree, Line) for tree in trees):
        layers.begin()
        trees = [layers.passed(tree) for tree in trees]
    return layers.ended([tree for tree in trees if isinstance(tree, Line)])


class _Layers:
    """Layers of units that are being added, each a ReLU of a line over the units of the layer before.

    Trees of formulas stand for shortfalls: a line is a number that is never negative, over the latest units.
    """

    def __init__(self, width: int) -> None:
        self._widths = [width]
        self._maps: list[list[Line]] = [[]]

    @property
    def depth(self) -> int:
        """How many layers of units there are."""
        return len(self._maps)

    def missed(self, formula: Formula) -> Formula:
        """The first layer: what each inequality falls short of."""
        match formula:
            case Line():
                return self._unit(_whole(formula).scaled(_MINUS))
            case All(parts):
                return _together(self.missed(part) for part in parts)
            case Some(parts):
                return Some(tuple(self.missed(part) for part in parts))

    def begin(self) -> None:
        """Begin a layer."""
        self._widths.append(len(self._maps[-1]))
        self._maps.append([])

    def passed(self, tree: Formula) -> Formula:
        """The tree over the units of the layer that has begun, disjunctions half as wide."""
        match tree:
            case Line():
                return self._unit(tree)
            case All(parts):
                return _together(self.passed(part) for part in parts)
            case Some(parts):
                ready = [part for part in parts if isinstance(part, Line)]
                others = [self.passed(part) for part in parts if not isinstance(part, Line)]
                halved = [self._least(ready[at : at + 2]) for at in range(0, len(ready), 2)]
                return halved[0] if len(halved) == 1 and not others else Some((*halved, *others))

    def ended(self, shortfalls: Sequence[Line]) -> Chain:
        """The layers, and behind them the shortfalls, negated."""
        maps = [_stored(lines, width) for lines, width in zip(self._maps, self._widths, strict=True)]
        return Chain((*maps, _stored([line.scaled(_MINUS) for line in shortfalls], len(self._maps[-1]))))

    def _least(self, numbers: Sequence[Line]) -> Line:
        """The less of two numbers, or the only one."""
        kept = self._unit(numbers[0])
        for one, other in pairwise(numbers):
            kept = kept + self._unit(one + other.scaled(_MINUS)).scaled(_MINUS)
        return kept

    def _unit(self, before: Line) -> Line:
        self._maps[-1].append(before)
        return Line(((input_name(len(self._maps[-1]) - 1), _ONE),))


def _together(parts: Iterable[Formula]) -> Formula:
    """A conjunction; the numbers in it are one number."""
    total, others = Line(), []
    for part in parts:
        if isinstance(part, Line):
            total = total + part
        else:
            others.append(part)
    if not others:
        return total
    return All((total, *others) if total.terms else tuple(others))


def _whole(line: Line) -> Line:
    """The inequality with whole coefficients, which floating-point numbers store unless they are very large."""
    numbers = [line.constant, *(factor for _, factor in line.terms)]
    scale = Fraction(lcm(*(number.denominator for number in numbers)), gcd(*(number.numerator for number in numbers)))
    return line.scaled(scale)


def _stored(lines: Sequence[Line], width: int) -> Stored:
    """The lines over the inputs or units before them."""
    rows = [[(input_position(name), factor) for name, factor in line.terms] for line in lines]
    return Stored.of_rows(rows, [line.constant for line in lines], width)
