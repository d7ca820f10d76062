"""In which order the columns of a law are eliminated, so that tables stay small and the law stays as it was written.

A law is a product of tables; each has a *scope*, its columns, and may be written as the law of one of them, its
*child*, given the others. A column of which no other table knows is a leaf: eliminated, it leaves nothing behind, and
its law is the one that was written. So leaves go first; where neither conditions nor parents of the kept columns are in
the way, all columns are leaves in their turn, and the whole network stays as it is. Otherwise the next column is one
whose product of tables is smallest.

A column that nobody asks about goes at once where that makes the tables no larger; else it stays as a hidden one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from math import prod

__all__ = ["Order", "Scope", "order_of"]


@dataclass(frozen=True, slots=True)
class Scope:
    """The columns of a table, and the one whose law given the others it is, if it is one."""

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
            # A law averaged over the law of one of its parents is a law.
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
