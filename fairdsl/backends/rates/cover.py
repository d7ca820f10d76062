"""Bounds of a subject's joint probabilities that narrow as long as there is time: boxes of individuals.

The domain is divided into *boxes*, ranges of atoms of each column. Of a box it is found out whether the condition holds
and whether the event happens: everywhere in it, nowhere, or neither is known. The box of which most is open, by what
its keys' masses are, is cut in two, and its parts take its place. All four sums are of masses that are certain, so they
are lower bounds, and the best ones are kept; an upper bound is the whole mass without what is certain not to count, or
what counts and may count together. docs/states.md has the inequalities.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.rates.alike_bounds import AlikeBounds
from fairdsl.backends.rates.arithmetic import Arithmetic, Kind, Masses, distribution_of
from fairdsl.backends.rates.box_tree import BoxTree, grafted, lent, said_of
from fairdsl.backends.rates.boxes import Weigher, denominator_of
from fairdsl.backends.rates.frontier import Frontier, Open
from fairdsl.backends.rates.gate import only_decides
from fairdsl.backends.rates.judged import Judged, Known, decided_one_by_one, part
from fairdsl.backends.rates.points import Individuals
from fairdsl.backends.rates.program import LargeError
from fairdsl.backends.rates.tree_bounds import NOWHERE, Cuts, Look, NoBounds, TreeBounds, adds_trees, halved
from fairdsl.ir.expr import TRUE
from fairdsl.metrics.alike import Assignment
from fairdsl.metrics.joint import Bounds, Joint
from fairdsl.metrics.subject import Subject, axes_of
from fairdsl.numerics.truth import Truths, by_column

if TYPE_CHECKING:  # its loops are compiled, so it is imported where there are hidden units
    from fairdsl.backends.rates.unit_bounds import UnitBounds

BoolArray = NDArray[np.bool_]
FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

#: Boxes that are cut at once at most, and probabilities of open boxes that are kept.
_BATCH, _ROOM = 1024, 1 << 26
#: Decided boxes that are kept, to be weighed exactly in the end.
_KEPT = 1 << 15


class Cover:
    """Boxes of one subject; TangledError where its distribution needs too large tables.

    The event is that the model decides for its favourable outcome or, where there are ``groups`` of assignments, that
    within each of them all are decided alike. ``kept``: what becomes of its boxes is kept as a tree.
    """

    def __init__(self, subject: Subject, groups: Sequence[Sequence[Assignment]] = (), *, kept: bool = False) -> None:
        self._subject, self._groups = subject, groups
        self.axes = axes_of(subject)
        self._truths = Truths(self.axes)
        self._distribution = distribution_of(subject.network, self.axes)
        self._bounds = self._bounding()
        match self._bounds:
            case TreeBounds() | AlikeBounds() as trees:
                self._batch = min(_BATCH, max(1, trees.batch // 2))
            case NoBounds():  # everybody in them is decided
                self._batch = _BATCH // 64
            case _:
                self._batch = _BATCH // 8
        #: Times the effort of a box that is weighed.
        self.of_a_box = self._bounds.of_a_box
        #: Of trees a box has all keys; with hidden units it has one, given which more columns are independent.
        self._together = isinstance(self._bounds, TreeBounds | AlikeBounds)
        width = len(subject.network.columns)
        self.points = Individuals(subject.model, subject.condition, self.axes, width, groups)
        given = by_column([subject.condition])
        self._asks, self._crossing = given.parts, np.array(sorted(given.together), dtype=np.int64)
        self._cuts = Cuts(self._asks, self._truths)
        self._columns = np.array(sorted(self.axes), dtype=np.int64)
        start, stop = self._roots()
        exact = Arithmetic.exact(denominator_of(self._distribution, self.axes))
        self._exact = self._weigher_in(exact)
        self._total = self._exact.masses(start, stop)
        self._weigher = self._weighing()
        chances = (each.low for each in exact.bounds(self._total, self._total))
        self._weights = np.array([float(1 / chance) if chance else 0.0 for chance in chances]).reshape(
            self._total.shape
        )
        kind, width, columns = self._weigher.arithmetic.kind.value, self._weigher.width, start.shape[1]
        self._sums: Masses = np.zeros((4, *self._total.shape), dtype=kind)
        self._best: Masses = self._sums
        #: The probabilities of boxes that stay open.
        self._stuck: Masses = np.zeros(self._total.shape, dtype=kind)
        self._kept: list[Judged] | None = [] if self._weigher is not self._exact else None
        self._count = self.boxes = self.individuals = 0
        whole, real = np.zeros(0, dtype=np.int64), np.zeros(0)
        ends = np.zeros((0, columns), dtype=np.int64)
        empty = Open(ends, ends.copy(), whole, np.zeros((0, width), dtype=kind), real, real, whole, whole, real, whole)
        self._frontier = Frontier(empty)
        self._tree = BoxTree.of(len(start)) if kept else None
        self.place(start, stop, np.arange(len(start)), np.arange(len(start)))

    @property
    def finished(self) -> bool:
        """Whether nothing is left to be cut."""
        return not len(self._frontier)

    @property
    def full(self) -> bool:
        """Whether there is no room for more boxes."""
        return len(self._frontier) * self._weigher.width > _ROOM

    def improve(self) -> None:
        """Cut the boxes of which most is open."""
        taken = self._frontier.take(self._batch)
        rows = np.arange(len(taken))
        starts, stops = taken.start.copy(), taken.stop.copy()
        stops[rows, taken.column] = taken.at
        starts[rows, taken.column] = taken.at
        self.place(
            np.concatenate([taken.start, starts]),
            np.concatenate([stops, taken.stop]),
            np.concatenate([taken.root, taken.root]),
            np.concatenate([taken.node, taken.node]) if self._tree is None else self._tree.cut(taken.node),
        )

    def state(self) -> Known:
        """Everything needed to go on with the same boxes elsewhere."""
        return Known(
            open=self._frontier.by_priority(),
            sums=self._sums.copy(),
            best=self._best.copy(),
            stuck=self._stuck.copy(),
            kept=None if self._kept is None else list(self._kept),
            boxes=self.boxes,
            individuals=self.individuals,
            roundings=self._weigher.arithmetic.roundings,
            tree=None if self._tree is None else self._tree.copy(),
        )

    def lent_out(self, parts: int) -> list[Known]:
        """States of so many covers that share out the open boxes by how much of them is open."""
        whole = self.state()
        nothing = replace(
            whole,
            sums=np.zeros_like(whole.sums),
            best=np.zeros_like(whole.sums),
            stuck=np.zeros_like(whole.stuck),
            kept=None if whole.kept is None else [],
            boxes=0,
            individuals=0,
        )
        return [lent(nothing, whole.open.rows(slice(part, None, parts))) for part in range(parts)]

    def take_back(self, before: Known, found: Sequence[Known]) -> None:
        """Go on from what there was when boxes were lent out, and what became of them; additions round once more."""
        every = [before, *found]
        kept = [each.kept for each in every]
        tree, waiting = grafted(before, found)
        self.take(
            Known(
                open=Open.joined(waiting),
                sums=np.sum([each.sums for each in every], axis=0),
                best=np.maximum(before.best, before.sums + np.sum([each.best for each in found], axis=0)),
                stuck=np.sum([each.stuck for each in every], axis=0),
                kept=None if any(each is None for each in kept) else [one for each in kept for one in each or ()],
                boxes=sum(each.boxes for each in every),
                individuals=sum(each.individuals for each in every),
                roundings=before.roundings + sum(1 + each.roundings - before.roundings for each in found),
                tree=tree,
            )
        )

    def take(self, known: Known) -> None:
        """Go on from a state, which stays as it is: parts that are lent out begin with the same sums."""
        self._frontier = Frontier(known.open.rows(slice(0, 0)))
        self._frontier.add(known.open)
        self._sums, self._best, self._stuck = known.sums.copy(), known.best.copy(), known.stuck.copy()
        self._kept = None if known.kept is None else list(known.kept)
        self.boxes, self.individuals = known.boxes, known.individuals
        self._count = sum(len(each.mass) for each in self._kept or ())
        self._weigher.arithmetic.roundings = known.roundings
        self._tree = None if known.tree is None else known.tree.copy()

    def heaviest(self, limit: int) -> FloatArray:
        """How much of each of the boxes is open of which most is, so many at most."""
        return self._frontier.by_priority().priority[:limit]

    def emptied(self) -> Known:
        """The state of having seen no boxes; those that are settled from here on are kept."""
        known, none = self.state(), slice(0, 0)
        sums, stuck = np.zeros_like(known.sums), np.zeros_like(known.stuck)
        return replace(known, open=known.open.rows(none), sums=sums, best=sums, stuck=stuck, kept=[], tree=None)

    def all_of_it(self, place: int) -> bool:
        """Whether all boxes were settled and kept, and one of the four sums counts each of them whole."""
        settled = self.finished and not self._stuck.any() and self._kept is not None
        return settled and all((each.shares[place] == 1.0).all() for each in self._kept or ())

    def counted(self) -> Masses:
        """The four sums of what is certain now, [sums, roots, cells of the keys]."""
        open_, sums = self._frontier.open, self._sums.copy()
        for place, share in ((0, open_.least), (1, open_.less)):
            np.add.at(sums[place], open_.root, part(open_.mass, share))
        return sums

    def joint(self) -> Joint:
        """What is known by now."""
        if self.finished and self._kept and not self._stuck.any():
            sums = self._in_the_end(self._kept)
            return self._joint(sums, sums, self._exact.arithmetic)
        open_, rest = self._frontier.open, self._stuck.copy()
        np.add.at(rest, open_.root, open_.mass)
        self._best = np.maximum(self._best, self.counted())
        arithmetic = self._weigher.arithmetic
        counted = replace(arithmetic, roundings=arithmetic.roundings + len(open_))
        most = self._sums + rest
        if arithmetic.kind is not Kind.FLOAT:  # of boxes that stay open something may be counted already
            most = np.minimum(most, self._total)
        return self._joint(self._best, most, counted)

    def _joint(self, sums: Masses, most: Masses, arithmetic: Arithmetic) -> Joint:
        """Of the four sums, what they are at least, and at most."""
        names = self._subject.listed
        certain = self._subject.condition == TRUE
        masses = self._exact.arithmetic.bounds(self._total, self._total)
        counted, met = arithmetic.bounds(sums[0], most[0]), arithmetic.bounds(sums[2], most[2])
        less, missed = arithmetic.bounds(sums[1], sums[1]), arithmetic.bounds(sums[3], sums[3])
        favourable, total = {}, {}
        for name, mass, yes, no, whole, none in zip(names, masses, counted, less, met, missed, strict=True):
            favourable[name] = _between(yes, mass.high - no.low)
            total[name] = mass if certain else _between(whole, mass.high - none.low)
        return Joint(favourable=favourable, total=total)

    def _bounding(self) -> TreeBounds | AlikeBounds | UnitBounds | NoBounds:
        if only_decides(self._subject.model):
            return NoBounds()
        if self._groups:
            return AlikeBounds(self._subject, self._truths, self._groups)
        if adds_trees(self._subject):
            try:
                return TreeBounds(self._subject, self._truths)
            except LargeError:  # then lines in float64 bound the sums
                pass
        from fairdsl.backends.rates.unit_bounds import UnitBounds

        return UnitBounds(self._subject, self._truths, self._distribution)

    def _roots(self) -> tuple[IntArray, IntArray]:
        """The box of everybody; or one for each cell of the keys, in order."""
        network, keys = self._subject.network, self._subject.keys
        start = np.zeros((1, len(network.columns)), dtype=np.int64)
        stop = start + 1
        for column, axis in self.axes.items():
            stop[0, column] = len(axis.atoms)
        if self._together or not keys:
            return start, stop
        ranges = [[self.axes[key].range_of(cell) for cell in range(len(network.cells[key]))] for key in keys]
        chosen = np.array(list(product(*ranges)), dtype=np.int64)
        start, stop = np.repeat(start, len(chosen), axis=0), np.repeat(stop, len(chosen), axis=0)
        start[:, list(keys)], stop[:, list(keys)] = chosen[:, :, 0], chosen[:, :, 1]
        return start, stop

    def _weigher_in(self, arithmetic: Arithmetic) -> Weigher:
        keys = self._subject.keys if self._together else ()
        return Weigher(self._distribution, self.axes, keys, arithmetic)

    def _weighing(self) -> Weigher:
        """In float64 where whole numbers are large, if nothing underflows."""
        if self._exact.arithmetic.kind is Kind.WHOLE:
            return self._exact
        found = self._weigher_in(Arithmetic(Kind.FLOAT, 1))
        return found if found.arithmetic.safe else self._exact

    def place(self, start: IntArray, stop: IntArray, root: IntArray, node: IntArray) -> None:
        """Weigh boxes, find out about them, and count what is known."""
        mass = self._weigher.masses(start, stop)
        alive = mass.any(axis=1)
        start, stop, root, mass, node = start[alive], stop[alive], root[alive], mass[alive], node[alive]
        if not len(start):
            return
        self.boxes += len(start)
        judged = self.judged(start, stop, root, mass)
        self.settle(judged, judged.closed)
        rows = np.flatnonzero(~judged.closed)
        column, at = self._cut(judged, rows)
        stuck = column == NOWHERE
        listed = [
            (stuck[place] or not self._together) and self.points.few(start[row], stop[row])
            for place, row in enumerate(rows.tolist())
        ]
        few = np.array(listed, dtype=np.bool_)
        if self._tree is not None:
            self._tree.say(node, judged)
        for row in rows[few].tolist():
            self._list(start[row], stop[row], int(root[row]), int(node[row]))
        self.leave(judged.at(rows[stuck & ~few]))
        waits = ~stuck & ~few
        if self._tree is not None:
            self._tree.wait(node[rows[waits]], column[waits], at[waits])
        self.wait(judged.at(rows[waits]), column[waits], at[waits], node[rows[waits]])

    def judged(self, start: IntArray, stop: IntArray, root: IntArray, mass: Masses) -> Judged:
        """What is to be said of boxes."""
        ((true, false),) = self._truths.of([self._subject.condition], start, stop)
        return Judged(start, stop, root, mass, ~false, ~true, self._bounds.look(start, stop))

    def wait(self, judged: Judged, column: IntArray, at: IntArray, node: IntArray) -> None:
        """Let boxes wait to be cut."""
        least, less, _, _ = judged.shares
        weight = (self.probabilities(judged.mass) * self._weights[judged.root]).sum(axis=1)
        open_ = weight * np.maximum(1.0 - least - less, 1e-9)
        self._frontier.add(
            Open(judged.start, judged.stop, judged.root, judged.mass, least, less, column, at, open_, node)
        )

    def _list(self, start: IntArray, stop: IntArray, root: int, node: int) -> None:
        """Count a box atom by atom, deciding its individuals."""
        found = self.points.decided(start, stop)
        about = decided_one_by_one(found.certain, found.impossible)
        judged = self.said(found.start, found.stop, np.full(len(found.yes), root), found.yes, found.no, about)
        if self._tree is not None:
            self._tree.list(node, said_of(judged))
        self.count(judged)

    def said(
        self, start: IntArray, stop: IntArray, root: IntArray, yes: BoolArray, no: BoolArray, look: Look
    ) -> Judged:
        """Boxes with what is said of them."""
        return Judged(start, stop, root, self._weigher.masses(start, stop), yes, no, look)

    def count(self, judged: Judged) -> None:
        """Count atoms: those that are decided, and those that stay open."""
        self.individuals += len(judged.mass)
        self.settle(judged, judged.closed)
        self.leave(judged.at(~judged.closed))

    def leave(self, judged: Judged) -> None:
        """Count what is certain of boxes that nobody can cut, and keep the rest of them as open."""
        self.settle(judged, np.arange(len(judged.mass)))
        np.add.at(self._stuck, judged.root, judged.mass)

    def probabilities(self, mass: Masses) -> FloatArray:
        """About what masses are, as parts of 1."""
        arithmetic = self._weigher.arithmetic
        return np.asarray(mass if arithmetic.kind is Kind.FLOAT else mass / arithmetic.denominator, dtype=np.float64)

    def settle(self, judged: Judged, rows: BoolArray | IntArray) -> None:
        """Count what is certain of boxes for good."""
        root, mass = judged.root[rows], judged.mass[rows]
        for place, share in enumerate(judged.shares):
            np.add.at(self._sums[place], root, part(mass, share[rows]))
        self._weigher.arithmetic.roundings += len(root)
        if self._kept is not None:
            self._kept.append(judged.at(rows))
            self._count += len(root)
            if self._count > _KEPT:
                self._kept = None

    def _cut(self, judged: Judged, rows: IntArray) -> tuple[IntArray, IntArray]:
        """Where open boxes are cut: at the condition first, at what the event depends on, at the longest column."""
        start, stop = judged.start[rows], judged.stop[rows]
        column, at = judged.look.column[rows], judged.look.at[rows]
        asking = np.flatnonzero(~judged.yes[rows])
        if len(asking):
            own, there = self._at_condition(start[asking], stop[asking])
            use = own != NOWHERE
            column[asking[use]], at[asking[use]] = own[use], there[use]
        left = np.flatnonzero(column == NOWHERE)
        if len(left):
            column[left], at[left] = halved(start[left][:, self._columns], stop[left][:, self._columns], self._columns)
        return column, at

    def _at_condition(self, start: IntArray, stop: IntArray) -> tuple[IntArray, IntArray]:
        pairs = self._truths.of(self._asks, start, stop)
        column, at = np.full(len(start), NOWHERE), np.zeros(len(start), dtype=np.int64)
        for number, (true, false) in enumerate(pairs):
            wanted = np.where(true & false & (column == NOWHERE), number, -1)
            own, there = self._cuts.of(wanted, start, stop)
            column, at = np.where(own == NOWHERE, column, own), np.where(own == NOWHERE, at, there)
        own, there = halved(start[:, self._crossing], stop[:, self._crossing], self._crossing)
        return np.where(column == NOWHERE, own, column), np.where(column == NOWHERE, there, at)

    def _in_the_end(self, kept: Iterable[Judged]) -> Masses:
        """The sums of all boxes, all decided, in exact arithmetic."""
        sums = np.zeros((4, *self._total.shape), dtype=object)
        for each in kept:
            mass = self._exact.masses(each.start, each.stop)
            for place, share in enumerate(each.shares):
                np.add.at(sums[place], each.root, mass * share.astype(np.int64).astype(object)[:, None])
        return sums


def _between(bounds: Bounds, high: Fraction) -> Bounds:
    """Bounds with another upper one."""
    return bounds if bounds.high <= high else Bounds(low=min(bounds.low, high), high=high)
