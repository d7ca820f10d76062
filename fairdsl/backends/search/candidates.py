"""What is counted, and the coordinates in which it is looked for.

*Without relaxations* a candidate is a shared part: values of all attributes that do not differ. The individuals over
it (one for each assignment of the differing attributes) are tried together, and the shared part counts once,
however many pairs over it violate.

*With relaxations* a candidate is a pair: values of the attributes that are equal, then a's and b's values of those
that may differ. The unordered pair counts once.

Candidates are rows of floats, a column a coordinate, so that strategies need not know which of the two they vary.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import prod
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.search.assignments import Assignments
from fairdsl.backends.search.sampling import Column, Sampler
from fairdsl.ir.expr import And, Compare, Linear, Predicate, Relation, Variable, Who, conjoin
from fairdsl.ir.question import Differ, Pair
from fairdsl.numerics.predicates import mask
from fairdsl.numerics.rounding import float_below

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
IntArray = NDArray[np.int64]

#: Assignments of the differing attributes that are all tried; of more, so many are sampled for every batch.
_ALL, _SAMPLED = 64, 24
#: How often an unlimited relaxation leaves the two values equal.
_EQUAL = 0.25


class Space(Protocol):
    """The candidates of one question; ``n`` rows have ``w`` coordinates and ``k`` members."""

    attributes: IntArray  # [w], whose values the coordinates are
    touches: BoolArray  # [w, k], which members have them
    complete: bool  # whether the members of a candidate are always the same, and all of them
    units: int | None  # candidates at most; None where reals vary

    @property
    def columns(self) -> Sequence[Column]:
        """What values the coordinates take, [w]."""

    def draw(self, count: int) -> FloatArray:
        """At most ``count`` candidates at random, [n, w]."""

    def of(self, individuals: FloatArray) -> FloatArray:
        """A candidate for each individual [n, attributes] that it is a member of, [n, w]."""

    def members(self, rows: FloatArray) -> FloatArray:
        """The individuals of each candidate, [n, k, attributes]."""

    def rows_of(self, a: FloatArray, b: FloatArray) -> FloatArray:
        """The candidates to which comparable pairs belong, [n, w]."""

    def canonical(self, rows: FloatArray) -> FloatArray:
        """Rows that are equal exactly where candidates are counted as one."""

    def plausible(self, rows: FloatArray) -> BoolArray:
        """Candidates that may have a comparable pair, [n]."""


class SharedParts:
    """Candidates of a question without relaxations."""

    def __init__(self, pair: Pair, sampler: Sampler) -> None:
        self._sampler, self._differ = sampler, list(pair.differ)
        shared = [index for index in range(len(sampler.columns)) if index not in pair.differ]
        self.columns = [sampler.columns[index] for index in shared]
        self.attributes = np.array(shared, dtype=np.int64)
        self._assignments = Assignments([sampler.columns[i] for i in self._differ], most=_ALL, sampled=_SAMPLED)
        self.touches = np.ones((len(shared), self._assignments.size), dtype=np.bool_)
        self.complete = self._assignments.complete
        self.units = _product(self.columns)

    def draw(self, count: int) -> FloatArray:
        """Shared parts of individuals drawn at random."""
        return self.of(self._sampler.draw(count))

    def of(self, individuals: FloatArray) -> FloatArray:
        """Their shared parts."""
        return individuals[:, self.attributes]

    def members(self, rows: FloatArray) -> FloatArray:
        """An individual for each assignment of the differing attributes."""
        assignments = self._assignments.take(self._sampler.rng)
        found = np.empty((len(rows), len(assignments), len(self._sampler.columns)))
        found[:, :, self.attributes] = rows[:, None, :]
        found[:, :, self._differ] = assignments[None, :, :]
        return found

    def rows_of(self, a: FloatArray, b: FloatArray) -> FloatArray:
        """What the two share."""
        return a[:, self.attributes]

    def canonical(self, rows: FloatArray) -> FloatArray:
        """The rows as they are."""
        return rows

    def plausible(self, rows: FloatArray) -> BoolArray:
        """All of them."""
        return np.ones(len(rows), dtype=np.bool_)


class RelaxedPairs:
    """Candidates of a question with relaxations."""

    def __init__(self, pair: Pair, sampler: Sampler) -> None:
        self._pair, self._sampler = pair, sampler
        varying = [*pair.differ, *(relaxation.attribute for relaxation in pair.relax)]
        shared = [index for index in range(len(sampler.columns)) if index not in varying]
        self.attributes = np.array([*shared, *varying, *varying], dtype=np.int64)
        self.columns = [sampler.columns[index] for index in self.attributes.tolist()]
        self._of_a = np.arange(len(shared), len(shared) + len(varying))
        self._of_b = self._of_a + len(varying)
        self.touches = np.ones((len(self.columns), 2), dtype=np.bool_)
        self.touches[self._of_a, 1] = False
        self.touches[self._of_b, 0] = False
        self.complete = True
        self.units = _product(self.columns)
        self._close = between(pair)

    def draw(self, count: int) -> FloatArray:
        """Individuals at random, each with another one that is comparable to it."""
        return self.of(self._sampler.draw(count))

    def of(self, individuals: FloatArray) -> FloatArray:
        """Each with one that is comparable to it, at random."""
        rng, a = self._sampler.rng, individuals
        b = a.copy()
        for attribute in self._pair.differ:
            b[:, attribute] = self._sampler.columns[attribute].draw(len(a), rng)
        for relaxation in self._pair.relax:
            column, values = self._sampler.columns[relaxation.attribute], a[:, relaxation.attribute]
            if relaxation.by is None:
                drawn = np.where(rng.random(len(a)) < _EQUAL, values, column.draw(len(a), rng))
            else:
                drawn = column.settle(values + float_below(relaxation.by) * rng.uniform(-1, 1, len(a)))
            b[:, relaxation.attribute] = drawn
        return self.rows_of(a, b)

    def members(self, rows: FloatArray) -> FloatArray:
        """The two individuals."""
        found = np.empty((len(rows), 2, len(self._sampler.columns)))
        for member in (0, 1):
            mine = np.flatnonzero(self.touches[:, member])
            found[:, member, self.attributes[mine]] = rows[:, mine]
        return found

    def rows_of(self, a: FloatArray, b: FloatArray) -> FloatArray:
        """Their common values, those of a, and those of b."""
        shared = len(self.columns) - 2 * len(self._of_a)
        varying = self.attributes[self._of_a]
        return np.concatenate([a[:, self.attributes[:shared]], a[:, varying], b[:, varying]], axis=1)

    def canonical(self, rows: FloatArray) -> FloatArray:
        """The pair in the order in which the first coordinate that tells them apart is smaller in a."""
        difference = rows[:, self._of_a] - rows[:, self._of_b]
        first = np.argmax(difference != 0, axis=1)
        swap = difference[np.arange(len(rows)), first] > 0
        ordered = rows.copy()
        ordered[np.ix_(swap, self._of_a)] = rows[np.ix_(swap, self._of_b)]
        ordered[np.ix_(swap, self._of_b)] = rows[np.ix_(swap, self._of_a)]
        return ordered

    def plausible(self, rows: FloatArray) -> BoolArray:
        """Those who differ as the question asks and lie within the relaxations."""
        members = self.members(rows)
        a, b = members[:, 0], members[:, 1]
        return apart(self._pair, a, b) & mask(self._close, {Who.A: a, Who.B: b})


def space_of(pair: Pair, sampler: Sampler) -> Space:
    """The candidates of a question, drawn by the sampler."""
    return RelaxedPairs(pair, sampler) if pair.relax else SharedParts(pair, sampler)


def apart(pair: Pair, a: FloatArray, b: FloatArray) -> BoolArray:
    """Whether two individuals differ in the differing attributes as the mode asks; arrays [..., attributes]."""
    unequal = a[..., list(pair.differ)] != b[..., list(pair.differ)]
    found: BoolArray = unequal.all(axis=-1) if pair.mode is Differ.EACH else unequal.any(axis=-1)
    return found


def between(pair: Pair) -> Predicate:
    """What relaxations ask of a pair, as a predicate over ``Who.A`` and ``Who.B`` that is evaluated exactly."""
    limits: list[Predicate] = []
    for relaxation in pair.relax:
        if relaxation.by is not None:
            of_a, of_b = Variable(relaxation.attribute, Who.A), Variable(relaxation.attribute, Who.B)
            for sign in (Fraction(1), Fraction(-1)):
                left = Linear.of({of_a: sign, of_b: -sign}, -relaxation.by)
                limits.append(Compare(left=left, relation=Relation.LE))
    return conjoin(And(tuple(limits)))


def _product(columns: Sequence[Column]) -> int | None:
    sizes = [column.count for column in columns]
    return None if None in sizes else prod(size for size in sizes if size is not None)
