"""Tuples that are tried at the middles of boxes of units: what breaks the demand there, and who is asked about.

They prove nothing; bounds of the region in which a unit's partner is that of such a tuple do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.demands import Judge
from fairdsl.backends.smt.region import Region
from fairdsl.backends.smt.units import Product, Units
from fairdsl.ir.domain import Point
from fairdsl.ir.expr import Who
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Pair
from fairdsl.numerics.narrow import Finite, ValueSet
from fairdsl.numerics.predicates import mask
from fairdsl.replay import breach, witness
from fairdsl.verdict import Breach, Witness

Floats = NDArray[np.float64]

#: Tuples of a box that are tried in each role, and those that are shown in the end.
_TRIED, _SHOWN = 12, 5


@dataclass(frozen=True, slots=True)
class Example:
    """Two (of one individual both are the same), one of whom is a unit's individual."""

    role: Who
    a: Floats
    b: Floats


class Examples:
    """Draws, judges and shows them."""

    def __init__(self, problem: Problem, units: Units, seed: int) -> None:
        self._problem, self._units = problem, units
        self._random = np.random.default_rng(seed)
        self.judge = Judge(replace(problem, question=units.asked))
        self._own = {
            role: [
                np.array([units.is_own(role, (who, at)) for at in range(units.count)], dtype=np.bool_)
                for who in (Who.A, Who.B)
            ]
            for role in units.roles
        }
        self.witnesses, self.breaches = list[Witness](), list[Breach]()

    def found(
        self, boxes: Sequence[Product], tried: Sequence[Sequence[Example]]
    ) -> list[tuple[Example | None, Example | None]]:
        """Of each box one that breaks the demand, and one that it is about; those that were ``tried`` come first."""
        owners, listed = list[int](), list[Example]()
        for at, (sets, before) in enumerate(zip(boxes, tried, strict=True)):
            some = self._at(sets, before)
            owners += [at] * len(some)
            listed += some
        found: list[tuple[Example | None, Example | None]] = [(None, None)] * len(boxes)
        if not listed:
            return found
        a, b = np.array([one.a for one in listed]), np.array([one.b for one in listed])
        inside = np.flatnonzero(mask(self._units.force, {Who.EACH: np.hstack([a, b])}))
        points = {Who.EACH: a[inside]} if self._units.asked.alone else {Who.A: a[inside], Who.B: b[inside]}
        if not len(inside):
            return found
        people = {who: self.judge.measure(some) for who, some in points.items()}
        judged = self.judge.judge(people, {who: np.arange(len(inside)) for who in people})
        for place, number in enumerate(inside.tolist()):
            breaks, counts = found[owners[number]]
            if judged.violating[place]:
                breaks = breaks or listed[number]
            if judged.asked[place]:
                counts = counts or listed[number]
            found[owners[number]] = breaks, counts
        return found

    def fixed(self, sets: Product, example: Example) -> Region:
        """Tuples over a box in which what is free is as in the example."""
        region = self._units.region(example.role, sets)
        for at in self._units.free:
            for who, point in ((Who.A, example.a), (Who.B, example.b)):
                if not self._units.is_own(example.role, (who, at)):
                    region = region.with_values(who.value, at, Finite((_exact(point[at]),)))
        return region

    def drawn(self, region: Region, count: int) -> tuple[Floats, Floats]:
        """Tuples of a region, ends more often than other values."""
        a, b = (np.column_stack([self._values(values, count) for values in side]) for side in (region.a, region.b))
        shared = np.array(self._units.shared)
        return a, np.where(shared, a, b)

    def show(self, example: Example) -> None:
        """Keep what it breaks to be shown, replayed on the original models."""
        if len(self.witnesses) + len(self.breaches) >= _SHOWN:
            return
        a, b = (_point(side) for side in (example.a, example.b))
        if isinstance(self._problem.question, Pair):
            pair = witness(self._problem, a, b)
            if pair is not None and pair.replay.agrees and pair not in self.witnesses:
                self.witnesses.append(pair)
            return
        broken = breach(self._problem, {Who.EACH: a} if self._units.asked.alone else {Who.A: a, Who.B: b})
        if broken is not None and broken.agrees and broken not in self.breaches:
            self.breaches.append(broken)

    def _at(self, sets: Product, tried: Sequence[Example]) -> list[Example]:
        """Tuples over the middle of a box."""
        middle = np.array([_middle(values) for values in sets])
        found = [Example(one.role, *self._moved(one.role, one.a, one.b, middle)) for one in tried]
        if self._units.asked.alone:
            return [Example(Who.EACH, middle, middle)]
        for role in self._units.roles:
            a, b = self._moved(role, *self.drawn(self._units.region(role, sets), _TRIED), middle)
            found += [Example(role, one, other) for one, other in zip(a, b, strict=True)]
        return found

    def _moved(self, role: Who, a: Floats, b: Floats, middle: Floats) -> tuple[Floats, Floats]:
        """Tuples with the middle's values of what is the unit's own."""
        of_a, of_b = self._own[role]
        return np.where(of_a, middle, a), np.where(of_b, middle, b)

    def _values(self, values: ValueSet, count: int) -> Floats:
        if isinstance(values, Finite):
            if isinstance(values.values, range):
                return np.asarray(values.values[0] + self._random.integers(0, len(values.values), count), dtype=float)
            return self._random.choice(_floats(values.values), count)
        low, high = float(values.low or 0), float(values.high or 0)
        some = self._random.uniform(low, high, count)
        which = self._random.integers(0, 6, count)
        return np.asarray(np.where(which == 0, low, np.where(which == 1, high, some)), dtype=np.float64)


@lru_cache(maxsize=4096)
def _floats(values: tuple[int | Fraction, ...]) -> Floats:
    return np.array([float(value) for value in values], dtype=np.float64)


def _middle(values: ValueSet) -> float:
    """A value in the middle."""
    if isinstance(values, Finite):
        return float(values.values[values.count // 2])
    assert values.low is not None and values.high is not None, "unbounded reals are refused"  # noqa: PT018
    return (float(values.low) + float(values.high)) / 2


def _exact(value: float) -> int | Fraction:
    return int(value) if float(value).is_integer() else Fraction(float(value))


def _point(side: Floats) -> Point:
    return tuple(Fraction(float(value)) for value in side)
