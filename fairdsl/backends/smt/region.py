"""Regions of pairs: for each attribute of each individual, the values that are left.

A region over-approximates the admissible pairs in it (sets of values are products; predicates are checked
by the solver). Attributes that must be equal have one set for both individuals. Regions are split until
bounds or the solver settle every part.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import inf

import numpy as np
from numpy.typing import NDArray

from fairdsl.ir.domain import Domain
from fairdsl.ir.ensemble import reads_of
from fairdsl.ir.expr import And, Compare, Linear, Predicate, Relation, Variable, Who, rename, variables
from fairdsl.ir.feature import Input
from fairdsl.ir.question import Pair, Relaxation
from fairdsl.numerics.narrow import Finite, ValueSet, clipped, narrow
from fairdsl.numerics.space import halved


@dataclass(frozen=True, slots=True)
class Region:
    """The value sets of a's and of b's attributes; the same set where ``shared``."""

    a: tuple[ValueSet, ...]
    b: tuple[ValueSet, ...]
    shared: tuple[bool, ...]

    @property
    def empty(self) -> bool:
        """Whether nobody is left."""
        return any(values.count == 0 for values in (*self.a, *self.b))

    def sets(self, who: str) -> tuple[ValueSet, ...]:
        """The value sets of one individual's attributes."""
        return self.a if who == "a" else self.b

    def with_values(self, who: str, attribute: int, values: ValueSet) -> Region:
        """The region with other values of one attribute, for both individuals where it is shared."""
        a, b = list(self.a), list(self.b)
        if who == "a" or self.shared[attribute]:
            a[attribute] = values
        if who == "b" or self.shared[attribute]:
            b[attribute] = values
        return replace(self, a=tuple(a), b=tuple(b))

    def halves(self) -> Iterator[tuple[Region, Region]]:
        """Every way to cut one attribute's values into two."""
        return (parts for _, parts in self.cuts())

    def cuts(self) -> Iterator[tuple[tuple[str, int], tuple[Region, Region]]]:
        """The same, each with whose attribute is cut."""
        for attribute, shared in enumerate(self.shared):
            for who in ("a",) if shared else ("a", "b"):
                parts = halved(self.sets(who)[attribute])
                if parts is not None:
                    below, above = (self.with_values(who, attribute, part) for part in parts)
                    yield (who, attribute), (below, above)


def shared_by(domain: Domain, pair: Pair) -> tuple[bool, ...]:
    """Which attributes are equal in both."""
    apart = {*pair.differ, *(relaxation.attribute for relaxation in pair.relax)}
    return tuple(index not in apart for index in range(len(domain.attributes)))


def reachable(relax: Sequence[Relaxation], one: Sequence[ValueSet], other: Sequence[ValueSet]) -> tuple[ValueSet, ...]:
    """What is left of the values of somebody who is no further from another one than a relaxation allows."""
    found = list(other)
    for entry in relax:
        values = one[entry.attribute]
        if entry.by is not None and values.low is not None and values.high is not None:
            ends = values.low - entry.by, values.high + entry.by
            found[entry.attribute] = clipped(found[entry.attribute], ends)
    return tuple(found)


def whole_region(domain: Domain, pair: Pair) -> Region:
    """Everyone whom the domain and the target admit, and b no further from a than a relaxation allows."""
    shared = shared_by(domain, pair)
    a = narrow(domain, pair.target, *_about(pair.pair_target, Who.A))
    reach = [part for relaxation in pair.relax for part in _within_reach(relaxation, a[relaxation.attribute])]
    b = narrow(domain, pair.target, *_about(pair.pair_target, Who.B), *reach)
    for sets in (a, b):
        if any(values.count == 0 for values in sets):
            return Region(sets, sets, shared)
    # Both sets hold of what is shared; the smaller is as good as their intersection, for it only ever bounds.
    common = (min(one, other, key=_extent) if same else one for one, other, same in zip(a, b, shared, strict=True))
    kept = tuple(common)
    return Region(kept, tuple(x if same else y for x, y, same in zip(kept, b, shared, strict=True)), shared)


def _about(predicate: Predicate, who: Who) -> Iterator[Predicate]:
    """The conjuncts that speak of one of the two only, as predicates about an individual."""
    parts = predicate.parts if isinstance(predicate, And) else (predicate,)
    for part in parts:
        if all(variable.who is who for variable in variables(part)):
            yield rename(part, {who: Who.EACH})


def _within_reach(relaxation: Relaxation, values: ValueSet) -> Iterator[Predicate]:
    """What the other's value satisfies where one's value lies in the set."""
    if relaxation.by is None:
        return
    other = {Variable(relaxation.attribute): Fraction(1)}
    if values.low is not None:
        yield Compare(left=Linear.of(other, relaxation.by - values.low), relation=Relation.GE)
    if values.high is not None:
        yield Compare(left=Linear.of(other, -relaxation.by - values.high), relation=Relation.LE)


def _extent(values: ValueSet) -> Fraction | float:
    """A size to prefer the smaller of two sets by."""
    if isinstance(values, Finite):
        return values.count
    return inf if values.low is None or values.high is None else values.high - values.low


def reads_only(inputs: Sequence[Input], attributes: Sequence[bool]) -> NDArray[np.bool_]:
    """Which inputs depend on marked attributes only, [inputs]."""
    others = ~np.array(attributes, dtype=np.bool_)
    return ~np.asarray(reads_of(inputs, len(others))[:, others].any(axis=1), dtype=np.bool_)
