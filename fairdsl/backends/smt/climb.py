"""Pairs whose scores are far apart: drawn inside regions, and moved one attribute after the other.

What is found here proves nothing by itself: whoever takes a pair replays it. The numbers are float64.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.smt.region import Region
from fairdsl.ir.domain import Point
from fairdsl.ir.expr import Predicate, Who
from fairdsl.ir.problem import Problem
from fairdsl.numerics.evaluate import BatchEvaluator
from fairdsl.numerics.narrow import Finite, Interval, ValueSet
from fairdsl.numerics.predicates import mask

Floats = NDArray[np.float64]

#: Pairs that are drawn of all regions together and of one, climbed from at most, and told of each climb.
_DRAWN, _INSIDE, _CLIMBED, _TOLD = 4096, 64, 6, 8
#: Values of an attribute that a step tries, and steps at most.
_TRIED, _STEPS = 24, 12
#: How far an attribute without ends is drawn from.
_WIDE = 1000.0


class Climb:
    """Climbs over the pairs of one question, rows of the values of ``a`` and behind them those of ``b``."""

    def __init__(self, problem: Problem, force: Predicate, regions: Sequence[Region], seed: int) -> None:
        self._model, self._force, self._regions = problem.model, force, regions
        self._evaluator = BatchEvaluator(problem.model)
        self._random = np.random.default_rng(seed)
        self._attributes = len(problem.domain.attributes)

    def from_anywhere(self) -> Iterator[tuple[Point, Point]]:
        """Pairs that are far apart, those that are farthest first."""
        each = max(1, _DRAWN // len(self._regions))
        drawn = [(region, self._drawn(region, each)) for region in self._regions[:_DRAWN]]
        farthest = sorted(drawn, key=lambda found: -max(self._gaps(found[1]).max(initial=-1.0), -1.0))
        climbed = [(region, row) for region, rows in farthest[:_CLIMBED] for row in self._best(region, rows)]
        gaps = self._gaps(np.array([row for _, row in climbed]).reshape(len(climbed), 2 * self._attributes))
        for at in np.argsort(-gaps, kind="stable").tolist():
            yield self._pair(*climbed[at])

    def inside(self, region: Region, least: Fraction) -> Iterator[tuple[Point, Point]]:
        """Pairs inside a region that are farther apart than ``least``, if any come up."""
        for row in self._best(region, self._drawn(region, _INSIDE), float(least)):
            yield self._pair(region, row)

    def _best(self, region: Region, rows: Floats, least: float = -1.0) -> Iterator[Floats]:
        """What climbing from the best of some rows comes to, and where it came by."""
        gaps = self._gaps(rows)
        for at in np.argsort(-gaps, kind="stable")[:2].tolist():
            here, gap, met = rows[at], float(gaps[at]), [rows[at]]
            for _ in range(_STEPS):
                steps = self._steps(region, here)
                further = self._gaps(steps)
                best = int(np.argmax(further)) if len(further) else 0
                if not len(further) or further[best] <= gap:
                    break
                here, gap = steps[best], float(further[best])
                met.append(here)
            if gap > least:
                yield from met[: -_TOLD - 1 : -1]

    def _drawn(self, region: Region, how_many: int) -> Floats:
        """Pairs of the region that are in force, drawn alike from the values of each attribute."""
        a = np.stack([self._some(values, how_many) for values in region.a], axis=1)
        b = np.stack([self._some(values, how_many) for values in region.b], axis=1)
        b = np.where(np.array(region.shared), a, b)
        return self._admitted(np.concatenate([a, b], axis=1))

    def _admitted(self, rows: Floats) -> Floats:
        return np.asarray(rows[mask(self._force, {Who.EACH: rows})], dtype=np.float64)

    def _some(self, values: ValueSet, how_many: int) -> Floats:
        if isinstance(values, Finite):
            chosen = self._random.integers(values.count, size=how_many)
            return np.array([float(values.values[at]) for at in chosen.tolist()])
        low, high = _ends(values)
        # Corners are where linear pieces are farthest apart.
        drawn = self._random.uniform(low, high, how_many)
        return np.where(self._random.random(how_many) < 0.5, drawn, self._random.choice([low, high], how_many))

    def _steps(self, region: Region, here: Floats) -> Floats:
        """The pairs that differ from a pair in the value of one attribute of one of the two, or of both if shared."""
        found = []
        for attribute, shared in enumerate(region.shared):
            ways = [(0, region.a[attribute])] if shared else [(0, region.a[attribute]), (1, region.b[attribute])]
            for who, values in ways:
                if values.count == 1:
                    continue
                tried = self._tried(values, float(here[attribute + who * self._attributes]))
                rows = np.repeat(here[None], len(tried), axis=0)
                rows[:, attribute + who * self._attributes] = tried
                if shared:
                    rows[:, attribute + self._attributes] = tried
                found.append(rows)
        return self._admitted(np.concatenate(found)) if found else np.zeros((0, len(here)))

    def _tried(self, values: ValueSet, here: float) -> Floats:
        if isinstance(values, Finite) and values.count <= _TRIED:
            return np.array([float(value) for value in values.values])
        some = self._some(values, _TRIED - 2)
        low, high = values.low, values.high
        return np.concatenate([some, [here if low is None else float(low), here if high is None else float(high)]])

    def _gaps(self, rows: Floats) -> Floats:
        if not len(rows):
            return np.zeros(0)
        one, other = (np.ascontiguousarray(part) for part in np.split(rows, 2, axis=1))
        with np.errstate(all="ignore"):
            apart = np.abs(self._evaluator.scores(one)[0][:, 0] - self._evaluator.scores(other)[0][:, 0])
        return np.nan_to_num(apart, nan=-1.0, posinf=-1.0)

    def _pair(self, region: Region, row: Floats) -> tuple[Point, Point]:
        n = self._attributes
        a = tuple(values.nearest(float(x)) for values, x in zip(region.a, row[:n], strict=True))
        b = tuple(values.nearest(float(x)) for values, x in zip(region.b, row[n:], strict=True))
        return a, tuple(x if shared else y for x, y, shared in zip(a, b, region.shared, strict=True))


def _ends(values: Interval) -> tuple[float, float]:
    low = values.low if values.low is not None else (values.high or 0) - Fraction(_WIDE)
    high = values.high if values.high is not None else low + Fraction(2 * _WIDE)
    return float(low), float(high)
