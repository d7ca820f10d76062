"""What a tensor of the file should hold, by what was read of it, and how far rounding may lead away from that.

Where a bound of the file's own rounding is known, a number must lie within it. Elsewhere it may be off by one part in
10,000 of the terms that its score is the sum of.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdsl.models.basis import Affine
from fairdsl.models.confirm.units import Units
from fairdsl.models.float32 import Rounded
from fairdsl.models.graph import GraphOutput, OutputKind

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]

#: Relative, where nothing is known of the file's rounding.
TOLERANCE = 1e-4
#: Relative to the largest terms of anybody.
_OF_ALL = 2e-5
#: What a probability may be off by, whatever its score: float32 and its exponential.
_OF_CURVES = 2e-6
#: Covers the float64 arithmetic in which the reading is evaluated, relative to the terms of sums.
_OURS = 1e-9


@dataclass(frozen=True, slots=True)
class Scores:
    """Scores [n, k] as they were read, and how far the file's own may be off."""

    values: FloatArray
    slack: FloatArray

    @classmethod
    def of(cls, units: Units, scores: Affine, *, estimated: bool = True) -> Scores:
        """Evaluate the scores; ``estimated``: with what float32 may have lost on the way, which takes longer."""
        sizes = units.sizes(scores)
        slack = TOLERANCE * sizes + _OF_ALL * sizes.max(axis=0, initial=0.0) + 1e-30
        return cls(units.affine(scores), slack + units.off(scores) if estimated else slack)


@dataclass(frozen=True, slots=True)
class Numbers:
    """Numbers of a tensor [n, k], and between which ends the file's have to lie."""

    values: FloatArray
    low: FloatArray
    high: FloatArray
    #: Where the file rounds nothing.
    exact: BoolArray

    def disagree(self, found: NDArray[Any]) -> BoolArray:
        """Which of the file's numbers lie elsewhere, [n, k]."""
        numbers = np.asarray(found, dtype=np.float64)
        return ~((numbers >= self.low) & (numbers <= self.high))


@dataclass(frozen=True, slots=True)
class Texts:
    """The label that is emitted for each individual, [n], for whom rounding cannot change it, and where several labels
    have the highest score, which of them do, [n, labels].
    """

    labels: tuple[int | str, ...]
    chosen: IntArray
    sure: BoolArray
    tied: BoolArray

    @property
    def values(self) -> NDArray[Any]:
        """The labels themselves, [n, 1]."""
        return np.array(self.labels, dtype=object)[self.chosen][:, None]

    def tied_otherwise(self, row: int, theirs: Any) -> bool:
        """Whether the file gives an individual another one of the labels that tie."""
        given = [place for place, label in enumerate(self.labels) if _same(label, theirs)]
        return any(self.tied[row, place] and place != self.chosen[row] for place in given)

    def disagree(self, found: NDArray[Any]) -> BoolArray:
        """Where the file gives another label, [n, 1]: of those who are not sure, one that is not a label at all."""
        same = np.array([[_same(mine, theirs)] for mine, theirs in zip(self.values[:, 0], found[:, 0], strict=True)])
        known = np.array([[any(_same(label, theirs) for label in self.labels)] for theirs in found[:, 0]])
        return np.asarray(np.where(self.sure[:, None], ~same, ~known), dtype=np.bool_)


Expected = Numbers | Texts


def expect(output: GraphOutput, units: Units, bound: Rounded | None = None, *, quickly: bool = False) -> Expected:
    """What an output holds for individuals; ``bound`` says what the file rounds of it, where that is known.

    ``quickly``: without one, what is lost on the way to the scores is left out.
    """
    bounded = bound is not None and bool(np.isfinite(bound.error).all())
    scores = Scores.of(units, output.scores, estimated=not (bounded or quickly))
    match output.kind:
        case OutputKind.SCORE | OutputKind.PROBABILITY:
            return _bounded(_numbers(scores.values, scores.values - scores.slack, scores.values + scores.slack), bound)
        case OutputKind.SIGMOID:
            return _bounded(_logistic(scores), bound)
        case OutputKind.SOFTMAX:
            return _bounded(_softmax(scores), bound)
        case OutputKind.LOG_SOFTMAX:
            return _bounded(_log_softmax(scores), bound)
        case OutputKind.LABEL:
            return _label(output, scores, units.unsure, bound)


