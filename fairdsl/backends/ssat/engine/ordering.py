"""Which variables separate a formula: depths from a tree decomposition of the graph of its variables.

Two variables are neighbours where a clause has both. Eliminating the variables one after the other, cheapest first, and
joining the neighbours of each, gives a tree of bags (a variable with its neighbours at that time); the variables
of a bag separate those of its branches. The depth of a variable is the round in which its bag is a centroid: a bag that
leaves pieces of at most half the bags. Deciding shallow variables first cuts the formula into components that
halve, so a formula of small treewidth is solved in few components: a chain of n variables at a depth of log n.

This guides the search and nothing else. Where bags get large there are no small separators: all depths are 0 then, and
other rules choose.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heapify, heappop, heappush

from fairdsl.backends.ssat.instance import Clause

__all__ = ["depths"]

#: Neighbours of a variable when it is eliminated: more of them separate too little to be worth it.
_WIDEST = 4


def depths(clauses: Sequence[Clause], level: Sequence[int]) -> list[int]:
    """The depth of each variable, from 0, where ``level`` has the numbers of their blocks; index 0 is nobody's."""
    graph = _graph(clauses)
    eliminated = None if graph is None else _eliminated(graph, level)
    return [0] * len(level) if eliminated is None else _rounds(len(level), *eliminated)


def _graph(clauses: Sequence[Clause]) -> dict[int, set[int]] | None:
    """The neighbours of each variable that occurs; None where some clause is too long for small bags."""
    graph: dict[int, set[int]] = {}
    for clause in clauses:
        members = [abs(literal) for literal in clause]
        if len(members) > _WIDEST + 1:
            return None
        for member in members:
            graph.setdefault(member, set()).update(members)
    for member, neighbours in graph.items():
        neighbours.discard(member)
    return graph


def _eliminated(graph: dict[int, set[int]], level: Sequence[int]) -> tuple[list[list[int]], list[int]] | None:
    """The bags, and the parent of each (-1 for a root); inner blocks first. None where a bag gets too large."""
    heap = [(-level[variable], len(neighbours), variable) for variable, neighbours in graph.items()]
    heapify(heap)
    place: dict[int, int] = {}
    bags: list[list[int]] = []
    while heap:
        _, degree, variable = heappop(heap)
        neighbours = graph.get(variable)
        if neighbours is None or len(neighbours) != degree:
            continue
        if degree > _WIDEST:
            return None
        del graph[variable]
        place[variable] = len(bags)
        bags.append([variable, *neighbours])
        for other in neighbours:
            joined = graph[other]
            joined |= neighbours
            joined.discard(other)
            joined.discard(variable)
            heappush(heap, (-level[other], len(joined), other))
    return bags, [min((place[other] for other in bag[1:]), default=-1) for bag in bags]


def _rounds(size: int, bags: list[list[int]], parents: list[int]) -> list[int]:
    """The round in which the first bag with a variable is a centroid of its piece."""
    near: list[list[int]] = [[] for _ in bags]
    for bag, parent in enumerate(parents):
        if parent >= 0:
            near[bag].append(parent)
            near[parent].append(bag)
    depth = [-1] * size
    gone = [False] * len(bags)
    waiting = [(bag, 0) for bag, parent in enumerate(parents) if parent < 0]
    while waiting:
        start, level = waiting.pop()
        centre = _centroid(start, near, gone)
        gone[centre] = True
        for variable in bags[centre]:
            # Pieces share the variables of bags between them, which were centroids before.
            if depth[variable] < 0:
                depth[variable] = level
        waiting.extend((bag, level + 1) for bag in near[centre] if not gone[bag])
    # Variables in no clause have no bag.
    return [max(level, 0) for level in depth]


def _centroid(start: int, near: list[list[int]], gone: list[bool]) -> int:
    """A bag of the piece around ``start`` without which no piece has more than half of its bags."""
    walk = [(start, -1)]
    for bag, parent in walk:
        walk.extend((other, bag) for other in near[bag] if other != parent and not gone[other])
    size = {bag: 1 for bag, _ in walk}
    for bag, parent in reversed(walk):
        if parent >= 0:
            size[parent] += size[bag]
    # The deepest bag that still has half of the piece at or below it.
    return next((bag for bag, _ in reversed(walk) if 2 * size[bag] >= len(walk)), start)
