"""Reduced decision diagrams of sums: which groups' weights together reach a bound.

The groups are asked in order; each adds one of its weights. A node stands for a group g and the truth of
"the weights from g on reach b". That truth is the same for a whole interval of bounds b, from just above one
attainable sum of the groups from g on up to the next one that matters; a node is found again by its interval [Abio,
Nieuwenhuis, Oliveras and Rodriguez-Carbonell 2011, there for binary groups].

Theorem: let child w of a node have the interval [low_w, high_w]. Then the node's is the intersection of all
[low_w + w, high_w + w]: for these bounds, and no others, each child stays the same node. Below the least sum of the
remaining groups the truth is constantly true, above the greatest constantly false. So two bounds lead to the same node
iff they are the same function of the groups that remain, and the diagram is reduced.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field

__all__ = ["FALSE_NODE", "TRUE_NODE", "Diagram", "Node", "diagram_of"]

FALSE_NODE, TRUE_NODE = 0, 1


@dataclass(frozen=True, slots=True)
class Node:
    """A group, and by each of its weights the number of the node that is asked next."""

    group: int
    children: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Diagram:
    """Node n is ``nodes[n - 2]``, and comes after its children; 0 and 1 are the constants."""

    nodes: tuple[Node, ...]
    root: int


@dataclass(slots=True)
class _Level:
    """The intervals of one group that are known: their ends, ascending, and their nodes."""

    lows: list[int] = field(default_factory=list)
    highs: list[int] = field(default_factory=list)
    nodes: list[int] = field(default_factory=list)

    def find(self, bound: int) -> tuple[int, int, int] | None:
        place = bisect_right(self.lows, bound) - 1
        if place < 0 or bound > self.highs[place]:
            return None
        return self.nodes[place], self.lows[place], self.highs[place]

    def add(self, node: int, low: int, high: int) -> None:
        place = bisect_right(self.lows, low)
        self.lows.insert(place, low)
        self.highs.insert(place, high)
        self.nodes.insert(place, node)


@dataclass(slots=True)
class _Open:
    """A node whose children are being found."""

    level: int
    bound: int
    low: int
    high: int
    children: list[int] = field(default_factory=list)


class _Builder:
    def __init__(self, groups: Sequence[Sequence[int]], bound: int, limit: int) -> None:
        self._groups, self._limit = groups, limit
        self._least, self._most = [0], [0]
        for weights in reversed(groups):
            self._least.append(self._least[-1] + min(weights))
            self._most.append(self._most[-1] + max(weights))
        self._least.reverse()
        self._most.reverse()
        # Further away than any bound can get: every child's bound differs from its parent's by one weight.
        self._far = 2 * (abs(bound) + sum(max(map(abs, weights)) for weights in groups)) + 2
        self._levels = [_Level() for _ in groups]
        self._nodes: list[Node] = []
        self._edges = 0

    def found(self, level: int, bound: int) -> tuple[int, int, int] | None:
        """The node and its interval, where they are known."""
        if bound <= self._least[level]:
            return TRUE_NODE, -self._far, self._least[level]
        if bound > self._most[level]:
            return FALSE_NODE, self._most[level] + 1, self._far
        return self._levels[level].find(bound)

    def build(self, bound: int) -> Diagram | None:
        stack = [_Open(0, bound, -self._far, self._far)]
        while (known := self.found(0, bound)) is None:
            top = stack[-1]
            weights = self._groups[top.level]
            while len(top.children) < len(weights):
                weight = weights[len(top.children)]
                child = self.found(top.level + 1, top.bound - weight)
                if child is None:
                    stack.append(_Open(top.level + 1, top.bound - weight, -self._far, self._far))
                    break
                node, low, high = child
                top.low, top.high = max(top.low, low + weight), min(top.high, high + weight)
                top.children.append(node)
            else:
                stack.pop()
                if not self._close(top):
                    return None
        return Diagram(tuple(self._nodes), known[0])

    def _close(self, top: _Open) -> bool:
        """Number a node whose children are known; whether the limit allows it."""
        self._edges += len(top.children)
        if self._edges > self._limit:
            return False
        node = top.children[0]
        if any(child != node for child in top.children):
            self._nodes.append(Node(top.level, tuple(top.children)))
            node = len(self._nodes) + 1
        self._levels[top.level].add(node, top.low, top.high)
        return True


def diagram_of(groups: Sequence[Sequence[int]], bound: int, limit: int) -> Diagram | None:
    """The diagram of "one weight of each group, together at least the bound"; None if it has more than ``limit`` edges.

    Groups are not empty. Edges of nodes that are left out because all of their children are the same count as well,
    so that the limit bounds the time.
    """
    return _Builder(groups, bound, limit).build(bound)
