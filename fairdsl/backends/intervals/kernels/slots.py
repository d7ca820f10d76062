"""The tree's arrays, and the boxes (*slots*) that its open nodes hold."""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.intervals.kernels.layout import REAL, TABLE, Floats, Integers, Net, Work
from fairdsl.backends.intervals.kernels.vectors import copy_into
from fairdsl.numerics.kernels.compiled import part
from fairdsl.numerics.kernels.records import by_reference


class Tree(NamedTuple):
    """All nodes. Arrays have room for more.

    ``counts``: nodes, slots ever used, free slots, heap size, analyses so far, the regions that a box is cut
    into before it is split (0: none), and after how many analyses that is to be chosen anew.

    ``violating``, ``falsified``, ``violating32`` and ``mass`` are shares of all decided units. ``slot`` is -1
    for nodes that need no box any more. ``cut``: into how many regions a box was already cut. ``axis``: by what a
    node was split, a split code; always in the middle.
    """

    counts: Integers
    parent: Integers
    component: NDArray[np.int32]
    violating: Floats
    falsified: Floats
    violating32: Floats
    mass: Floats
    axis: NDArray[np.int32]
    slot: Integers
    low: Annotated[NDArray[np.int32], 2]
    high: Annotated[NDArray[np.int32], 2]
    path_low: Annotated[NDArray[np.float32], 2]
    path_high: Annotated[NDArray[np.float32], 2]
    phase: Annotated[NDArray[np.int8], 2]
    comparison: NDArray[np.int32]
    split: NDArray[np.int32]
    cut: NDArray[np.int32]
    free: Integers
    heap: Integers
    key: Floats


by_reference(Tree)

NODES, SLOTS, FREE, HEAP, EVALUATED, REGIONS, CHOOSE_AT = range(7)
COUNTS = 7
#: Split codes of a root that has not been looked at, and of a small box that was evaluated, but for what rounding left
#: open: exact arithmetic decides it (ties.py).
UNSEEN, TIED = -2, -3


@part
def take_slot(tree: Tree) -> int:
    """A slot that nobody holds; there must be room for one."""
    if tree.counts[FREE] > 0:
        tree.counts[FREE] -= 1
        return int(tree.free[tree.counts[FREE]])
    tree.counts[SLOTS] += 1
    return int(tree.counts[SLOTS] - 1)


@part
def load_slot(net: Net, work: Work, tree: Tree, slot: int) -> None:
    """Bring a slot's box, path and phases into the scratch space."""
    box, shape = work.box, net.shape
    for attribute in range(len(shape.kinds)):
        start = shape.first[attribute]
        low = tree.low[slot, attribute]
        high = tree.high[slot, attribute]
        if shape.kinds[attribute] == TABLE:
            for i in range(start, shape.first[attribute + 1]):
                box.low[i] = 0.0
                box.high[i] = 1.0 if low <= i - start <= high else 0.0
                box.group[i] = 2 * attribute
        else:
            box.low[start] = low
            box.high[start] = high + 1.0 if shape.kinds[attribute] == REAL else high
    _load_path(net, work, tree, slot)
    copy_into(work.units.phase, tree.phase[slot])


@part
def _load_path(net: Net, work: Work, tree: Tree, slot: int) -> None:
    box, paths = work.box, net.paths
    first = paths.move_start[tree.comparison[slot]]
    stop = paths.move_start[tree.comparison[slot] + 1]
    for move in range(first, stop):
        i = net.layers.widths[0] + move - first
        box.low[i] = tree.path_low[slot, move - first]
        box.high[i] = tree.path_high[slot, move - first]
        before = move > first and paths.simplex[move - 1] == paths.simplex[move]
        behind = move + 1 < stop and paths.simplex[move + 1] == paths.simplex[move]
        box.group[i] = 2 * paths.simplex[move] + 1 if before or behind else -1


@part
def copy_slot(tree: Tree, source: int, target: int) -> None:
    """Make one slot like another."""
    copy_into(tree.low[target], tree.low[source])
    copy_into(tree.high[target], tree.high[source])
    copy_into(tree.path_low[target], tree.path_low[source])
    copy_into(tree.path_high[target], tree.path_high[source])
    copy_into(tree.phase[target], tree.phase[source])
    tree.comparison[target] = tree.comparison[source]
    tree.cut[target] = tree.cut[source]


@part
def cut_slot(net: Net, tree: Tree, slot: int, code: int, upper: bool) -> float:
    """Restrict a slot to one side of a split; returns what part of the units is there."""
    attributes = len(net.shape.kinds)
    if code >= attributes:
        move = code - attributes - net.paths.move_start[tree.comparison[slot]]
        middle = 0.5 * (tree.path_low[slot, move] + tree.path_high[slot, move])
        if upper:
            tree.path_low[slot, move] = middle
        else:
            tree.path_high[slot, move] = middle
        return 1.0
    low = tree.low[slot, code]
    high = tree.high[slot, code]
    middle = low + (high - low) // 2
    size = high - low + 1
    if upper:
        tree.low[slot, code] = middle + 1
        return float((high - middle) / size)
    tree.high[slot, code] = middle
    return float((middle - low + 1) / size)


@part
def units_of(net: Net, tree: Tree, slot: int, limit: int) -> int:
    """How many units a box has, as far as ``limit``; reals have no end of them."""
    count = 1
    for attribute in range(len(net.shape.kinds)):
        if net.shape.kinds[attribute] == REAL:
            return limit + 1
        count *= tree.high[slot, attribute] - tree.low[slot, attribute] + 1
        if count > limit:
            return limit + 1
    return count
