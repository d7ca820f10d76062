"""Boxes of units of a share, and the regions of tuples over them.

A unit is an assignment of what does not differ, or an individual (docs/semantics.md, section 3). What varies within a
box of units is their *own*; what else a tuple over it has is *free*: of assignments the values of both in which they
differ, of an individual its partner's.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import prod

import numpy as np

from fairdsl.backends.contract import Refusal
from fairdsl.backends.smt.region import Region, reachable, shared_by
from fairdsl.backends.smt.worst import in_force
from fairdsl.backends.units import units_of
from fairdsl.clock import Work, spend
from fairdsl.ir.expr import Who, conjoin, variables
from fairdsl.ir.problem import Problem
from fairdsl.numerics.grid import Grid
from fairdsl.numerics.narrow import Finite, ValueSet, narrow

Product = tuple[ValueSet, ...]
#: Whose attribute: an end of a region that can be cut.
Place = tuple[Who, int]

#: Values of what differs that are told apart from the start.
_VALUES = 64


class Units:
    """What the units of a question are; ``start`` is the box of all, ``others`` the values of partners."""

    def __init__(self, problem: Problem) -> None:
        self.asked = asked = problem.demanded.outright
        pair = asked.pair
        self.count = len(problem.domain.attributes)
        self.shared = shared_by(problem.domain, pair)
        self.free = tuple(at for at, shared in enumerate(self.shared) if not shared)
        self.own = tuple(at for at in range(self.count) if asked.of_individuals or self.shared[at])
        self.roles = self._roles()
        own = asked.unit_target
        self.start, self.others = narrow(problem.domain, own), narrow(problem.domain, pair.target)
        #: Who is asked about as a unit's individual.
        self.each = conjoin(problem.domain.where, own)
        #: Who is compared, the values of ``b`` behind those of ``a``; of one individual who is asked about.
        self.force = self.each if asked.alone else in_force(pair, problem)
        self._named = {variable.attribute for variable in variables(self.force)}
        self._lengths = [max(map(length, both)) for both in zip(self.start, self.others, strict=True)]

    def _roles(self) -> tuple[Who, ...]:
        """Who of a tuple the unit may be; of units that are assignments it is one of both, and so all are met."""
        asked = self.asked
        if asked.alone:
            return (Who.EACH,)
        if not asked.of_individuals:
            return (Who.A,)
        return asked.people if asked.one_sided is None else (asked.one_sided,)

    @property
    def empty(self) -> bool:
        """Whether nobody is asked about."""
        return any(values.count == 0 for values in (*self.start, *self.others))

    def measure(self, sets: Product) -> Fraction:
        """How many units a box has, or their volume."""
        return prod((_extent(sets[at]) for at in self.own), start=Fraction(1))

    @property
    def counted(self) -> bool:
        """Whether units are counted."""
        return all(isinstance(self.start[at], Finite) for at in self.own)

    def is_own(self, role: Who, place: Place) -> bool:
        """Whether an end of a region is one of its units."""
        who, at = place
        return at in self.own and (self.shared[at] or who is (Who.B if role is Who.B else Who.A))

    def names(self, at: int) -> bool:
        """Whether who is compared depends on the attribute."""
        return at in self._named or at + self.count in self._named

    def width(self, at: int, values: ValueSet) -> float:
        """Values of an attribute as a part of what there is at first."""
        return length(values) / self._lengths[at] if self._lengths[at] else 0.0

    def places(self) -> list[Place]:
        """All ends of regions."""
        return [(who, at) for at in range(self.count) for who in ((Who.A,) if self.shared[at] else (Who.A, Who.B))]

    def region(self, role: Who, sets: Product) -> Region:
        """All tuples whose unit is in a box."""
        if self.asked.alone:
            return Region(sets, sets, self.shared)
        other = tuple(one if same else other for one, other, same in zip(sets, self.others, self.shared, strict=True))
        if not self.asked.of_individuals:
            return Region(other, other, self.shared)
        other = reachable(self.asked.pair.relax, sets, other)
        return Region(other, sets, self.shared) if role is Who.B else Region(sets, other, self.shared)

    def regions(self, sets: Product) -> Iterator[tuple[Who, Region]]:
        """The same in every role, one for each of few values of what differs."""
        for role in self.roles:
            found = [self.region(role, sets)]
            for who, at in self.places():
                values = (found[0].b if who is Who.B else found[0].a)[at]
                if at not in self.asked.pair.differ or self.is_own(role, (who, at)):
                    continue
                if isinstance(values, Finite) and values.count * len(found) <= _VALUES:
                    chosen = [Finite((value,)) for value in values.values]
                    found = [each.with_values(who.value, at, one) for each in found for one in chosen]
            yield from ((role, region) for region in found)

    def within(self, role: Who, region: Region, at: int, part: ValueSet) -> Region:
        """The region of those whose unit has some values only."""
        found = region.with_values("b" if role is Who.B else "a", at, part)
        near = [each for each in self.asked.pair.relax if each.attribute == at]
        if not near:
            return found
        if role is Who.B:
            return replace(found, a=reachable(near, found.b, found.a))
        return replace(found, b=reachable(near, found.a, found.b))


def _extent(values: ValueSet) -> Fraction:
    """How many values there are, or how long an interval is."""
    if isinstance(values, Finite):
        return Fraction(values.count)
    assert values.low is not None and values.high is not None, "unbounded reals are refused"  # noqa: PT018
    return values.high - values.low


def length(values: ValueSet) -> float:
    """About how far apart the ends are, in steps where values are counted."""
    return max(0.0, float(values.count - 1)) if isinstance(values, Finite) else float(_extent(values))


# ---- few units, gone through one by one ----------------------------------------------------------
#
# Few units of a share, gone through one by one: every tuple over them is judged by the definition.

#: What is counted where effort is given.
_TUPLES = Work("tuples compared", 0.05)


@dataclass(frozen=True, slots=True)
class Counts:
    """Units that are so for sure; ``undecided`` are those of which arithmetic leaves it open."""

    fair: int
    unfair: int
    undecided: int
    vacuous: int
    absent: int


class OneByOne:
    """The units of a question, small boxes of them at a time; ``own`` are the attributes that a unit is made of."""

    def __init__(self, problem: Problem, own: Sequence[int]) -> None:
        found = units_of(problem, drawn=False)
        self._units, self._own = None if isinstance(found, Refusal) else found, frozenset(own)

    def tuples(self, box: Sequence[ValueSet]) -> int | None:
        """How many there are over a box of units; None where they are not listed."""
        sets = self._sets(box)
        return None if sets is None or self._units is None else prod(s.count for s in sets) * self._units.tuples_each

    def counts(self, box: Sequence[ValueSet]) -> Counts:
        """The units of a box, whose tuples can be listed."""
        sets = self._sets(box)
        assert sets is not None and self._units is not None, "checked by whoever asks how many there are"  # noqa: PT018
        units = Grid(sets).points(np.arange(prod(values.count for values in sets)))
        spend(_TUPLES, len(units) * self._units.tuples_each)
        found = self._units.judge(units)
        return Counts(
            fair=int((found.in_question & ~found.unfair & ~found.doubtful).sum()),
            unfair=int(found.unfair.sum()),
            undecided=int(found.doubtful.sum()),
            vacuous=int(found.alone.sum()),
            absent=int((~found.present).sum()),
        )

    def _sets(self, box: Sequence[ValueSet]) -> list[Finite] | None:
        """The values of units, of what differs within one some value; None where they cannot be listed."""
        found = []
        for at, values in enumerate(box):
            if not isinstance(values, Finite) or not Grid.representable(values):
                return None
            found.append(values if at in self._own else Finite(values.values[:1]))
        return found
