"""Many trees: boxes of shared values, the one with most that is open first, bounded by ranges and by moments.

Where the leaves of many trees meet in too many ways to be gone through (:mod:`.descent`), a box is bounded as a whole.
What the kernels settle is disjoint, so sizes add up, exactly; what moments bound counts beside it as fair at least, in
floats that are rounded down. See :mod:`.kernels.bounds` for the theorems.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import floor
from typing import Any

import numpy as np

from fairdsl.backends.leaf_boxes.descent import Counts, Sizes, UnfairBoxes
from fairdsl.backends.leaf_boxes.forest import Forest
from fairdsl.backends.leaf_boxes.kernels.extremes import extremes
from fairdsl.backends.leaf_boxes.kernels.records import FAIR, STUCK, UNFAIR, VACUOUS, Boxes, Duels, Settled, Trees
from fairdsl.backends.leaf_boxes.kernels.refine import refine
from fairdsl.backends.leaf_boxes.leaf_sets import Tree, leaves_of
from fairdsl.backends.leaf_boxes.lowering import Lowered
from fairdsl.backends.leaf_boxes.rest import Drawn, draw, estimate
from fairdsl.backends.warmup import Kernels
from fairdsl.verdict import Estimate

__all__ = ["KERNELS", "Refinement", "use"]

#: All kernels of this engine, also those for pairs.
KERNELS = Kernels("forests", f"{__name__}:use", "some ten seconds of a processor")
#: Boxes that are cut, and nodes that are visited, before anybody looks at the clock.
_CUTS, _WORK = 2048, 4_000_000
#: Where boxes count the nodes that were visited for them.
_VISITED = slice(4, 7)
#: Boxes of unfair units that are kept; masses are this much too large at most, relatively.
_KEPT, _ROUNDED = 2**16, Fraction(1, 2**30)


class Refinement:
    """Settles one lowered question about many trees, as many rounds as are asked for, within some bytes of memory."""

    bounds = True
    #: Times the effort of visiting a node.
    of_a_node = 1.0

    def __init__(self, lowered: Lowered, forest: Forest, memory: int) -> None:
        self._forest, self._sizes = forest, Sizes(lowered)
        self.axes = self._sizes.axes
        low, high = self._sizes.whole()
        axes = len(self.axes)
        self._most = max(1024, memory // (8 * (2 * axes + 14)))
        self._boxes = _boxes(min(self._most, 2**12), axes)
        self._boxes.low[0], self._boxes.high[0] = low, high
        self._boxes.mass[0] = self._boxes.left[0] = 1.0
        self._boxes.parent[0] = self._boxes.child[0] = self._boxes.above[0] = -1
        self._boxes.counts[2] = 1
        self._room, self._effects = forest.room(), forest.effects()
        # A box is peeled into as many as it has parts at most.
        self._settled = _settled(2 * _CUTS + 2 * len(forest.leaves.meet) + 2, axes)
        self._exactly = Counts()
        self.finished, self.full = False, False
        self._found: list[UnfairBoxes] = []

    def step(self) -> int:
        """One round: boxes are cut until there is something to count, or enough nodes were visited; how many were."""
        boxes = self._boxes
        if boxes.counts[2] + 2 * _CUTS > len(boxes.mass) < self._most:
            self._boxes = boxes = _grown(boxes, min(2 * len(boxes.mass), self._most))
        before = int(boxes.counts[_VISITED].sum())
        goes_on = self._refine(_CUTS, _WORK)
        self._enter(int(self._settled.number[0]))
        self.finished = not boxes.counts[0]
        self.full = not goes_on and not self.finished
        return int(boxes.counts[_VISITED].sum()) - before

    def _refine(self, cuts: int, work: int) -> bool:
        forest, room = self._forest, self._room
        effects, settled = self._effects, self._settled
        return refine(forest.trees, forest.leaves, self._boxes, room, effects, settled, cuts, work)

    def _enter(self, count: int) -> None:
        settled, counts = self._settled, self._exactly
        low, high, kind = settled.low[:count], settled.high[:count], settled.kind[:count]
        size = {each: self._sizes.of(low[kind == each], high[kind == each]) for each in (FAIR, VACUOUS, UNFAIR, STUCK)}
        counts.fair += size[FAIR]
        counts.vacuous += size[VACUOUS]
        counts.unfair += size[UNFAIR]
        counts.undecided += size[STUCK]
        unfair = np.flatnonzero(kind == UNFAIR)
        counts.boxes += count
        counts.open_boxes += int((kind == STUCK).sum())
        counts.paired = counts.paired or bool((kind != VACUOUS).any())
        rows = unfair[: max(0, _KEPT - counts.unfair_boxes)]
        first, second = settled.first[rows].copy(), settled.second[rows].copy()
        self._found.append(UnfairBoxes.of(low[rows], high[rows], first, second))
        counts.unfair_boxes += len(unfair)

    @property
    def counts(self) -> Counts:
        """Sizes of what is settled; fair is what boxes or moments show, whichever is more."""
        rounded = _ROUNDED + Fraction(int(self._boxes.known[1]), 2**50)
        bounded = floor(Fraction(float(self._boxes.known[0])) * (1 - rounded) * self._sizes.total)
        return replace(self._exactly, fair=max(self._exactly.fair, bounded))

    @property
    def left(self) -> int:
        """The size of what is not settled."""
        counts = self.counts
        return self._sizes.total - counts.fair - counts.vacuous - counts.unfair - counts.undecided

    def estimated(self, seed: int) -> Estimate | None:
        """What units drawn from the open boxes say of the fair share; None where nothing is open, or there is doubt."""
        boxes, exactly = self._boxes, self._exactly
        known = exactly.fair + exactly.unfair + exactly.vacuous
        whole = self._sizes.total - exactly.vacuous
        waiting = boxes.heap[: int(boxes.counts[0])]
        if not len(waiting) or exactly.undecided or not boxes.mass[waiting].any():
            return None
        units = draw(self._forest, boxes.low[waiting], boxes.high[waiting], boxes.mass[waiting], seed)
        rest = Fraction(self._sizes.total - known, whole)
        return estimate(Drawn(self._forest, units), Fraction(exactly.fair, whole), rest)

    @property
    def unfair(self) -> UnfairBoxes:
        """The boxes of unfair units that are kept, the first ones found."""
        return UnfairBoxes.joined(self._found)


def use() -> None:
    """Settle the box of everybody, of one tree that has one leaf."""
    one, ordered = np.zeros(1, dtype=np.int64), np.ones(1, dtype=np.bool_)
    columns = dict.fromkeys(("axis", "cut", "yes", "no", "first", "last", "value"), one)
    trees = Trees(
        **columns | {"axis": one - 1, "value": one + 1},
        real=np.ones(1),
        roots=one[None],
        conditions=one,
        inside=ordered,
        ordered=ordered,
        sums=np.ones((1, 2)),
        limits=np.zeros(2, dtype=np.int64),
        margins=np.zeros(5),
    )
    leaves = leaves_of([Tree(one[None], one[None] + 1, one, ordered[None])], ordered, [1])
    assert leaves is not None, "it is small"
    forest = Forest(trees, leaves, 0)
    refine(trees, leaves, _boxes(3, 1), forest.room(), forest.effects(), _settled(8, 1), 1, 1)
    table, sets = np.zeros((len(leaves.value), 1), dtype=np.int64), np.zeros_like(leaves.everywhere)
    common, own, cuts = (np.zeros(shape, dtype=np.int64) for shape in ((2, 1, 1), (2, 1, 1, 1), (1, 2)))
    duels, ends = Duels(ordered, table, table, trees.sums), (one[None], one[None] + 1)
    extremes(duels, leaves, ordered, *ends, *ends, common, own, cuts, sets, sets, sets, np.zeros((1, 2)), one)


def _settled(count: int, axes: int) -> Settled:
    low, high = (np.zeros((count, axes), dtype=np.int64) for _ in range(2))
    kind, first, second = (np.zeros(count + 1, dtype=np.int64) for _ in range(3))
    return Settled(low, high, kind, first, second, number=np.zeros(1, dtype=np.int64))


def _boxes(count: int, axes: int) -> Boxes:
    low, high = (np.zeros((count, axes), dtype=np.int64) for _ in range(2))
    integers = ("parent", "child", "axis", "cut", "above", "heap", "free")
    columns: dict[str, Any] = {name: np.zeros(count, dtype=np.int64) for name in integers}
    columns |= {name: np.zeros(count) for name in ("mass", "fair", "peeled", "left", "below", "keys")}
    return Boxes(
        low=low,
        high=high,
        **columns,
        known=np.zeros(2),
        counts=np.zeros(7, dtype=np.int64),
        pace=np.array([0.0, 0.0, 0.0, 1.0, 0.0]),
    )


def _grown(boxes: Boxes, count: int) -> Boxes:
    """The same boxes, with room for more."""
    larger = _boxes(count, boxes.low.shape[1])
    for new, old in zip(larger, boxes, strict=True):
        new[: len(old)] = old
    return larger
