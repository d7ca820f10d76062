"""Where boxes are cut: at an atom where a test that is open changes its truth."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.rates.program import sums_of
from fairdsl.clock import look
from fairdsl.ir.expr import Predicate
from fairdsl.ir.feature import IndicatorInput
from fairdsl.metrics.subject import Subject, weighed_by
from fairdsl.numerics.axes import mentioned
from fairdsl.numerics.event import event_of
from fairdsl.numerics.leaves import Leaves
from fairdsl.numerics.truth import Truths

BoolArray = NDArray[np.bool_]
FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

#: In place of the column of a cut.
NOWHERE = -1


@dataclass(slots=True)
class Look:
    """What bounds say of boxes."""

    #: Whether the event has happened everywhere in the box, and whether it has nowhere, [boxes].
    certain: BoolArray
    impossible: BoolArray
    #: The column to cut (``NOWHERE``: none is preferred) and the first atom of its upper part, [boxes].
    column: IntArray
    at: IntArray
    #: Bounds of the share of the box's mass in which the event happens, [boxes].
    least: FloatArray
    most: FloatArray


class Cuts:
    """The cuts of some predicates."""

    def __init__(self, predicates: Sequence[Predicate], truths: Truths) -> None:
        self._columns = [np.array(mentioned(predicate), dtype=np.int64) for predicate in predicates]
        self._changes: list[IntArray] = []
        for predicate, columns in zip(predicates, self._columns, strict=True):
            if len(columns) != 1:
                self._changes.append(np.zeros(0, dtype=np.int64))
                continue
            _, true, false = truths.table(predicate)
            self._changes.append(1 + np.flatnonzero((np.diff(true) != 0) | (np.diff(false) != 0)))

    def of(self, chosen: IntArray, start: IntArray, stop: IntArray) -> tuple[IntArray, IntArray]:
        """Column and atom of the cut of a chosen predicate (-1: none) in each box."""
        column, at = np.full(len(chosen), NOWHERE), np.zeros(len(chosen), dtype=np.int64)
        for number in np.unique(chosen[chosen >= 0]).tolist():
            rows = np.flatnonzero(chosen == number)
            column[rows], at[rows] = self._cut(number, start[rows], stop[rows])
        return column, at

    def best(self, gains: FloatArray, start: IntArray, stop: IntArray) -> tuple[IntArray, IntArray]:
        """Column and atom of the cut of the predicate on which most depends; ``gains`` are [predicates, boxes]."""
        if not len(gains):
            return self.of(np.full(len(start), NOWHERE), start, stop)
        chosen = np.where(gains.max(axis=0) > 0, np.argmax(gains, axis=0), NOWHERE)
        return self.of(chosen, start, stop)

    def _cut(self, number: int, start: IntArray, stop: IntArray) -> tuple[IntArray, IntArray]:
        columns, changes = self._columns[number], self._changes[number]
        if len(columns) != 1:
            return halved(start[:, columns], stop[:, columns], columns)
        first, last = start[:, columns[0]], stop[:, columns[0]]
        column, at = np.full(len(start), columns[0]), np.full(len(start), changes[0] if len(changes) else 0)
        if len(changes) > 1:  # the one next to the middle
            middle = (first + last) / 2
            at = changes[np.argmin(np.abs(changes[None, :] - middle[:, None]), axis=1)]
        inside = (first < at) & (at < last)
        return np.where(inside, column, NOWHERE), at


def halved(start: IntArray, stop: IntArray, columns: IntArray) -> tuple[IntArray, IntArray]:
    """The middle of the longest of some columns, whose ranges are [boxes, columns]."""
    if not len(columns):
        return np.full(len(start), NOWHERE), np.zeros(len(start), dtype=np.int64)
    lengths = stop - start
    best, rows = np.argmax(lengths, axis=1), np.arange(len(start))
    found = np.where(lengths[rows, best] > 1, columns[best], NOWHERE)
    return found, (start[rows, best] + stop[rows, best]) // 2


# --------------------------------------------------------------------------------------------------
# Sums of trees, lists and rules bounded over many boxes at once, and the test at which each box is best cut.
#
# A tree is at most the greatest leaf that the box reaches. Scores are whole numbers at one scale, so the bounds are
# exact: ties are ties. Cut is where the most depends on it: of every tree the first test on its way that the box leaves
# open counts with the spread of what lies below it, and equal tests of all trees count together.

#: Whole numbers, as floats where these are exact.
Numbers = NDArray[Any]

#: Nodes times boxes that are looked at together.
_AT_ONCE = 1 << 20
#: Whole numbers up to it are floats.
_FLOATS = 1 << 53


def adds_trees(subject: Subject) -> bool:
    """Whether the model is a sum of trees and predicates."""
    model = subject.model
    plain = len(model.layers) == 1 and model.rational and bool(model.layers[0].linear.all())
    return plain and not weighed_by(model)


class TreeBounds:
    """Bounds of one model's event; LargeError where its scores are not whole numbers of a size to compute with."""

    #: Times the effort of a box.
    of_a_box = 1.0

    def __init__(self, subject: Subject, truths: Truths) -> None:
        self._truths, self._event = truths, event_of(subject.model)
        leaves, sums = Leaves.of(subject.model), sums_of(subject)
        shape, (_, test_of) = leaves.ensemble.shape, leaves.ensemble.distinct
        self._yes, self._no, self._roots, self._levels = shape.yes, shape.no, shape.roots, shape.levels
        self._test, self._nodes = test_of, shape.nodes
        others = [(place, subject.model.inputs[place]) for place in leaves.others.tolist()]
        places = [
            place for place, item in others if isinstance(item, IndicatorInput) and any(s[0][place] for s in sums)
        ]
        #: What trees and weighed predicates ask.
        self.tests: list[Predicate] = leaves.ensemble.different
        self._own = np.arange(len(self.tests), len(self.tests) + len(places))
        for place in places:
            item = subject.model.inputs[place]
            assert isinstance(item, IndicatorInput), "chosen above"
            self.tests.append(item.predicate)
        leaf = leaves.positions >= 0
        self._values, self._weights = list[Numbers](), list[Numbers]()
        for weights, _, _ in sums:
            whole = np.array([weights[place] for place in leaves.positions[leaf].tolist()])
            kind = np.float64 if sum(map(abs, weights)) < _FLOATS else np.int64
            values = np.zeros(self._nodes, dtype=kind)
            values[leaf] = whole
            self._values.append(values)
            self._weights.append(np.array([weights[place] for place in places], dtype=kind))
        self._needs = [(sure, maybe) for _, sure, maybe in sums]
        self._cuts = Cuts(self.tests, truths)
        inner = np.flatnonzero(test_of >= 0)
        self._by_test = inner[np.argsort(test_of[inner], kind="stable")]
        self._starts = np.searchsorted(test_of[self._by_test], np.arange(len(self.tests) - len(places)))
        #: How many boxes are looked at together.
        self.batch = max(1, _AT_ONCE // max(1, self._nodes + len(self.tests)))

    def look(self, start: IntArray, stop: IntArray) -> Look:
        """What is to be said of boxes; ranges are [boxes, columns]. Nobody looks at the clock: boxes would be lost."""
        return in_batches(self._look, self.batch, start, stop)

    def _look(self, start: IntArray, stop: IntArray) -> tuple[BoolArray, BoolArray, IntArray, IntArray]:
        yes, no = answers_of(self._truths.of(self.tests, start, stop), len(start))
        certain, impossible, gains = self.judged(yes, no)
        open_ = ~certain & ~impossible
        return certain, impossible, *self._cuts.best(np.where(open_, gains, 0.0), start, stop)

    def judged(self, yes: BoolArray, no: BoolArray) -> tuple[BoolArray, BoolArray, FloatArray]:
        """Where the event certainly happens, where not, and how much depends on each test, [tests, boxes].

        ``yes`` and ``no``: whether tests may be true, and false, in boxes.
        """
        count = yes.shape[1]
        certain, impossible = np.ones(count, np.bool_), np.zeros(count, np.bool_)
        gains = np.zeros((len(self.tests), count))
        first = self._first(yes, no)
        for values, weights, (sure, maybe) in zip(self._values, self._weights, self._needs, strict=True):
            low, high = self._spans(values, yes, no)
            own = yes[self._own], no[self._own]
            least = low[self._roots].sum(axis=0) + _added(weights, *own, np.minimum)
            most = high[self._roots].sum(axis=0) + _added(weights, *own, np.maximum)
            certain &= least >= sure
            impossible |= most < maybe
            spread = np.where(first, high - low, 0)[self._by_test]
            if len(self._starts):
                own_gains = np.add.reduceat(spread, self._starts, axis=0)
                gains[: len(own_gains)] += own_gains / max(1.0, float(np.abs(values).sum()))
            gains[self._own] += np.where(own[0] & own[1], np.abs(weights)[:, None], 0) / max(1.0, np.abs(weights).sum())
        if self._event.complement:
            certain, impossible = impossible, certain
        return certain, impossible, gains

    def untold(self, apart: BoolArray, yes: BoolArray, no: BoolArray) -> BoolArray:
        """Where nobody comes to a test that is ``apart``, [boxes]; nowhere if a predicate beside trees is."""
        told = np.full(yes.shape[1], apart[self._own].any())
        come = np.zeros((self._nodes, yes.shape[1]), dtype=np.bool_)
        come[self._roots] = True
        for nodes in self._levels:
            test, here = self._test[nodes], come[nodes]
            told |= (here & apart[test][:, None]).any(axis=0)
            come[self._yes[nodes]], come[self._no[nodes]] = here & yes[test], here & no[test]
        return ~told

    def _spans(self, values: Numbers, yes: BoolArray, no: BoolArray) -> tuple[Numbers, Numbers]:
        """The least and the greatest leaf that boxes reach from each node, [nodes, boxes]."""
        count = yes.shape[1]
        low = np.repeat(values[:, None], count, axis=1)
        high = low.copy()
        none = np.iinfo(np.int64).max if values.dtype == np.int64 else inf
        for nodes in reversed(self._levels):
            test, below, above = self._test[nodes], self._yes[nodes], self._no[nodes]
            true, false = yes[test], no[test]
            low[nodes] = np.minimum(np.where(true, low[below], none), np.where(false, low[above], none))
            high[nodes] = np.maximum(np.where(true, high[below], -none), np.where(false, high[above], -none))
        return low, high

    def _first(self, yes: BoolArray, no: BoolArray) -> BoolArray:
        """Which nodes all of a box comes to, and leaves in both ways, [nodes, boxes]."""
        whole = np.zeros((self._nodes, yes.shape[1]), dtype=np.bool_)
        whole[self._roots] = True
        first = np.zeros_like(whole)
        for nodes in self._levels:
            true, false = yes[self._test[nodes]], no[self._test[nodes]]
            here = whole[nodes]
            first[nodes] = here & true & false
            whole[self._yes[nodes]] = here & ~false
            whole[self._no[nodes]] = here & ~true
        return first


def in_batches(
    judge: Callable[[IntArray, IntArray], tuple[BoolArray, BoolArray, IntArray, IntArray]],
    batch: int,
    start: IntArray,
    stop: IntArray,
) -> Look:
    """What is certain and impossible of so many boxes at once, and where they are cut."""
    parts = [judge(start[at : at + batch], stop[at : at + batch]) for at in range(0, max(1, len(start)), batch)]
    certain, impossible, column, place = (np.concatenate(each) for each in zip(*parts, strict=True))
    return Look(certain, impossible, column, place, certain.astype(np.float64), 1.0 - impossible)


def answers_of(pairs: Sequence[tuple[BoolArray, BoolArray]], boxes: int) -> tuple[BoolArray, BoolArray]:
    """Whether predicates may be true, and whether they may be false, [predicates, boxes]."""
    yes = np.array([true for true, _ in pairs], dtype=np.bool_).reshape(-1, boxes)
    no = np.array([false for _, false in pairs], dtype=np.bool_).reshape(-1, boxes)
    return yes, no


def _added(weights: Numbers, true: BoolArray, false: BoolArray, end: np.ufunc) -> Numbers:
    """The least or the greatest that predicates add, [boxes]."""
    ends: Numbers = end(weights, 0)[:, None]
    return np.asarray(np.where(true & false, ends, np.where(true, weights[:, None], 0)).sum(axis=0))


class NoBounds:
    """Says nothing of boxes."""

    #: Times the effort of a box.
    of_a_box = 1.0

    def look(self, start: IntArray, stop: IntArray) -> Look:
        """Everything is open, and may be cut anywhere."""
        look()
        nobody, nowhere = np.zeros(len(start), dtype=np.bool_), np.full(len(start), NOWHERE)
        return Look(nobody, nobody.copy(), nowhere, nowhere.copy(), np.zeros(len(start)), np.ones(len(start)))
