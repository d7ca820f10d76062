"""In which order columns are eliminated, so that tables stay small and the distribution stays as it was written.

A distribution is a product of tables; each has a *scope*, its columns, and may be written as the distribution of one of
them, its
*child*, given the others. A column of which no other table knows is a leaf: eliminated, it leaves nothing behind, and
its distribution is the one that was written. So leaves go first; where neither conditions nor parents of the kept
columns are in the way, all columns are leaves in their turn, and the whole network stays as it is. Otherwise the next
column is one whose product of tables is smallest.

A column that nobody asks about goes at once where that makes the tables no larger; else it stays as a hidden one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from fractions import Fraction
from math import prod

import numpy as np

from fairdsl.numerics.elimination import eliminate
from fairdsl.numerics.tables import Numbers, Table, at_cells, joined, summed


@dataclass(frozen=True, slots=True)
class Scope:
    """The columns of a table, and the one whose distribution given the others it is, if it is one."""

    columns: frozenset[int]
    child: int | None = None


@dataclass(frozen=True, slots=True)
class Order:
    """The columns in the order of their elimination; ``largest`` are the entries of the largest product on the way."""

    columns: tuple[int, ...]
    largest: int


def order_of(scopes: Iterable[Scope], sizes: Mapping[int, int], kept: Set[int], wanted: Set[int]) -> Order:
    """An order for all columns but the ``kept`` ones; ``wanted`` are those that are asked about."""
    live = _Live(scopes, sizes, wanted)
    left = set(sizes) - kept
    order: list[int] = []
    largest = 1
    while left:
        column = min(left, key=lambda each: (*live.rank(each), -each))
        left.remove(column)
        order.append(column)
        largest = max(largest, live.remove(column))
    return Order(tuple(order), largest)


class _Live:
    """The scopes of the tables that are there while columns go."""

    def __init__(self, scopes: Iterable[Scope], sizes: Mapping[int, int], wanted: Set[int]) -> None:
        self._sizes = sizes
        self._wanted = wanted
        self._of: dict[int, list[Scope]] = {column: [] for column in sizes}
        self._ranks: dict[int, tuple[int, int]] = {}
        for scope in scopes:
            self._add(scope)

    def rank(self, column: int) -> tuple[int, int]:
        """How soon a column should go: hidden leaves, hidden ones that make tables smaller, leaves, cheap ones."""
        found = self._ranks.get(column)
        if found is None:
            found = self._ranks[column] = self._rank(column)
        return found

    def remove(self, column: int) -> int:
        """Replace a column's tables by what eliminating it leaves; the entries of their product."""
        touched = self._of[column]
        union = frozenset[int]().union(*(scope.columns for scope in touched))
        own = [scope for scope in touched if scope.child == column]
        others = [scope for scope in touched if scope.child != column]
        for scope in touched:
            for each in scope.columns:
                self._of[each] = [other for other in self._of[each] if other is not scope]
        leaf = bool(own) and not others
        if not leaf and len(union) > 1:
            # A distribution averaged over the distribution of one of its parents is a distribution.
            child = others[0].child if len(own) == len(others) == 1 else None
            self._add(Scope(union - {column}, child))
        for each in union:
            self._ranks.pop(each, None)
        return self._entries(union | {column})

    def _add(self, scope: Scope) -> None:
        for column in scope.columns:
            self._of[column].append(scope)

    def _rank(self, column: int) -> tuple[int, int]:
        touched = self._of[column]
        hidden = column not in self._wanted
        if len(touched) == 1 and touched[0].child == column:
            return (0 if hidden else 2), 0
        union = frozenset[int]().union(*(scope.columns for scope in touched))
        entries = self._entries(union | {column})
        if hidden and len(touched) == 2 and any(scope.child == column for scope in touched):
            before = sum(self._entries(scope.columns) for scope in touched)
            if entries // self._sizes[column] <= before:
                return 1, entries
        return 3, entries

    def _entries(self, columns: Iterable[int]) -> int:
        return prod(self._sizes[column] for column in columns)


# --------------------------------------------------------------------------------------------------
# The distribution of columns given others, as a Bayesian network in which the others have no parents.
#
# A distribution is a product of tables. Rates ask for Pr[x | keys, conditions], whatever the parents of the keys are:
# protected attributes may have parents, labels have, and conditions are factors of 0 and 1 among the tables.
#
# Theorem. Eliminate all columns but the keys, one after the other: take the tables that have the column x, let f(x, N)
# be their product, N its other columns, and put m(N) = sum over x of f(x, N), the *message*, in their place. Then
#
#     product of all tables  =  D(keys) * product over the columns of f(x, N) / m(N),
#
# where D(keys) is what is left over the keys, and 0 / 0 stands for anything. Each f / m is a conditional distribution
# of x given columns that go later, or are keys. So in reverse order they are a Bayesian network of Pr[x | keys,
# conditions] in which keys have no parents, and D(keys) is Pr[keys, conditions].
#
# Proof. Every step replaces f by (f / m) * m; where m(N) = 0 both sides are 0, since m stays a factor. Summed over all
# columns but the keys, from the last factor to the first, the quotients give 1 each, and D is left. A row in which m(N)
# is 0 is never met where D(keys) > 0: N has probability 0 there.
#
# All tables are whole numbers, so that nothing is rounded. A message that does not depend on a column loses it. So a
# network whose keys have no parents stays as it was written: messages of leaves are constant.


