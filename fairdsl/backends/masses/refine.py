"""Branch and bound on the masses of a model's favourable outcome, for all keys together.

For every key the boxes partition the individuals with that key. A box adds to Pr[favourable, key, given] what bounds,
half-spaces or the individuals themselves prove of it; docs/masses.md has the inequalities. The box of which most is
open, measured by what its key's mass is, is split next, and its parts take its place. Bounds found at different times
all hold, so that the best ones are kept: the parts of a box may prove less than the box did.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from heapq import heappop, heappush
from itertools import product
from math import ceil, floor

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.masses.bounding import Bounded, Bounder
from fairdsl.backends.masses.halfspace import HalfSpace
from fairdsl.backends.masses.law import Chances, KeyLaw, Law
from fairdsl.backends.masses.points import NOTHING, Given, Individuals, Parts
from fairdsl.backends.masses.splitting import Splitter
from fairdsl.clock import NEVER, Deadline
from fairdsl.ir.expr import TRUE
from fairdsl.metrics.joint import Bounds, Joint, Key, key_of
from fairdsl.metrics.subject import Subject, axes_of
from fairdsl.numerics.event import Event, event_of
from fairdsl.numerics.truth import Truths

__all__ = ["Refinement"]

IntArray = NDArray[np.int64]

#: Boxes that are bounded at once.
_BATCH = 128


@dataclass(slots=True)
class _Box:
    """Ranges of atoms by column and what is proved of it; ``column`` is where it is cut (-1: nowhere).

    ``exhausted``: all of its individuals were decided.
    """

    key: int
    start: IntArray
    stop: IntArray
    mass: int
    parts: Parts = NOTHING
    column: int = -1
    exhausted: bool = False


@dataclass(slots=True)
class _Group:
    """A key: its law, the sum over its boxes, and the best bounds so far."""

    key: Key
    law: KeyLaw
    mass: int
    sums: list[int]
    best: list[int]

    def add(self, parts: Parts, sign: int) -> None:
        """Count a box, or count it no more."""
        numbers = (parts.favourable_low, parts.favourable_high, parts.total_low, parts.total_high)
        self.sums = [total + sign * number for total, number in zip(self.sums, numbers, strict=True)]

    def keep(self) -> None:
        """Take over what the boxes prove by now."""
        pairs = zip(self.best, self.sums, strict=True)
        self.best = [max(b, s) if place % 2 == 0 else min(b, s) for place, (b, s) in enumerate(pairs)]


class Refinement:
    """Bounds of a subject's joint probabilities that get narrower."""

    def __init__(self, subject: Subject) -> None:
        self._subject = subject
        self.axes = axes_of(subject)
        self._truths = Truths(self.axes)
        self._event: Event = event_of(subject.model)
        self._law = Law(subject.network, self.axes)
        self._bounder = Bounder(subject.model, self._event, self._truths)
        self._half = HalfSpace(subject.model, self._event, self._truths)
        width = len(subject.network.columns)
        self._individuals = Individuals(subject.model, subject.condition, self.axes, width)
        self._splitter = Splitter(subject.model, subject.condition, self._truths, width)
        self._groups: list[_Group] = []
        self._heap: list[tuple[float, int, _Box]] = []
        self._serial = 0
        self._deadline = NEVER
        self.boxes = self.individuals = 0
        self._waiting = self._roots()

    @property
    def finished(self) -> bool:
        """Whether nothing is left to be split."""
        return not self._waiting and not self._heap

    def improve(self, deadline: Deadline) -> None:
        """Bound boxes that wait, or split those of which most is open and bound their parts.

        Individuals are no longer decided one by one when ``deadline`` has passed.
        """
        self._deadline = deadline
        boxes = self._waiting[:_BATCH]
        del self._waiting[:_BATCH]
        while self._heap and len(boxes) < _BATCH:
            _, _, box = heappop(self._heap)
            self._groups[box.key].add(box.parts, -1)
            boxes += self._halves(box)
        self._prove(boxes)
        if not self._waiting:
            for group in self._groups:
                group.keep()

    def joint(self) -> Joint:
        """What is known by now."""
        under = self._law.denominator
        favourable, total = {}, {}
        for group in self._groups:
            low, high, least, most = (Fraction(number, under) for number in group.best)
            favourable[group.key] = Bounds(low=low, high=high)
            total[group.key] = Bounds(low=least, high=most)
        return Joint(favourable=favourable, total=total)

    def _roots(self) -> list[_Box]:
        network, keys = self._subject.network, self._subject.keys
        everybody = self._subject.condition == TRUE
        boxes = []
        for cells in product(*(range(len(network.cells[column])) for column in keys)):
            at = dict(zip(keys, cells, strict=True))
            start, stop = np.zeros((2, len(network.columns)), dtype=np.int64)
            stop += 1
            for column, axis in self.axes.items():
                start[column], stop[column] = axis.range_of(at[column]) if column in at else (0, len(axis.atoms))
            law = self._law.given(at)
            mass = law.mass(self._ranges(start, stop))
            name = tuple(key_of(network.cells[column][cell]) for column, cell in at.items())
            group = _Group(name, law, mass, [0, 0, 0, 0], [0, mass, mass if everybody else 0, mass])
            self._groups.append(group)
            if mass:
                boxes.append(_Box(len(self._groups) - 1, start, stop, mass))
        return boxes

    def _ranges(self, start: IntArray, stop: IntArray) -> dict[int, tuple[int, int]]:
        return {column: (int(start[column]), int(stop[column])) for column in self.axes}

    def _halves(self, box: _Box) -> list[_Box]:
        """The parts of a box that have any mass."""
        middle = (int(box.start[box.column]) + int(box.stop[box.column])) // 2
        parts = []
        for first, last in ((int(box.start[box.column]), middle), (middle, int(box.stop[box.column]))):
            start, stop = box.start.copy(), box.stop.copy()
            start[box.column], stop[box.column] = first, last
            mass = self._groups[box.key].law.mass(self._ranges(start, stop))
            if mass:
                parts.append(_Box(box.key, start, stop, mass))
        return parts

    def _prove(self, boxes: list[_Box]) -> None:
        """Bound boxes, count them, and keep those that are open and can be cut."""
        if not boxes:
            return
        start, stop = np.array([box.start for box in boxes]), np.array([box.stop for box in boxes])
        ((true, false),) = self._truths.of([self._subject.condition], start, stop)
        bounded = self._bounder.bound(start, stop)
        chances = [self._chances(box) for box in boxes]
        columns = self._splitter.columns(bounded, start, stop, [list(each) for each in chances]).tolist()
        self.boxes += len(boxes)
        for place, box in enumerate(boxes):
            group = self._groups[box.key]
            box.column = columns[place]
            given = Given.NO if not true[place] else Given.OPEN if false[place] else Given.YES
            box.parts = self._parts(box, place, bounded, given, chances[place])
            group.add(box.parts, 1)
            if box.parts.open and box.column >= 0 and not box.exhausted:
                self._serial += 1
                heappush(self._heap, (-(box.parts.open / group.mass), self._serial, box))

    def _chances(self, box: _Box) -> Chances:
        """The independent columns of a box; none where most are not, for the half-spaces would say next to nothing."""
        found = self._groups[box.key].law.chances(self._ranges(box.start, box.stop))
        return found if 2 * len(found) > len(self.axes) else {}

    def _parts(self, box: _Box, place: int, bounded: Bounded, given: Given, chances: Chances) -> Parts:
        least = box.mass if given is Given.YES else 0
        if given is Given.NO:
            return NOTHING
        if bounded.impossible[place]:
            parts = Parts(0, 0, least, box.mass)
        elif bounded.certain[place]:
            parts = Parts(least, box.mass, least, box.mass)
        else:
            parts = Parts(0, box.mass, least, box.mass)
        if not parts.open:
            return parts
        law, ranges = self._groups[box.key].law, self._ranges(box.start, box.stop)
        if self._individuals.few(ranges) and not self._deadline.passed:
            box.exhausted = True
            self.individuals += self._individuals.count(ranges)
            return self._individuals.parts(ranges, law)
        if chances and not bounded.certain[place] and not bounded.impossible[place]:
            low, high = self._half.shares(bounded, place, ranges, chances)
            return Parts(floor(low * least), ceil(high * box.mass), least, box.mass)
        return parts
