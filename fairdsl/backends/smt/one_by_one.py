"""Few units of a share, gone through one by one: every tuple over them is judged by the definition."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.demands import Judge
from fairdsl.clock import Work, spend
from fairdsl.ir.demand import Demanded
from fairdsl.ir.expr import Predicate, Who
from fairdsl.numerics.grid import Grid
from fairdsl.numerics.narrow import Finite, ValueSet
from fairdsl.numerics.predicates import mask

__all__ = ["Counts", "OneByOne"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

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


@dataclass(frozen=True, slots=True)
class OneByOne:
    """The units of a question, small boxes of them at a time.

    ``force`` says of two, the values of ``b`` behind those of ``a``, whether they are compared (of one individual,
    whether it is asked about), ``each`` who is. ``roles`` are those of a unit's individual; of units that are
    assignments of what does not differ, the first of both, all of whose ``free`` attributes go through all values.
    """

    judge: Judge
    asked: Demanded
    force: Predicate
    each: Predicate
    free: tuple[int, ...]
    roles: tuple[Who, ...]

    def tuples(self, unit: Sequence[ValueSet], others: Sequence[ValueSet]) -> int | None:
        """How many there are over a box of units, whose partners have the ``others``; None where they are not listed.

        Of free attributes a box of units that are assignments has all values.
        """
        sets = [*unit, *(others[at] for at in self.free)]
        if not all(isinstance(values, Finite) and Grid.representable(values) for values in sets):
            return None
        units = prod(values.count or 0 for values in unit)
        partners = prod(others[at].count or 0 for at in self.free)
        return units * len(self.roles) * (1 if self.asked.alone else partners)

    def counts(self, unit: Sequence[ValueSet], others: Sequence[ValueSet]) -> Counts:
        """The units of a box, whose tuples can be listed."""
        sets = [values for values in unit if isinstance(values, Finite)]
        own = [at for at in range(len(sets)) if self.asked.of_individuals or at not in self.free]
        shape = tuple(sets[at].count for at in own)
        points = Grid(sets).points(np.arange(prod(values.count for values in sets)))
        place = np.zeros(len(points), dtype=np.int64)
        if own:
            at_value = (np.searchsorted(_floats(sets[at]), points[:, at]) for at in own)
            place = np.ravel_multi_index(tuple(at_value), shape).astype(np.int64)
        present = np.zeros(prod(shape), dtype=np.bool_)
        present[place[mask(self.each, {Who.EACH: points})]] = True
        paired, unfair, open_ = (np.zeros(len(present), dtype=np.bool_) for _ in range(3))
        for role in self.roles:
            one, other = self._two(points, others)
            unit_at = place[np.repeat(np.arange(len(points)), len(other) // max(1, len(points)))]
            a, b = (other, one) if role is Who.B else (one, other)
            inside = mask(self.force, {Who.EACH: np.hstack([a, b])})
            people = {Who.EACH: a[inside]} if self.asked.alone else {Who.A: a[inside], Who.B: b[inside]}
            if not inside.any():
                continue
            spend(_TUPLES, int(inside.sum()))
            measured = {who: self.judge.measure(some) for who, some in people.items()}
            numbered = {who: np.arange(len(some)) for who, some in people.items()}
            judged = self.judge.judge(measured, numbered)
            rows = unit_at[inside]
            for found, some in ((paired, judged.asked), (unfair, judged.violating), (open_, judged.undecided)):
                found[rows[some]] = True
        open_ &= ~unfair
        return Counts(
            fair=int((paired & ~unfair & ~open_).sum()),
            unfair=int(unfair.sum()),
            undecided=int(open_.sum()),
            vacuous=int((present & ~paired & ~open_).sum()),
            absent=int((~present & ~paired & ~open_).sum()),
        )

    def _two(self, points: Floats, others: Sequence[ValueSet]) -> tuple[Floats, Floats]:
        """Everybody with each partner that has the same of what is not free."""
        if self.asked.alone:
            return points, points
        free = [_floats(values) for at in self.free if isinstance(values := others[at], Finite)]
        partners = np.array(list(product(*free)), dtype=np.float64).reshape(-1, len(self.free))
        one, other = np.repeat(points, len(partners), axis=0), np.repeat(points, len(partners), axis=0)
        other[:, list(self.free)] = np.tile(partners, (len(points), 1))
        return one, other


def _floats(values: Finite) -> Floats:
    return np.array([float(value) for value in values.values], dtype=np.float64)
