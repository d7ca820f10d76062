"""Decisions where float64 leaves a doubt: in truncated fixed point, then exactly.

Points whose score is truly next to the threshold are few, ties aside; most of them need only twice the
digits. Exact arithmetic is for what then is still open: in fixed point of full length where the model fits
into it, otherwise in rational numbers, one point after the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from fairdsl.ir.domain import Point
from fairdsl.ir.model import Model
from fairdsl.numerics.exact import UNDECIDED, Enclosed, decide_enclosed, decision
from fairdsl.numerics.fixed_point import FixedPoint

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Outcomes:
    """The decisions of some points; how many truncated fixed point settled, and how many exact arithmetic."""

    decisions: IntArray
    doubled: int
    exactly: int


def settle(model: Model, points: Sequence[Point], inputs: FloatArray | None) -> Outcomes:
    """Decide points whose inputs of the first layer are ``inputs``; ``UNDECIDED`` where a decision stays open.

    Without them, where they are not floats, all points are decided in exact arithmetic.
    """
    decisions = np.full(len(points), UNDECIDED, dtype=np.int64)
    left, doubled = np.arange(len(points)), 0
    fixed = FixedPoint(model.layers)
    for truncated in (True, False):
        if inputs is not None and model.opaque is None and fixed.pays(len(left)):
            left, rounded = _decide(model, fixed, inputs, decisions, left, truncated=truncated)
            doubled += rounded
    for index in left.tolist():
        outcome = decision(model, points[index])
        decisions[index] = UNDECIDED if outcome is None else outcome
    return Outcomes(decisions, doubled, len(points) - doubled)


def _decide(
    model: Model, fixed: FixedPoint, inputs: FloatArray, decisions: IntArray, left: IntArray, *, truncated: bool
) -> tuple[IntArray, int]:
    """Enter the decisions that fixed point comes to; the points that stay open, and how many it settled rounded."""
    still: list[int] = []
    rounded = 0
    for start in range(0, len(left), fixed.chunk):
        part = left[start : start + fixed.chunk]
        found = fixed.scores(inputs[part], truncated=truncated)
        if found is None:
            still.extend(part.tolist())
            continue
        for index, scores in zip(part.tolist(), found.rows(), strict=True):
            outcome = decide_enclosed(model.rule, _enclosed(scores, found.error))
            if outcome is None:
                still.append(index)
            else:
                decisions[index] = outcome
                rounded += found.error > 0  # short numbers are not truncated at all
    return np.array(still, dtype=np.int64), rounded


def _enclosed(scores: tuple[Fraction, ...], error: Fraction) -> Enclosed:
    return Enclosed(scores, (error,) * len(scores))
