"""The trees of a graph one by one, without shared nodes; and those of the least and the greatest leaf of all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fairdsl.backends.leaf_boxes.graph import TERMINAL
from fairdsl.backends.leaf_boxes.kernels.records import Integers
from fairdsl.backends.leaf_boxes.leaf_sets import Tree
from fairdsl.backends.leaf_boxes.sizes import Sizes

#: The ends of a leaf's box, and its value.
_Leaf = tuple[tuple[int, ...], tuple[int, ...], int]

#: Nodes at most, once they are no longer shared; tests one after the other, where trees of several are gone through.
_NODES, _DEEP = 2**22, 400


def trees_of(sizes: Sizes, yes: Integers, no: Integers, roots: Integers) -> list[Tree]:
    """The leaves of each tree from [assignments, trees], whose values are the terminals of the graph.

    TooManyError where there is no room.
    """
    return Unfolded(sizes, yes, no, roots, np.arange(len(yes), dtype=np.int64)).trees()


class TooManyError(Exception):
    """The trees are too large once nodes are no longer shared."""


class Unfolded:
    """The nodes of all trees, parents before their children."""

    def __init__(
        self,
        sizes: Sizes,
        yes: Integers,
        no: Integers,
        roots: Integers,
        values: Integers,
        conditions: tuple[Integers, int] | None = None,
    ) -> None:
        """``roots`` are [assignments, trees]; ``conditions`` those of another tree, and the terminal that is true."""
        self._values, self._sizes = values, sizes
        self._yes, self._no = yes.tolist(), no.tolist()
        self._passing, self._axis = sizes.passing.tolist(), sizes.axis.tolist()
        self._rows: list[tuple[int, int, int, int]] = []
        self._known: dict[int, int] = {}
        self._leaves: dict[int, _Leaf] = {}
        self._ends: dict[int, int] = {}
        self._leaves_left = 0
        self._columns: list[list[int]] = roots.T.tolist()
        self._roots = [[self._root(node, None) for node in row] for row in roots.tolist()]
        also, among = ([], 0) if conditions is None else (conditions[0].tolist(), conditions[1])
        self._conditions = [self._root(node, among) for node in also]

    def _root(self, node: int, inside: int | None) -> int:
        if node not in self._known:
            low, high = self._sizes.whole()
            root = self._known[node] = self._unfold(node, inside, low.tolist(), high.tolist())
            self._ends[root] = len(self._rows)
        return self._known[node]

    def _unfold(self, node: int, inside: int | None, low: list[int], high: list[int]) -> int:
        place, axis = len(self._rows), self._axis[node]
        if place >= _NODES:
            raise TooManyError
        if axis == TERMINAL:
            value = int(self._values[node]) if inside is None else int(node == inside)
            self._rows.append((TERMINAL, 0, place, place))
            self._leaves[place] = (tuple(low), tuple(high), value)
            return place
        cut = self._passing[node]
        self._rows.append((axis, cut, -1, -1))
        passing, failing = self._parted(axis, cut, low, high)
        yes = self._unfold(self._yes[node], inside, *passing)
        no = self._unfold(self._no[node], inside, *failing)
        self._rows[place] = (axis, cut, yes, no)
        return place

    def worst(self, people: Sequence[int], most: int) -> list[list[int]] | None:
        """Trees of the least leaf of all these assignments in every box, then of the greatest; their roots [2, trees].

        None where trees in which the assignments part have more than ``most`` leaves then, or are too deep.
        """
        self._leaves_left, before = most, len(self._rows)
        found = []
        try:
            for sign in (1, -1):
                ends = self._ends_of_nodes(sign)
                compared = ({nodes[person] for person in people} for nodes in self._columns)
                found.append([self._least_root(nodes, sign, ends) for nodes in compared])
        except TooManyError:
            del self._rows[before:]
            self._leaves = {place: leaf for place, leaf in self._leaves.items() if place < before}
            self._ends = {root: end for root, end in self._ends.items() if root < before}
            return None
        return found

    def _ends_of_nodes(self, sign: int) -> tuple[list[int], list[int]]:
        """The least and the greatest value below each node of the graph, which follows those below it."""
        low = [sign * int(value) for value in self._values]
        high = low.copy()
        for node, axis in enumerate(self._axis):
            if axis != TERMINAL:
                yes, no = self._yes[node], self._no[node]
                low[node], high[node] = min(low[yes], low[no]), max(high[yes], high[no])
        return low, high

    def _least_root(self, nodes: set[int], sign: int, ends: tuple[list[int], list[int]]) -> int:
        if len(nodes) == 1:
            return self._root(next(iter(nodes)), None)
        low, high = self._sizes.whole()
        root = self._unfold_least(nodes, None, sign, ends, low.tolist(), high.tolist(), 0)
        self._ends[root] = len(self._rows)
        return root

    def _unfold_least(
        self,
        nodes: set[int],
        known: int | None,
        sign: int,
        ends: tuple[list[int], list[int]],
        low: list[int],
        high: list[int],
        depth: int,
    ) -> int:
        """Of what somebody comes to below these nodes, and of what is ``known`` already, the least.

        A node below which nothing is less than somebody has for sure is left out.
        """
        place, (lows, highs) = len(self._rows), ends
        if place >= _NODES or self._leaves_left <= 0 or depth > _DEEP:
            raise TooManyError
        nodes = {self._reached(node, low, high) for node in nodes}
        certain = [highs[node] for node in nodes]
        known = min(certain) if known is None else min(known, *certain)
        nodes = {node for node in nodes if lows[node] < known}
        if not nodes:
            self._leaves_left -= 1
            self._rows.append((TERMINAL, 0, place, place))
            self._leaves[place] = (tuple(low), tuple(high), sign * known)
            return place
        first = max(nodes)  # what follows a node stands before it
        axis, cut = self._axis[first], self._passing[first]
        self._rows.append((axis, cut, -1, -1))
        passing, failing = self._parted(axis, cut, low, high)
        yes = self._unfold_least(nodes, known, sign, ends, *passing, depth + 1)
        no = self._unfold_least(nodes, known, sign, ends, *failing, depth + 1)
        self._rows[place] = (axis, cut, yes, no)
        return place

    def _reached(self, node: int, low: list[int], high: list[int]) -> int:
        """The node that everybody in a box comes to from this one, the farthest."""
        while (axis := self._axis[node]) != TERMINAL:
            cut = self._passing[node]
            ordered = self._sizes.ordered[axis]
            if high[axis] <= cut if ordered else low[axis] & ~cut == 0:
                node = self._yes[node]
            elif low[axis] >= cut if ordered else low[axis] & cut == 0:
                node = self._no[node]
            else:
                break
        return node

    def _parted(
        self, axis: int, cut: int, low: list[int], high: list[int]
    ) -> tuple[tuple[list[int], list[int]], tuple[list[int], list[int]]]:
        """The boxes of those who pass a test, and of those who do not."""
        passing, failing = (low.copy(), high.copy()), (low.copy(), high.copy())
        if self._sizes.ordered[axis]:
            passing[1][axis], failing[0][axis] = min(cut, high[axis]), max(cut, low[axis])
        else:
            passing[0][axis], failing[0][axis] = low[axis] & cut, low[axis] & ~cut
        return passing, failing

    def trees(self) -> list[Tree]:
        """The leaves of each tree of the assignments."""
        return self.listed(self._roots)

    def listed(self, rows: Sequence[Sequence[int]]) -> list[Tree]:
        """The leaves of each tree, each once: whoever comes to the same box with the same value is at one leaf."""
        found = []
        for roots in zip(*rows, strict=True):
            whose: dict[_Leaf, set[int]] = {}
            leaves = {
                root: [self._leaves[p] for p in range(root, self._ends[root]) if p in self._leaves and self._met(p)]
                for root in set(roots)
            }
            for person, root in enumerate(roots):
                for leaf in leaves[root]:
                    whose.setdefault(leaf, set()).add(person)
            low, high, value = zip(*whose, strict=True)
            found.append(
                Tree(
                    low=np.array(low, dtype=np.int64),
                    high=np.array(high, dtype=np.int64),
                    value=np.array(value, dtype=np.int64),
                    whose=np.array([[person in each for person in range(len(rows))] for each in whose.values()]),
                )
            )
        return found

    def _met(self, place: int) -> bool:
        """Whether somebody comes to a leaf: tests of the same cut on the way to it may exclude each other."""
        low, high, _ = self._leaves[place]
        sides = zip(low, high, self._sizes.ordered.tolist(), strict=True)
        return all(begin < end if ordered else begin != 0 for begin, end, ordered in sides)

    def tables(self) -> dict[str, Any]:
        """The columns of the nodes, and the roots."""
        columns = np.array(self._rows, dtype=np.int64).reshape(-1, 4).T
        found: dict[str, Any] = {
            name: np.ascontiguousarray(column)
            for name, column in zip(("axis", "cut", "yes", "no"), columns, strict=True)
        }
        found["value"] = np.zeros(len(self._rows), dtype=np.int64)
        for place, (_, _, value) in self._leaves.items():
            found["value"][place] = value
        found["roots"] = np.array(self._roots, dtype=np.int64)
        found["conditions"] = np.array(self._conditions, dtype=np.int64)
        return found
