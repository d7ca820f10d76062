"""How far apart the scores of the worst two are, of trees: boxes of units, the one with the widest gap first.

Over a box the score of each assignment lies between two sums of leaves, in which those cancel that both come to. So a
gap is at most the higher end of one less the lower end of the other. Boxes that cannot have a wider gap than a pair
that was met are dropped, the others are cut, and what the widest of them may have bounds the number from above. From
below it is bounded by pairs, replayed: from single parts in wide boxes, moved along one axis after the other while that
widens their gap.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from heapq import heappop, heappush

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.contract import Answering, Budget, Facts, Observer, Refusal
from fairdsl.backends.leaf_boxes.asked import refusal_of_any
from fairdsl.backends.leaf_boxes.comparisons import Comparisons
from fairdsl.backends.leaf_boxes.descent import UnfairBoxes
from fairdsl.backends.leaf_boxes.judging import Question, question_of
from fairdsl.backends.leaf_boxes.lowering import Lowered
from fairdsl.backends.leaf_boxes.reach import parted
from fairdsl.backends.leaf_boxes.witnesses import pairs
from fairdsl.backends.worst import Worst, refusal_of_worst
from fairdsl.clock import Work, spend
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Pair, Quantity
from fairdsl.numerics.narrow import narrow
from fairdsl.verdict import Evidence, Reason, Unknown, Vacuous, Value

__all__ = ["answering_worst", "refusal_of_widest"]

Integers = NDArray[np.int64]

#: What is counted where effort is given; boxes that are cut together, and bytes that a box takes for each axis.
_BOUNDED, _AT_ONCE, _BYTES = Work("boxes of pairs bounded", 4), 128, 32
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
    asked_of = _of_units(problem)
    pair = asked_of.question
    assert isinstance(pair, Pair), "how far the worst two are apart is asked of pairs"
    if any(values.count == 0 for values in narrow(problem.domain, pair.target)):
        return Vacuous(evidence=Evidence(backend="leaf_boxes", method="nobody is asked about"))
    question, lowered = question_of(asked_of, pair)
    if question is None:
        evidence = Evidence(backend="leaf_boxes", method="trees of too many leaves")
        return Unknown(reason=Reason.MEMORY_OUT, detail="the trees need too much room", evidence=evidence)
    widest = _Widest(problem, question, lowered, budget)
    while True:
        while not widest.finished and not widest.full and not budget.exhausted:
            spend(_BOUNDED, widest.step())
            observer.progress("leaf boxes", None, f"{widest.boxes:,} boxes, up to {float(widest.high):.6g} apart")
        found = widest.verdict()
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


class _Widest:
    """The boxes of one question that may have a wider gap than is known."""

    def __init__(self, problem: Problem, question: Question, lowered: Lowered, budget: Budget) -> None:
        self._lowered, self._sizes = lowered, question.sizes
        self._comparisons = Comparisons(question.asked, question.contest, self._sizes.axes)
        #: What one unit of sums is.
        self._unit = question.contest.unit
        self._worst = Worst(problem)
        self._room = max(1024, budget.memory // (_BYTES * (len(self._sizes.axes) + 4)))
        self._random = np.random.default_rng(budget.seed)
        self._waiting: list[tuple[int, int, Integers, Integers, Integers]] = []
        #: The widest that may be in boxes that cannot be cut.
        self._stuck = -1
        self.boxes = self._steps = 0
        low, high = self._sizes.whole()
        self._put(low[None], high[None])

    @property
    def finished(self) -> bool:
        """Whether no box may have a wider gap."""
        return not self._waiting

    @property
    def full(self) -> bool:
        """Whether there is no room for more boxes."""
        return len(self._waiting) > self._room

    @property
    def high(self) -> Fraction:
        """No pair is farther apart."""
        most = max(self._stuck, -self._waiting[0][0] if self._waiting else -1)
        return max(self._worst.low, most * self._unit)

    def verdict(self) -> Value | Vacuous | Unknown:
        """What is known by now."""
        method = f"gaps of scores bounded over {self.boxes:,} boxes of leaves"
        reason = None
        if self._waiting:
            reason = Reason.MEMORY_OUT if self.full else Reason.TIMEOUT
        elif (self._stuck >= 0 and self.high > self._worst.low) or (self._stuck >= 0 and not self._worst.somebody):
            reason = Reason.INCOMPLETE
        return self._worst.verdict(self.high, Evidence(backend="leaf_boxes", method=method), reason)

    def step(self) -> int:
        """Cut the boxes with the widest gaps; how many were bounded."""
        before = self.boxes
        lows, highs, cuts = list[Integers](), list[Integers](), list[Integers]()
        while self._waiting and len(lows) < _AT_ONCE:
            bound, _, low, high, cut = heappop(self._waiting)
            if self._matters(-bound):
                lows.append(low)
                highs.append(high)
                cuts.append(cut)
        if not lows:
            return 0
        low, high, cut = np.array(lows), np.array(highs), np.array(cuts)
        self._steps += 1
        if self._steps & (self._steps - 1) == 0:  # ever more seldom
            self._look(low[:_LOOKED], high[:_LOOKED])
        self._put(*parted(low, high, cut, self._sizes.ordered))
        return self.boxes - before

    def _matters(self, most: int) -> bool:
        """Whether a gap so wide would be news."""
        return most >= 0 and (not self._worst.somebody or most * self._unit > self._worst.low)

    def _put(self, low: Integers, high: Integers) -> None:
        """Bound boxes, and keep those that matter."""
        gaps = self._gaps(low, high)
        self._meet(low, high, gaps)
        for row in np.flatnonzero(gaps.most >= 0).tolist():
            most = int(gaps.most[row])
            if not self._matters(most):
                continue
            if gaps.cuts[row, 0] < 0:
                self._stuck = max(self._stuck, most)
            else:
                heappush(self._waiting, (-most, self.boxes + row, low[row], high[row], gaps.cuts[row]))
        self.boxes += len(low)

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

    def _meet(self, low: Integers, high: Integers, gaps: _Gaps) -> None:
        """Show the pair of the box in which scores surely are farthest apart, where that is news."""
        row = int(gaps.least.argmax())
        if not self._matters(int(gaps.least[row])):
            return
        at = slice(row, row + 1)
        box = UnfairBoxes.of(low[at], high[at], gaps.first[at], gaps.second[at])
        found = next(pairs(self._lowered, self._sizes.axes, box), None)
        if found is not None:
            self._worst.meet(*found)

    # ---- somebody to begin with ------------------------------------------------------------------

    def _look(self, low: Integers, high: Integers) -> None:
        """From a single part of each box, the best one of them along the axes as long as the gap becomes wider."""
        low, high = self._anybody(low, high)
        gaps = self._gaps(low, high)
        self._meet(low, high, gaps)
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
                self._meet(lows, highs, gaps)
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
