"""How the nodes of binary trees hang together: arrays, and what follows from them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class TreeShape:
    """Trees whose nodes are numbered together, in preorder with the yes side first, one tree after the other.

    So a child has a higher number than its parent, the nodes below a node are neighbours, and so are its leaves, which
    are numbered in the same order.
    """

    #: The trees' roots, [trees], ascending.
    roots: IntArray
    #: The node that follows where a node's test holds, [nodes]; of a leaf the leaf itself.
    yes: IntArray
    #: The node that follows where a node's test fails, [nodes]; of a leaf the leaf itself.
    no: IntArray

    @classmethod
    def in_order(cls, roots: IntArray, yes: IntArray, no: IntArray) -> tuple[TreeShape, IntArray]:
        """The shape of trees whose nodes come in any order, and for each of its nodes the number it had before.

        The roots have no parent, all others one; otherwise the result is of the nodes that can be reached.
        """
        inner = yes != np.arange(len(yes))
        levels = _levels(roots, yes, no, inner)
        size = np.ones(len(yes), dtype=np.int64)
        for nodes in reversed(levels):
            size[nodes] += size[yes[nodes]] + size[no[nodes]]
        place = np.full(len(yes), -1, dtype=np.int64)
        starts = np.concatenate([[0], np.cumsum(size[roots])])
        place[roots] = starts[:-1]
        for nodes in levels:
            place[yes[nodes]] = place[nodes] + 1
            place[no[nodes]] = place[nodes] + 1 + size[yes[nodes]]
        before = np.empty(int(starts[-1]), dtype=np.int64)
        reached = np.flatnonzero(place >= 0)
        before[place[reached]] = reached
        return cls(place[roots], place[yes[before]], place[no[before]]), before

    @property
    def nodes(self) -> int:
        """How many nodes there are."""
        return len(self.yes)

    @property
    def trees(self) -> int:
        """How many trees there are."""
        return len(self.roots)

    @property
    def leaves(self) -> int:
        """How many leaves there are."""
        return len(self.leaf_nodes)

    @cached_property
    def inner(self) -> BoolArray:
        """Which nodes test, as leaves do not, [nodes]."""
        return np.asarray(self.yes != np.arange(self.nodes), dtype=np.bool_)

    @cached_property
    def leaf_nodes(self) -> IntArray:
        """The nodes of the leaves, [leaves]."""
        return np.flatnonzero(~self.inner)

    @cached_property
    def leaf(self) -> IntArray:
        """The number of a leaf among the leaves, -1 of other nodes, [nodes]."""
        return np.where(self.inner, -1, self._leaves_before[:-1])

    @cached_property
    def _leaves_before(self) -> IntArray:
        """How many leaves come before a node, [nodes + 1]."""
        return np.concatenate([[0], np.cumsum(~self.inner)])

    @cached_property
    def levels(self) -> tuple[IntArray, ...]:
        """The nodes that test, by their depth."""
        return tuple(_levels(self.roots, self.yes, self.no, self.inner))

    @property
    def depth(self) -> int:
        """Tests on the longest way."""
        return len(self.levels)

    @cached_property
    def parents(self) -> IntArray:
        """The node above each, [nodes]; -1 of roots."""
        inner = np.flatnonzero(self.inner)
        found = np.full(self.nodes, -1, dtype=np.int64)
        found[self.yes[inner]] = inner
        found[self.no[inner]] = inner
        return found

    @cached_property
    def ends(self) -> IntArray:
        """The node behind the last one at or below each, [nodes]."""
        found = np.arange(1, self.nodes + 1)
        for nodes in reversed(self.levels):
            found[nodes] = found[self.no[nodes]]
        return found

    @property
    def leaf_starts(self) -> IntArray:
        """Where the leaves of each tree begin, and the number of all leaves, [trees + 1]."""
        return np.asarray(self._leaves_before[np.append(self.roots, self.nodes)], dtype=np.int64)

    def any_below(self, leaves: BoolArray) -> BoolArray:
        """Whether some marked leaf ([leaves]) is at or below a node, [nodes]."""
        marked = np.concatenate([[0], np.cumsum(leaves)])[self._leaves_before]
        return np.asarray(marked[self.ends] > marked[:-1], dtype=np.bool_)

    def way(self, node: int) -> list[tuple[int, bool]]:
        """The nodes on the way to a node, from the root on, and whether their tests hold on it."""
        found = []
        parents, yes = self.parents, self.yes
        while (above := int(parents[node])) >= 0:
            found.append((above, int(yes[above]) == node))
            node = above
        return found[::-1]


def _levels(roots: IntArray, yes: IntArray, no: IntArray, inner: BoolArray) -> list[IntArray]:
    """The nodes that test, by their depth; as far as there are as many nodes, for a circle has no end."""
    found: list[IntArray] = []
    level, seen = roots[inner[roots]], 0
    while level.size and seen <= len(yes):
        found.append(level)
        seen += len(level)
        below = np.concatenate([yes[level], no[level]])
        level = below[inner[below]]
    return found
