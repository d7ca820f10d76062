"""Columns divided for a question: parts of cells that no predicate tells apart.

Of a column the distribution says how probable its cells are, and the question asks predicates about it. A *part* of a
cell is what remains of it when every predicate about the column alone is constant on a part; where somebody reads the
number itself (a weight, a comparison with another column), it is a single value. So a formula needs one truth a part:
predicates are read at one value of it.

Where a cell is known by its mass alone, its mass may lie anywhere in it. It is then a single part with several
*alternatives*, one for every way that its values are told apart; which of them is taken is nobody's chance
(docs/ssat.md).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import product
from math import gcd, prod

import numpy as np

from fairdsl.backends.ssat.conditioning import Conditioned, Order, Scope, conditioned, order_of
from fairdsl.ir.expr import Predicate, conjuncts, holds
from fairdsl.metrics.subject import Subject, axes_of, predicates_of, weighed_by
from fairdsl.numerics.axes import Atom, Axis, mentioned
from fairdsl.numerics.tables import Table, aligned, whole_table
from fairdsl.numerics.truth import by_column, truths_at


class NumbersError(Exception):
    """The numbers of a column are asked for, and there are too many of them, or no list of them at all."""

    def __init__(self, column: int) -> None:
        super().__init__(f"the numbers of column {column} cannot be listed")
        self.column = column


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A part of a cell, ``weight`` over the division's denominator of its mass.

    By alternative, ascending: what tells it from others (``kinds``), a value of it, and whether that is its only one.
    """

    cell: int
    weight: int
    kinds: tuple[int, ...]
    values: tuple[Fraction, ...]
    single: tuple[bool, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Division:
    """The parts of a column; those of a cell weigh ``denominator`` together, less what a condition leaves out."""

    column: int
    parts: tuple[Part, ...]
    denominator: int

    @property
    def open(self) -> bool:
        """Whether some part has alternatives."""
        return any(len(part.kinds) > 1 for part in self.parts)

    def within(self, condition: Predicate) -> Division | None:
        """The parts in which a condition about the column holds; None where alternatives of one part differ in it.

        The condition has to be one of the predicates that the column was divided by.
        """
        truths = iter(truths_at(condition, self.column, [value for part in self.parts for value in part.values]))
        kept = []
        for part in self.parts:
            found = {bool(next(truths)) for _ in part.values}
            if len(found) > 1:
                return None
            if found == {True}:
                kept.append(part)
        return replace(self, parts=tuple(kept))


def division_of(column: int, axis: Axis, predicates: Sequence[Predicate], *, numbered: bool, most: int) -> Division:
    """Divide a column: ``predicates`` are those about it alone, ``numbered`` says if somebody reads its numbers.

    Raises NumbersError where there would be more than ``most`` parts and alternatives, or numbers have no list.
    """
    chosen: list[tuple[Fraction, ...]] = []
    for atom in axis.atoms:
        if numbered and atom.values is None:
            raise NumbersError(column)
        chosen.append(atom.values or () if numbered else atom.samples)
    if numbered and sum(map(len, chosen)) > most:
        raise NumbersError(column)
    values = [value for each in chosen for value in each]
    truths = [truths_at(predicate, column, values).tolist() for predicate in predicates]
    numbers: dict[object, int] = {}
    kinds = [
        numbers.setdefault((value if numbered else None, *told), len(numbers))
        for value, told in zip(values, zip(*truths, strict=True) if truths else [()] * len(values), strict=True)
    ]
    parts: dict[tuple[int, frozenset[int]], Part] = {}
    start = 0
    for atom, weight, own in zip(axis.atoms, axis.weights, chosen, strict=True):
        part = _part(atom, weight, own, kinds[start : start + len(own)])
        start += len(own)
        key = (part.cell, frozenset(part.kinds))
        parts[key] = part if key not in parts else _merged(parts[key], part)
    if sum(len(part.kinds) for part in parts.values()) > most:
        raise NumbersError(column)
    scale = gcd(axis.denominator, *(part.weight for part in parts.values()))
    return Division(
        column=column,
        parts=tuple(replace(part, weight=part.weight // scale) for part in parts.values()),
        denominator=axis.denominator // scale,
    )


def _part(atom: Atom, weight: int, values: Sequence[Fraction], kinds: Sequence[int]) -> Part:
    """An atom as a part: an alternative for each kind, with the least of its values."""
    least: dict[int, Fraction] = {}
    for value, kind in sorted(zip(values, kinds, strict=True)):
        least.setdefault(kind, value)
    listed = atom.values is not None and len(atom.values) == len(values)
    return Part(
        cell=atom.cell,
        weight=weight,
        kinds=tuple(least),
        values=tuple(least.values()),
        single=tuple(listed and kinds.count(kind) == 1 for kind in least),
    )


def _merged(part: Part, other: Part) -> Part:
    return replace(part, weight=part.weight + other.weight, single=(False,) * len(part.kinds))


# --------------------------------------------------------------------------------------------------
# A subject's distribution, made ready for a formula: columns divided, conditions put in, keys without parents.
#
# A condition that every part of its columns decides is a table of 0 and 1 and so becomes part of the distribution
# (:mod:`fairdsl.backends.ssat.conditioning`). One that some part leaves open, or whose table would be large, is *asked*
# together with the outcome.
#
# The distribution knows a column by *states*: its cells or, where a condition compares it with other columns, its
# parts. A key whose cell is more than one part is the cell, as a column of its own; the attribute is then a column that
# depends on it.

#: Parts and alternatives of a column; entries of a condition's table.
_PARTS, _TABLE = 1 << 12, 1 << 13


@dataclass(frozen=True, slots=True)
class _Conditions:
    """``tables`` are predicates over several columns that become part of it, ``asked`` those that it does not."""

    divisions: dict[int, Division]
    tables: tuple[Predicate, ...]
    asked: tuple[Predicate, ...]
    impossible: bool


class Distribution:
    """The distribution of a subject given its keys and conditions.

    ``divisions`` are the parts of every column, ``states`` of each the parts that make a state, ``keys`` the columns
    that stand for the subject's keys: the attributes themselves or columns behind those of the network. Raises
    NumbersError where the numbers of a column cannot be listed.
    """

    def __init__(self, subject: Subject) -> None:
        self.subject = subject
        network = subject.network
        found = _divided(subject)
        self.asked = found.asked
        self._tables, self._impossible = found.tables, found.impossible
        self.divisions = {
            column: found.divisions.get(column) or _undivided(column, len(cells))
            for column, cells in enumerate(network.cells)
        }
        together = {column for predicate in self._tables for column in mentioned(predicate)}
        #: The columns whose states are parts; those of others are cells, in their order.
        self._apart = {column for column in together if not _one_each(self.divisions[column])}
        self.states = {
            column: _parts_of(division) if column in self._apart else _cells_of(division, len(network.cells[column]))
            for column, division in self.divisions.items()
        }
        self._cells = {column: len(cells) for column, cells in enumerate(network.cells)}
        self.keys = tuple(
            column if self._plain(column) else len(network.columns) + place for place, column in enumerate(subject.keys)
        )

    @property
    def sizes(self) -> dict[int, int]:
        """How many states each column has, those that stand for keys included."""
        sizes = {column: len(states) for column, states in self.states.items()}
        for key, column in zip(self.keys, self.subject.keys, strict=True):
            sizes[key] = self._cells[column]
        return sizes

    @property
    def wanted(self) -> frozenset[int]:
        """The columns that the model and the conditions that are asked look at."""
        tests = by_column([*predicates_of(self.subject)[:-1], *self.asked])
        return frozenset(weighed_by(self.subject.model) | tests.columns)

    @cached_property
    def order(self) -> Order:
        """In which order columns are eliminated, and how large tables get."""
        return order_of(self._scopes(), self.sizes, set(self.keys), self.wanted)

    @cached_property
    def conditioned(self) -> Conditioned:
        """The distribution given the keys and the conditions that are part of it."""
        network, tables, denominator = self.subject.network, list[Table](), 1
        for factor in network.factors:
            table, scale = whole_table(network, factor)
            cells = [self._cells_of_states(column) for column in table.columns]
            tables.append(Table(table.columns, table.numbers[np.ix_(*cells)]))
            denominator *= scale
        for column, division in self.divisions.items():
            if not self._even(column):
                tables.append(Table((column,), np.array(self._weights(column), dtype=object)))
                denominator *= division.denominator
        tables += self._of_conditions()
        for key, column in zip(self.keys, self.subject.keys, strict=True):
            if key != column:
                of_states = np.array(self._cells_of_states(column))
                inside = of_states[None, :] == np.arange(self._cells[column])[:, None]
                tables.append(Table((key, column), inside.astype(int).astype(object)))
        return conditioned(tables, denominator, self.sizes, self.order.columns, self.wanted)

    @cached_property
    def masses(self) -> dict[tuple[int, ...], Fraction]:
        """Pr[keys, conditions that are part of the distribution] by the cells of the subject's keys."""
        found, sizes = self.conditioned, [self._cells[column] for column in self.subject.keys]
        numbers = np.ones(sizes, dtype=object)
        for table in found.left:
            numbers = numbers * aligned(table.numbers, list(map(self.keys.index, table.columns)), len(sizes))
        every = product(*map(range, sizes))
        return {cells: found.factor * number for cells, number in zip(every, numbers.ravel().tolist(), strict=True)}

    def mass(self, cells: Sequence[int]) -> Fraction:
        """That of some cells."""
        return self.masses[tuple(cells)]

    def _plain(self, column: int) -> bool:
        """Whether the cells of a column are its parts, without alternatives."""
        return _one_each(self.divisions[column]) and not self.divisions[column].open

    def _cells_of_states(self, column: int) -> list[int]:
        if column not in self._apart:
            return list(range(self._cells[column]))
        return [part.cell for part in self.divisions[column].parts]

    def _scopes(self) -> Iterator[Scope]:
        """What the tables of the distribution will be about, without their numbers."""
        network = self.subject.network
        for factor in network.factors:
            columns = frozenset((*factor.parents, factor.column))
            # Weights that differ, and states finer than cells, are factors of their own.
            whole = network.complete(factor) and self._even(factor.column)
            yield Scope(columns, factor.column if whole else None)
        for predicate in self._tables:
            yield Scope(frozenset(mentioned(predicate)))
        for key, column in zip(self.keys, self.subject.keys, strict=True):
            if key != column:
                yield Scope(frozenset((key, column)))

    def _even(self, column: int) -> bool:
        """Whether all cells have their full weight, each as one state."""
        full = {self.divisions[column].denominator}
        return column not in self._apart and set(self._weights(column)) == full

    def _weights(self, column: int) -> list[int]:
        """The weights of the states of a column."""
        parts = self.divisions[column].parts
        return [sum(parts[part].weight for part in state) for state in self.states[column]]

    def _of_conditions(self) -> Iterator[Table]:
        if self._impossible:
            yield Table((), np.array(0, dtype=object))
        for predicate in self._tables:
            columns = mentioned(predicate)
            values = [[self._value(column, state) for state in self.states[column]] for column in columns]
            truths = [_holds_at(predicate, columns, each) for each in product(*values)]
            shape = tuple(len(self.states[column]) for column in columns)
            yield Table(columns, np.array(truths, dtype=object).reshape(shape))

    def _value(self, column: int, state: Sequence[int]) -> Fraction:
        """A value that speaks for a state; of an empty one, which weighs nothing, any."""
        return self.divisions[column].parts[state[0]].values[0] if state else Fraction(0)


def _holds_at(predicate: Predicate, columns: Sequence[int], values: Sequence[Fraction]) -> int:
    at = dict(zip(columns, values, strict=True))
    return int(holds(predicate, lambda variable: at[variable.attribute]))


def _divided(subject: Subject) -> _Conditions:
    """The columns that are looked at, without the parts that conditions leave out."""
    predicates, conditions = predicates_of(subject)[:-1], conjuncts(subject.condition)
    tests = by_column([*predicates, *conditions])
    numbered = weighed_by(subject.model) | tests.together
    divisions = {
        column: division_of(column, axis, tests.alone.get(column, ()), numbered=column in numbered, most=_PARTS)
        for column, axis in axes_of(subject, tests).items()
    }
    asked, several, impossible = list[Predicate](), list[Predicate](), False
    for condition in conditions:
        columns = mentioned(condition)
        if not columns:
            impossible |= not holds(condition, lambda _: Fraction(0))
        elif len(columns) > 1:
            several.append(condition)
        else:
            within = divisions[columns[0]].within(condition)
            if within is None:
                asked.append(condition)
            else:
                divisions[columns[0]] = within
    tables = [each for each in several if _tabular(each, divisions)]
    asked += [each for each in several if each not in tables]
    return _Conditions(divisions, tuple(tables), tuple(asked), impossible)


def _tabular(predicate: Predicate, divisions: Mapping[int, Division]) -> bool:
    """Whether the parts of its columns decide a predicate, and are few."""
    own = [divisions[column] for column in mentioned(predicate)]
    return not any(each.open for each in own) and prod(len(each.parts) for each in own) <= _TABLE


def _undivided(column: int, cells: int) -> Division:
    """A column that nobody looks at: cells by their number."""
    parts = tuple(
        Part(cell=cell, weight=1, kinds=(0,), values=(Fraction(cell),), single=(True,)) for cell in range(cells)
    )
    return Division(column=column, parts=parts, denominator=1)


def _one_each(division: Division) -> bool:
    """Whether no cell has several parts."""
    return len({part.cell for part in division.parts}) == len(division.parts)


def _parts_of(division: Division) -> tuple[tuple[int, ...], ...]:
    """A state for each part."""
    return tuple((place,) for place in range(len(division.parts)))


def _cells_of(division: Division, cells: int) -> tuple[tuple[int, ...], ...]:
    """A state for each cell, with its parts; an empty one has none."""
    found: list[list[int]] = [[] for _ in range(cells)]
    for place, part in enumerate(division.parts):
        found[part.cell].append(place)
    return tuple(map(tuple, found))
