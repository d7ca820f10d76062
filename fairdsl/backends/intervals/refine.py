"""Best-first refinement of a task: the tree of boxes and what it has certified so far.

The work is in :mod:`fairdsl.backends.intervals.kernels`; here are the arrays' lives: growing, thinning under a
memory limit, forking to other processes, and reading the totals.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, fsum, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdsl import clock
from fairdsl.backends.intervals.claims import SMALL
from fairdsl.backends.intervals.effort import (
    FIRST_CHOICE,
    MOST_REGIONS,
    choose_regions,
    cut_always,
    seconds_of_analysis,
    units_of_box,
)
from fairdsl.backends.intervals.graft import NODE_ARRAYS, SLOT_ARRAYS, grafted, lent_out, roomy, trimmed
from fairdsl.backends.intervals.growth import Recorded
from fairdsl.backends.intervals.kernels.layout import ON, Net, Work
from fairdsl.backends.intervals.kernels.pack import net_of, work_for
from fairdsl.backends.intervals.kernels.slots import CHOOSE_AT, EVALUATED, FREE, HEAP, NODES, SLOTS, UNSEEN, Tree
from fairdsl.backends.intervals.kernels.tree import expand, totals
from fairdsl.backends.intervals.leaves import KINDS, restored, stored
from fairdsl.backends.intervals.recheck import check
from fairdsl.backends.intervals.task import AttributeKind, Task
from fairdsl.backends.intervals.ties import Ties
from fairdsl.backends.refining.recheck import Checked, Recheck

State = Mapping[str, NDArray[Any]]

#: Resolution of the distributions of weighted sums.
CELLS = 256
#: Masses are products of rounded ratios and sums of non-negative numbers: this covers their rounding.
_OUTWARD = Fraction(1, 10**9)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """Units of the roots (not counting vacuous or undetermined ones), as exact rationals >= 0.

    At most ``violating`` units are treated unfairly, at least ``falsified`` are; ``violating_float32`` is the
    former for the deployed float32 file (None where none is deployed).
    """

    violating: Fraction
    falsified: Fraction
    violating_float32: Fraction | None

    @property
    def undecided(self) -> float:
        """How many units may be treated unfairly and are not known to be, to the nearest float64."""
        return float(self.violating - self.falsified)


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenBox:
    """A box of positions (both ends included) that still holds undecided or falsified units."""

    low: tuple[int, ...]
    high: tuple[int, ...]
    comparison: int
    undecided: float
    falsified: float


class Refinement:
    """The state of one refinement; anytime: every state is sound. Deterministic in the number of nodes."""

    #: What is counted where effort is given.
    work = clock.Work("boxes bounded")

    def __init__(self, task: Task, tree: Tree, *, memory: int) -> None:
        self.task = task
        self._net: Net = net_of(task)
        self._work: Work = work_for(self._net, CELLS, MOST_REGIONS)
        self._tree = tree
        self._ties = Ties(task)
        self._memory = memory
        #: The tree that was forked last, and the leaves that each part took of it.
        self._lent: tuple[Tree, list[NDArray[np.int64]]] | None = None
        self._began = time.monotonic()
        #: How many units were undecided after so many seconds, now and then.
        self.course: list[tuple[float, float]] = []

    @property
    def seconds(self) -> float:
        """How long ago it began."""
        return time.monotonic() - self._began

    @classmethod
    def start(cls, task: Task, *, memory: int = 2 << 30, regions: int | None = None) -> Refinement:
        """Nothing certified yet; ``memory`` is in bytes. Boxes are cut into so many ``regions``, or it is tried."""
        refinement = cls(task, _empty_tree(task, len(task.low)), memory=memory)
        if regions is not None:
            cut_always(refinement._tree, regions)
        refinement._plant_roots()
        return refinement

    @classmethod
    def resume(cls, task: Task, state: State, *, memory: int = 2 << 30) -> Refinement:
        """Go on from what :meth:`state` returned."""
        return cls(task, roomy(state), memory=memory)

    def _plant_roots(self) -> None:
        """One unseen node a root of the task."""
        task, tree = self.task, self._tree
        count = len(task.low)
        sizes = task.high - task.low + 1
        tree.parent[:count] = -1
        tree.component[:count] = task.component
        tree.slot[:count] = np.arange(count)
        tree.low[:count], tree.high[:count] = task.low, task.high
        tree.path_low[:count], tree.path_high[:count] = 0.0, 1.0
        linear = np.concatenate(
            [np.zeros(0, bool), *((s == 1) & (c == 0) for s, c in zip(task.slopes, task.curves, strict=True))]
        )
        tree.phase[:count] = np.where(linear, ON, 0).astype(np.int8)
        tree.comparison[:count] = task.comparison
        tree.split[:count] = UNSEEN
        tree.mass[:count] = [float(Fraction(prod(row.tolist()), max(task.decided, 1))) for row in sizes]
        for own in (tree.violating, tree.violating32):
            own[:count] = tree.mass[:count]
        order = np.argsort(-tree.mass[:count], kind="stable")  # a sorted array is a heap
        tree.heap[:count], tree.key[:count] = order, tree.mass[order]
        tree.counts[[NODES, SLOTS, HEAP]] = count

    @classmethod
    def opened(
        cls, task: Task, roots: State, kept: State, how: Recheck, *, memory: int = 2 << 30
    ) -> tuple[Refinement, Checked]:
        """Go on from what :meth:`stored` returned to whoever began with ``roots``, and what a check of it came to.

        ValueError where it is not a refinement of these roots, or claims what does not come out here.
        """
        state, boxes = restored(task, roots, kept)
        checked = check(
            state,
            boxes,
            roots["phase"][roots["slot"]],
            how,
            lambda some: cls.resume(task, some, memory=memory),
            deployed=task.float32_error is not None,
        )
        return cls.resume(task, state, memory=memory), checked

    def stored(self) -> dict[str, NDArray[Any]]:
        """The tree of splits and what is claimed of it, for a file."""
        return stored(self.task, self._tree)

    def additions(self, kept: State) -> Callable[[], dict[str, NDArray[Any]]]:
        """What a file lacks of the tree that holds ``kept`` of :meth:`stored`, and what was given before."""
        recorded = Recorded(kept)
        return lambda: recorded.added(self.task, self._tree)

    def of_roots(self) -> dict[str, NDArray[np.float64]]:
        """What is known of each root: at most violating, at least falsified, at most violating in float32."""
        roots = self._tree.parent[: self._count] < 0
        return {name: self._values(getattr(self._tree, name), upper=name != "falsified")[roots] for name in KINDS}

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything needed to go on, as named arrays (for ``numpy.savez``)."""
        return trimmed(self._tree)

    def advance(self, nodes: int) -> int:
        """Evaluate about so many nodes; returns how many were (0: nothing is left to do). Deterministic."""
        self._lent = None
        done = 0
        while done < nodes and self._tree.counts[HEAP] > 0:
            step = min(nodes - done, 4096)
            self._make_room(2 * step + 4)
            if self._tree.counts[EVALUATED] >= self._tree.counts[CHOOSE_AT]:
                choose_regions(self._net, self._work, self._tree, SMALL, CELLS)
            spent = expand(self._net, self._work, self._tree, step, SMALL, CELLS)
            if spent == 0:
                break
            done += spent
            self._ties.forget()
        if done < nodes and not self._tree.counts[HEAP]:
            done += self._ties.settle(self._tree, nodes - done)
        return done

    def decide_ties(self) -> None:
        """Decide all small boxes that rounding has left in doubt so far, however long it takes."""
        self._ties.forget()
        while self._ties.left(self._tree):
            self._ties.settle(self._tree, 1)

    @property
    def seconds_a_node(self) -> float:
        """What a node may take, in which nobody looks at the clock; of effort, what it takes."""
        return seconds_of_analysis(self._net) if clock.meter_in_force() is None else self.units_a_node / clock.UNITS

    @property
    def units_a_node(self) -> float:
        """The effort of a node."""
        return units_of_box(self._net)

    @property
    def nodes(self) -> int:
        """Nodes evaluated so far."""
        return int(self._tree.counts[EVALUATED])

    @property
    def finished(self) -> bool:
        """Nothing is undecided that further refinement could decide."""
        return bool(self._tree.counts[HEAP] == 0) and not self._ties.left(self._tree)

    def bounds(self) -> Bounds:
        """What is known now; units that can be counted are whole ones."""
        violating = self._total(self._tree.violating, upper=True)
        falsified = self._total(self._tree.falsified, upper=False)
        deployed = None
        if self.task.float32_error is not None:
            deployed = self._total(self._tree.violating32, upper=True)
        if not (self.task.kinds == AttributeKind.REAL).any():
            violating, falsified = Fraction(floor(violating)), Fraction(ceil(falsified))
            deployed = None if deployed is None else Fraction(floor(deployed))
        return Bounds(violating=violating, falsified=min(falsified, violating), violating_float32=deployed)

    def _total(self, own: NDArray[np.float64], *, upper: bool) -> Fraction:
        """Units of all roots together; what components have in common is counted once below, often above."""
        values, roots = self._values(own, upper=upper), np.flatnonzero(self._tree.parent[: self._count] < 0)
        decided = self.task.decided
        if upper:
            share = Fraction(fsum(values[roots])) * (1 + _OUTWARD)
            return min(share * decided, Fraction(decided))
        components = self._tree.component[roots]
        best = max((fsum(values[roots[components == c]]) for c in np.unique(components)), default=0.0)
        return Fraction(best) * (1 - _OUTWARD) * decided

    def _values(self, own: NDArray[np.float64], *, upper: bool) -> NDArray[np.float64]:
        values = np.zeros(self._count)
        totals(self._tree, own, values, np.zeros(self._count, dtype=np.int8), upper)
        return values

    @property
    def _count(self) -> int:
        return int(self._tree.counts[NODES])

    @property
    def undecided(self) -> float:
        """How many units may be treated unfairly and are not known to be."""
        return self.bounds().undecided

    @property
    def total(self) -> int:
        """How many units there are."""
        return self.task.total

    def heaviest(self, limit: int) -> list[float]:
        """What each of the boxes with the most undecided or falsified units leaves undecided."""
        return [box.undecided for box in self.open_boxes(limit)]

    def open_boxes(self, limit: int) -> list[OpenBox]:
        """The boxes with the most undecided or falsified units, heaviest first."""
        tree = self._tree
        held = np.flatnonzero(tree.slot[: self._count] >= 0)
        heaviest = held[np.argsort(-tree.violating[held], kind="stable")[:limit]]
        return [self._open_box(node, self.task.decided) for node in heaviest.tolist()]

    def drawn_boxes(self, count: int) -> list[OpenBox]:
        """About so many open boxes that stand for all of them: each with what it represents, in place of its own.

        A systematic sample with probabilities proportional to what a box holds (Madow, Annals of Mathematical
        Statistics 20, 1949), so that sums over it are unbiased and their total is exact.
        """
        tree = self._tree
        held = np.flatnonzero(tree.slot[: self._count] >= 0)
        mass = tree.violating[held]
        reached = np.cumsum(mass)
        whole = float(reached[-1]) if len(held) else 0.0
        if whole <= 0.0:
            return []
        steps = (np.arange(count) + 0.5) * (whole / count)
        chosen, often = np.unique(np.minimum(np.searchsorted(reached, steps), len(held) - 1), return_counts=True)
        factors = often * (whole / count) / mass[chosen] * self.task.decided
        return [
            self._open_box(node, float(factor))
            for node, factor in zip(held[chosen].tolist(), factors.tolist(), strict=True)
        ]

    def _open_box(self, node: int, factor: float) -> OpenBox:
        """The box of a node; ``factor`` turns its masses into units."""
        tree, slot = self._tree, int(self._tree.slot[node])
        return OpenBox(
            low=tuple(tree.low[slot].tolist()),
            high=tuple(tree.high[slot].tolist()),
            comparison=int(tree.comparison[slot]),
            undecided=max(0.0, float(tree.violating[node] - tree.falsified[node])) * factor,
            falsified=float(tree.falsified[node]) * factor,
        )

    def fork(self, parts: int) -> list[dict[str, NDArray[Any]]]:
        """States of ``parts`` refinements that share out the open leaves evenly by what they leave undecided."""
        tree = self._tree
        size = int(tree.counts[HEAP])
        queued = tree.heap[:size][np.lexsort((tree.heap[:size], -tree.key[:size]))]
        nodes = np.concatenate([queued, self._ties.of(tree)])
        leaves = [nodes[part::parts] for part in range(parts)]
        self._lent = (tree, leaves)
        return [lent_out(tree, part) for part in leaves]

    def join(self, states: Sequence[State]) -> None:
        """Take over what forked refinements found, in the order of :meth:`fork`.

        May be called again with later states of the same parts, as long as this refinement has not advanced
        itself in between.
        """
        if self._lent is None:
            raise ValueError("nothing is lent out")
        tree, leaves = self._lent
        self._tree = grafted(tree, leaves, states)
        self._ties.forget()

    def _make_room(self, nodes: int) -> None:
        """Grow the arrays; at the memory limit drop the lightest open nodes, which stay undecided for good."""
        tree = self._tree
        wanted_nodes = int(tree.counts[NODES]) + nodes
        wanted_slots = int(tree.counts[SLOTS]) - int(tree.counts[FREE]) + nodes
        node_bytes = sum(_row_bytes(getattr(tree, name)) for name in NODE_ARRAYS)
        slot_bytes = sum(_row_bytes(getattr(tree, name)) for name in SLOT_ARRAYS) + 24
        # Growing copies: at its peak the old and the new arrays exist side by side.
        allowed = max(4 * nodes, int((self._memory // 2 - wanted_nodes * node_bytes) // slot_bytes))
        if wanted_slots > allowed:
            self._thin(allowed // 2)
        if wanted_nodes > len(tree.parent):
            self._grow(NODE_ARRAYS, max(wanted_nodes, 3 * len(tree.parent) // 2))
        tree = self._tree
        if int(tree.counts[SLOTS]) + nodes > len(tree.split) and int(tree.counts[FREE]) < nodes:
            grown = min(max(int(tree.counts[SLOTS]) + nodes, 3 * len(tree.split) // 2), max(allowed, 4 * nodes))
            self._grow((*SLOT_ARRAYS, "free", "heap", "key"), max(grown, int(tree.counts[SLOTS]) + nodes))

    def _grow(self, names: Sequence[str], size: int) -> None:
        grown = {}
        for name in names:
            old = getattr(self._tree, name)
            grown[name] = np.zeros((size, *old.shape[1:]), dtype=old.dtype)
            grown[name][: len(old)] = old
        self._tree = self._tree._replace(**grown)

    def _thin(self, keep: int) -> None:
        """Keep only the heaviest open nodes open."""
        tree = self._tree
        size = int(tree.counts[HEAP])
        order = np.argsort(-tree.key[:size], kind="stable")
        nodes, keys = tree.heap[:size][order], tree.key[:size][order]
        dropped = nodes[keep:]
        free = int(tree.counts[FREE])
        tree.free[free : free + len(dropped)] = tree.slot[dropped]
        tree.slot[dropped] = -1
        tree.counts[FREE] += len(dropped)
        kept = len(nodes) - len(dropped)
        tree.heap[:kept], tree.key[:kept] = nodes[:kept], keys[:kept]
        tree.counts[HEAP] = kept


def _row_bytes(array: NDArray[Any]) -> int:
    return int(array.itemsize * prod(array.shape[1:]))


def _empty_tree(task: Task, size: int) -> Tree:
    attributes = len(task.kinds)
    moves = int(np.diff(task.move_start).max(initial=0))
    units = sum(len(slope) for slope in task.slopes)
    return Tree(
        counts=np.array([0, 0, 0, 0, 0, 0, FIRST_CHOICE], dtype=np.int64),
        parent=np.zeros(size, dtype=np.int64),
        component=np.zeros(size, dtype=np.int32),
        violating=np.zeros(size),
        falsified=np.zeros(size),
        violating32=np.zeros(size),
        mass=np.zeros(size),
        axis=np.full(size, -1, dtype=np.int32),
        slot=np.zeros(size, dtype=np.int64),
        low=np.zeros((size, attributes), dtype=np.int32),
        high=np.zeros((size, attributes), dtype=np.int32),
        path_low=np.zeros((size, moves), dtype=np.float32),
        path_high=np.zeros((size, moves), dtype=np.float32),
        phase=np.zeros((size, units), dtype=np.int8),
        comparison=np.zeros(size, dtype=np.int32),
        split=np.zeros(size, dtype=np.int32),
        cut=np.zeros(size, dtype=np.int32),
        free=np.zeros(size, dtype=np.int64),
        heap=np.zeros(size, dtype=np.int64),
        key=np.zeros(size),
    )
