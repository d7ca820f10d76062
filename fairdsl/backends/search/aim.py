"""What to steer by: a number that is 0 where a violation is near, linear in the scores of a candidate's members.

* *Same decision, a threshold t*: the mean score of the members less t. Where it is 0 the threshold lies among them.
* *Same decision, several scores*: the mean lead of the highest score over the second.
* *A score gap*: what the gap between the highest and the lowest member lacks of the limit.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.search.ground import Ground, Measurement
from fairdsl.ir.model import ByThreshold
from fairdsl.ir.question import ScoreGap
from fairdsl.numerics.rounding import float_below

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Aim:
    """``constant + sum of weights * scores`` over the members of each candidate; nan where none is valid."""

    weights: FloatArray  # [n, k, scores]
    constant: float

    def value(self, scores: FloatArray) -> FloatArray:
        """The number for scores [n, k, scores] of the same or other members, [n]."""
        found: FloatArray = (self.weights * scores).sum(axis=(1, 2)) + self.constant
        return found


def aim(ground: Ground, measured: Measurement) -> Aim:
    """What candidates are to be steered by, as they stand."""
    demand, rule = ground.pair.demand, ground.problem.model.rule
    weights = np.zeros_like(measured.scores)
    rows = np.arange(len(weights))
    valid = measured.valid
    if isinstance(demand, ScoreGap):
        first = measured.scores[:, :, 0]
        weights[rows, np.where(valid, first, -np.inf).argmax(axis=1), 0] -= 1.0
        weights[rows, np.where(valid, first, np.inf).argmin(axis=1), 0] += 1.0
        return Aim(_or_nan(weights, valid), float_below(demand.limit))
    with np.errstate(invalid="ignore", divide="ignore"):
        share = np.asarray(valid / valid.sum(axis=1, keepdims=True), dtype=np.float64)
    if isinstance(rule, ByThreshold):
        weights[:, :, 0] = share
        return Aim(weights, -float_below((rule.low + rule.high) / 2))
    mean = (measured.scores * share[:, :, None]).sum(axis=1)
    best = np.argsort(mean, axis=1)[:, -2:]
    weights[rows[:, None], :, best[:, 1:]] = share[:, None, :]
    weights[rows[:, None], :, best[:, :1]] -= share[:, None, :]
    return Aim(weights, 0.0)


def _or_nan(weights: FloatArray, valid: NDArray[np.bool_]) -> FloatArray:
    return np.where(valid.sum(axis=1)[:, None, None] > 0, weights, np.nan)
