"""Pairs in the neighbourhood of a point that a verifier found, for points that stand for nobody.

The files admit more than the question: fractions of years, and the very edge of conditions that are strict. So a point
of theirs may be no pair, or one that breaks nothing by a hair's breadth, with pairs that do break the demand beside it.
The search moves some of the values at random, whole numbers by few steps and reals by any part of their range down to
2^-40, keeps who is admissible, and goes on from those who come nearest to breaking the demand: the margin of a pair is
that of its worst inequality, in the best of the ways to break the demand. Where all pairs are few, all are looked at.
Scores are approximate here, and nothing is decided: whoever asks for the pairs replays them. The draws are always the
same.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import prod

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.smt.cases import pair_of
from fairdsl.backends.smt.region import whole_region
from fairdsl.backends.smt.ways import breaking
from fairdsl.ir.domain import Point
from fairdsl.ir.expr import Who
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Differ
from fairdsl.numerics.evaluate import BatchEvaluator, points_of
from fairdsl.numerics.narrow import Interval, ValueSet
from fairdsl.numerics.predicates import mask
from fairdsl.numerics.rounding import float_above, float_below

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

_ROUNDS = 8
_DRAWN = 4096
#: From so many pairs a round goes on, and so many of them are proposed.
_CENTRES, _PROPOSED = 32, 8
#: Approximate margins from here on may be violations: the edge itself may be one, and rounding may hide it.
_HIDDEN = -1e-9
#: Reals move by their range, or by a part of it as small as 2 to the power of this.
_FINEST = -40.0
_FARTHEST = Fraction(2**200)


def pairs_near(problem: Problem, a: Point, b: Point) -> Iterator[tuple[Point, Point]]:
    """Pairs that seem to break the demand, near the given one, which may be nobody; the most promising first."""
    search = _Search(problem)
    if search.nobody:
        return
    seen: set[tuple[Point, Point]] = set()
    for best_a, best_b in search.rounds(a, b):
        for pair in zip(points_of(best_a), points_of(best_b), strict=True):
            if pair not in seen:
                seen.add(pair)
                yield pair


@dataclass(frozen=True, slots=True)
class _Column:
    """A value that is chosen: an attribute of a, of b, or of both (``a``), and what it can be.

    ``listed`` are the values where these are few, ascending; otherwise all from low to high, integers where ``whole``.
    """

    who: str
    attribute: int
    low: float
    high: float
    whole: bool
    listed: FloatArray | None

    @classmethod
    def of(cls, who: str, attribute: int, values: ValueSet) -> _Column:
        low = -np.inf if values.low is None else float_above(values.low)
        high = np.inf if values.high is None else float_below(values.high)
        if isinstance(values, Interval) or isinstance(values.values, range):
            return cls(who, attribute, low, high, not isinstance(values, Interval), None)
        return cls(who, attribute, low, high, False, np.array([float(value) for value in values.values]))

    def moved(self, values: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Each value a step away."""
        found: FloatArray
        signs = rng.choice((-1.0, 1.0), len(values))
        if self.listed is not None:
            places = np.searchsorted(self.listed, values) + signs * rng.geometric(0.5, len(values))
            found = self.listed[np.clip(places, 0, len(self.listed) - 1).astype(np.int64)]
        elif self.whole:
            found = values + signs * rng.geometric(0.5, len(values))
        else:
            length = self.high - self.low
            reach = np.full(len(values), length) if np.isfinite(length) else np.maximum(np.abs(values), 1.0)
            found = values + signs * reach * np.exp2(rng.uniform(_FINEST, 0.0, len(values)))
        return found

    def settled(self, values: FloatArray) -> FloatArray:
        """The nearest values of the attribute."""
        if self.listed is None:
            return np.clip(np.rint(values) if self.whole else values, self.low, self.high)
        right = np.clip(np.searchsorted(self.listed, values), 1, max(1, len(self.listed) - 1))
        right = np.minimum(right, len(self.listed) - 1)
        left = np.maximum(right - 1, 0)
        nearer = np.abs(values - self.listed[left]) <= np.abs(values - self.listed[right])
        found: FloatArray = np.where(nearer, self.listed[left], self.listed[right])
        return found

    @property
    def every(self) -> FloatArray | None:
        """All values, where they are few."""
        if self.listed is None and self.whole and self.high - self.low < _DRAWN:
            return np.arange(self.low, self.high + 1.0)
        return self.listed


def _finite(value: Fraction) -> float:
    """The nearest float to begin with; of numbers beyond all data one that calculations survive."""
    return float(max(min(value, _FARTHEST), -_FARTHEST))


