"""Tables of whole numbers over the cells of columns, and variable elimination on them.

A Bayesian network is a product of tables. Whole numbers over one common denominator keep sums and products exact.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdsl.ir.population import Factor, Network, Normal
from fairdsl.numerics.elimination import elimination

__all__ = ["Numbers", "Table", "aligned", "at_cells", "joined", "summed", "whole_table", "without"]

#: Whole numbers of any size.
Numbers = NDArray[Any]


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Whole numbers by the cells of some columns, in the order of ``columns``."""

    columns: tuple[int, ...]
    numbers: Numbers


def whole_table(network: Network, factor: Factor) -> tuple[Table, int]:
    """A factor as whole numbers, and what they are over; a normal law gives its only cell probability 1."""
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


def without(tables: Iterable[Table], columns: set[int]) -> list[Table]:
    """Variable elimination: next always the column whose product has the fewest entries."""
    live = list(tables)
    sizes = {column: size for table in live for column, size in zip(table.columns, table.numbers.shape, strict=True)}
    for column, _ in elimination([table.columns for table in live], sizes, sizes.keys() - columns):
        touched = [table for table in live if column in table.columns]
        live = [table for table in live if column not in table.columns]
        live.append(summed(joined(touched), column))
    return live


def joined(tables: Sequence[Table]) -> Table:
    """The product of one table or more, over all of their columns in ascending order."""
    columns = tuple(sorted({column for table in tables for column in table.columns}))
    place = {column: axis for axis, column in enumerate(columns)}
    parts = [aligned(table.numbers, [place[column] for column in table.columns], len(columns)) for table in tables]
    numbers = parts[0]
    for part in parts[1:]:
        numbers = numbers * part
    return Table(columns, numbers)


def summed(table: Table, column: int) -> Table:
    """The table with a column summed out."""
    axis = table.columns.index(column)
    numbers = np.asarray(table.numbers.sum(axis=axis), dtype=object)
    return Table(tuple(each for each in table.columns if each != column), numbers)


def aligned(numbers: Numbers, places: Sequence[int], count: int) -> Numbers:
    """A table with its axes at these places among so many."""
    order = sorted(range(len(places)), key=lambda axis: places[axis])
    shape = [1] * count
    for axis in order:
        shape[places[axis]] = numbers.shape[axis]
    return numbers.transpose(order).reshape(shape)
