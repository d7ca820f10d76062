"""In which order columns are summed out: always next the one whose table has the fewest cells (min-weight)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from heapq import heapify, heappop, heappush
from math import prod

__all__ = ["elimination_order"]


def elimination_order(scopes: Iterable[Iterable[int]], sizes: Mapping[int, int], kept: frozenset[int]) -> Iterator[int]:
    """The columns of the scopes that are not kept, each after the one before was summed out."""
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
        yield column
        others = neighbours.pop(column) - {column}
        for other in others:
            neighbours[other] |= others
            neighbours[other].discard(column)
        for other in others & costs.keys():
            costs[other] = cost(other)
            heappush(heap, (costs[other], other))
