"""Many trees: boxes of shared values, the one with most that is open first, bounded by ranges and by moments.

Where the leaves of many trees meet in too many ways to be gone through (:mod:`.descent`), a box is bounded as a whole.
What the kernels settle is disjoint, so sizes add up, exactly; what moments bound counts beside it as fair at least, in
floats that are rounded down. See :mod:`.kernels.bounds` for the theorems.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, replace
from fractions import Fraction
from math import floor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.leaf_boxes.descent import Counts, UnfairBoxes
from fairdsl.backends.leaf_boxes.forest import Forest
from fairdsl.backends.leaf_boxes.graft import (
    BEFORE,
    DONE,
    FREE,
    HEAP,
    NEW,
    USED,
    VISITED,
    boxes_of,
    empty,
    grafted,
    grown,
    lent_out,
    trimmed,
)
from fairdsl.backends.leaf_boxes.kept import share_of
from fairdsl.backends.leaf_boxes.kernels.by_ranges import cut_by_ranges, weigh
from fairdsl.backends.leaf_boxes.kernels.extremes import extremes
from fairdsl.backends.leaf_boxes.kernels.records import (
    COUNTED,
    FAIR,
    STUCK,
    UNFAIR,
    VACUOUS,
    Boxes,
    Duels,
    Floats,
    Found,
    Integers,
    Settled,
    Trees,
)
from fairdsl.backends.leaf_boxes.kernels.refine import refine
from fairdsl.backends.leaf_boxes.kernels.waiting import WAITING, take_back
from fairdsl.backends.leaf_boxes.leaf_sets import Tree, leaves_of
from fairdsl.backends.leaf_boxes.rest import Drawn, draw, estimate
from fairdsl.backends.leaf_boxes.sizes import Sizes
from fairdsl.backends.leaf_boxes.tally import KINDS, Tally
from fairdsl.backends.refining.refinement import State, Stepwise
from fairdsl.backends.warmup import Kernels
from fairdsl.clock import UNITS, Work
from fairdsl.verdict import Estimate

#: What is counted where effort is given.
NODES = Work("nodes of trees visited", 0.002)

#: All kernels of this engine, also those for pairs.
KERNELS = Kernels("forests", f"{__name__}:use", "some ten seconds of a processor")
#: Boxes that are cut, and nodes that are visited, before anybody looks at the clock.
_CUTS, _WORK = 2048, 4_000_000
#: Boxes of unfair units that are kept; masses are this much too large at most, relatively.
_KEPT, _ROUNDED = 2**16, Fraction(1, 2**30)


class Refinement(Stepwise):
    """Settles one lowered question about many trees, as many rounds as are asked for, within some bytes of memory."""

    bounds, work, absent = True, NODES, 0
    #: Times the effort of visiting a node.
    units_a_node = 1.0
    seconds_a_node = NODES.units / UNITS

    def __init__(self, forest: Forest, boxes: Boxes, tally: Tally | None = None, *, memory: int) -> None:
        super().__init__()
        self.task, self._sizes = forest, forest.sizes
        self.axes = self._sizes.axes
        self._most = max(1024, memory // (8 * (2 * len(self.axes) + 14 + (0 if tally is None else KINDS))))
        self._boxes = grown(boxes, min(self._most, 2**12))
        self._room, self._scores, self._parts = forest.room(), forest.scores(), forest.parts()
        # A box is peeled into as many as it has parts at most.
        self._settled = _settled(4 * _CUTS + 2 * len(forest.leaves.meet) + 4, len(self.axes))
        self._exactly = Counts()
        self._full = False
        #: Of each box what was settled of it, where that is kept.
        self._tally = tally
        self._found: list[UnfairBoxes] = []
        #: What there was when boxes were lent out, and which each part took.
        self._lent: tuple[State, list[Integers]] | None = None

    @classmethod
    def start(cls, forest: Forest, *, memory: int = 2 << 30, kept: bool = False) -> Refinement:
        """Nothing known yet of a question; ``kept``: it is noted of which box something was settled."""
        boxes = empty(1, len(forest.sizes.axes))
        boxes.low[0], boxes.high[0] = forest.sizes.whole()
        boxes.mass[0] = boxes.left[0] = 1.0
        boxes.parent[0] = boxes.child[0] = boxes.above[0] = -1
        boxes.counts[[USED, NEW]] = 1
        return cls(forest, boxes, Tally(forest.sizes) if kept else None, memory=memory)

    @classmethod
    def of_boxes(cls, forest: Forest, low: Integers, high: Integers, *, memory: int) -> Refinement:
        """Nothing known yet of some boxes, which are disjoint; it is noted of which something was settled."""
        count, sizes = len(low), forest.sizes
        boxes, share = empty(2 * count, len(sizes.axes)), share_of(sizes.each(low, high), sizes.total)
        boxes.low[:count], boxes.high[:count], boxes.mass[:count], boxes.left[:count] = low, high, share, 1.0
        boxes.parent[:], boxes.child[:], boxes.above[:] = -1, -1, -1
        boxes.above[:count] = np.arange(count, 2 * count)
        boxes.counts[USED], boxes.counts[NEW] = 2 * count, count
        return cls(forest, boxes, Tally(sizes), memory=memory)

    def of_roots(self) -> tuple[NDArray[Any], Floats]:
        """What was settled of each box that it began with, by kind, and what is fair of it at least."""
        roots = int((self._boxes.parent[: self._boxes.counts[USED]] == -1).sum()) // 2
        tally = self._tally or Tally(self._sizes)
        return tally.upto(roots), self._boxes.below[roots : 2 * roots].copy()

    def look_at_each(self) -> None:
        """Look at all that nobody has looked at, whatever looking at others brought."""
        pace = self._boxes.pace.copy()
        while self._boxes.counts[NEW]:
            self._boxes.pace[:WAITING] = pace[:WAITING]
            self._refine(0, 0)
            self._enter(int(self._settled.number[0]))

    @classmethod
    def resume(cls, task: Forest, state: State, *, memory: int = 2 << 30) -> Refinement:
        """Go on from what :meth:`state`, or :meth:`fork`, returned."""
        tally = None if state["tally"] is None else Tally(task.sizes, state["tally"])
        found = cls(task, boxes_of(state, 0), tally, memory=memory)
        found._exactly = Counts(*state["exactly"])
        found._found = [UnfairBoxes.of(*state["unfair"])]
        return found

    def state(self) -> State:
        """Everything needed to go on."""
        tally = None if self._tally is None else self._tally.upto(int(self._boxes.counts[USED]))
        counted = {"tally": tally, "exactly": astuple(self._exactly), "unfair": _kept(self.unfair)}
        return trimmed(self._boxes) | counted

    @property
    def finished(self) -> bool:
        """Whether nothing is left to settle."""
        return not self._boxes.counts[NEW] and not len(self._keys)

    @property
    def full(self) -> bool:
        """Whether there is no room for more boxes."""
        return self._full

    @property
    def nodes(self) -> int:
        """Nodes visited so far."""
        return int(self._boxes.counts[VISITED].sum())

    @property
    def looked_at(self) -> int:
        """Boxes looked at so far."""
        return int(self._boxes.counts[DONE.start])

    @property
    def _keys(self) -> Floats:
        """What open boxes leave open, in the order of the heap."""
        return self._boxes.keys[: self._boxes.counts[HEAP]]

    @property
    def undecided(self) -> float:
        """The share that is open, about."""
        return 1.0 if self._boxes.counts[NEW] else float(self._keys.sum())

    def heaviest(self, limit: int) -> Sequence[float]:
        """What each of the heaviest boxes leaves open."""
        found: list[float] = np.sort(self._keys)[::-1][:limit].tolist()
        return found

    def fork(self, parts: int) -> Sequence[State]:
        """States of so many refinements that share out the open boxes by what they leave open."""
        heap, keys = self._boxes.heap[: len(self._keys)].copy(), self._keys.copy()
        order = np.lexsort((heap, -keys))
        lent = [order[part::parts] for part in range(parts)]
        self._lent = self.state(), [heap[rows] for rows in lent]
        counted = {"exactly": astuple(Counts()), "unfair": _kept(UnfairBoxes.none(len(self.axes)))}
        return [
            lent_out(self._boxes, heap[rows], keys[rows])
            | counted
            | {"tally": None if self._tally is None else self._tally.none(2 * len(rows))}
            for rows in lent
        ]

    def join(self, states: Sequence[State]) -> None:
        """Take over what forked refinements found; may be called again with later states of the same parts."""
        if self._lent is None:
            raise ValueError("nothing is lent out")
        before, lent = self._lent
        self._boxes = grafted(before, lent, states, len(self._boxes.mass))
        if self._tally is not None:
            self._tally = Tally.joined(self._sizes, before, lent, states)
            free = sum(len(state["free"]) for state in (before, *states))
            self._tally.close(self._boxes, self._boxes.free[free : self._boxes.counts[FREE]])
        every = [before, *states]
        self._exactly = Counts.of([Counts(*each["exactly"]) for each in every])
        self._found = [UnfairBoxes.of(*each["unfair"]) for each in every]
        self._full = False

    def step(self, most: int | None = None) -> int:
        """One round: boxes are cut until there is something to count, or enough nodes were visited; how many were."""
        boxes, self._lent = self._boxes, None
        if boxes.counts[USED] + 2 * _CUTS > len(boxes.mass) < self._most:
            self._boxes = boxes = grown(boxes, min(2 * len(boxes.mass), self._most))
        before = self.nodes
        goes_on = self._refine(_CUTS, _WORK if most is None else min(most, _WORK))
        self._enter(int(self._settled.number[0]))
        self._full = not goes_on and not self.finished
        return self.nodes - before

    def _refine(self, cuts: int, work: int) -> bool:
        forest, room, boxes = self.task, self._room, self._boxes
        free, scores, parts = int(boxes.counts[FREE]), self._scores, self._parts
        goes_on = refine(forest.trees, forest.leaves, boxes, room, scores, parts, self._settled, cuts, work)
        freed = boxes.free[free : boxes.counts[FREE]].copy()
        if self._tally is not None:
            self._tally.enter(self._settled, len(boxes.mass))
            self._tally.close(boxes, freed)
        still = int(boxes.counts[BEFORE])
        boxes.free[still : still + len(freed)] = freed
        boxes.counts[FREE] = still + len(freed)
        return goes_on

    def _enter(self, count: int) -> None:
        settled, counts = self._settled, self._exactly
        low, high, kind = settled.low[:count], settled.high[:count], settled.kind[:count]
        size = {each: self._sizes.of(low[kind == each], high[kind == each]) for each in (FAIR, VACUOUS, UNFAIR, STUCK)}
        counted = np.flatnonzero(kind == COUNTED)
        fair, apart = (sum(sizes[counted].tolist()) for sizes in (settled.first, settled.second))
        counts.fair += size[FAIR] + self._sizes.factor * fair
        counts.vacuous += size[VACUOUS]
        counts.unfair += size[UNFAIR] + self._sizes.factor * apart
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
    def size(self) -> int:
        """The size of everything; of whom nobody is asked about is vacuous."""
        return self._sizes.total

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
        waiting = boxes.heap[: len(self._keys)]
        if not len(waiting) or exactly.undecided or not boxes.mass[waiting].any():
            return None
        units = draw(self.task, boxes.low[waiting], boxes.high[waiting], boxes.mass[waiting], seed)
        rest = Fraction(self._sizes.total - known, whole)
        return estimate(Drawn(self.task, units), Fraction(exactly.fair, whole), rest)

    @property
    def unfair(self) -> UnfairBoxes:
        """The boxes of unfair units that are kept, the first ones found."""
        return UnfairBoxes.joined(self._found or [UnfairBoxes.none(len(self.axes))])


def _kept(unfair: UnfairBoxes) -> tuple[Integers, ...]:
    return unfair.low, unfair.high, unfair.first, unfair.second


def use() -> None:
    """Settle the box of everybody, of one tree that has one leaf."""
    one, ordered = np.zeros(1, dtype=np.int64), np.ones(1, dtype=np.bool_)
    columns = dict.fromkeys(("axis", "cut", "yes", "no", "value"), one)
    trees = Trees(
        **columns | {"axis": one - 1, "value": one + 1},
        roots=one[None],
        conditions=one,
        inside=ordered,
        ordered=ordered,
        sums=np.ones((1, 2)),
        precise=True,
        limits=np.zeros(2, dtype=np.int64),
    )
    leaves = leaves_of([Tree(one[None], one[None] + 1, one, ordered[None])], ordered, [1])
    assert leaves is not None, "it is small"
    sizes = Sizes((0,), [[1]], ordered, 1, one - 1, one)
    forest, boxes = Forest(sizes, trees, leaves), empty(3, 1)
    take_back(boxes, one[:0], np.zeros(0), one[:0])
    boxes.counts[[USED, NEW]] = 1
    refine(trees, leaves, boxes, forest.room(), forest.scores(), forest.parts(), _settled(8, 1), 1, 1)
    kept = empty(16, 1), Found(np.zeros(16, dtype=np.int64), np.zeros(16, dtype=np.int64), np.zeros(2))
    cut_by_ranges(trees, leaves, *kept, forest.room(), forest.scores(), 0.0, 1)
    weigh(*kept, np.zeros(2), 0.0, 0.0, np.zeros(16), np.zeros(16, dtype=np.int32), np.zeros(3))
    table, sets = np.zeros((len(leaves.value), 1), dtype=np.int64), np.zeros_like(leaves.everywhere)
    common, own, cuts = (np.zeros(shape, dtype=np.int64) for shape in ((2, 1, 1), (2, 1, 1, 1), (1, 2)))
    duels, ends = Duels(ordered, table, table, trees.sums), (one[None], one[None] + 1)
    extremes(duels, leaves, ordered, *ends, *ends, common, own, cuts, sets, sets, sets, np.zeros((1, 2)), one)


def _settled(count: int, axes: int) -> Settled:
    low, high = (np.zeros((count, axes), dtype=np.int64) for _ in range(2))
    kind, first, second, owner = (np.zeros(count, dtype=np.int64) for _ in range(4))
    return Settled(low, high, kind, first, second, owner, number=np.zeros(1, dtype=np.int64))
