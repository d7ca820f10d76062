"""Grows proofs about trees many boxes at a time, where everybody of the domain is asked about.

The same look at a box as :class:`fairdsl_verify.forest.Forest` takes, in float64 with a margin for its rounding: what
it claims the checker finds too. Boxes that the margin leaves open are cut until no test is left, and evaluated exactly.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from itertools import count
from math import prod

import numpy as np
from numpy.typing import NDArray

from fairdsl.clock import Deadline
from fairdsl.proving.grown import Grown, Waiting
from fairdsl.proving.walk import Integers, Nodes, look
from fairdsl_verify.forest import Forest, Tree
from fairdsl_verify.question import Box
from fairdsl_verify.tree import Checker, Node, Totals

__all__ = ["grow_trees", "many_at_a_time"]

#: Boxes that are looked at together.
_AT_ONCE = 256


def many_at_a_time(checker: Checker) -> bool:
    """Whether the question is one about trees, whole numbers and categories without conditions."""
    question = checker.question
    free = all(each.op == "and" and not each.parts for each in (question.where, question.target))
    free &= not question.loose
    free &= isinstance(checker.net, Forest) and not checker.net.margin
    return free and not any(each.real for each in question.attributes)


class _Looking:
    """The trees of a domain as arrays, and looks at boxes; a test with several cuts is as many nodes."""

    def __init__(self, forest: Forest) -> None:
        (constant, trees), question = forest.start, forest.question
        self._leaves: list[int] = []
        self._inner: list[tuple[int, int, int, int]] = []
        known: dict[int, int] = {}
        roots = [self._add(tree, known) for tree in trees]
        most = abs(constant) + sum(max(abs(tree.low), abs(tree.high)) for tree in trees) or 1
        rows = np.array(self._inner, dtype=np.int64).reshape(-1, 4)
        self.tests, number = np.unique(rows[:, :2], axis=0, return_inverse=True)
        differ = np.zeros(len(question.attributes), dtype=np.bool_)
        differ[question.differ] = True
        place, cut, first, second = np.ascontiguousarray(rows.T)
        self._nodes = Nodes(
            roots=np.array(roots, dtype=np.int64),
            place=place,
            cut=cut,
            first=first,
            second=second,
            leaf=np.array([leaf / most for leaf in self._leaves], dtype=np.float64),
            number=number.reshape(-1).astype(np.int64),
            differ=differ,
            differing=np.array(question.differ, dtype=np.int64),
            assignments=np.array(question.assignments, dtype=np.int64).reshape(len(question.assignments), -1),
        )
        self._constant = constant / most
        #: Sums of so many floats that are at most 1 together are off by no more.
        self._margin = (len(trees) + 8) * 2.0**-51
        self._room = np.zeros(len(rows) + 2, dtype=np.int64), np.zeros(len(self.tests))

    def _add(self, tree: Tree, known: dict[int, int]) -> int:
        if id(tree) in known:
            return known[id(tree)]
        if not tree.reads:
            found = self._node(tree.low, -1, 0, 0, 0)
        else:
            below = [self._add(each, known) for each in tree.below]
            # After the last cut; then between it and the one before, and so on.
            found = below[len(tree.changes) & 1]
            for number in reversed(range(len(tree.changes))):
                found = self._node(0, tree.place, tree.changes[number], below[number & 1], found)
        known[id(tree)] = found
        return found

    def _node(self, leaf: int, place: int, cut: int, first: int, second: int) -> int:
        self._leaves.append(leaf)
        self._inner.append((place, cut, first, second))
        return len(self._leaves) - 1

    def look(self, boxes: Sequence[Box]) -> tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.bool_], Integers]:
        """Where all are surely above and below, [boxes, assignments], what differs may matter, and the best test."""
        ends = np.array(boxes, dtype=np.int64)
        found = np.zeros((len(boxes), len(self._nodes.assignments), 2))
        moved, best = np.zeros(len(boxes), dtype=np.bool_), np.zeros(len(boxes), dtype=np.int64)
        low, high = (np.ascontiguousarray(ends[:, :, side]) for side in (0, 1))
        look(self._nodes, self._constant, low, high, *self._room, found, moved, best)
        return found[:, :, 0] > self._margin, found[:, :, 1] < -self._margin, moved, best


def grow_trees(checker: Checker, deadline: Deadline) -> tuple[Grown, Totals]:
    """A tree of splits at tests, and what its leaves come to; whatever is open at the deadline stays so."""
    return _Growing(checker).grown(deadline)


class _Growing:
    """The boxes that are not decided, the heaviest first."""

    def __init__(self, checker: Checker) -> None:
        assert isinstance(checker.net, Forest)
        self._checker, self._question = checker, checker.question
        self._looking, self._components = _Looking(checker.net), checker.components(range(len(checker.assignments)))
        self._compared = any(len(each) > 1 for each in self._components)
        self._totals = Totals(somebody=bool(checker.question.compared))
        self._heap: list[Waiting] = []
        self._number = count()

    def grown(self, deadline: Deadline) -> tuple[Grown, Totals]:
        """Cut boxes until the deadline."""
        root = Grown()
        self._wait(tuple((0, attribute.size - 1) for attribute in self._question.attributes), root)
        while self._heap and not deadline.passed:
            taken = [heapq.heappop(self._heap) for _ in range(min(_AT_ONCE, len(self._heap)))]
            found = self._looking.look([one.box for one in taken])
            for one, yes, no, moved, best in zip(taken, *(each.tolist() for each in found), strict=True):
                self._decided(one, yes, no, moved, best)
        self._totals.open += sum(self._mass(one.box) for one in self._heap)
        root.pruned()
        return root, self._totals

    def _wait(self, box: Box, grown: Grown) -> None:
        heapq.heappush(self._heap, Waiting(-self._mass(box), next(self._number), box, grown))

    def _mass(self, box: Box) -> int:
        return prod(box[place][1] - box[place][0] + 1 for place in self._question.shared)

    def _decided(self, one: Waiting, yes: list[bool], no: list[bool], moved: bool, best: int) -> None:
        """Claim what can be claimed of a box, or cut it."""
        if not moved or all(yes) or all(no):
            self._claim(one, "=")
        elif (pair := self._apart(yes, no)) is not None:
            self._claim(one, f"U {pair[0]} {pair[1]}")
        elif best < 0:
            self._evaluated(one)
        else:
            place, cut = self._looking.tests[best].tolist()
            low, high = one.box[place]
            one.grown.split, one.grown.below = f"S {place} {cut - 1}", (Grown(), Grown())
            for half, ends in zip(one.grown.below, ((low, cut - 1), (cut, high)), strict=True):
                self._wait((*one.box[:place], ends, *one.box[place + 1 :]), half)

    def _apart(self, yes: list[bool], no: list[bool]) -> tuple[int, int] | None:
        for component in self._components:
            high, low = ([one for one in component if side[one]] for side in (yes, no))
            if high and low:
                return high[0], low[0]
        return None

    def _claim(self, one: Waiting, claim: str) -> None:
        one.grown.claim = claim
        if claim != "=":
            self._totals.unfair += self._mass(one.box)
        elif self._compared:
            self._totals.fair += self._mass(one.box)
        else:
            self._totals.unsure += self._mass(one.box)
        self._totals.somebody |= self._compared

    def _evaluated(self, one: Waiting) -> None:
        """No test is left, and the sum is too close to the threshold for floats: the checker's own arithmetic."""
        root, net = self._checker.root(), self._checker.net
        known = root.known
        for place in self._question.shared:
            known = net.narrowed(known, place, one.box[place])
        one.grown.claim = "E"
        self._checker.leaf(Node(one.box, root.admitted, known), ["E"], self._totals)
