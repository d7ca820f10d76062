"""Tables of numbers over the cells of columns, and variable elimination on them.

A Bayesian network is a product of tables. Whole numbers over one common denominator keep sums and products exact; where
they are floats, errors are counted by whoever chose them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdsl.ir.population import Factor, Network, Normal
from fairdsl.numerics.elimination import eliminate, elimination

#: Numbers of any kind, whole ones of any size among them.
Numbers = NDArray[Any]


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Numbers by the cells of some columns, in the order of ``columns``."""

    columns: tuple[int, ...]
    numbers: Numbers


def whole_table(network: Network, factor: Factor) -> tuple[Table, int]:
    """A factor as whole numbers, and what they are over; a normal distribution gives its only cell probability 1."""
    columns = (*factor.parents, factor.column)
    rows = {cells: (Fraction(1),) if isinstance(row, Normal) else row for cells, row in factor.rows.items()}
    scale = lcm(*(chance.denominator for row in rows.values() for chance in row))
    numbers = np.zeros(tuple(len(network.cells[column]) for column in columns), dtype=object)
    for cells, row in rows.items():
        for place, chance in enumerate(row):
            numbers[(*cells, place)] = chance.numerator * (scale // chance.denominator)
    return Table(columns, numbers), scale


def at_cells(table: Table, cells: Mapping[int, int]) -> Table:
    """The table where some columns are at these cells; it has them no longer."""
    index = tuple(cells.get(column, slice(None)) for column in table.columns)
    numbers = np.asarray(table.numbers[index], dtype=object)
    return Table(tuple(column for column in table.columns if column not in cells), numbers)


def without(tables: Iterable[Table], columns: Set[int]) -> list[Table]:
    """What is left of a product when columns are summed out of it, the one with the smallest table always next."""
    live = list(tables)
    sizes = {column: size for table in live for column, size in zip(table.columns, table.numbers.shape, strict=True)}
    order = elimination([table.columns for table in live], sizes, sizes.keys() - columns)
    return without_in_order(live, (column for column, _ in order))


def without_in_order(tables: Iterable[Table], order: Iterable[int]) -> list[Table]:
    """The same in a given order."""
    return eliminate(
        tables, lambda table: table.columns, order, lambda touched, column: summed(joined(touched), column)
    )


def joined(tables: Sequence[Table]) -> Table:
    """The product of one table or more, over all of their columns in ascending order; the smallest come first."""
    columns = tuple(sorted({column for table in tables for column in table.columns}))
    place = {column: axis for axis, column in enumerate(columns)}
    ordered = sorted(tables, key=lambda table: table.numbers.size)
    parts = [aligned(table.numbers, [place[column] for column in table.columns], len(columns)) for table in ordered]
    numbers = parts[0]
    for part in parts[1:]:
        numbers = numbers * part
    return Table(columns, numbers)


def summed(table: Table, column: int) -> Table:
    """The table with a column summed out."""
    axis = table.columns.index(column)
    numbers = np.asarray(table.numbers.sum(axis=axis, dtype=table.numbers.dtype), dtype=table.numbers.dtype)
    return Table(tuple(each for each in table.columns if each != column), numbers)


def aligned(numbers: Numbers, places: Sequence[int], count: int) -> Numbers:
    """A table with its axes at these places among so many."""
    order = sorted(range(len(places)), key=lambda axis: places[axis])
    shape = [1] * count
    for axis in order:
        shape[places[axis]] = numbers.shape[axis]
    return numbers.transpose(order).reshape(shape)
