"""Groups in the spec's words: ``sex = female and age in 25 .. 44``."""

from __future__ import annotations

import re
from fractions import Fraction

from fairdsl.ir.domain import Attribute, Boolean, Integer, show_number
from fairdsl.ir.population import Cell as Range
from fairdsl.ir.population import Inside, Population
from fairdsl.metrics.cohorts import Assignment
from fairdsl.metrics.joint import cells_of, key_of
from fairdsl.verdict import Cell, Named, cell_of

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|-?[0-9.]+")


class Names:
    """The groups of a population by the names of their columns; a range in words. Each value is looked up once."""

    def __init__(self, population: Population) -> None:
        """Of all columns of the population."""
        self._population = population
        #: By column, numerator and denominator: a fraction takes long to hash.
        self._known: dict[tuple[int, int, int], Cell] = {}
        self._cells: dict[int, dict[Fraction, Range]] = {}

    def __call__(self, assignment: Assignment) -> Named:
        """The values of columns by the columns' names."""
        return Named({self._population.columns[column].name: self._cell(column, value) for column, value in assignment})

    def _cell(self, column: int, value: Fraction) -> Cell:
        key = (column, value.numerator, value.denominator)
        if key not in self._known:
            if column not in self._cells:
                self._cells[column] = {key_of(cell): cell for cell in reversed(cells_of(self._population, column))}
            attribute, cell = self._population.columns[column], self._cells[column].get(value)
            words = None if cell is None else _range_words(attribute, cell)
            self._known[key] = cell_of(attribute, value) if words is None else words
        return self._known[key]


def group_words(assignment: Assignment, population: Population) -> str:
    """The condition that a spec would write for such a group."""
    return " and ".join(condition(column, value, population) for column, value in assignment) or "everybody"


def condition(column: int, value: Fraction, population: Population) -> str:
    """One column's part of it."""
    attribute = population.columns[column]
    words = range_words(column, value, population)
    if words is None and value == attribute.missing:
        return f"{attribute.name} is missing"
    if words is None:
        return f"{attribute.name} = {_value(attribute, value)}"
    if words[0] in "<>":
        return " and ".join(f"{attribute.name} {part}" for part in words.split(" and "))
    return f"{attribute.name} in {words}" if " .. " in words else f"any {attribute.name}"


def range_words(column: int, value: Fraction, population: Population) -> str | None:
    """The range that stands for a group, ``25 .. 44`` or ``>= 0.5 and < 2``; None where it is a single value."""
    cell = next((cell for cell in cells_of(population, column) if key_of(cell) == value), None)
    return None if cell is None else _range_words(population.columns[column], cell)


def _range_words(attribute: Attribute, cell: Range) -> str | None:
    """The range of a cell; None where it is a single value."""
    if cell.inside is Inside.POINT or (cell.low is not None and cell.low == cell.high):
        return None
    if cell.low is not None and cell.low == attribute.missing:
        return None
    high, below = cell.high, cell.open
    if below and high is not None and isinstance(attribute.type, Integer):
        high, below = high - 1, False
    last = attribute.known.bounds[1]
    if attribute.gap and high is not None and last is not None and high > last:
        high, below = last, False  # up to the code of those who lack it nobody has a value
    if cell.low is not None and high is not None and not below:
        return f"{show_number(cell.low)} .. {show_number(high)}"
    ends = ((">=", cell.low), ("<" if below else "<=", high))
    return " and ".join(f"{sign} {show_number(end)}" for sign, end in ends if end is not None) or "any"


def _value(attribute: Attribute, value: Fraction) -> str:
    """Names that are not words of the language stand in quotes."""
    text = attribute.show(value)
    return text if isinstance(attribute.type, Boolean) or _WORD.fullmatch(text) else f'"{text}"'
