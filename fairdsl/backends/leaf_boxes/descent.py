"""All assignments go down their trees together, through the same box of shared values.

A *state* is a box of the shared attributes and, for each assignment and each tree, the node that has been reached.
While the box answers a node's test, the assignment goes on; where it does not, the box is cut in two at that test. What
a state's people get is settled as soon as it can be read off: unfair where two comparable assignments have different
decisions, fair where all that are compared are at the same nodes, or decided alike. The boxes are disjoint, so their
sizes add up; every size is a whole number (over one denominator), without rounding.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.leaf_boxes.graph import TERMINAL
from fairdsl.backends.leaf_boxes.lowering import IN, OUT, Lowered
from fairdsl.backends.leaf_boxes.scores import MIXED
from fairdsl.backends.leaf_boxes.sizes import Sizes
from fairdsl.verdict import Estimate

Integers = NDArray[np.int64]
BoolArray = NDArray[np.bool_]

#: Nodes that are looked at together, and boxes of unfair units that are kept.
_AT_ONCE, _KEPT = 2**18, 2**16


@dataclass(frozen=True, slots=True)
class _States:
    """``low`` and ``high`` [states, axes]: the first part and the one behind the last, or (unordered) a set of bits.

    ``nodes`` [states, assignments, trees].
    """

    low: Integers
    high: Integers
    nodes: Integers

    def __len__(self) -> int:
        return len(self.low)

    def only(self, rows: Any) -> _States:
        return _States(self.low[rows], self.high[rows], self.nodes[rows])


@dataclass(frozen=True, slots=True)
class UnfairBoxes:
    """Boxes of unfair units: per box the ends of its axes, and two assignments that are decided differently.

    ``near_low`` and ``near_high`` are the ends of the box in which everybody of the first assignment has a partner of
    the second one; ``swapped``: the partner is `a`.
    """

    low: Integers
    high: Integers
    first: Integers
    second: Integers
    near_low: Integers
    near_high: Integers
    swapped: BoolArray

    @classmethod
    def none(cls, axes: int) -> UnfairBoxes:
        """No boxes."""
        ends, nobody = np.zeros((0, axes), dtype=np.int64), np.zeros(0, dtype=np.int64)
        return cls.of(ends, ends, nobody, nobody)

    @classmethod
    def of(cls, low: Integers, high: Integers, first: Integers, second: Integers) -> UnfairBoxes:
        """Of pairs that share their box."""
        return cls(low, high, first, second, low, high, np.zeros(len(low), dtype=np.bool_))

    def at(self, rows: Integers) -> UnfairBoxes:
        """Some of them."""
        return UnfairBoxes(*(getattr(self, name)[rows] for name in UnfairBoxes.__slots__))

    @classmethod
    def joined(cls, found: Sequence[UnfairBoxes]) -> UnfairBoxes:
        """All of them in one."""
        return cls(*(np.concatenate([getattr(each, name) for each in found]) for name in cls.__slots__))


@dataclass(slots=True)
class Counts:
    """Sizes over the common denominator, and how many boxes they are of; ``vacuous`` ones are not fair ones."""

    fair: int = 0
    vacuous: int = 0
    unfair: int = 0
    undecided: int = 0
    unfair_boxes: int = 0
    open_boxes: int = 0
    boxes: int = 0
    paired: bool = False

    @classmethod
    def of(cls, counts: Sequence[Counts]) -> Counts:
        """Of disjoint boxes together."""
        *sums, paired = (sum(every) for every in zip(*map(astuple, counts), strict=True))
        return cls(*sums, paired=bool(paired))  # type: ignore[misc]


class Descent:
    """Settles one lowered question, as many rounds as are asked for."""

    #: It is never out of room, and what it has not counted is not bounded.
    full = bounds = False
    #: Times the effort of visiting a node, for nodes are looked up here.
    units_a_node = 4.5

    def __init__(self, lowered: Lowered) -> None:
        graph = lowered.graph
        self._lowered = lowered
        self._sizes = sizes = Sizes.over(lowered)
        self.axes, self._axis, self._ordered, self._passing = sizes.axes, sizes.axis, sizes.ordered, sizes.passing
        self._yes, self._no = np.array(graph.yes, dtype=np.int64), np.array(graph.no, dtype=np.int64)
        self._reading = lowered.decides.read(graph)
        self._in, self._out = graph.terminals[IN], graph.terminals[OUT]
        self._priority = np.where(self._axis == TERMINAL, -1.0, self._reading.span)
        self._inside = np.array(lowered.inside, dtype=np.bool_)
        pairs = np.array(lowered.compared or (), dtype=np.int64).reshape(-1, 2)
        self._first, self._second = pairs[:, 0], pairs[:, 1]
        self._chunk = max(1, _AT_ONCE // max(1, len(lowered.roots) * len(lowered.roots[0]), len(pairs)))
        self.counts = Counts()
        self._waiting: list[_States] = [self._start()]
        self._found: list[UnfairBoxes] = []

    def _start(self) -> _States:
        low, high = self._sizes.whole()
        return _States(low[None], high[None], np.array(self._lowered.roots, dtype=np.int64)[None])

    @property
    def finished(self) -> bool:
        """Whether nothing is left to settle."""
        return not self._waiting

    @property
    def left(self) -> int:
        """The size of the states that wait."""
        return sum(self._size(states) for states in self._waiting)

    @property
    def unfair(self) -> UnfairBoxes:
        """The boxes of unfair units that are kept, the first ones found."""
        return UnfairBoxes.joined(self._found)

    def estimated(self, seed: int) -> Estimate | None:
        """Nothing: what waits is few boxes, for those that were cut last go first."""
        return None

    def step(self) -> int:
        """One round: some states go down, are settled, or are cut in two; how many nodes that is."""
        states = self._taken()
        states = self._gone_down(states)
        open_ = self._settle(states)
        if open_.any():
            self._cut(states.only(open_))
        return states.nodes.size

    def _taken(self) -> _States:
        """The states of the next round: those that came last, so that few wait at a time."""
        states = self._waiting.pop()
        while len(states) < self._chunk and self._waiting:
            more = self._waiting.pop()
            states = _States(*(np.concatenate([getattr(s, n) for s in (more, states)]) for n in _States.__slots__))
        if len(states) > self._chunk:
            self._waiting.append(states.only(slice(0, -self._chunk)))
            states = states.only(slice(-self._chunk, None))
        return states

    def _gone_down(self, states: _States) -> _States:
        """Every assignment as far down as its state's box answers."""
        nodes = states.nodes.copy()
        condition = nodes[:, :, -1]
        rows, assignments, trees = np.nonzero(self._axis[nodes] != TERMINAL)
        while rows.size:
            here = nodes[rows, assignments, trees]
            yes, no = self._answers(states, rows, here)
            there = np.where(yes, self._yes[here], np.where(no, self._no[here], here))
            nodes[rows, assignments, trees] = there
            moving = (yes | no) & (self._axis[there] != TERMINAL)
            rows, assignments, trees = rows[moving], assignments[moving], trees[moving]
        # Whoever is not in the target is nowhere: all alike, and nothing to go down for.
        nodes[condition == self._out] = self._out
        return _States(states.low, states.high, nodes)

    def _answers(self, states: _States, rows: Integers, nodes: Integers) -> tuple[BoolArray, BoolArray]:
        """Whether all values of the box pass the test, and whether none does."""
        axes, passing = self._axis[nodes], self._passing[nodes]
        low, high, ordered = states.low[rows, axes], states.high[rows, axes], self._ordered[axes]
        yes = np.where(ordered, high <= passing, (low & ~passing) == 0)
        no = np.where(ordered, low >= passing, (low & passing) == 0)
        return yes, no

    def _settle(self, states: _States) -> BoolArray:
        """Enter what can be read off; the result says which states cannot be settled yet."""
        condition = states.nodes[:, :, -1]
        present, absent = condition == self._in, condition == self._out
        known = (present | absent).all(axis=1)
        decisions = np.where(present, self._reading.decisions(states.nodes[:, :, :-1]), MIXED)
        unfair, first, second = self._apart(decisions)
        alike = known & ~unfair & self._alike(states.nodes, present, decisions)
        stuck = known & ~unfair & ~alike & (self._priority[states.nodes] < 0).all(axis=(1, 2))
        fair = alike & present.any(axis=1)
        paired = self._paired(present)
        counts = self.counts
        counts.fair += self._size(states.only(fair & paired))
        counts.vacuous += self._size(states.only(fair & ~paired))
        counts.undecided += self._size(states.only(stuck))
        counts.unfair += self._size(states.only(unfair))
        counts.open_boxes += int(stuck.sum())
        counts.boxes += int((fair | unfair | stuck).sum())
        counts.paired = counts.paired or bool((paired & (fair | unfair | stuck)).any())
        self._keep(states, unfair, first, second)
        counts.unfair_boxes += int(unfair.sum())
        return np.asarray(~(unfair | alike | stuck), dtype=np.bool_)

    def _keep(self, states: _States, unfair: BoolArray, first: Integers, second: Integers) -> None:
        rows = np.flatnonzero(unfair)[: max(0, _KEPT - self.counts.unfair_boxes)]
        self._found.append(UnfairBoxes.of(states.low[rows], states.high[rows], first[rows], second[rows]))

    def _apart(self, decisions: Integers) -> tuple[BoolArray, Integers, Integers]:
        """Where two comparable assignments that are there are decided differently, and which."""
        if self._lowered.compared is not None:
            one, other = decisions[:, self._first], decisions[:, self._second]
            apart = (one >= 0) & (other >= 0) & (one != other)
            if not len(self._first):
                nobody = np.zeros(len(decisions), dtype=np.int64)
                return nobody.astype(np.bool_), nobody, nobody
            place = np.argmax(apart, axis=1)
            return apart.any(axis=1), self._first[place], self._second[place]
        highest = decisions  # outcomes are numbered from 0, whatever is open or absent lies below
        lowest = np.where(decisions >= 0, decisions, np.iinfo(np.int64).max)
        first, second = np.argmax(highest, axis=1), np.argmin(lowest, axis=1)
        rows = np.arange(len(decisions))
        unfair = (decisions >= 0).any(axis=1) & (highest[rows, first] != lowest[rows, second])
        return unfair, first, second

    def _alike(self, nodes: Integers, present: BoolArray, decisions: Integers) -> BoolArray:
        """Where all that are there and compared are at the same nodes, or decided alike."""
        if self._lowered.compared is not None:
            one, other = self._first, self._second
            both = present[:, one] & present[:, other]
            same = (nodes[:, one] == nodes[:, other]).all(axis=2)
            same |= (decisions[:, one] >= 0) & (decisions[:, one] == decisions[:, other])
            return np.asarray((same | ~both).all(axis=1), dtype=np.bool_)
        first = np.argmax(present, axis=1)
        rows = np.arange(len(nodes))
        same = (nodes == nodes[rows, first][:, None, :]).all(axis=2)
        decided = decisions[rows, first]
        same |= (decided[:, None] >= 0) & (decisions == decided[:, None])
        return np.asarray((same | ~present).all(axis=1), dtype=np.bool_)

    def _paired(self, present: BoolArray) -> BoolArray:
        """Where two people who are there are comparable."""
        inside = (present & self._inside).any(axis=1)
        if self._lowered.compared is None:
            return np.asarray(inside | (present.sum(axis=1) > 1), dtype=np.bool_)
        return np.asarray(inside | (present[:, self._first] & present[:, self._second]).any(axis=1), dtype=np.bool_)

    def _cut(self, states: _States) -> None:
        """Both sides of each state at a test that its box leaves open: of the target first, then the widest one."""
        count = len(states)
        priority = self._priority[states.nodes]
        priority[:, :, -1] = np.where(priority[:, :, -1] >= 0, np.inf, -1.0)
        chosen = np.argmax(priority.reshape(count, -1), axis=1)
        rows = np.arange(count)
        nodes = states.nodes.reshape(count, -1)[rows, chosen]
        axes, passing = self._axis[nodes], self._passing[nodes]
        low, high, ordered = states.low[rows, axes], states.high[rows, axes], self._ordered[axes]
        yes, no = states.only(rows), states.only(rows)
        yes.high[rows, axes] = np.where(ordered, passing, high)
        yes.low[rows, axes] = np.where(ordered, low, low & passing)
        no.low[rows, axes] = np.where(ordered, passing, low & ~passing)
        self._waiting += [yes, no]

    def _size(self, states: _States) -> int:
        """The size of some boxes together, exactly."""
        return self._sizes.of(states.low, states.high)
