"""Frequencies: the distribution of each column given its parents, counted in rows.

The probability of a cell is the exact fraction of the rows with these parents that lie in it (maximum
likelihood). A combination of parents that no row has gets no distribution, so its own probability stays 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from fairdsl.ir.exact_rows import Column, ExactRows, fractions_of
from fairdsl.ir.population import Cell, Factor, Inside
from fairdsl.numerics.cells import places, points
from fairdsl.populations.order import in_order

#: Rows as positions of cells, [rows, columns].
CodeArray = NDArray[np.intp]


def coded(values: ExactRows, cells: Sequence[Sequence[Cell]]) -> CodeArray:
    """The cell that each row lies in, column by column; every value lies in one."""
    return np.column_stack([places(values.column(place), column) for place, column in enumerate(cells)])


def with_means(cells: Sequence[Sequence[Cell]], codes: CodeArray, values: ExactRows) -> tuple[tuple[Cell, ...], ...]:
    """The cells of the first columns, each range replaced by the mean of its rows; by an end where it has none.

    The mean of whole numbers need not be one.
    """
    return tuple(_at_means(of_column, codes[:, place], values.column(place)) for place, of_column in enumerate(cells))


def _at_means(cells: Sequence[Cell], codes: NDArray[np.intp], values: Column) -> tuple[Cell, ...]:
    if all(cell.inside is Inside.POINT for cell in cells):
        return tuple(cells)
    numbers: list[list[Fraction]] = [[] for _ in cells]
    for code, number in zip(codes.tolist(), fractions_of(values), strict=True):
        numbers[code].append(number)
    return tuple(
        cell if cell.inside is Inside.POINT else points([_mean(inside, cell)])[0]
        for cell, inside in zip(cells, numbers, strict=True)
    )


def _mean(numbers: Sequence[Fraction], cell: Cell) -> Fraction:
    if numbers:
        return sum(numbers, Fraction(0)) / len(numbers)
    return next((end for end in (cell.low, cell.high) if end is not None), Fraction(0))


def numbered(keys: NDArray[np.intp]) -> NDArray[np.intp]:
    """The same keys numbered from 0 without gaps, in their order."""
    return np.unique(keys, return_inverse=True)[1].reshape(-1)


def fitted(
    codes: CodeArray, cells: Sequence[Sequence[Cell]], parents: Mapping[int, Sequence[int]]
) -> tuple[Factor, ...]:
    """A factor for each column, parents before children; ``parents`` names those of every column."""
    return tuple(_factor(codes, column, tuple(parents[column]), len(cells[column])) for column in in_order(parents))


def _factor(codes: CodeArray, column: int, parents: tuple[int, ...], size: int) -> Factor:
    combinations, which = np.unique(codes[:, list(parents)], axis=0, return_inverse=True)
    flat = which.reshape(-1) * size + codes[:, column]
    table = np.bincount(flat, minlength=len(combinations) * size).reshape(-1, size)
    rows = {
        tuple(key): tuple(Fraction(count, sum(counts)) for count in counts)
        for key, counts in zip(combinations.tolist(), table.tolist(), strict=True)
    }
    return Factor(column=column, parents=parents, rows=rows)
