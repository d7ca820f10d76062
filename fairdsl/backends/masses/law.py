"""Exact masses of boxes under a Bayesian network, key by key.

All tables hold whole numbers over one common denominator, so that sums and products are exact. Columns that nothing
looks at are summed out once. With the cells of a key put in, the remaining tables fall into *components* that have no
column in common; the mass of a box is the product over the components of what variable elimination leaves of their
tables, restricted to the box and weighted with the shares of its atoms.

On a box a column is independent of all others if in none of its tables another column has more than one cell left.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from fairdsl.ir.population import Network
from fairdsl.numerics.axes import Axis
from fairdsl.numerics.tables import Numbers, Table, aligned, at_cells, whole_table, without

__all__ = ["Chances", "KeyLaw", "Law"]

#: Ranges of atoms, the first and the one after the last, by column.
Ranges = Mapping[int, tuple[int, int]]
FloatArray = NDArray[np.float64]
#: By column the probabilities of the atoms of a box, each with a relative error of 2^-53; None where all are 0.
Chances = dict[int, FloatArray | None]


class Law:
    """A network over the columns that are looked at, as whole numbers over ``denominator``."""

    def __init__(self, network: Network, axes: Mapping[int, Axis]) -> None:
        self.axes = axes
        tables, self.denominator = [], prod(axis.denominator for axis in axes.values())
        for factor in network.factors:
            table, scale = whole_table(network, factor)
            tables.append(table)
            self.denominator *= scale
        others = {column for table in tables for column in table.columns} - set(axes)
        self.tables = tuple(without(tables, others))

    def given(self, cells: Mapping[int, int]) -> KeyLaw:
        """The law with the columns of a key at these cells."""
        tables = [at_cells(table, cells) for table in self.tables]
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
                    rest = rest * aligned(numbers, [place[column] for column in table.columns], len(columns))
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
        left = without([*restricted, *tables[count:]], set(component.columns))
        return prod(int(table.numbers[()]) for table in left)


def _components(free: tuple[int, ...], tables: Sequence[Table]) -> list[_Component]:
    groups = [({column}, list[Table]()) for column in free]
    for table in tables:
        touched = [group for group in groups if group[0] & set(table.columns)]
        merged = (set[int]().union(*(columns for columns, _ in touched)), [t for _, each in touched for t in each])
        merged[1].append(table)
        groups = [group for group in groups if group not in touched] + [merged]
    return [_Component(tuple(sorted(columns)), tuple(each)) for columns, each in groups]