@dataclass(frozen=True, slots=True, eq=False)
class Conditional:
    """Pr[column | parents]: ``numbers`` [parents' states ..., states] are a row's probabilities over the row's sum.

    Rows are reduced to whole numbers without a common divisor. A row of zeros is never met.
    """

    column: int
    parents: tuple[int, ...]
    numbers: Numbers


@dataclass(frozen=True, slots=True, eq=False)
class Conditioned:
    """``network``: the conditionals, parents before children; ``left`` and ``factor``: the distribution of the keys."""

    network: tuple[Conditional, ...]
    left: tuple[Table, ...]
    factor: Fraction

    def mass(self, states: Mapping[int, int]) -> Fraction:
        """D: the probability of the keys at these states, and of the conditions."""
        return self.factor * prod(int(at_cells(table, states).numbers[()]) for table in self.left)


def conditioned(
    tables: Sequence[Table], denominator: int, sizes: Mapping[int, int], order: Sequence[int], wanted: Set[int]
) -> Conditioned:
    """Eliminate the columns of ``order`` from a product of tables over a common denominator.

    ``sizes`` says how many states each column has; one that no table has is uniform.
    The network is about the ``wanted`` ones among them, and about those that their distributions depend on.
    """
    found, factor = list[Conditional](), Fraction(1, denominator)

    def message(touched: Sequence[Table], column: int) -> Table | None:
        nonlocal factor
        # Where messages that did not depend on it took its distribution along, every state is alike.
        product = joined(touched or [Table((column,), np.ones(sizes[column], dtype=object))])
        found.append(_conditional(product, column))
        reduced, common = _reduced(summed(product, column))
        factor *= common
        return reduced if reduced.columns else None

    live = eliminate(tables, lambda table: table.columns, order, message)
    left = []
    for table in live:
        reduced, common = _reduced(table)
        factor *= common
        if reduced.columns:
            left.append(reduced)
    return Conditioned(_needed(found, wanted), tuple(left), factor)


def _conditional(product: Table, column: int) -> Conditional:
    axis = product.columns.index(column)
    numbers = np.moveaxis(product.numbers, axis, -1)
    common = np.gcd.reduce(numbers, axis=-1, keepdims=True)
    numbers = numbers // np.where(common == 0, 1, common)
    parents = [each for each in product.columns if each != column]
    for place in reversed(range(len(parents))):
        shorter = _without_parent(numbers, place)
        if shorter is not None:
            numbers = shorter
            del parents[place]
    return Conditional(column, tuple(parents), numbers)


def _without_parent(numbers: Numbers, place: int) -> Numbers | None:
    """The rows without a parent that they do not depend on, rows of zeros aside; None where they do."""
    slices = np.moveaxis(numbers, place, 0)
    rows: Numbers = slices[0].copy()
    met = rows.any(axis=-1)
    for other in slices[1:]:
        here = other.any(axis=-1)
        both = met & here
        if not bool(np.all(rows[both] == other[both])):
            return None
        new = here & ~met
        rows[new] = other[new]
        met |= here
    return rows


def _reduced(table: Table) -> tuple[Table, int]:
    """A table without a common divisor and without the columns that it does not depend on, and the divisor."""
    columns, numbers = list(table.columns), table.numbers
    for axis in reversed(range(len(columns))):
        first = numbers.take([0], axis=axis)
        if bool(np.all(numbers == first)):
            numbers = numbers.take(0, axis=axis)
            del columns[axis]
    numbers = np.asarray(numbers, dtype=object)
    common = int(np.gcd.reduce(numbers, axis=None)) if columns else int(numbers[()])
    if common > 1 and columns:
        numbers = numbers // common
    return Table(tuple(columns), numbers), common if common else (1 if columns else 0)


def _needed(eliminated: Iterable[Conditional], wanted: Set[int]) -> tuple[Conditional, ...]:
    """Parents first, without columns that nobody asks about and that nothing depends on."""
    found = list(eliminated)
    needed = set(wanted)
    for conditional in found:  # children come before their parents
        if conditional.column in needed:
            needed.update(conditional.parents)
    return tuple(conditional for conditional in reversed(found) if conditional.column in needed)