def _numbers(values: FloatArray, low: FloatArray, high: FloatArray) -> Numbers:
    return Numbers(values, low, high, np.zeros(values.shape, dtype=np.bool_))


def _bounded(found: Numbers, bound: Rounded | None) -> Numbers:
    """The ends by the bound of the file's rounding where it is known, and is one of these numbers."""
    if bound is None or bound.low.size != found.values.size:
        return found
    low, high, error = (np.asarray(end).reshape(found.values.shape) for end in (bound.low, bound.high, bound.error))
    ours = _OURS * (found.high - found.low) / TOLERANCE + 1e-300
    with np.errstate(invalid="ignore"):
        is_it = (found.values >= low - ours) & (found.values <= high + ours)
        near = error * (1 + 1e-6) + (high - low) + ours
        known = np.isfinite(near)
        # A bound of another number than was read excuses nothing.
        loose = known & is_it
        near = np.where(known & ~is_it, np.minimum(near, (found.high - found.low) / 2), near)
        return Numbers(
            found.values,
            np.where(known, found.values - near, found.low),
            np.where(known, found.values + near, found.high),
            loose & (error == 0) & (low == high),
        )


def _logistic(scores: Scores) -> Numbers:
    value, low, high = (_sigmoid(scores.values + side * scores.slack) for side in (0, -1, 1))
    return _numbers(value, low - _OF_CURVES, high + _OF_CURVES)


def _sigmoid(z: FloatArray) -> FloatArray:
    with np.errstate(over="ignore"):
        return np.asarray(1 / (1 + np.exp(-z)), dtype=np.float64)


def _softmax(scores: Scores) -> Numbers:
    value, low, high = (np.exp(_log_shares(scores, side)) for side in (0, -1, 1))
    return _numbers(value, low - _OF_CURVES, high + _OF_CURVES)


def _log_softmax(scores: Scores) -> Numbers:
    value, low, high = (_log_shares(scores, side) for side in (0, -1, 1))
    size = np.maximum(1.0, np.abs(value))
    return _numbers(value, low - _OF_CURVES * size, high + _OF_CURVES * size)


def _log_shares(scores: Scores, side: int) -> FloatArray:
    """The logarithm of each share with its own score moved to that side, and all others to the other one."""
    own, others = scores.values + side * scores.slack, scores.values - side * scores.slack
    away = others[:, None, :] - own[:, :, None]
    away[:, np.arange(own.shape[1]), np.arange(own.shape[1])] = 0.0
    return np.asarray(-np.logaddexp.reduce(away, axis=2), dtype=np.float64)


def _label(output: GraphOutput, scores: Scores, unsure: BoolArray, bound: Rounded | None) -> Texts:
    values = scores.values
    order = slice(None, None, -1 if output.ties_last else 1)
    chosen = np.arange(values.shape[1])[order][np.argmax(values[:, order], axis=1)]
    rows = np.arange(len(values))
    lead = values[rows, chosen][:, None] - values
    near = scores.slack[rows, chosen][:, None] + scores.slack
    clear = lead > near
    clear[rows, chosen] = True
    sure = clear.all(axis=1)
    if bound is not None and bound.low.size == len(values):
        certain = (bound.error == 0) & (bound.low == bound.high)
        sure = np.asarray(certain.reshape(-1), dtype=np.bool_)
    tied = lead == 0
    tied &= (tied.sum(axis=1) > 1)[:, None]
    labels = tuple(output.labels) or tuple(range(values.shape[1]))
    return Texts(labels, chosen.astype(np.int64), sure & ~unsure, tied & ~unsure[:, None])


def _same(mine: Any, theirs: Any) -> bool:
    theirs = theirs.decode() if isinstance(theirs, bytes) else theirs
    return bool(mine == theirs) if isinstance(mine, str) == isinstance(theirs, str) else False
