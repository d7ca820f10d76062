"""The trees of a graph as arrays for the kernels: one by one, without shared nodes, each node with what leads to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.leaf_boxes.graph import TERMINAL
from fairdsl.backends.leaf_boxes.kernels.cells import CHOICES, LEVELS
from fairdsl.backends.leaf_boxes.kernels.records import Effects, Integers, Leaves, Parts, Room, Trees
from fairdsl.backends.leaf_boxes.leaf_sets import Tree, leaves_of, merged
from fairdsl.backends.leaf_boxes.lowering import Lowered
from fairdsl.backends.leaf_boxes.sizes import Sizes
from fairdsl.backends.leaf_boxes.task import Task, task_of
from fairdsl.numerics.rounding import float_above, float_below

__all__ = ["Forest", "TooManyError", "forest_of", "put_together", "trees_of", "unfolded_of"]

#: The ends of a leaf's box, and its value.
_Leaf = tuple[tuple[int, ...], tuple[int, ...], int]

#: Nodes at most, once they are no longer shared.
_NODES = 2**22
#: Parts of a box that wait to be counted.
_LEVELS = 256
#: Sizes along an axis, up to which floats are exact.
_EXACT = 2**53


@dataclass(frozen=True, slots=True, eq=False)
class Forest:
    """The arrays, and how deep and how wide they are; ``sizes`` are those of what there is."""

    sizes: Sizes
    trees: Trees
    leaves: Leaves
    depth: int

    def room(self) -> Room:
        """Scratch space for the kernels."""
        people, number = self.trees.roots.shape
        axes, deep = len(self.trees.ordered), 2 * self.depth + 8
        return Room(
            stack=np.zeros(deep, dtype=np.int64),
            chances=np.zeros(deep),
            inner_stack=np.zeros(deep, dtype=np.int64),
            inner_chances=np.zeros(deep),
            lows=np.zeros((deep, axes), dtype=np.int64),
            highs=np.zeros((deep, axes), dtype=np.int64),
            active=np.zeros(number, dtype=np.int64),
            means=np.zeros(number),
            tested=np.zeros(number, dtype=np.int64),
            present=np.zeros(people, dtype=np.bool_),
            ends=np.zeros((people, 4), dtype=np.int64),
            before=np.zeros((people, 4), dtype=np.int64),
            moments=np.zeros((people, 2)),
            gain=np.zeros((axes, self.trees.sums.shape[1])),
            sets=np.zeros(axes, dtype=np.int64),
            widest=np.zeros(axes, dtype=np.int64),
            effects=np.zeros((axes, self.trees.sums.shape[1])),
            reached=np.zeros_like(self.leaves.everywhere),
            union=np.zeros_like(self.leaves.everywhere),
            low=np.zeros(axes, dtype=np.int64),
            high=np.zeros(axes, dtype=np.int64),
            lows_along=np.zeros((people + 1, axes, self.trees.sums.shape[1]), dtype=np.int64),
            highs_along=np.zeros((people + 1, axes, self.trees.sums.shape[1]), dtype=np.int64),
            pair=np.zeros(2, dtype=np.int64),
            behind=np.zeros((self.trees.sums.shape[1] + 1, 4), dtype=np.int64),
        )

    def parts(self) -> Parts:
        """Scratch space for parts of a box that are counted."""
        people, axes, trees, words = (
            len(self.trees.roots),
            len(self.trees.ordered),
            len(self.leaves.starts) - 1,
            len(self.leaves.everywhere),
        )
        return Parts(
            low=np.zeros((_LEVELS, axes), dtype=np.int64),
            high=np.zeros((_LEVELS, axes), dtype=np.int64),
            size=np.zeros(_LEVELS, dtype=np.int64),
            trees=np.zeros((_LEVELS, trees), dtype=np.int64),
            number=np.zeros(_LEVELS, dtype=np.int64),
            reached=np.zeros((_LEVELS, words), dtype=np.uint64),
            base=np.zeros((_LEVELS, people, 4), dtype=np.int64),
            widest=np.zeros(3, dtype=np.int64),
        )

    def effects(self) -> Effects:
        """Scratch space for effects of axes and of pairs of axes."""
        people, number = self.trees.roots.shape
        axes, parts = len(self.trees.ordered), self.trees.sums.shape[1]
        most = 64 * int(np.diff(self.leaves.starts).max(initial=1))
        widths = [
            int(rows) // (1 + line) for rows, line in zip(np.diff(self.leaves.rows), self.trees.ordered, strict=True)
        ]
        pairs = (sum(widths) ** 2 - sum(width**2 for width in widths)) // 2
        return Effects(
            width=np.zeros(axes, dtype=np.int64),
            edge=np.zeros((axes, parts), dtype=np.int64),
            numbers=np.zeros((axes, parts), dtype=np.int64),
            axes=np.zeros(axes, dtype=np.int64),
            segments=np.zeros(axes, dtype=np.int64),
            ends=np.zeros((axes, parts + 1), dtype=np.int64),
            size=np.zeros((axes, parts)),
            first=np.zeros((most, axes), dtype=np.int64),
            last=np.zeros((most, axes), dtype=np.int64),
            inverse=np.zeros((most, axes)),
            chance=np.zeros(most),
            value=np.zeros(most),
            amount=np.zeros(most),
            effect=np.zeros((axes, parts)),
            both=np.zeros((parts + 1, parts + 1)),
            column=np.zeros(parts),
            main=np.zeros((people + 1, axes, parts)),
            table=np.zeros((people + 1, pairs)),
            begins=np.zeros((axes, axes), dtype=np.int64),
            sums=np.zeros((people + 1, 2)),
            least=np.zeros(people + 1, dtype=np.int64),
            tested=np.zeros((people + 1, number), dtype=np.int64),
            deviation=np.zeros((people + 1, number)),
            rests=np.zeros(people + 1, dtype=np.int64),
            varies=np.zeros((people, axes, axes)),
            rest=np.zeros(people),
            chosen=np.zeros(axes, dtype=np.int64),
            levels=np.zeros(axes, dtype=np.int64),
            place=np.zeros(axes + 1, dtype=np.int64),
            sizes=np.zeros(LEVELS + 1),
            middle=np.zeros((LEVELS + 1, 2 * people)),
            held=np.zeros((LEVELS + 1, people, axes, parts)),
            between=np.zeros(people),
            more=np.zeros(people),
            spread=np.zeros((CHOICES, people + 1)),
            part=np.zeros((axes, parts)),
            rounding=np.array([2 * (number + 2 * parts + 6 * most + 4 * axes + 32) * 8 * (most + parts) * 2.0**-53]),
            steps=np.zeros(1, dtype=np.int64),
            gained=np.zeros((parts, 4)),
        )


def forest_of(lowered: Lowered) -> Forest | None:
    """The trees, where sums of one value of each decide, all that differ are compared, and sums fit into 64 bits."""
    return None if (task := task_of(lowered)) is None else unfolded_of(task)


def unfolded_of(task: Task) -> Forest | None:
    """The trees of a task; None where they are too large."""
    sizes, limits = task.sizes(), (task.below, task.above)
    try:
        conditions = task.roots[:, -1], task.among
        unfolded = _Unfolded(sizes, task.yes, task.no, task.roots[:, :-1], task.values, conditions)
    except TooManyError:
        return None
    leaves = leaves_of(merged(unfolded.trees(), sizes.ordered), sizes.ordered, [len(each) for each in sizes.parts])
    if leaves is None:
        return None
    sums = _sums(sizes)
    exactly = all(int(each[-1]) < _EXACT for each in sizes.sums)
    tables = unfolded.tables()
    real = tables["value"] / task.denominator
    trees = Trees(
        **tables,
        real=real,
        inside=task.inside,
        ordered=sizes.ordered,
        sums=sums,
        limits=np.array(limits, dtype=np.int64),
        margins=unfolded.margins(real, limits, task.denominator, exactly),
    )
    return Forest(sizes, trees, leaves, unfolded.depth)


def _sums(sizes: Sizes) -> NDArray[np.float64]:
    """Running sums of the parts' sizes along each axis."""
    longest = max((len(each) for each in sizes.sums), default=1)
    sums = np.zeros((len(sizes.axes), longest))
    for axis, each in enumerate(sizes.sums):
        sums[axis, : len(each)] = each.astype(np.float64)
        sums[axis, len(each) :] = sums[axis, len(each) - 1]
    return sums


