"""Boxes of units of a share, and the regions of tuples over them.

A unit is an assignment of what does not differ, or an individual (docs/semantics.md, section 3). What varies within a
box of units is their *own*; what else a tuple over it has is *free*: of assignments the values of both in which they
differ, of an individual its partner's.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from math import prod

from fairdsl.backends.smt.region import Region, reachable, shared_by
from fairdsl.backends.smt.worst import in_force
from fairdsl.ir.expr import Who, conjoin, variables
from fairdsl.ir.problem import Problem
from fairdsl.numerics.narrow import Finite, ValueSet, narrow

__all__ = ["Place", "Product", "Units"]

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
