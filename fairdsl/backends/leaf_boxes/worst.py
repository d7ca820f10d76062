"""How far apart the scores of the worst two are, of trees: boxes of units, the one with the widest gap first.

Over a box the score of each assignment lies between two sums of leaves, in which those cancel that both come to. So a
gap is at most the higher end of one less the lower end of the other. Boxes that cannot have a wider gap than a pair
that was met are dropped, the others are cut, and what the widest of them may have bounds the number from above
(:mod:`fairdsl.backends.refining.farthest`). From below it is bounded by pairs, replayed: from single parts in wide
boxes, moved along one axis after the other while that widens their gap.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.contract import Answering, Budget, Facts, Observer, Refusal
from fairdsl.backends.leaf_boxes.asked import refusal_of_any
from fairdsl.backends.leaf_boxes.comparisons import Comparisons
from fairdsl.backends.leaf_boxes.descent import UnfairBoxes
from fairdsl.backends.leaf_boxes.judging import Question, question_of
from fairdsl.backends.leaf_boxes.kept import check_cuts, halves
from fairdsl.backends.leaf_boxes.lowering import Lowered
from fairdsl.backends.leaf_boxes.options import LeafBoxesOptions
from fairdsl.backends.leaf_boxes.reach import parted
from fairdsl.backends.leaf_boxes.witnesses import pairs
from fairdsl.backends.refining.farthest import Farthest, refined_further
from fairdsl.backends.refining.refinement import State
from fairdsl.backends.refining.regions import Asked, Bounded, Halves
from fairdsl.backends.worst import Worst, refusal_of_worst
from fairdsl.clock import Work
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Pair, Quantity
from fairdsl.numerics.narrow import narrow
from fairdsl.verdict import Evidence, Reason, Unknown, Vacuous

Integers = NDArray[np.int64]

#: Boxes in which somebody is looked for at a time, and parts of one axis that are tried.
_LOOKED, _TRIED = 16, 512


def _of_units(problem: Problem) -> Problem:
    """The question about the same pairs as one about units."""
    return replace(problem.of_pairs, quantity=Quantity.FAIR_SHARE)


def refusal_of_widest(problem: Problem) -> Refusal | None:
    """Why the widest gap of scores is not bounded; None where it is."""
    if (refusal := refusal_of_worst(problem)) is not None:
        return refusal
    pair = problem.demanded.pair
    if pair.of_individuals:
        return Refusal(why="it bounds gaps over what two share: no distances, no conditions on one", span=pair.span)
    return refusal_of_any(_of_units(problem))


def answering_worst(problem: Problem, facts: Facts, budget: Budget, observer: Observer) -> Answering:
    """The number, between a pair that is shown and a bound; by budgets."""
    pair = problem.demanded.pair
    if any(values.count == 0 for values in narrow(problem.domain, pair.target)):
        return Vacuous(evidence=Evidence(backend="leaf_boxes", method="nobody is asked about"))
    task, worst = Asked.of(problem, budget.seed), Worst(problem)
    if not Widest.fits(task):
        evidence = Evidence(backend="leaf_boxes", method="trees of too many leaves")
        return Unknown(reason=Reason.MEMORY_OUT, detail="the trees need too much room", evidence=evidence)
    widest, scheduler = Widest.start(task, memory=budget.memory), budget.options[LeafBoxesOptions].scheduler
    while True:
        refined_further(widest, budget, observer, scheduler)
        method = f"gaps of scores bounded over {widest.nodes:,} boxes of leaves"
        found = widest.verdict(worst, Evidence(backend="leaf_boxes", method=method), Reason.TIMEOUT)
        if widest.finished or widest.full or facts.decided_by(found):
            return found
        budget = yield found


@dataclass(frozen=True, slots=True)
class _Gaps:
    """Of boxes the widest gap that may be there (-1: nobody is compared), one that surely is (-1: none is known), whose
    that is, and where to cut."""

    most: Integers
    least: Integers
    first: Integers
    second: Integers
    cuts: Integers


class Widest(Farthest):
    """The boxes of one question that may have a wider gap than is known."""

    work, at_once, bytes_a_region = Work("boxes of pairs bounded", 4), 128, 512

    @staticmethod
    def _made(task: Asked) -> tuple[Question | None, Lowered]:
        """The question about the trees, made once."""
        if Widest not in task.made:
            problem = _of_units(task.problem)
            assert isinstance(problem.question, Pair), "how far the worst two are apart is asked of pairs"
            task.made[Widest] = question_of(problem, problem.question)
        found: tuple[Question | None, Lowered] = task.made[Widest]
        return found

    @staticmethod
    def fits(task: Asked) -> bool:
        """Whether there is room for its trees."""
        return Widest._made(task)[0] is not None

    def _prepare(self) -> None:
        question, self._lowered = self._made(self.task)
        assert question is not None, "there is room"
        self._sizes = question.sizes
        self._comparisons = Comparisons(question.asked, question.contest, self._sizes.axes)
        self.unit = question.contest.unit
        self._random = np.random.default_rng(self.task.seed)
        self._steps = 0

    def _in_units(self, gap: Fraction) -> int:
        return int(gap // self.unit)

    def _whole(self) -> Sequence[Any]:
        return [self._sizes.whole()]

    def _look(self, taken: Sequence[Bounded]) -> None:
        self._steps += 1
        if self._steps & (self._steps - 1) == 0:  # ever more seldom
            self._climb(*_ends(one.region for one in taken[:_LOOKED]))

    def _cut(self, taken: Sequence[Bounded]) -> Sequence[Halves | None]:
        cuts = np.array([one.cut for one in taken])
        low, high = parted(*_ends(one.region for one in taken), cuts, self._sizes.ordered)
        found, count = self._bounded(list(zip(low, high, strict=True))), len(taken)
        ways = map(tuple, cuts.tolist())
        return [Halves(way, two) for way, two in zip(ways, zip(found[:count], found[count:], strict=True), strict=True)]

    def _halved(self, regions: Sequence[Any], axis: Integers, cut: Integers) -> list[Any]:
        if not regions:
            return []
        low, high = _ends(regions)
        if not ((axis >= 0) & (axis < max(1, len(self._sizes.axes)))).all():
            raise ValueError("a box is cut where nothing is")
        check_cuts(self._sizes, (low, high), axis, cut)
        return list(zip(*halves(self._sizes, low, high, axis, cut), strict=True))

    def _packed(self, regions: Sequence[Bounded]) -> State:
        low, high = _ends((one.region for one in regions), len(self._sizes.axes))
        return {
            "low": low,
            "high": high,
            "next": np.array([one.cut for one in regions], dtype=np.int64).reshape(-1, 2),
            "bound": np.array([one.bound for one in regions], dtype=np.int64),
        }

    def _unpacked(self, state: State) -> Sequence[Bounded]:
        columns = zip(state["low"], state["high"], state["bound"].tolist(), state["next"], strict=True)
        return [Bounded((low, high), bound, cut=cut) for low, high, bound, cut in columns]

    def _bounded(self, regions: Sequence[Any]) -> list[Bounded | None]:
        low, high = _ends(regions)
        gaps = self._gaps(low, high)
        self._show(low, high, gaps)
        self.nodes += len(regions)
        rows = zip(regions, gaps.most.tolist(), gaps.cuts, strict=True)
        return [Bounded(box, most, int(cut[0]) >= 0, cut) if most >= 0 else None for box, most, cut in rows]

    def _gaps(self, low: Integers, high: Integers) -> _Gaps:
        compare = self._comparisons
        ranges = compare.ranges(low, high)
        found = compare.over(low, high, ranges, compare.present(low, high))
        rows = np.arange(len(low))[:, None]
        (one_low, one_high), (other_low, other_high) = (
            (ranges.own.low[rows, who, 0], ranges.own.high[rows, who, 0]) for who in (found.a, found.b)
        )
        most = np.maximum(one_high - other_low, other_high - one_low)
        least = np.maximum(np.maximum(one_low - other_high, other_low - one_high), 0)
        by_condition = compare.cut_by_conditions(low, high, None)
        cuts = np.where(ranges.cuts[:, :1] < 0, by_condition, ranges.cuts)
        nobody = np.full(len(low), -1, dtype=np.int64)
        if not most.shape[1]:
            return _Gaps(nobody, nobody, nobody, nobody, cuts)
        most, least = np.where(found.admitted >= 0, most, -1), np.where(found.admitted == 1, least, -1)
        best = least.argmax(axis=1)
        first, second = found.at(rows[:, 0], best)
        return _Gaps(most.max(axis=1), least.max(axis=1), first, second, cuts)

    def _show(self, low: Integers, high: Integers, gaps: _Gaps) -> None:
        """Meet the pair of the box in which scores surely are farthest apart, where that is news."""
        row = int(gaps.least.argmax())
        if gaps.least[row] < 0 or not self._is_news(int(gaps.least[row])):
            return
        at = slice(row, row + 1)
        box = UnfairBoxes.of(low[at], high[at], gaps.first[at], gaps.second[at])
        found = next(pairs(self._lowered, self._sizes.axes, box), None)
        if found is not None:
            self.meet(*found)

    # ---- somebody to begin with ------------------------------------------------------------------

    def _climb(self, low: Integers, high: Integers) -> None:
        """From a single part of each box, the best one of them along the axes as long as the gap becomes wider."""
        low, high = self._anybody(low, high)
        gaps = self._gaps(low, high)
        self._show(low, high, gaps)
        row = int(gaps.least.argmax())
        low, high, best = low[row], high[row], int(gaps.least[row])
        left = len(self._sizes.axes)
        axis = 0
        while left:
            lows, highs = self._along(low, high, axis)
            gaps = self._gaps(lows, highs)
            row = int(gaps.least.argmax())
            left -= 1
            if int(gaps.least[row]) > best:
                self._show(lows, highs, gaps)
                low, high, best, left = lows[row], highs[row], int(gaps.least[row]), len(self._sizes.axes)
            axis = (axis + 1) % len(self._sizes.axes)

    def _anybody(self, low: Integers, high: Integers) -> tuple[Integers, Integers]:
        low, high = low.copy(), high.copy()
        for axis, ordered in enumerate(self._sizes.ordered.tolist()):
            for row in range(len(low)):
                if ordered:
                    low[row, axis] = self._random.integers(low[row, axis], high[row, axis])
                    high[row, axis] = low[row, axis] + 1
                else:
                    places = [place for place in range(63) if int(low[row, axis]) >> place & 1]
                    low[row, axis] = 1 << int(self._random.choice(places))
        return low, high

    def _along(self, low: Integers, high: Integers, axis: int) -> tuple[Integers, Integers]:
        """The same with all parts of one axis, or so many of them."""
        places = np.arange(len(self._sizes.parts[axis]))
        if len(places) > _TRIED:
            places = self._random.choice(places, _TRIED, replace=False)
        lows, highs = (np.repeat(each[None], len(places), axis=0) for each in (low, high))
        ordered = bool(self._sizes.ordered[axis])
        lows[:, axis] = places if ordered else 1 << places
        highs[:, axis] = places + 1 if ordered else 0
        return lows, highs


def _ends(boxes: Iterable[Any], axes: int = 0) -> tuple[Integers, Integers]:
    """The first and the last ends of some boxes, [boxes, axes]."""
    ends = list(boxes)
    low, high = (
        np.array([each[side] for each in ends], dtype=np.int64).reshape(len(ends), -1 if ends else axes)
        for side in (0, 1)
    )
    return low, high
