"""What is known of the pairs over a box: which are in force, and which of them are treated alike.

A unit is an assignment of the attributes that do not differ, or (where distances are allowed, or the target names one
of the two) an individual. Over a box of units the scores of both people of a pair lie in ranges, conditions are true,
false or open, and so is what follows. All of it is exact where it is known, so a box is settled as a whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.leaf_boxes.asked import Asked
from fairdsl.backends.leaf_boxes.conditions import Conditions, People
from fairdsl.backends.leaf_boxes.duels import Contest, Range
from fairdsl.backends.leaf_boxes.kernels.extremes import extremes
from fairdsl.backends.leaf_boxes.lowering import ComparedPeople
from fairdsl.ir.expr import TRUE, Who
from fairdsl.ir.question import ScoreGap

Integers = NDArray[np.int64]
BoolArray = NDArray[np.bool_]
Truths = NDArray[np.int8]


@dataclass(frozen=True, slots=True)
class Ranges:
    """Of boxes the sums of each assignment, [n, assignments, numbers], in all and less what is common to all
    assignments, and where to cut [n, 2]."""

    whole: Range
    own: Range
    cuts: Integers


@dataclass(frozen=True, slots=True)
class Pairs:
    """Pairs over boxes, [n, pairs]: in force or not, decided apart or alike, and the assignments of both."""

    admitted: Truths
    apart: Truths
    a: Integers
    b: Integers

    @property
    def hit(self) -> BoolArray:
        """Pairs that break the demand."""
        return np.asarray((self.admitted == 1) & (self.apart == 1), dtype=np.bool_)

    @property
    def clean(self) -> BoolArray:
        """Boxes in which no pair breaks it."""
        return np.asarray(((self.admitted == -1) | (self.apart == -1)).all(axis=1), dtype=np.bool_)

    @property
    def alone(self) -> BoolArray:
        """Boxes in which nobody is compared."""
        return np.asarray((self.admitted == -1).all(axis=1), dtype=np.bool_)

    @property
    def paired(self) -> BoolArray:
        """Boxes in which somebody is compared in each unit."""
        return np.asarray((self.admitted == 1).any(axis=1), dtype=np.bool_)

    def at(self, rows: Integers, places: Integers) -> tuple[Integers, Integers]:
        """The assignments of some of them."""
        return self.a[rows, places], self.b[rows, places]

    @classmethod
    def joined(cls, found: Sequence[Pairs]) -> Pairs:
        """All pairs over the same boxes."""
        return cls(*(np.concatenate([getattr(each, name) for each in found], axis=1) for name in cls.__slots__))


class Comparisons:
    """Judges the pairs of one question over boxes."""

    def __init__(self, asked: Asked, contest: Contest, axes: Sequence[int]) -> None:
        pair, people = asked.pair, asked.people
        self._contest, self._pair = contest, pair
        self._each, self._two, self._unit = asked.each, asked.both, asked.unit
        self.people = len(people.assignments)
        self._numbers: int = contest.duels.low.shape[1]
        self.conditions = Conditions(asked.cuts, axes, pair.differ, people.assignments)
        #: Whether units are individuals, whose assignment is part of a unit.
        self.individuals = pair.of_individuals
        self._may_cut = np.ones(len(axes), dtype=np.bool_)
        self._comparable = self._compared(people)
        upper = np.triu(self._comparable) if pair.symmetric else self._comparable
        self._first, self._second = (each.astype(np.int64) for each in np.nonzero(upper))
        words = contest.leaves.everywhere
        self._room = (
            np.zeros_like(words),
            np.zeros_like(words),
            np.zeros_like(words),
            np.zeros_like(contest.duels.sums),
            np.zeros(len(axes), dtype=np.int64),
        )

    def _compared(self, people: ComparedPeople) -> BoolArray:
        """Which assignments hold two people who differ as the question says, [assignments, assignments]."""
        if people.compared is None:
            found = ~np.eye(self.people, dtype=np.bool_)
        else:
            found = np.zeros((self.people, self.people), dtype=np.bool_)
            for one, other in people.compared:
                found[one, other] = found[other, one] = True
        return found | np.diag(np.array(people.inside, dtype=np.bool_))

    @property
    def count(self) -> int:
        """How many numbers one box takes."""
        pairs = self.people if self.individuals else len(self._first)
        return max(1, pairs, self.people * self._numbers)

    @property
    def sides(self) -> tuple[Who, ...]:
        """Which of the two a unit's individual is."""
        if self._pair.one_sided is not None:
            return (self._pair.one_sided,)
        return (Who.A,) if self._pair.symmetric else (Who.A, Who.B)

    def swapped(self, places: Integers) -> BoolArray:
        """Of pairs of individuals, by their places among all of a box, whether the individual of the unit is `b`."""
        return np.array([who is Who.B for who in self.sides])[places // self.people]

    def ranges(
        self,
        low: Integers,
        high: Integers,
        cut: tuple[Integers, Integers] | None = None,
        may_cut: BoolArray | None = None,
    ) -> Ranges:
        """Of boxes [n, axes]; cuts are looked for inside others."""
        shape = (2, len(low), self.people, self._numbers)
        common, own = np.zeros((2, len(low), self._numbers), dtype=np.int64), np.zeros(shape, dtype=np.int64)
        cuts = np.zeros((len(low), 2), dtype=np.int64)
        # A kernel is compiled for each way in which arrays lie in memory.
        low, high, cut_low, cut_high = map(np.ascontiguousarray, (low, high, *((low, high) if cut is None else cut)))
        may = self._may_cut if may_cut is None else may_cut
        duels, leaves = self._contest.duels, self._contest.leaves
        extremes(duels, leaves, may, low, high, cut_low, cut_high, common, own, cuts, *self._room)
        whole = own + common[:, :, None, :]
        return Ranges(Range(whole[0], whole[1]), Range(own[0], own[1]), cuts)

    def decided(self, ranges: Ranges, own: Integers) -> BoolArray:
        """Of boxes of individuals whether all of them are decided alike; of gaps of scores nothing is."""
        possible = self._contest.possible(ranges.whole)[np.arange(len(own)), own]
        same = not isinstance(self._pair.demand, ScoreGap)
        return np.asarray((possible & (possible - 1) == 0) & same, dtype=np.bool_)

    def everybody(self, low: Integers, high: Integers) -> People:
        """All assignments over boxes."""
        return People(low, high, np.arange(self.people)[None])

    def present(self, low: Integers, high: Integers) -> Truths:
        """Who is asked about, [n, assignments]."""
        return self.conditions.truths(self._each, {Who.EACH: self.everybody(low, high)})

    def counted(self, low: Integers, high: Integers, own: Integers) -> Truths:
        """Whose individual is a unit, [n]."""
        return self.conditions.truths(self._unit, {Who.EACH: People(low, high, own[:, None])})[:, 0]

    def over(self, low: Integers, high: Integers, ranges: Ranges, present: Truths) -> Pairs:
        """The pairs over units that are assignments of what does not differ."""
        first, second = self._first, self._second
        sides = (People(low, high, first[None]), People(low, high, second[None]))
        possible = self._contest.possible(ranges.whole)
        admitted = np.minimum(present[:, first], present[:, second])
        admitted = np.minimum(admitted, self._both(low, high, *sides))
        for who, at in ((Who.A, first), (Who.B, second)):
            if self._pair.sure_of(who):
                admitted = np.minimum(admitted, self._sure(ranges, possible, who)[:, at])
        apart = self._apart(ranges.own.at((slice(None), first)), ranges.own.at((slice(None), second)))
        if not isinstance(self._pair.demand, ScoreGap):
            apart = self._alike(possible[:, first], possible[:, second], apart)
        shape = admitted.shape
        return Pairs(admitted, apart, np.broadcast_to(first, shape), np.broadcast_to(second, shape))

    def around(
        self,
        own: tuple[Integers, Integers, Integers, Ranges],
        low: Integers,
        high: Integers,
        ranges: Ranges,
        counted: Truths,
    ) -> Pairs:
        """The pairs of individuals in some boxes, ``own``: their ends, assignments and ranges, with partners in others;
        where these are the same boxes the two share all that does not differ."""
        own_low, own_high, mine, own_ranges = own
        rows, everybody = np.arange(len(mine)), np.arange(self.people)
        comparable = np.where(self._comparable[mine], 1, -1).astype(np.int8)
        base = np.minimum(np.minimum(comparable, counted[:, None]), self.present(low, high))
        possible, others = self._contest.possible(own_ranges.whole), self._contest.possible(ranges.whole)
        held = own_ranges is ranges
        one = (own_ranges.own if held else own_ranges.whole).at(rows).at((rows, mine))
        one = Range(one.low[:, None], one.high[:, None])
        apart = self._apart(one, ranges.own if held else ranges.whole)
        if not isinstance(self._pair.demand, ScoreGap):
            apart = self._alike(possible[rows, mine][:, None], others, apart)
        me, them = People(own_low, own_high, mine[:, None]), People(low, high, everybody[None])
        found = []
        shape = base.shape
        for who in self.sides:
            a, b = (me, them) if who is Who.A else (them, me)
            admitted = np.minimum(base, self._both(own_low, own_high, a, b))
            if self._pair.sure_of(who):
                admitted = np.minimum(admitted, self._sure(own_ranges, possible, who)[rows, mine][:, None])
            other = Who.B if who is Who.A else Who.A
            if self._pair.sure_of(other):
                admitted = np.minimum(admitted, self._sure(ranges, others, other))
            of_me, of_them = np.broadcast_to(mine[:, None], shape), np.broadcast_to(everybody, shape)
            found.append(Pairs(admitted, apart, *((of_me, of_them) if who is Who.A else (of_them, of_me))))
        return Pairs.joined(found)

    def cut_by_conditions(self, low: Integers, high: Integers, own: Integers | None) -> Integers:
        """Where conditions that are open may be cut, [n, 2]; -1 where none is."""
        side = self.everybody(low, high)
        found = np.full((len(low), 2), -1, dtype=np.int64)
        sides = {Who.EACH: side, Who.A: side, Who.B: side}
        for predicate in (self._unit if own is not None else self._each, self._each, self._two):
            if predicate == TRUE:
                continue
            new = self.conditions.cut(predicate, sides)
            found = np.where(found[:, :1] < 0, new, found)
        return found

    def _both(self, low: Integers, high: Integers, a: People, b: People) -> Truths:
        """What is known of what is asked of pairs, [n, pairs]."""
        shared = People(low, high, np.zeros((1, 1), dtype=np.int64))
        return self.conditions.truths(self._two, {Who.A: a, Who.B: b, Who.EACH: shared})

    def _sure(self, ranges: Ranges, possible: Integers, who: Who) -> Truths:
        return self._contest.sure(ranges.whole, possible, self._pair.sure_of(who))

    def _apart(self, one: Range, other: Range) -> Truths:
        """Of sums [n, pairs, numbers] whether their gap is too large; of decisions whether all numbers are equal."""
        low, high = one.low - other.high, one.high - other.low
        if isinstance(self._pair.demand, ScoreGap):
            kept, broken = self._contest.gap_limits(self._pair.demand)
            low, high = low[..., 0], high[..., 0]
            least = np.maximum(np.maximum(low, -high), 0)
            most = np.maximum(np.abs(low), np.abs(high))
            return np.where(least >= broken, 1, np.where(most <= kept, -1, 0)).astype(np.int8)
        equal = (low == 0) & (high == 0)
        return np.where(equal.all(axis=-1) & self._contest.exact, -1, 0).astype(np.int8)

    @staticmethod
    def _alike(one: Integers, other: Integers, apart: Truths) -> Truths:
        """Of outcomes that may be decided, as bits."""
        single = (one == other) & (one & (one - 1) == 0)
        return np.where((one & other) == 0, 1, np.where(single, -1, apart)).astype(np.int8)