class _Search:
    """The search in one question."""

    def __init__(self, problem: Problem) -> None:
        self._domain, self._pair = problem.domain, pair_of(problem)
        region = whole_region(problem.domain, self._pair)
        self.nobody = region.empty
        self._columns = [] if region.empty else [
            _Column.of(who, index, sets[index])
            for index, shared in enumerate(region.shared)
            for who, sets in (("a", region.a), ("b", region.b))
            if who == "a" or not shared
        ]  # fmt: skip
        self._within = {item.attribute: float_below(item.by) for item in self._pair.relax if item.by is not None}
        self._evaluator = BatchEvaluator(problem.model)
        self._ways = [
            (
                np.array([[float(factor) for factor in (*atom.a, *atom.b)] for atom in atoms]),
                np.array([float(atom.constant) for atom in atoms]),
            )
            for atoms in (way.atoms for way in breaking(problem)[1])
        ]

    def rounds(self, a: Point, b: Point) -> Iterator[tuple[FloatArray, FloatArray]]:
        """The most promising pairs of each round."""
        start = np.array([[_finite((a if column.who == "a" else b)[column.attribute]) for column in self._columns]])
        rng = np.random.default_rng(0)
        every = self._every()
        centres = start
        for _ in range(_ROUNDS if every is None else 1):
            rows = self._drawn(centres, rng) if every is None else every
            of_a, of_b = self._people(rows)
            kept = self._admissible(of_a, of_b)
            rows, of_a, of_b = rows[kept], of_a[kept], of_b[kept]
            margins = self._margins(of_a, of_b)
            best = np.argsort(-margins, kind="stable")
            proposed = best[:_PROPOSED][margins[best[:_PROPOSED]] >= _HIDDEN]
            yield of_a[proposed], of_b[proposed]
            centres = np.concatenate([start, rows[best[:_CENTRES]]])

    def _every(self) -> FloatArray | None:
        """All choices, where they are few."""
        listed = [column.every for column in self._columns]
        found = [values for values in listed if values is not None]
        if len(found) < len(listed) or prod(len(values) for values in found) > _DRAWN:
            return None
        return np.stack([grid.ravel() for grid in np.meshgrid(*found, indexing="ij")], axis=1)

    def _drawn(self, centres: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Choices around the centres: few values moved, or many."""
        rows = centres[rng.integers(0, len(centres), _DRAWN)]
        often = rng.choice((0.15, 0.4, 1.0), _DRAWN)
        for place, column in enumerate(self._columns):
            mine = rng.random(_DRAWN) < often
            rows[mine, place] = column.moved(rows[mine, place], rng)
            rows[:, place] = column.settled(rows[:, place])
        return rows

    def _people(self, rows: FloatArray) -> tuple[FloatArray, FloatArray]:
        """a and b [n, attributes]; b no further from a than a relaxation allows."""
        of_a, of_b = np.empty((2, len(rows), len(self._domain.attributes)))
        for place, column in enumerate(self._columns):
            if column.who == "a":
                of_a[:, column.attribute] = of_b[:, column.attribute] = rows[:, place]
            else:
                of_b[:, column.attribute] = rows[:, place]
        for index, by in self._within.items():
            of_b[:, index] = np.clip(of_b[:, index], of_a[:, index] - by, of_a[:, index] + by)
        return of_a, of_b

    def _admissible(self, a: FloatArray, b: FloatArray) -> BoolArray:
        """Which pairs the question speaks of, as far as floats tell."""
        apart = a[:, list(self._pair.differ)] != b[:, list(self._pair.differ)]
        found: BoolArray = apart.all(axis=1) if self._pair.mode is Differ.EACH else apart.any(axis=1)
        for predicate in (self._domain.where, self._pair.target):
            found &= mask(predicate, {Who.EACH: a}) & mask(predicate, {Who.EACH: b})
        return found & mask(self._pair.pair_target, {Who.A: a, Who.B: b})

    def _margins(self, a: FloatArray, b: FloatArray) -> FloatArray:
        """How far each pair breaks the demand; negative where it does not."""
        scores = [self._evaluator.approximate(people) for people in (a, b)]
        found = np.full(len(a), -np.inf)
        for one, other in (scores, scores[::-1]) if self._pair.symmetric else (scores,):
            both = np.concatenate([one, other], axis=1)
            for factors, constants in self._ways:
                found = np.maximum(found, (both @ factors.T + constants).min(axis=1))
        return found
