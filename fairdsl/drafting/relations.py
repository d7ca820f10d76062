"""What all rows of a table obey: columns that decide others, and numbers that never exceed others.

Offered as comments and never in force: that no row contradicts a rule does not say that nobody can.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations
from operator import le

import numpy as np

from fairdsl.drafting.columns import Column
from fairdsl.ir.domain import Boolean, Category, Integer
from fairdsl.source.names import value_text

#: Values that a column may have to decide another, rows for each of them on the average, and rules that are offered.
_VALUES, _ROWS_EACH, _OFFERED = 40, 10, 8
#: Different values of a number that never exceeds another: of few it may well be chance.
_DIFFERENT = 10


def rules_obeyed(columns: Sequence[Column]) -> list[str]:
    """Comments: a line about each rule, with the ``where`` lines that would put it in force; some at most."""
    found = [*_never_exceeded(columns), *_decided(columns)]
    left = len(found) - _OFFERED
    return found[:_OFFERED] + ([f"{left} more rules hold in all rows"] if left > 0 else [])


def _never_exceeded(columns: Sequence[Column]) -> Iterator[str]:
    """Numbers that are at most others in every row, where their ranges do not say so already."""
    numbers = [(column, exact, np.array(exact, dtype=np.float64)) for column in columns if (exact := column.numbers)]
    for (less, low, low_floats), (more, high, high_floats) in permutations(numbers, 2):
        # Rounding keeps order: what is at most another number is so as floats, too.
        overlap = low_floats.max() > high_floats.min() and len(np.unique(low_floats)) >= _DIFFERENT
        if overlap and (low_floats <= high_floats).all() and all(map(le, low, high)):
            yield f"where {less.name} <= {more.name}"


def _decided(columns: Sequence[Column]) -> Iterator[str]:
    """Values that go with one value of another column each."""
    few = [column for column in columns if _few(column)]
    for by, of in permutations(few, 2):
        pairs = set(zip(by.cells, of.cells, strict=True))
        if isinstance(by.type, Category) and len(pairs) == len(by.values) > 2 and len(of.values) > 1:
            rules = (f"where {by.name} != {_value(by, a)} or {of.name} = {_value(of, b)}" for a, b in sorted(pairs))
            yield "\n".join([f"{by.name} decides {of.name}:", *rules])


def _few(column: Column) -> bool:
    """Whether a column has few enough values, and rows enough for each, for a rule to be worth a line."""
    number = len(column.values)
    return (
        isinstance(column.type, Category | Integer | Boolean)
        and not column.gaps
        and number * _ROWS_EACH <= len(column.cells)
        and (number <= _VALUES)
    )


def _value(column: Column, cell: str) -> str:
    return value_text(cell) if isinstance(column.type, Category) else cell
