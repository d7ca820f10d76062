"""What becomes of boxes of units: what is known of their pairs, and where to cut those that stay open."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.leaf_boxes.asked import Asked, ask_of, graph_of
from fairdsl.backends.leaf_boxes.comparisons import Comparisons, Ranges
from fairdsl.backends.leaf_boxes.conditions import middle
from fairdsl.backends.leaf_boxes.descent import UnfairBoxes
from fairdsl.backends.leaf_boxes.duels import Contest, contest_of, numbered_of
from fairdsl.backends.leaf_boxes.lowering import Lowered
from fairdsl.backends.leaf_boxes.reach import Reach, Units, parted
from fairdsl.backends.leaf_boxes.sizes import Sizes
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Pair

Integers = NDArray[np.int64]

#: Numbers of boxes that are looked at together, boxes at most.
_AT_ONCE, _BOXES = 2**21, 256
#: Boxes of partners that are looked at for one box of individuals: of one that can be cut further, and of one part.
_PARTNERS, _ALL_PARTNERS = 24, 2**13


class Fate(IntEnum):
    """What becomes of a box. *Absent*: nobody in it is asked about. *Stuck*: it is one part, and open."""

    OPEN = 0
    FAIR = 1
    VACUOUS = 2
    UNFAIR = 3
    ABSENT = 4
    STUCK = 5


_OPEN, _FAIR, _VACUOUS, _UNFAIR, _ABSENT, _STUCK = map(int, Fate)


@dataclass(frozen=True, slots=True)
class Judged:
    """Of each box what becomes of it, where to cut it, and what a box of unfair units is known by."""

    fate: Integers
    cuts: Integers
    unfair: UnfairBoxes


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """All that is needed to settle it: who is compared, what decides, and the sizes of what they share."""

    asked: Asked
    contest: Contest
    sizes: Sizes


def question_of(problem: Problem, pair: Pair) -> tuple[Question | None, Lowered]:
    """A question that is not refused and has value sets that are not empty, and its graph; None where it needs too much
    room.
    """
    lowered = graph_of(problem, pair)
    sizes = Sizes.over(lowered)
    contest = contest_of(*numbered_of(lowered, sizes), sizes)
    return None if contest is None else Question(ask_of(problem, pair), contest, sizes), lowered


class Judge:
    """Looks at boxes of one question."""

    def __init__(self, question: Question) -> None:
        asked, contest = question.asked, question.contest
        self._sizes = sizes = question.sizes
        self.axes = sizes.axes
        self._comparisons = Comparisons(asked, contest, sizes.axes)
        self._reach = Reach(asked, sizes)
        #: Boxes that are looked at together at most.
        self.at_once = max(1, min(_BOXES, _AT_ONCE // self._comparisons.count))

    @property
    def individuals(self) -> bool:
        """Whether units are individuals, whose assignment is part of a unit."""
        return self._comparisons.individuals

    def judged(self, units: Units) -> Judged:
        """What becomes of some boxes; each for itself."""
        found = self._around(units) if self.individuals else self._over(units)
        found.fate[(found.fate == _OPEN) & (found.cuts[:, 0] < 0)] = _STUCK
        return found

    def _over(self, units: Units) -> Judged:
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
            return Judged(kind.astype(np.int64), cuts, UnfairBoxes.of(low, high, nobody, nobody))
        rows, place = np.arange(len(units)), hits.argmax(axis=1)
        return Judged(kind.astype(np.int64), cuts, UnfairBoxes.of(low, high, *pairs.at(rows, place)))

    def _around(self, units: Units) -> Judged:
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
        judged = Judged(kind, cuts, UnfairBoxes(low, high, units.own, np.where(swapped, a, b), *met, swapped))
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

    def _look_around(self, unit: Units, ranges: Ranges, row: int, judged: Judged) -> None:
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
                judged.fate[row], found.swapped[row] = _UNFAIR, swapped
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
            judged.fate[row] = _FAIR if paired else _VACUOUS

    def _within(self, low: Integers, high: Integers) -> Integers:
        """Halves along the axes in which partners may be elsewhere."""
        held = ~self._reach.may_cut
        inside_low, inside_high = low.copy(), high.copy()
        inside_high[:, held] = np.where(self._sizes.ordered[held], inside_low[:, held] + 1, 0)
        inside_low[:, held] = np.where(self._sizes.ordered[held], inside_low[:, held], 1)
        return self._halves(inside_low, inside_high)
