"""Boxes that are cut where the mean and the variance of the worst sum leave least open: few, and large.

Of all who are compared the *worst* sum has each tree's least leaf, or each tree's greatest one; where it is above the
threshold, or below it, all are. Cantelli's inequality bounds where it is not (:mod:`.kernels.bounds`).
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.leaf_boxes.kernels.spread import spread
from fairdsl.backends.leaf_boxes.leaf_sets import Tree
from fairdsl.clock import Deadline

__all__ = ["Spread", "SpreadBox"]

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

#: What sums of floats are off by, relatively, at most.
_OFF = 2.0**-36

#: How much less a cut has to leave open.
_LESS = 1.0 - 2.0**-20


class _Worst:
    """The least sum of all assignments (or the greatest, turned around): a threshold of 0 is to be exceeded."""

    def __init__(self, trees: Sequence[Tree], constant: float, sums: Floats, unit: float) -> None:
        self._low, self._high = (np.ascontiguousarray(np.concatenate(e)) for e in _ends(trees))
        self._value = np.concatenate([tree.value for tree in trees]) * unit
        self._constant, self._sums, leaves = constant * unit, sums, len(self._value)
        # By so much sums of floats may be off: a mean is on a side where the exact one is as well.
        self._off = _OFF * (abs(self._constant) + sum(float(np.abs(tree.value).max()) for tree in trees) * unit)
        self._room = np.zeros(leaves), np.zeros(leaves, dtype=np.int64), np.zeros(leaves, dtype=np.int64)

    def look(self, low: Integers, high: Integers) -> tuple[float, float, Floats, float]:
        """Mean, variance, effects of each axis's parts, and how many terms it has."""
        effects, found = np.zeros_like(self._sums), np.zeros(3)
        spread(self._low, self._high, self._value, self._sums, low, high, effects, *self._room, found)
        return float(found[0]) + self._constant - self._off, float(found[1]), effects, float(found[2])


def _ends(trees: Sequence[Tree]) -> tuple[list[Integers], list[Integers]]:
    return [tree.low for tree in trees], [tree.high for tree in trees]


@dataclass(eq=False, slots=True)
class SpreadBox:
    """A box of parts, what part of everything it is, and how much of it is open at most; or its cut and two halves."""

    low: Integers
    high: Integers
    mass: float
    looks: tuple[tuple[float, float, Floats, float], ...]
    open: float
    axis: int = -1
    cut: int = 0
    below: tuple[SpreadBox, ...] = ()


class Spread:
    """Cuts the whole of some parts, as long as that is worth it."""

    def __init__(self, worst: Sequence[tuple[Sequence[Tree], int]], parts: Sequence[Sequence[int]], scale: int) -> None:
        """``worst`` are the trees of the least sum, and of the greatest turned around, with what is added to each."""
        self._sums = np.zeros((len(parts), max(map(len, parts)) + 1))
        for axis, sizes in enumerate(parts):
            self._sums[axis, 1 : len(sizes) + 1] = np.cumsum(sizes)
        self._worst = [_Worst(trees, constant, self._sums, 1 / scale) for trees, constant in worst]
        whole = np.array([len(each) for each in parts], dtype=np.int64)
        self.root = self._box(np.zeros(len(parts), dtype=np.int64), whole, 1.0)
        self._heap, self._numbers = [(-self.root.open, 0, self.root)], count(1)
        #: What is fair, and how many terms the boxes have together.
        self.fair, self.terms = 1.0 - self.root.open, self._terms(self.root)

    def _box(self, low: Integers, high: Integers, mass: float) -> SpreadBox:
        looks = tuple(each.look(low, high) for each in self._worst)
        return SpreadBox(low, high, mass, looks, min(_cantelli(variance, mean) for mean, variance, *_ in looks))

    @staticmethod
    def _terms(box: SpreadBox) -> float:
        return max(terms for *_, terms in box.looks)

    def go_on(self, deadline: Deadline, terms: float, enough: float) -> None:
        """Cut the box with most that is open, until so much is fair, or so many terms are there."""
        while self._heap and self.fair < enough and self.terms < terms and not deadline.passed:
            box = heapq.heappop(self._heap)[2]
            if (cut := self._cut(box)) is None:
                continue
            box.axis, box.cut = cut
            before, middle, behind = (self._sums[box.axis, at] for at in (box.low[cut[0]], cut[1], box.high[cut[0]]))
            first = float((middle - before) / (behind - before))
            upto, since = box.high.copy(), box.low.copy()
            upto[box.axis] = since[box.axis] = box.cut
            halves = self._box(box.low, upto, box.mass * first), self._box(since, box.high, box.mass * (1 - first))
            box.below, box.looks = halves, ()
            self.fair += box.mass * box.open - sum(half.mass * half.open for half in halves)
            self.terms += sum(map(self._terms, halves))
            for half in halves:
                heapq.heappush(self._heap, (-half.mass * half.open, next(self._numbers), half))

    def _cut(self, box: SpreadBox) -> tuple[int, int] | None:
        """The cut of whose sides means and variances leave least open, if effects of other axes stay as they are."""
        least, chosen = box.open * _LESS, None
        for axis in range(len(box.low)):
            begin, end = int(box.low[axis]), int(box.high[axis])
            if end - begin < 2:
                continue
            sizes = np.diff(self._sums[axis, begin : end + 1])
            part = sizes / sizes.sum()
            before = np.cumsum(part)[:-1]
            sides = [
                _foreseen(mean, variance, effects[axis, begin:end], part) for mean, variance, effects, _ in box.looks
            ]
            first, second = np.min(sides, axis=0)
            left = before * first + (1 - before) * second
            place = int(left.argmin())
            if left[place] < least:
                least, chosen = left[place], (axis, begin + place + 1)
        return chosen


def _cantelli(variance: float, distance: float) -> float:
    return variance / (variance + distance * distance) if distance > 0 else 1.0


def _foreseen(mean: float, variance: float, effects: Floats, part: Floats) -> tuple[Floats, Floats]:
    """What each cut leaves open before it and behind it, in parts of each side."""
    sums, squares = np.cumsum(part * effects), np.cumsum(part * effects * effects)
    rest, before = max(0.0, variance - float(squares[-1])), np.cumsum(part)[:-1]
    found = []
    for share, shift, square in (
        (before, sums[:-1] / before, squares[:-1] / before),
        (1 - before, -sums[:-1] / (1 - before), (squares[-1] - squares[:-1]) / (1 - before)),
    ):
        varies, distance = rest + np.maximum(0.0, square - shift * shift), mean + shift
        found.append(np.where(distance > 0, varies / (varies + distance * distance + 1e-300), np.ones_like(share)))
    return found[0], found[1]
