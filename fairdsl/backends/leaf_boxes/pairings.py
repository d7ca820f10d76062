"""Questions of every kind about trees: boxes of units, the heaviest first, settled by what is known of their pairs.

Where one score decides and all that differ are compared, :mod:`.refinement` is many times as fast. Here any number of
outcomes decides, pairs have distances and conditions of their own, and people are compared one by one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from fractions import Fraction
from math import lcm, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.leaf_boxes.asked import Asked
from fairdsl.backends.leaf_boxes.comparisons import Comparisons, Ranges
from fairdsl.backends.leaf_boxes.conditions import middle
from fairdsl.backends.leaf_boxes.descent import Counts, Sizes, UnfairBoxes
from fairdsl.backends.leaf_boxes.duels import Contest
from fairdsl.backends.leaf_boxes.reach import Reach, Units, parted
from fairdsl.backends.leaf_boxes.refinement import NODES
from fairdsl.backends.refining.refinement import State, Stepwise
from fairdsl.clock import UNITS
from fairdsl.verdict import Estimate

__all__ = ["Pairings", "Question"]

Integers = NDArray[np.int64]
BoolArray = NDArray[np.bool_]

#: What becomes of a box.
_OPEN, _FAIR, _VACUOUS, _UNFAIR, _ABSENT, _STUCK = range(6)
#: Numbers of boxes that are looked at together, boxes at most; boxes of unfair units that are kept.
_AT_ONCE, _BOXES, _KEPT = 2**21, 256, 2**14
#: Boxes of partners that are looked at for one box of individuals: of one that can be cut further, and of one part.
_PARTNERS, _ALL_PARTNERS = 24, 2**13


@dataclass(frozen=True, slots=True)
class _Judged:
    """Of each box what becomes of it, where to cut it, and what a box of unfair units is known by."""

    kind: Integers
    cuts: Integers
    unfair: UnfairBoxes


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """All that is needed to settle it."""

    asked: Asked
    contest: Contest


class Pairings(Stepwise):
    """Settles one question, as many rounds as are asked for, within some bytes of memory."""

    bounds, work = False, NODES
    #: Times the effort of visiting a node.
    units_a_node = 1.0
    seconds_a_node = NODES.units / UNITS

    def __init__(self, task: Question, units: Units | None = None, *, memory: int) -> None:
        super().__init__()
        self.task, asked, contest = task, task.asked, task.contest
        lowered = asked.lowered
        self._sizes = sizes = Sizes.over(lowered)
        self.axes = sizes.axes
        self._comparisons = Comparisons(asked, contest, sizes.axes)
        self._trees = len(contest.leaves.starts)
        self._reach = Reach(asked, sizes)
        self._weights = self._weighed(asked)
        self._most = max(1024, memory // (8 * (2 * len(self.axes) + 2)))
        self._chunk = max(1, min(_BOXES, _AT_ONCE // self._comparisons.count))
        self.counts = Counts()
        self._full = False
        self._absent = self._waiting = self.nodes = 0
        self._piles: dict[int, list[Units]] = defaultdict(list)
        self._found: list[UnfairBoxes] = []
        #: What there was when boxes were lent out.
        self._lent: State | None = None
        low, high = sizes.whole()
        self._whole = sizes.total * sum(self._weights)
        every = len(self._weights)
        self._wait(
            Units(low[None].repeat(every, 0), high[None].repeat(every, 0), np.arange(every)) if units is None else units
        )

    @classmethod
    def resume(cls, task: Question, state: State, *, memory: int = 2 << 30) -> Pairings:
        """Go on from what :meth:`state`, or :meth:`fork`, returned."""
        found = cls(task, Units(*state["units"]), memory=memory)
        found._take(state["counted"], state["absent"], state["nodes"], [state["unfair"]])
        return found

    def _take(self, counted: Sequence[Any], absent: int, nodes: int, unfair: Sequence[Sequence[Any]]) -> None:
        self.counts, self._absent, self.nodes = Counts(*counted), absent, nodes
        self._found = [UnfairBoxes(*each) for each in unfair]

    def state(self) -> State:
        """Everything needed to go on."""
        units = self._open()
        return self._state(units, self.counts, self._absent, self.nodes, self.unfair)

    def _state(self, units: Units, counts: Counts, absent: int, nodes: int, unfair: UnfairBoxes) -> State:
        kept = tuple(getattr(unfair, name) for name in UnfairBoxes.__slots__)
        boxes = units.low, units.high, units.own
        return {"units": boxes, "counted": astuple(counts), "absent": absent, "nodes": nodes, "unfair": kept}

    def _open(self) -> Units:
        """The boxes that wait, the heaviest first."""
        ends = np.zeros((0, len(self.axes)), dtype=np.int64)
        none = Units(ends, ends, np.zeros(0, dtype=np.int64))
        return Units.joined([none, *(each for _, pile in sorted(self._piles.items(), reverse=True) for each in pile)])

    def fork(self, parts: int) -> Sequence[State]:
        """States of so many refinements that share out the boxes by their sizes."""
        units, none = self._open(), UnfairBoxes.none(len(self.axes))
        self._lent = self.state()
        return [self._state(units.at(slice(part, None, parts)), Counts(), 0, 0, none) for part in range(parts)]

    def join(self, states: Sequence[State]) -> None:
        """Take over what forked refinements found; may be called again with later states of the same parts."""
        if self._lent is None:
            raise ValueError("nothing is lent out")
        every = [self._lent, *states]
        counted = astuple(Counts.of([Counts(*each["counted"]) for each in every]))
        absent, nodes = (sum(each[name] for each in every) for name in ("absent", "nodes"))
        self._take(counted, absent, nodes, [each["unfair"] for each in every])
        self._piles.clear()
        self._waiting = 0
        self._wait(Units.joined([Units(*each["units"]) for each in states]))

    @property
    def full(self) -> bool:
        """Whether there is no room for more boxes."""
        return self._full

    @property
    def undecided(self) -> float:
        """The share that is open."""
        return float(Fraction(self.left, max(1, self._whole)))

    def heaviest(self, limit: int) -> Sequence[float]:
        """How large the largest boxes are."""
        found: list[float] = np.sort(self._about(self._open()))[::-1][:limit].tolist()
        return found

    def _weighed(self, asked: Asked) -> list[int]:
        """How many individuals each assignment stands for, as whole numbers; one where units have none."""
        if not self._comparisons.individuals:
            return [1]
        lowered, differ = asked.lowered, asked.pair.differ
        cuts = [lowered.cuts[at] for at in differ]
        sizes = [
            prod((cut.parts[part].weight for cut, part in zip(cuts, each, strict=True)), start=Fraction(1))
            for each in lowered.assignments
        ]
        under = lcm(*(size.denominator for size in sizes))
        return [int(size * under) for size in sizes]

    @property
    def finished(self) -> bool:
        """Whether nothing is left to settle."""
        return not self._waiting

    @property
    def left(self) -> int:
        """The size of the boxes that wait."""
        counts = self.counts
        return self._whole - self._absent - counts.fair - counts.vacuous - counts.unfair - counts.undecided

    @property
    def unfair(self) -> UnfairBoxes:
        """The boxes of unfair units that are kept, the first ones found."""
        return UnfairBoxes.joined(self._found or [UnfairBoxes.none(len(self.axes))])

    def estimated(self, seed: int) -> Estimate | None:
        """Nothing."""
        return None

    def step(self, most: int | None = None) -> int:
        """One round: the heaviest boxes are settled or cut in two; how many trees were looked at."""
        self._lent = None
        units = self._taken()
        judged = self._judged(units)
        counts, kind = self.counts, judged.kind
        cut = (kind == _OPEN) & (judged.cuts[:, 0] >= 0)
        kind = np.where((kind == _OPEN) & ~cut, _STUCK, kind)
        counts.fair += self._size(units.at(kind == _FAIR))
        counts.vacuous += self._size(units.at(kind == _VACUOUS))
        counts.unfair += self._size(units.at(kind == _UNFAIR))
        counts.undecided += self._size(units.at(kind == _STUCK))
        self._absent += self._size(units.at(kind == _ABSENT))
        settled = (kind != _OPEN) & (kind != _ABSENT)
        counts.boxes += int(settled.sum())
        counts.open_boxes += int((kind == _STUCK).sum())
        counts.paired = counts.paired or bool((settled & (kind != _VACUOUS)).any())
        self._keep(judged, np.flatnonzero(kind == _UNFAIR))
        self._cut(units.at(cut), judged.cuts[cut])
        looked_at = len(units) * self._trees * (2 if self._comparisons.individuals else 1)
        self.nodes += looked_at
        return looked_at

    def _taken(self) -> Units:
        """Boxes of the heaviest pile, so many as are looked at together."""
        heaviest = max(self._piles)
        pile = self._piles[heaviest]
        units = pile.pop()
        while len(units) < self._chunk and pile:
            units = Units.joined([units, pile.pop()])
        if len(units) > self._chunk:
            pile.append(units.at(slice(self._chunk, None)))
            units = units.at(slice(0, self._chunk))
        if not pile:
            del self._piles[heaviest]
        self._waiting -= len(units)
        return units

    def _wait(self, units: Units) -> None:
        """Put boxes with those that are about as heavy."""
        sizes = self._about(units)
        _, heavy = np.frexp(sizes)
        heavy[sizes == 0] = -(2**20)
        for pile in np.unique(heavy).tolist():
            self._piles[pile].append(units.at(heavy == pile))
        self._waiting += len(units)
        self._full = self._waiting > self._most

    def _about(self, units: Units) -> NDArray[np.float64]:
        """About how large each of some boxes is."""
        sizes = np.array([float(weight) for weight in self._weights])[units.own]
        for axis, sums in enumerate(self._sizes.sums):
            low, high = units.low[:, axis], units.high[:, axis]
            if self._sizes.ordered[axis]:
                along = sums.astype(np.float64)
                sizes = sizes * (along[high] - along[low])
            else:
                parts = self._sizes.parts[axis].astype(np.float64)
                sizes = sizes * ((low[:, None] >> np.arange(len(parts)) & 1) @ parts)
        return np.asarray(sizes)

    def _size(self, units: Units) -> int:
        """The size of some boxes together, exactly."""
        of = self._sizes.of
        owners = np.unique(units.own).tolist()
        return sum(self._weights[own] * of(units.low[units.own == own], units.high[units.own == own]) for own in owners)

    def _keep(self, judged: _Judged, rows: Integers) -> None:
        kept = rows[: max(0, _KEPT - self.counts.unfair_boxes)]
        self.counts.unfair_boxes += len(rows)
        self._found.append(judged.unfair.at(kept))

    def _cut(self, units: Units, cuts: Integers) -> None:
        if not len(units):
            return
        low, high = parted(units.low, units.high, cuts, self._sizes.ordered)
        self._wait(Units(low, high, np.concatenate([units.own, units.own])))

    def _judged(self, units: Units) -> _Judged:
        return self._around(units) if self._comparisons.individuals else self._over(units)

    def _over(self, units: Units) -> _Judged:
        low, high = units.low, units.high
        ranges, present = self._comparisons.ranges(low, high), self._comparisons.present(low, high)
        pairs = self._comparisons.over(low, high, ranges, present)
        hits = pairs.hit
        hit, there = hits.any(axis=1), (present == 1).any(axis=1)
        kind = np.select(
            [hit, (present == -1).all(axis=1), pairs.alone & there, pairs.clean & pairs.paired],
            [_UNFAIR, _ABSENT, _VACUOUS, _FAIR],
            _OPEN,
        )
        doubt = (present == 0).any(axis=1) | ((pairs.admitted == 0) & (pairs.apart != -1)).any(axis=1) | pairs.clean
        by_condition = self._comparisons.cut_by_conditions(low, high, None)
        first = doubt & (by_condition[:, 0] >= 0)
        cuts = np.where(first[:, None], by_condition, ranges.cuts)
        cuts = np.where(cuts[:, :1] < 0, by_condition, cuts)
        if not hits.shape[1]:  # nobody differs
            nobody = np.zeros(len(units), dtype=np.int64)
            return _Judged(kind.astype(np.int64), cuts, UnfairBoxes.of(low, high, nobody, nobody))
        rows, place = np.arange(len(units)), hits.argmax(axis=1)
        return _Judged(kind.astype(np.int64), cuts, UnfairBoxes.of(low, high, *pairs.at(rows, place)))

    def _around(self, units: Units) -> _Judged:
        compare, low, high = self._comparisons, units.low, units.high
        ranges, counted = compare.ranges(low, high), compare.counted(low, high, units.own)
        own = (low, high, units.own, ranges)
        if not self._reach:
            pairs = nearby = compare.around(own, low, high, ranges, counted)
            wide, met, some = ranges, (low, high), np.ones(len(units), dtype=np.bool_)
        else:
            far_low, far_high, some = self._reach.of(low, high, common=False)
            wide = compare.ranges(far_low, far_high, (low, high))
            pairs = compare.around(own, far_low, far_high, wide, counted)
            near_low, near_high, some = self._reach.of(low, high, common=True)
            met = (near_low, near_high)
            same = some & (far_low == near_low).all(axis=1) & (far_high == near_high).all(axis=1)
            nearby = compare.around(own, near_low, near_high, compare.ranges(near_low, near_high), counted)
        hits = nearby.hit & some[:, None]
        kind = np.select(
            [
                hits.any(axis=1),
                counted == -1,
                pairs.alone & (counted == 1),
                pairs.clean & nearby.paired & some & (counted == 1),
            ],
            [_UNFAIR, _ABSENT, _VACUOUS, _FAIR],
            _OPEN,
        ).astype(np.int64)
        doubt = (counted == 0) | ((pairs.admitted == 0) & (pairs.apart != -1)).any(axis=1) | pairs.clean
        by_condition = compare.cut_by_conditions(low, high, units.own)
        cuts = np.where((doubt & (by_condition[:, 0] >= 0))[:, None], by_condition, ranges.cuts)
        for others in (wide.cuts, by_condition, self._halves(low, high) if self._reach else by_condition):
            cuts = np.where(cuts[:, :1] < 0, others, cuts)
        rows, place = np.arange(len(units)), hits.argmax(axis=1)
        a, b = nearby.at(rows, place)
        swapped = compare.swapped(place)
        judged = _Judged(kind, cuts, UnfairBoxes(low, high, units.own, np.where(swapped, a, b), *met, swapped))
        if self._reach:  # whose own decision is open, of him no partner settles anything
            settled = compare.decided(ranges, units.own) | (cuts[:, 0] < 0)
            for row in np.flatnonzero((kind == _OPEN) & (counted == 1) & same & settled).tolist():
                self._look_around(units.at(slice(row, row + 1)), ranges, row, judged)
        return judged

    def _halves(self, low: Integers, high: Integers) -> Integers:
        """The middle of the axis of each box that has most parts, [n, 2]."""
        found, widest = np.full((len(low), 2), -1, dtype=np.int64), np.ones(len(low), dtype=np.int64)
        for axis, attribute in enumerate(self.axes):
            ordered = self._sizes.ordered[axis]
            parts = high[:, axis] - low[:, axis] if ordered else np.bitwise_count(low[:, axis]).astype(np.int64)
            places = middle(low[:, axis], high[:, axis], self._reach.cuts[attribute])
            better = parts > widest
            found[better, 0], found[better, 1], widest[better] = axis, places[better], parts[better]
        return found

    def _look_around(self, unit: Units, ranges: Ranges, row: int, judged: _Judged) -> None:
        """Settle one box, all of whom have the same partners, by parts of where these are; by few if it can be cut."""
        compare = self._comparisons
        most = _PARTNERS if judged.cuts[row, 0] >= 0 else _ALL_PARTNERS
        low, high, _ = self._reach.of(unit.low, unit.high, common=False)
        at = slice(row, row + 1)
        one = Ranges(ranges.whole.at(at), ranges.own.at(at), ranges.cuts[at])
        paired, stuck, looked = False, False, 0
        while len(low) and looked < most:
            looked += len(low)
            mine = np.repeat(np.arange(1), len(low))
            own = (
                unit.low[mine],
                unit.high[mine],
                unit.own[mine],
                Ranges(one.whole.at(mine), one.own.at(mine), one.cuts[mine]),
            )
            here = compare.ranges(low, high, may_cut=self._reach.may_cut)
            pairs = compare.around(own, low, high, here, np.ones(len(low), dtype=np.int8))
            hits = pairs.hit
            if hits.any():
                box, place = (int(each[0]) for each in np.nonzero(hits))
                swapped, found = bool(compare.swapped(np.array([place]))[0]), judged.unfair
                judged.kind[row], found.swapped[row] = _UNFAIR, swapped
                found.second[row] = (pairs.a if swapped else pairs.b)[box, place]
                found.near_low[row], found.near_high[row] = low[box], high[box]
                return
            paired = paired or bool(pairs.paired.any())
            open_ = ~pairs.clean | (~pairs.alone & ~pairs.paired & (not paired))
            cuts = here.cuts[open_]
            low, high = low[open_], high[open_]
            cuts = np.where(cuts[:, :1] < 0, self._within(low, high), cuts)
            stuck = stuck or bool((cuts[:, 0] < 0).any())
            kept = cuts[:, 0] >= 0
            low, high = parted(low[kept], high[kept], cuts[kept], self._sizes.ordered)
        if not len(low) and not stuck:
            judged.kind[row] = _FAIR if paired else _VACUOUS

    def _within(self, low: Integers, high: Integers) -> Integers:
        """Halves along the axes in which partners may be elsewhere."""
        held = ~self._reach.may_cut
        inside_low, inside_high = low.copy(), high.copy()
        inside_high[:, held] = np.where(self._sizes.ordered[held], inside_low[:, held] + 1, 0)
        inside_low[:, held] = np.where(self._sizes.ordered[held], inside_low[:, held], 1)
        return self._halves(inside_low, inside_high)
