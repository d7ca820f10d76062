"""Conditions between inputs as outputs of a network: how far a point falls short of each.

Many verifiers take a box of inputs and linear constraints of outputs, nothing else. So a condition becomes an output.

Definition. The shortfall of an inequality ``g >= 0`` is ``relu(-g)``, that of a conjunction the sum of its parts', and
that of a disjunction the least of its parts'. By induction a shortfall is never negative, and is 0 exactly where the
formula holds; inequalities may therefore be multiplied by positive numbers, which makes their coefficients integers.

Layers. ``min(p, q) = p - relu(p - q)``, so a disjunction of n parts takes about log2(n) layers behind those of its
parts. Whatever is not negative passes a ReLU unchanged, which is how parts wait for others. The output is the
shortfall negated, and at least 0 iff the formula holds. Of an inequality the linear relaxation of the ReLU loses
nothing: of all ``v >= relu(-g)`` the least is 0 iff ``g >= 0``. A network without ReLUs has inequalities themselves as
outputs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import pairwise
from math import gcd, lcm

from fairdsl.backends.smt.vnnlib.chain import Chain, Stored
from fairdsl.backends.smt.vnnlib.clipping import input_name, input_position
from fairdsl.backends.smt.vnnlib.constraints import All, Formula, Line, Some

__all__ = ["conditions_chain"]

_ONE = Fraction(1)
_MINUS = Fraction(-1)


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
                return _summed(self.missed(part) for part in parts)
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
                return _summed(self.passed(part) for part in parts)
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


def _summed(parts: Iterable[Formula]) -> Formula:
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
