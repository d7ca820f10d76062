"""Questions of every kind about trees: boxes of units, the heaviest first, settled by what is known of their pairs.

Where one score decides and all that differ are compared, :mod:`.refinement` is many times as fast. Here any number of
outcomes decides, pairs have distances and conditions of their own, and people are compared one by one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import astuple
from fractions import Fraction
from math import lcm, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.leaf_boxes.descent import Counts, UnfairBoxes
from fairdsl.backends.leaf_boxes.judging import Fate, Judge, Judged, Question
from fairdsl.backends.leaf_boxes.reach import Units, parted
from fairdsl.backends.leaf_boxes.refinement import NODES
from fairdsl.backends.refining.refinement import State
from fairdsl.backends.refining.splits import Lending, Splits
from fairdsl.clock import UNITS
from fairdsl.verdict import Estimate

Integers = NDArray[np.int64]

#: Boxes of unfair units that are kept.
_KEPT = 2**14


class Pairings(Lending):
    """Settles one question, as many rounds as are asked for, within some bytes of memory."""

    bounds, work = False, NODES
    #: Times the effort of visiting a node.
    units_a_node = 1.0
    seconds_a_node = NODES.units / UNITS

    def __init__(self, task: Question, splits: Splits | None, *, memory: int) -> None:
        super().__init__(task, splits, memory=memory)
        self._sizes, self._judge = task.sizes, Judge(task)
        self.axes = self._sizes.axes
        self._trees = len(task.contest.leaves.starts)
        self._weights = _weights_of(task)
        #: The size of everything.
        self.size = self._sizes.total * sum(self._weights)
        self._most = max(1024, memory // (8 * (2 * len(self.axes) + (3 if splits is None else 6))))
        self.counts = Counts()
        self._full = False
        #: The size of boxes in which nobody is asked about.
        self.absent = 0
        #: The size of the boxes that wait, and how many they are.
        self.left = self._waiting = self.nodes = self.looked_at = 0
        self._piles: dict[int, list[Units]] = defaultdict(list)
        self._found: list[UnfairBoxes] = []

    @classmethod
    def start(cls, task: Question, *, memory: int = 2 << 30, kept: bool = False) -> Pairings:
        """Nothing known yet; ``kept``: it is noted how boxes were cut, and what became of each."""
        low, high = task.sizes.whole()
        every = len(task.asked.people.assignments) if task.asked.pair.of_individuals else 1
        numbers = np.arange(every)
        found = cls(task, Splits(every) if kept else None, memory=memory)
        found._begin(Units(low[None].repeat(every, 0), high[None].repeat(every, 0), numbers, numbers))
        return found

    def _begin(self, units: Units) -> None:
        self._piles.clear()
        self._waiting, self.left = 0, self._size(units)
        self._wait(units)

    def _take(self, states: Sequence[State], waiting: Sequence[State]) -> None:
        self.counts = Counts.of([Counts(*each["counted"]) for each in states])
        self.absent, self.nodes, self.looked_at = (
            sum(each[name] for each in states) for name in ("absent", "visited", "looked_at")
        )
        self._found = [UnfairBoxes(*each["unfair"]) for each in states]
        self._begin(Units.joined([units_of(each) for each in waiting]))

    def _known(self) -> State:
        effort = {"visited": self.nodes, "looked_at": self.looked_at}
        return {"counted": astuple(self.counts), "absent": self.absent, "unfair": _kept(self.unfair), **effort}

    def _dealt(self, parts: int) -> Sequence[State]:
        units, kept = self._open(), _kept(UnfairBoxes.none(len(self.axes)))
        nothing = {"counted": astuple(Counts()), "absent": 0, "unfair": kept, "visited": 0, "looked_at": 0}
        lent = [units.at(slice(part, None, parts)) for part in range(parts)]
        return [{name: getattr(each, name) for name in Units.__slots__} | nothing for each in lent]

    def _open(self) -> Units:
        """The boxes that wait, the heaviest first."""
        ends, nobody = np.zeros((0, len(self.axes)), dtype=np.int64), np.zeros(0, dtype=np.int64)
        none = Units(ends, ends, nobody, nobody)
        return Units.joined([none, *(each for _, pile in sorted(self._piles.items(), reverse=True) for each in pile)])

    @property
    def full(self) -> bool:
        """Whether there is no room for more boxes."""
        return self._full

    @property
    def undecided(self) -> float:
        """The share that is open."""
        return float(Fraction(self.left, max(1, self.size)))

    def heaviest(self, limit: int) -> Sequence[float]:
        """How large the largest boxes are."""
        found: list[float] = np.sort(self._about(self._open()))[::-1][:limit].tolist()
        return found

    @property
    def finished(self) -> bool:
        """Whether nothing is left to settle."""
        return not self._waiting

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
        judged = self._judge.judged(units)
        counts, fate = self.counts, judged.fate
        size = {each: self._size(units.at(fate == each)) for each in Fate if each is not Fate.OPEN}
        counts.fair += size[Fate.FAIR]
        counts.vacuous += size[Fate.VACUOUS]
        counts.unfair += size[Fate.UNFAIR]
        counts.undecided += size[Fate.STUCK]
        self.absent += size[Fate.ABSENT]
        self.left -= sum(size.values())
        settled = (fate != Fate.OPEN) & (fate != Fate.ABSENT)
        counts.boxes += int(settled.sum())
        counts.open_boxes += int((fate == Fate.STUCK).sum())
        counts.paired = counts.paired or bool((settled & (fate != Fate.VACUOUS)).any())
        self._keep(judged, np.flatnonzero(fate == Fate.UNFAIR))
        if self._splits is not None:
            self._splits.settle(units.number, fate)
        self._cut(units.at(fate == Fate.OPEN), judged.cuts[fate == Fate.OPEN])
        looked_at = len(units) * self._trees * (2 if self._judge.individuals else 1)
        self.nodes += looked_at
        self.looked_at += len(units)
        return looked_at

    def _taken(self) -> Units:
        """Boxes of the heaviest pile, so many as are looked at together."""
        heaviest = max(self._piles)
        pile = self._piles[heaviest]
        units = pile.pop()
        while len(units) < self._judge.at_once and pile:
            units = Units.joined([units, pile.pop()])
        if len(units) > self._judge.at_once:
            pile.append(units.at(slice(self._judge.at_once, None)))
            units = units.at(slice(0, self._judge.at_once))
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
        kept = 0 if self._splits is None else self._splits.count
        self._full = max(self._waiting, kept) > self._most

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

    def _keep(self, judged: Judged, rows: Integers) -> None:
        kept = rows[: max(0, _KEPT - self.counts.unfair_boxes)]
        self.counts.unfair_boxes += len(rows)
        self._found.append(judged.unfair.at(kept))

    def _cut(self, units: Units, cuts: Integers) -> None:
        if not len(units):
            return
        low, high = parted(units.low, units.high, cuts, self._sizes.ordered)
        own = np.concatenate([units.own, units.own])
        self._wait(Units(low, high, own, own if self._splits is None else self._splits.cut(units.number, cuts)))


def _kept(unfair: UnfairBoxes) -> tuple[Integers, ...]:
    return tuple(getattr(unfair, name) for name in UnfairBoxes.__slots__)


def units_of(state: State) -> Units:
    """The boxes of a state that wait."""
    return Units(*(state[name] for name in Units.__slots__))


def sizes_of(task: Question, units: Units) -> NDArray[Any]:
    """The size of each box, exactly."""
    weights: NDArray[Any] = np.array(_weights_of(task), dtype=object)
    sizes: NDArray[Any] = task.sizes.each(units.low, units.high).astype(object) * weights[units.own]
    return sizes


def _weights_of(task: Question) -> list[int]:
    """How many individuals each assignment stands for, as whole numbers; one where units have none."""
    asked = task.asked
    if not asked.pair.of_individuals:
        return [1]
    people, differ = asked.people, asked.pair.differ
    cuts = [asked.cuts[at] for at in differ]
    sizes = [
        prod((cut.parts[part].weight for cut, part in zip(cuts, each, strict=True)), start=Fraction(1))
        for each in people.assignments
    ]
    under = lcm(*(size.denominator for size in sizes))
    return [int(size * under) for size in sizes]
