"""Variable elimination: in which order columns are summed out of a product of tables, and the summing itself.

The cheapest column goes first, and joins those that share a table with it. What is cheap is a matter of what tables
are: where they are arrays, it is the column whose product has the fewest cells (min-weight: Kjaerulff, *Triangulation
of graphs*, 1990). Of equal ones the column with the lowest number goes first.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence, Set
from heapq import heapify, heappop, heappush
from math import prod
from typing import Any, TypeVar

_Table = TypeVar("_Table")


def elimination(scopes: Iterable[Iterable[int]], sizes: Mapping[int, int], kept: Set[int]) -> Iterator[tuple[int, int]]:
    """The columns of the scopes that are not kept, each after the one before was summed out, with its table's cells."""
    for column, cells, _ in ranked(scopes, lambda _, members: prod(sizes[each] for each in members), kept):
        yield column, cells


def ranked(
    scopes: Iterable[Iterable[int]], rank: Callable[[int, Set[int]], Any], kept: Set[int] = frozenset()
) -> Iterator[tuple[int, Any, Set[int]]]:
    """The columns with the lowest rank first: each with its rank, and itself and those that it is joined with by then.

    ``rank`` is asked of a column and the same set.
    """
    joined: dict[int, set[int]] = {}
    for scope in scopes:
        members = set(scope)
        for column in members:
            joined.setdefault(column, set()).update(members)
    ranks = {column: rank(column, members) for column, members in joined.items() if column not in kept}
    heap = [(lowest, column) for column, lowest in ranks.items()]
    heapify(heap)
    while heap:
        lowest, column = heappop(heap)
        if column not in ranks or ranks[column] != lowest:
            continue  # an entry that a later one replaced
        del ranks[column]
        members = joined.pop(column)
        yield column, lowest, members
        others = members - {column}
        for other in others:
            own = joined[other]
            own |= others
            own.discard(column)
            if other in ranks and (now := rank(other, own)) != ranks[other]:
                ranks[other] = now
                heappush(heap, (now, other))


def eliminate(
    tables: Iterable[_Table],
    columns_of: Callable[[_Table], Collection[int]],
    order: Iterable[int],
    message: Callable[[list[_Table], int], _Table | None],
) -> list[_Table]:
    """The tables that are left when columns are summed out in this order.

    Those that have the column give way to their ``message``, if there is any: their product, summed over the column.
    """
    live = dict(enumerate(tables))
    homes: defaultdict[int, set[int]] = defaultdict(set)
    for name, table in live.items():
        for column in columns_of(table):
            homes[column].add(name)
    for fresh, column in enumerate(order, start=len(live)):
        names = sorted(homes.pop(column, ()))
        touched = [live.pop(name) for name in names]
        for name, table in zip(names, touched, strict=True):
            for other in columns_of(table):
                if other != column:
                    homes[other].discard(name)
        found = message(touched, column)
        if found is not None:
            live[fresh] = found
            for other in columns_of(found):
                homes[other].add(fresh)
    return list(live.values())


def mattering(scopes: Sequence[tuple[Collection[int], int | None]], read: Container[int]) -> list[int]:
    """Which tables of a product matter where the columns ``read`` are kept.

    A table is its columns, and the one whose distribution given the others it is, if it is a whole one: that sums to 1,
    so it goes where nothing reads its column and no other table that is left has it.
    """
    live = dict(enumerate(scopes))
    users: defaultdict[int, set[int]] = defaultdict(set)
    for name, (columns, _) in live.items():
        for column in columns:
            users[column].add(name)
    waiting = list(live)
    while waiting:
        name = waiting.pop()
        columns, child = live.get(name, ((), None))
        if child is None or child in read or users[child] != {name}:
            continue
        del live[name]
        for column in columns:
            users[column].discard(name)
            waiting.extend(users[column])
    return list(live)
