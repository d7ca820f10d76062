"""Clusters: an individual together with a choice of its comparable partners, evaluated at once.

A centre gives the values that all members share. Members take the assignments of the differing
attributes - all of them, or a sample where there are many - and values of the relaxed attributes inside
one window no wider than the relaxation, so that any two members are similar enough.

How far a cluster is from being a violation is its *distance*: the least change of a score that would
change some member's decision (or, for gaps, what the gap lacks). 0 or less: members differ. Where the question
asks how sure the model is, what the surest members lack, in logits, is added.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.search.assignments import Assignments
from fairdsl.backends.search.evaluators import Evaluator
from fairdsl.backends.search.sampling import Column, Sampler
from fairdsl.ir.domain import Point
from fairdsl.ir.expr import Who
from fairdsl.ir.model import ByThreshold
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Differ, Pair, ScoreGap, Sure
from fairdsl.numerics.confidence import approximate_log_odds
from fairdsl.numerics.evaluate import points_of
from fairdsl.numerics.rounding import float_below

__all__ = ["Clusters", "Measured"]

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
IntArray = NDArray[np.int64]

#: Assignments of the differing attributes in a cluster at most, and copies of each under relaxations.
_ASSIGNMENTS, _COPIES = 24, 4


@dataclass(frozen=True, slots=True)
class Measured:
    """Clusters with their members' scores; ``valid`` members are in domain and target.

    ``lacking`` is how much surer, in logits, the model would have to be of each member for it to be a, and b.
    """

    members: FloatArray  # [n, k, attributes]
    valid: BoolArray  # [n, k]
    decisions: IntArray  # [n, k]
    scores: FloatArray  # [n, k], first score
    distances: FloatArray  # [n]
    lacking: tuple[FloatArray, FloatArray]  # [n, k] each, never negative


class Clusters:
    """Builds and measures the clusters of one question."""

    def __init__(self, problem: Problem, pair: Pair, sampler: Sampler, evaluator: Evaluator) -> None:
        self._problem, self._pair, self._sampler, self._evaluator = problem, pair, sampler, evaluator
        differing = [sampler.columns[index] for index in pair.differ]
        self._assignments = Assignments(differing, most=_ASSIGNMENTS, sampled=_ASSIGNMENTS)

    @property
    def size(self) -> int:
        """How many members a cluster has."""
        return self._assignments.size * (_COPIES if self._pair.relax else 1)

    def build(self, centres: FloatArray) -> FloatArray:
        """The members [n, k, attributes] of the clusters around the centres [n, attributes]."""
        assignments = self._assignments.take(self._sampler.rng)
        copies = _COPIES if self._pair.relax else 1
        members = np.repeat(centres[:, None, :], len(assignments) * copies, axis=1)
        members[:, :, list(self._pair.differ)] = np.tile(assignments, (copies, 1))[None, :, :]
        for relaxation in self._pair.relax:
            column = self._sampler.columns[relaxation.attribute]
            by = np.inf if relaxation.by is None else float_below(relaxation.by)
            members[:, :, relaxation.attribute] = self._relaxed(members[:, :, relaxation.attribute], column, by)
        return members

    def _relaxed(self, values: FloatArray, column: Column, by: float) -> FloatArray:
        rng, shape = self._sampler.rng, values.shape
        if not np.isfinite(by):
            drawn = column.draw(values.size, rng).reshape(shape)
            return np.where(rng.random(shape) < 0.25, values, drawn)
        # One window per cluster, somewhere around the centre; half of the members at its ends.
        start = values[:, :1] - by * rng.choice((0.0, 0.5, 1.0), (shape[0], 1))
        place = rng.random(shape)
        place = np.where(rng.random(shape) < 0.5, np.rint(place), place)
        return column.settle((start + by * place).ravel()).reshape(shape)

    def measure(self, centres: FloatArray) -> Measured:
        """Evaluate the clusters around the centres."""
        members = self.build(centres)
        count, size, width = members.shape
        flat = members.reshape(-1, width)
        valid = self._sampler.inside(flat).reshape(count, size)
        scores = self._evaluator.approximate(flat)
        decisions = self._evaluator.approximate_decisions(scores).reshape(count, size)
        margins = self._evaluator.margins(scores).reshape(count, size)
        first = scores[:, 0].reshape(count, size)
        lacking = self._lacking(scores, decisions)
        distances = self._distances(valid, decisions, margins, first)
        if self._pair.sure:
            distances = distances + self._unsure(valid, decisions, lacking)
        return Measured(members, valid, decisions, first, distances, lacking)

    def _lacking(self, scores: FloatArray, decisions: IntArray) -> tuple[FloatArray, FloatArray]:
        if not self._pair.sure:
            none = np.zeros(decisions.shape)
            return none, none
        log_odds = approximate_log_odds(self._problem.model, scores, decisions.ravel()).reshape(decisions.shape)
        levels = (_logit(self._pair.sure_of(who)) for who in (Who.A, Who.B))
        # A level of 1/2 or less may be met on the boundary itself, which floats only come near to.
        of_a, of_b = (np.maximum(0.0, level * (1 - 1e-9) - 1e-9 - log_odds) for level in levels)
        return of_a, of_b

    def _unsure(self, valid: BoolArray, decisions: IntArray, lacking: tuple[FloatArray, FloatArray]) -> FloatArray:
        """What the surest a and b of each cluster lack; where members differ, of two that are decided differently."""
        gap = isinstance(self._pair.demand, ScoreGap)
        best = np.full(len(valid), np.inf)
        alike = sum(np.where(valid, of, np.inf).min(axis=1) for of in lacking)
        for outcome in range(len(self._problem.model.outcomes)):
            of_a = np.where(valid & (decisions == outcome), lacking[0], np.inf).min(axis=1)
            of_b = np.where(valid & (decisions != outcome), lacking[1], np.inf).min(axis=1)
            best = np.minimum(best, of_a + of_b)
        return np.asarray(np.where(np.isfinite(best) & (not gap), best, alike), dtype=np.float64)

    def _distances(self, valid: BoolArray, decisions: IntArray, margins: FloatArray, scores: FloatArray) -> FloatArray:
        demand = self._pair.demand
        if isinstance(demand, ScoreGap):
            highest = np.where(valid, scores, -np.inf).max(axis=1)
            lowest = np.where(valid, scores, np.inf).min(axis=1)
            with np.errstate(invalid="ignore"):
                lacking = float_below(demand.limit) - (highest - lowest)
            return np.where(np.isfinite(lacking), lacking, np.inf)
        most = np.where(valid, decisions, -1).max(axis=1)
        least = np.where(valid, decisions, np.iinfo(np.int64).max).min(axis=1)
        nearest = np.where(valid, margins, np.inf).min(axis=1)
        return np.where((most >= 0) & (most != least), 0.0, np.where(valid.sum(axis=1) > 1, nearest, np.inf))

    def pair_of(self, found: Measured, row: int) -> tuple[Point, Point] | None:
        """The most convincing comparable pair of one cluster that seems to break the demand."""
        keep = np.flatnonzero(found.valid[row])
        members, scores = found.members[row, keep], found.scores[row, keep]
        apart = members[:, None, list(self._pair.differ)] != members[None, :, list(self._pair.differ)]
        comparable = apart.all(axis=2) if self._pair.mode is Differ.EACH else apart.any(axis=2)
        gaps = np.abs(scores[:, None] - scores[None, :])
        if isinstance(self._pair.demand, ScoreGap):
            comparable &= gaps >= float_below(self._pair.demand.limit) * (1 - 1e-12)
        else:
            decisions = found.decisions[row, keep]
            comparable &= decisions[:, None] != decisions[None, :]
        of_a, of_b = found.lacking[0][row, keep], found.lacking[1][row, keep]
        comparable &= (of_a[:, None] <= 0) & (of_b[None, :] <= 0)
        if not comparable.any():
            return None
        if isinstance(self._problem.model.rule, ByThreshold) and not isinstance(self._pair.demand, ScoreGap):
            margins = self._evaluator.margins(scores[:, None])
            gaps = np.minimum(margins[:, None], margins[None, :])
        place = int(np.argmax(np.where(comparable, gaps, -1.0)))
        a, b = points_of(members[[place // len(keep), place % len(keep)]])
        return a, b


def _logit(wanted: Sequence[Sure]) -> float:
    """The logit of the highest level, roughly; of none minus infinity."""
    with np.errstate(divide="ignore"):
        return max((-float(np.log(float(sure.odds_against))) for sure in wanted), default=-np.inf)
