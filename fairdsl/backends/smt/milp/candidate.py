"""From a solver's point to a pair that is checked exactly.

A relaxation's point is rounded to values that the region has, completed for both individuals, tried in float64
and, where it passes there, checked in exact arithmetic: the rules on pairs and every inequality of the case.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.smt.cases import Atom, Case, asked_by
from fairdsl.backends.smt.milp.query import Query
from fairdsl.backends.smt.region import Region
from fairdsl.ir.domain import Point
from fairdsl.ir.problem import Problem
from fairdsl.numerics.evaluate import BatchEvaluator
from fairdsl.numerics.exact import exact_scores
from fairdsl.numerics.narrow import Interval, ValueSet
from fairdsl.replay.admissible import admissible, outside

__all__ = ["Candidates"]

FloatArray = NDArray[np.float64]
#: A pair that misses an inequality by more than this share of its size in float64 is not looked at exactly.
_NEAR = 1e-9


class Candidates:
    """Pairs of one case."""

    def __init__(self, problem: Problem, case: Case, query: Query) -> None:
        self._problem = problem
        self._case = case
        self._query = query
        self._evaluator = BatchEvaluator(problem.model)
        self._rows = (
            np.array([[float(x) for x in atom.a] for atom in case.atoms]),
            np.array([[float(x) for x in atom.b] for atom in case.atoms]),
        )
        self._constants = np.array([float(atom.constant) for atom in case.atoms])

    def at(self, columns: FloatArray, region: Region) -> tuple[Point, Point] | None:
        """The pair nearest to the point in the region, if it is admissible and meets the case exactly."""
        a, b = self._pair(columns, region)
        scores = self._evaluator.approximate(np.array([[float(x) for x in a], [float(x) for x in b]]))
        parts = self._rows[0] * scores[0], self._rows[1] * scores[1]
        met = parts[0].sum(axis=1) + parts[1].sum(axis=1) + self._constants
        size = np.abs(parts[0]).sum(axis=1) + np.abs(parts[1]).sum(axis=1) + np.abs(self._constants)
        if (met < -_NEAR * size).any():
            return None
        pair, domain = asked_by(self._problem, self._case), self._problem.domain
        beside = admissible(pair, domain, a, b, self._problem.model) if pair.differ else outside("a", a, pair, domain)
        if beside is not None:
            return None
        exact = exact_scores(self._problem.model, a), exact_scores(self._problem.model, b)
        return (a, b) if all(_meets(atom, *exact) for atom in self._case.atoms) else None

    def _pair(self, columns: FloatArray, region: Region) -> tuple[Point, Point]:
        """The attributes' values, each the nearest one that the region has."""
        a: list[Fraction] = [Fraction(0)] * len(region.a)
        b = list(a)
        for (who, attribute), value in zip(self._query.attributes, columns.tolist(), strict=False):
            near = nearest((region.a if who == "a" else region.b)[attribute], value)
            if who == "a":
                a[attribute] = near
            if who == "b" or region.shared[attribute]:
                b[attribute] = near
        return tuple(a), tuple(b)


def nearest(values: ValueSet, value: float) -> Fraction:
    """The number of the set that is nearest to the value; the set is not empty."""
    if isinstance(values, Interval):
        exact = Fraction(value)
        low = exact if values.low is None else max(exact, values.low)
        return low if values.high is None else min(low, values.high)
    if isinstance(values.values, range) and values.values.step == 1:
        return Fraction(min(max(round(value), values.values[0]), values.values[-1]))
    return min((Fraction(x) for x in values.values), key=lambda x: abs(float(x) - value))


def _meets(atom: Atom, a: Sequence[Fraction], b: Sequence[Fraction]) -> bool:
    value = sum((x * y for x, y in zip(atom.a, a, strict=True)), atom.constant)
    value += sum((x * y for x, y in zip(atom.b, b, strict=True)), Fraction(0))
    return value > 0 if atom.strict else value >= 0
