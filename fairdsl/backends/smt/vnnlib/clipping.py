"""The first layers of a product network: relaxed values of b are clipped, everything else passes.

A column of declared least value low passes as ``relu(x - low) + low``, one without as ``relu(x) - relu(-x)``;
b's value is ``min(max(a + d, low), high) = low + relu(a + d - low) - relu(a + d - high)``, and with one end or none
accordingly. What such a layer computes is never negative, so further layers that only wait are the identity.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from fairdsl.backends.smt.vnnlib.chain import Affine
from fairdsl.backends.smt.vnnlib.conditions import Sets
from fairdsl.backends.smt.vnnlib.constraints import Line
from fairdsl.ir.problem import Problem

__all__ = ["Column", "Prefix", "input_name", "input_position"]

_ONE = Fraction(1)


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
