"""In which order columns are summed out of a product of tables: always next the one whose table has the fewest cells.

The rule is min-weight (Kjaerulff, *Triangulation of graphs*, 1990); of equal ones the column with the lowest number
goes first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set
from heapq import heapify, heappop, heappush
from math import prod

__all__ = ["elimination"]


def elimination(scopes: Iterable[Iterable[int]], sizes: Mapping[int, int], kept: Set[int]) -> Iterator[tuple[int, int]]:
    """The columns of the scopes that are not kept, each after the one before was summed out, with its table's cells."""
    neighbours: dict[int, set[int]] = {}
    for scope in scopes:
        members = set(scope)
        for column in members:
            neighbours.setdefault(column, set()).update(members)

    def cost(column: int) -> int:
        return prod(sizes[other] for other in neighbours[column])

    costs = {column: cost(column) for column in neighbours if column not in kept}
    heap = [(weight, column) for column, weight in costs.items()]
    heapify(heap)
    while heap:
        weight, column = heappop(heap)
        if costs.get(column) != weight:
            continue  # an entry that a later one replaced
        del costs[column]
        yield column, weight
        others = neighbours.pop(column) - {column}
        for other in others:
            neighbours[other] |= others
            neighbours[other].discard(column)
        for other in others & costs.keys():
            costs[other] = cost(other)
            heappush(heap, (costs[other], other))
