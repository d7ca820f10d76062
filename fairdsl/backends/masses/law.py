"""Exact masses of boxes under a Bayesian network, key by key.

All tables hold whole numbers over one common denominator, so that sums and products are exact. Columns that nothing
looks at are summed out once. With the cells of a key put in, the remaining tables fall into *components* that have no
column in common; the mass of a box is the product over the components of what variable elimination leaves of their
tables, restricted to the box and weighted with the shares of its atoms.

On a box a column is independent of all others if in none of its tables another column has more than one cell left.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdsl.ir.population import Factor, Network, Normal
from fairdsl.numerics.axes import Axis

__all__ = ["Chances", "KeyLaw", "Law", "Table"]

#: Whole numbers of any size.
Numbers = NDArray[Any]
#: Ranges of atoms, the first and the one after the last, by column.
Ranges = Mapping[int, tuple[int, int]]
FloatArray = NDArray[np.float64]
#: By column the probabilities of the atoms of a box, each with a relative error of 2^-53; None where all are 0.
Chances = dict[int, FloatArray | None]


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Whole numbers by the cells of some columns, in the order of ``columns``."""

    columns: tuple[int, ...]
    numbers: Numbers


class Law:
    """A network over the columns that are looked at, as whole numbers over ``denominator``."""

    def __init__(self, network: Network, axes: Mapping[int, Axis]) -> None:
        self.axes = axes
        tables, self.denominator = [], prod(axis.denominator for axis in axes.values())
        for factor in network.factors:
            table, scale = _whole(network, factor)
            tables.append(table)
            self.denominator *= scale
        others = {column for table in tables for column in table.columns} - set(axes)
        self.tables = tuple(_without(tables, others))

    def given(self, cells: Mapping[int, int]) -> KeyLaw:
        """The law with the columns of a key at these cells."""
        tables = [_at(table, cells) for table in self.tables]
        free = tuple(column for column in self.axes if column not in cells)
        return KeyLaw(self.axes, tuple(cells), free, tables)


@dataclass(frozen=True, slots=True, eq=False)
class _Component:
    columns: tuple[int, ...]
    tables: tuple[Table, ...]


class KeyLaw:
    """The law with a key put in: ``factor`` times a product over components."""

    def __init__(
        self, axes: Mapping[int, Axis], fixed: tuple[int, ...], free: tuple[int, ...], tables: Sequence[Table]
    ) -> None:
        self._axes, self._fixed = axes, fixed
        self._factor = prod(int(table.numbers[()]) for table in tables if not table.columns)
        self._components = _components(free, [table for table in tables if table.columns])
        self._known: list[dict[tuple[tuple[int, int], ...], int]] = [{} for _ in self._components]
        self._laws: list[dict[tuple[tuple[int, int], ...], Chances]] = [{} for _ in self._components]

    def mass(self, ranges: Ranges) -> int:
        """The mass of a box in units of the law's denominator."""
        total = self._factor
        for column in self._fixed:
            start, stop = ranges[column]
            total *= sum(self._axes[column].weights[start:stop])
        for known, component in zip(self._known, self._components, strict=True):
            if not total:
                return 0
            key = tuple(ranges[column] for column in component.columns)
            part = known.get(key)
            if part is None:
                part = known[key] = self._of(component, ranges)
            total *= part
        return total

    def chances(self, ranges: Ranges) -> Chances:
        """The columns that are independent of all others on a box, with their laws there."""
        found: Chances = {}
        for column in self._fixed:
            found[column] = self._chance(np.array(self._axes[column].weights[slice(*ranges[column])], dtype=object))
        for known, component in zip(self._laws, self._components, strict=True):
            key = tuple(ranges[column] for column in component.columns)
            part = known.get(key)
            if part is None:
                part = known[key] = self._independent(component, ranges)
            found.update(part)
        return found

    def _independent(self, component: _Component, ranges: Ranges) -> Chances:
        """A column is independent on a box if in none of its tables another column has more than one cell left."""
        cells = {column: self._axes[column].cells[slice(*ranges[column])] for column in component.columns}
        wide = {column for column, each in cells.items() if each[0] != each[-1]}
        together = [wide & set(table.columns) for table in component.tables]
        bound = {column for columns in together if len(columns) > 1 for column in columns}
        found: Chances = {}
        for column in component.columns:
            if column in bound:
                continue
            masses = self._weights(column, ranges[column])
            # Within one cell the tables say nothing of the atoms; a wider column is alone in each of its tables.
            for table in component.tables:
                if column in wide and column in table.columns:
                    index = tuple(cells[each] if each == column else cells[each][0] for each in table.columns)
                    masses = masses * table.numbers[index]
            found[column] = self._chance(masses)
        return found

    def _chance(self, masses: Numbers) -> FloatArray | None:
        """Each mass over their sum, to the nearest float; None where all are 0."""
        whole = int(masses.sum())
        return np.array([mass / whole for mass in masses]) if whole else None

    def summed(self, counted: NDArray[np.bool_], columns: Sequence[int], ranges: Ranges) -> int:
        """The mass of the atoms of a box that are counted: ``counted`` has an axis for every column."""
        place = {column: axis for axis, column in enumerate(columns)}
        rest: Numbers = counted.astype(object)
        vectors = {column: self._weights(column, ranges[column]) for column in columns}
        for component in self._components:
            for table in component.tables:
                cells = [self._axes[column].cells[slice(*ranges[column])] for column in table.columns]
                numbers = table.numbers[np.ix_(*cells)]
                if len(table.columns) == 1:
                    vectors[table.columns[0]] = vectors[table.columns[0]] * numbers
                else:
                    rest = rest * _aligned(numbers, [place[column] for column in table.columns], len(columns))
        for column in reversed(columns):
            rest = np.asarray(rest @ vectors[column], dtype=object)
        return int(rest[()]) * self._factor

    def _weights(self, column: int, span: tuple[int, int]) -> Numbers:
        return np.array(self._axes[column].weights[slice(*span)], dtype=object)

    def _of(self, component: _Component, ranges: Ranges) -> int:
        tables = list(component.tables)
        cells: dict[int, NDArray[np.int64]] = {}
        for column in component.columns:
            axis, (start, stop) = self._axes[column], ranges[column]
            places, where = np.unique(axis.cells[start:stop], return_inverse=True)
            sums = np.zeros(len(places), dtype=object)
            np.add.at(sums, where, np.array(axis.weights[start:stop], dtype=object))
            cells[column] = places
            tables.append(Table((column,), sums))
        count = len(component.tables)
        restricted = [
            Table(table.columns, table.numbers[np.ix_(*(cells[column] for column in table.columns))])
            for table in tables[:count]
        ]
        left = _without([*restricted, *tables[count:]], set(component.columns))
        return prod(int(table.numbers[()]) for table in left)