def put_together(trees: Sequence[Tree], sizes: Sizes, limits: tuple[int, int]) -> Forest | None:
    """Trees about everybody that are given by their leaves; None where they are too large. Moments are left out."""
    leaves = leaves_of(trees, sizes.ordered, [len(each) for each in sizes.parts])
    if leaves is None:
        return None
    people = trees[0].whose.shape[1] if trees else 1
    node = np.zeros(1, dtype=np.int64)
    columns = dict.fromkeys(("cut", "yes", "no", "first", "last"), node)
    among = Trees(
        **columns,
        axis=node + TERMINAL,
        value=node + 1,
        real=np.ones(1),
        roots=np.zeros((people, len(trees)), dtype=np.int64),
        conditions=np.zeros(people, dtype=np.int64),
        inside=np.zeros(people, dtype=np.bool_),
        ordered=sizes.ordered,
        sums=_sums(sizes),
        limits=np.array(limits, dtype=np.int64),
        margins=np.array([0.0, 0.0, 0.0, -1.0, 0.0]),
    )
    return Forest(sizes, among, leaves, 0)


def trees_of(sizes: Sizes, yes: Integers, no: Integers, roots: Integers) -> list[Tree]:
    """The leaves of each tree from [assignments, trees], whose values are the terminals of the graph.

    TooManyError where there is no room.
    """
    return _Unfolded(sizes, yes, no, roots, np.arange(len(yes), dtype=np.int64)).trees()


