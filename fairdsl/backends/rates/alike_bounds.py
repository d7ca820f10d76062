"""Bounds of units of trees over many boxes at once: where all who are compared are decided alike, and where not.

A box of individuals is one of units, whatever it has of what differs. Each assignment of that answers some tests, and
goes its own way from there; the rest of the box is shared. All are alike where one outcome is certain for everybody, or
no way meets a test that assignments answer differently; two are not where an outcome is certain for one of them
and impossible for another one. Where both say nothing the box is cut at the test on which most depends.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.rates.tree_bounds import Cuts, Look, TreeBounds, answers_of, in_batches
from fairdsl.ir.expr import Predicate
from fairdsl.ir.model import ByThreshold
from fairdsl.metrics.alike import Assignment, given
from fairdsl.metrics.subject import Subject
from fairdsl.numerics.truth import Truths

BoolArray = NDArray[np.bool_]
IntArray = NDArray[np.int64]


class AlikeBounds:
    """Bounds of the event that within each of some groups of assignments all get the same decision.

    LargeError where scores are not whole numbers of a size to compute with.
    """

    #: Times the effort of a box.
    of_a_box = 1.0

    def __init__(self, subject: Subject, truths: Truths, groups: Sequence[Sequence[Assignment]]) -> None:
        model = subject.model
        self._truths = truths
        # Of two outcomes one is certain where the other one is impossible.
        outcomes = [0] if isinstance(model.rule, ByThreshold) else range(len(model.outcomes))
        self._only = len(outcomes) == 1
        favouring = (replace(model, favourable=outcome, beside=frozenset()) for outcome in outcomes)
        self._events = [TreeBounds(replace(subject, model=each), truths) for each in favouring]
        tests = self._events[0].tests
        asked: dict[Predicate, int] = {}
        #: Of each assignment, group by group, what its tests still ask, [tests].
        self._groups = [
            [
                np.array([asked.setdefault(given(test, each), len(asked)) for test in tests], dtype=np.int64)
                for each in group
            ]
            for group in groups
        ]
        self._asked = list(asked)
        self._apart = [np.any([at != group[0] for at in group], axis=0) for group in self._groups]
        self._cuts = Cuts(self._asked, truths)
        self.batch = max(1, self._events[0].batch // max(1, len(self._events)))

    def look(self, start: IntArray, stop: IntArray) -> Look:
        """What is to be said of boxes; ranges are [boxes, columns]."""
        return in_batches(self._look, self.batch, start, stop)

    def _look(self, start: IntArray, stop: IntArray) -> tuple[BoolArray, BoolArray, IntArray, IntArray]:
        yes, no = answers_of(self._truths.of(self._asked, start, stop), len(start))
        alike, unlike = np.ones(len(start), np.bool_), np.zeros(len(start), np.bool_)
        gains = np.zeros((len(self._asked), len(start)))
        for group, apart in zip(self._groups, self._apart, strict=True):
            ways = [(yes[at], no[at]) for at in group]
            either = np.any([true for true, _ in ways], axis=0), np.any([false for _, false in ways], axis=0)
            same = self._events[0].untold(apart, *either)
            for event in self._events:
                all_, some = np.ones((2, len(start)), np.bool_), np.zeros((2, len(start)), np.bool_)
                for at, way in zip(group, ways, strict=True):
                    certain, impossible, depends = event.judged(*way)
                    known = np.stack([certain, impossible])
                    all_, some = all_ & known, some | known
                    np.add.at(gains, at, depends)
                same |= all_.any(axis=0) if self._only else all_[0]
                unlike |= some.all(axis=0)
            alike &= same
        gains[:, alike | unlike] = 0.0
        return alike, unlike, *self._cuts.best(gains, start, stop)