def _aligned(numbers: Numbers, places: Sequence[int], count: int) -> Numbers:
    """A table with its axes at these places among so many."""
    order = sorted(range(len(places)), key=lambda axis: places[axis])
    shape = [1] * count
    for axis in order:
        shape[places[axis]] = numbers.shape[axis]
    return numbers.transpose(order).reshape(shape)


def _whole(network: Network, factor: Factor) -> tuple[Table, int]:
    """A factor as whole numbers, and what they are over; a normal law gives its only cell probability 1."""
    columns = (*factor.parents, factor.column)
    rows = {cells: (Fraction(1),) if isinstance(row, Normal) else row for cells, row in factor.rows.items()}
    scale = lcm(*(chance.denominator for row in rows.values() for chance in row))
    numbers = np.zeros(tuple(len(network.cells[column]) for column in columns), dtype=object)
    for cells, row in rows.items():
        for place, chance in enumerate(row):
            numbers[(*cells, place)] = int(chance * scale)
    return Table(columns, numbers), scale


def _at(table: Table, cells: Mapping[int, int]) -> Table:
    index = tuple(cells.get(column, slice(None)) for column in table.columns)
    numbers = np.asarray(table.numbers[index], dtype=object)
    return Table(tuple(column for column in table.columns if column not in cells), numbers)


def _components(free: tuple[int, ...], tables: Sequence[Table]) -> list[_Component]:
    groups = [({column}, list[Table]()) for column in free]
    for table in tables:
        touched = [group for group in groups if group[0] & set(table.columns)]
        merged = (set[int]().union(*(columns for columns, _ in touched)), [t for _, each in touched for t in each])
        merged[1].append(table)
        groups = [group for group in groups if group not in touched] + [merged]
    return [_Component(tuple(sorted(columns)), tuple(each)) for columns, each in groups]


def _without(tables: Iterable[Table], columns: set[int]) -> list[Table]:
    """Variable elimination: next always the column whose product has the fewest entries."""
    live, left = list(tables), set(columns)
    while left:
        column = min(left, key=lambda each: (_entries(live, each), each))
        left.remove(column)
        touched = [table for table in live if column in table.columns]
        live = [table for table in live if column not in table.columns]
        if touched:
            live.append(_summed(_product(touched), column))
    return live


def _entries(tables: Iterable[Table], column: int) -> int:
    sizes: dict[int, int] = {}
    for table in tables:
        if column in table.columns:
            sizes.update(zip(table.columns, table.numbers.shape, strict=True))
    return prod(sizes.values())


def _product(tables: Sequence[Table]) -> Table:
    columns = tuple(sorted({column for table in tables for column in table.columns}))
    place = {column: axis for axis, column in enumerate(columns)}
    parts = [_aligned(table.numbers, [place[column] for column in table.columns], len(columns)) for table in tables]
    numbers = parts[0]
    for part in parts[1:]:
        numbers = numbers * part
    return Table(columns, numbers)


def _summed(table: Table, column: int) -> Table:
    axis = table.columns.index(column)
    numbers = np.asarray(table.numbers.sum(axis=axis), dtype=object)
    return Table(tuple(each for each in table.columns if each != column), numbers)