class TooManyError(Exception):
    """The trees are too large once nodes are no longer shared."""


class _Unfolded:
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
        self._rows: list[tuple[int, int, int, int, int, int]] = []
        self._known: dict[int, int] = {}
        self._leaves: dict[int, _Leaf] = {}
        self._ends: dict[int, int] = {}
        self.depth = 0
        self._roots = [[self._root(node, None) for node in row] for row in roots.tolist()]
        also, among = ([], 0) if conditions is None else (conditions[0].tolist(), conditions[1])
        self._conditions = [self._root(node, among) for node in also]

    def _root(self, node: int, inside: int | None) -> int:
        if node not in self._known:
            low, high = self._sizes.whole()
            root = self._known[node] = self._unfold(node, inside, low.tolist(), high.tolist(), 0)
            self._ends[root] = len(self._rows)
        return self._known[node]

    def _unfold(self, node: int, inside: int | None, low: list[int], high: list[int], depth: int) -> int:
        place, axis = len(self._rows), self._axis[node]
        if place >= _NODES:
            raise TooManyError
        self.depth = max(self.depth, depth)
        if axis == TERMINAL:
            value = int(self._values[node]) if inside is None else int(node == inside)
            self._rows.append((TERMINAL, 0, place, place, 0, 0))
            self._leaves[place] = (tuple(low), tuple(high), value)
            return place
        cut = self._passing[node]
        self._rows.append((axis, cut, -1, -1, low[axis], high[axis]))
        passing, failing, ordered = (low.copy(), high.copy()), (low.copy(), high.copy()), self._sizes.ordered[axis]
        if ordered:
            passing[1][axis], failing[0][axis] = min(cut, high[axis]), max(cut, low[axis])
        else:
            passing[0][axis], failing[0][axis] = low[axis] & cut, low[axis] & ~cut
        yes = self._unfold(self._yes[node], inside, *passing, depth + 1)
        no = self._unfold(self._no[node], inside, *failing, depth + 1)
        self._rows[place] = (axis, cut, yes, no, low[axis], high[axis])
        return place

    def trees(self) -> list[Tree]:
        """The leaves of each tree, each once: whoever comes to the same box with the same value is at one leaf."""
        found = []
        for roots in zip(*self._roots, strict=True):
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
                    whose=np.array([[person in each for person in range(len(self._roots))] for each in whose.values()]),
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
        columns = np.array(self._rows, dtype=np.int64).reshape(-1, 6).T
        found: dict[str, Any] = {
            name: np.ascontiguousarray(column)
            for name, column in zip(("axis", "cut", "yes", "no", "first", "last"), columns, strict=True)
        }
        found["value"] = np.zeros(len(self._rows), dtype=np.int64)
        for place, (_, _, value) in self._leaves.items():
            found["value"][place] = value
        found["roots"] = np.array(self._roots, dtype=np.int64)
        found["conditions"] = np.array(self._conditions, dtype=np.int64)
        return found

    def margins(
        self, real: NDArray[np.float64], limits: tuple[int, int], denominator: int, exactly: bool
    ) -> NDArray[np.float64]:
        """The limits in units of the score, outward; bounds of rounding in means and variances; the unit, upward.

        Let M be the sum over the trees of the largest absolute values, with those of the limits. A leaf's chance is a
        product of at most d quotients of exact numbers, each rounded twice, so a mean of one tree over L leaves is
        within g M_t of the exact one, g = (3 d + L + n + 8) 2^-53 of n trees. A variance is a sum of products of two
        deviations, each below 2 M and off by less than 2 g M: it is within 16 g M^2 (Higham, Accuracy and Stability of
        Numerical Algorithms, section 3.1). Both are taken fourfold, for terms of higher order. The variance's is
        negative where the sizes along an axis are too large for exact floats, and moments are left out.
        """
        below, above = (Fraction(limit, denominator) for limit in limits)
        largest = {
            root: max(abs(self._leaves[place][2]) for place in range(root, end) if place in self._leaves)
            for root, end in self._ends.items()
        }
        total = max((float(sum(largest[root] for root in row)) / denominator for row in self._roots), default=0.0)
        total += abs(float(below))
        rounding = 4 * (3 * self.depth + len(real) + len(self._roots[0]) + 8) * 2.0**-53
        variance = 16 * rounding * total * total if exactly else -1.0
        unit = float_above(Fraction(1, denominator))
        return np.array([float_below(below), float_above(above), rounding * total, variance, unit])
