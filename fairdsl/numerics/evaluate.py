"""Models on many points in float64, with a rigorous bound on the error, and exact answers where it matters.

Error analysis (Higham, Accuracy and Stability of Numerical Algorithms, chapter 3). With unit roundoff
u = 2**-53, a dot product of n terms computed in any order, blocked or with fused multiply-adds, satisfies
``|computed - true| <= gamma(n) * |w|.|h|``, gamma(n) = n u / (1 - n u), if nothing underflows; every
product may add one underflow of at most 2**-1074. For a layer ``z = W h + b`` whose input is known as
``|computed h - h| <= e`` and whose floats are within ``u |W|`` of the exact weights (0 where a weight *is*
its float, as float32 weights are), therefore

    ``|computed z - z| <= |W| (e + (gamma(n + 2) + u) |h|) (1 + u) + (gamma(n + 2) + u) |b| + tiny``

and a leaky unit, being 1-Lipschitz for slopes in [0, 1], passes that error on and adds the rounding of
one product. The bound itself consists of sums of non-negative terms, so its own rounding is a relative
gamma(n + 8), which the factor ``outward`` covers.

If all weights, biases and inputs of a layer are multiples of a power of two q and ``|W||h| + |b|`` stays
below ``2**52 q``, then every partial sum in every order is a float64 number and the layer is computed
*exactly*: models with small integer or dyadic weights have error 0, and ties at the threshold stay ties.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from fairdsl.ir.domain import Point
from fairdsl.ir.expr import Predicate, Relation, Who
from fairdsl.ir.feature import AttributeInput, IndicatorInput
from fairdsl.ir.model import ByThreshold, Layer, Model
from fairdsl.numerics.exact import UNDECIDED, decide, exact_scores
from fairdsl.numerics.predicates import mask
from fairdsl.numerics.rounding import float_above, float_below, quantum_exponent

__all__ = ["BatchEvaluator", "Settled", "points_of"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]

_UNIT_ROUNDOFF = 2.0**-53
#: Covers the underflows of a layer's products and of the bound's own arithmetic, n of each.
_TINY = 1e-300
#: Beyond this a partial sum might overflow, which the analysis excludes.
_OVERFLOWS = 1e300
#: Activations held at once, in numbers: about 64 MB.
_HELD = 2**23


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """Decisions with nothing left to doubt: ``UNDECIDED`` only inside a threshold's open enclosure.

    ``exactly`` counts the distinct points that exact arithmetic had to settle.
    """

    decisions: IntArray
    exactly: int


def points_of(rows: FloatArray) -> list[Point]:
    """The exact points that an array of floats [n, attributes] holds."""
    return [tuple(Fraction(value) for value in row) for row in rows.tolist()]


@dataclass(frozen=True, slots=True)
class _Plain:
    """A layer prepared for float64: transposed weights and what the error bound needs."""

    weight: FloatArray  # [in, out]
    magnitude: FloatArray  # |weight|
    bias: FloatArray
    bias_magnitude: FloatArray
    slope: FloatArray
    bends: bool
    factor: float  # gamma(n + 2) plus the representation of weights and biases
    outward: float
    slope_error: float  # of one product with a slope that is neither 0 nor 1
    exponent: int | None  # all constants are multiples of 2**-exponent; None: slopes or constants are not


class BatchEvaluator:
    """Evaluates one model on arrays of points (float64, [n, attributes], taken as exact numbers)."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self._layers = [_prepare(layer) for layer in model.layers]
        self._attributes: list[tuple[int, int]] = []
        self._indicators: list[tuple[int, Predicate]] = []
        for position, item in enumerate(model.inputs):
            match item:
                case AttributeInput(attribute):
                    self._attributes.append((position, attribute))
                case IndicatorInput(predicate):
                    self._indicators.append((position, predicate))
        widest = max([len(model.inputs), *(layer.bias.size for layer in self._layers)])
        self.chunk = max(64, min(16384, _HELD // max(1, 4 * widest)))

    def inputs(self, points: FloatArray) -> FloatArray:
        """What the first layer reads: exact, since attributes are copied and indicators are 0 or 1."""
        read = np.empty((points.shape[0], len(self.model.inputs)))
        for position, attribute in self._attributes:
            read[:, position] = points[:, attribute]
        for position, predicate in self._indicators:
            read[:, position] = mask(predicate, {Who.EACH: points})
        return read

    def approximate(self, points: FloatArray) -> FloatArray:
        """Scores [n, k] in plain float64, without an error bound: for searching, never for deciding."""
        found = np.empty((points.shape[0], self.model.score_count))
        for start in range(0, points.shape[0], self.chunk):
            hidden = self.inputs(points[start : start + self.chunk])
            with np.errstate(all="ignore"):
                for layer in self._layers:
                    hidden = _bend(hidden @ layer.weight + layer.bias, layer)
            found[start : start + self.chunk] = hidden
        return found

    def scores(self, points: FloatArray, *, by_row: bool = False) -> tuple[FloatArray, FloatArray]:
        """Scores [n, k] and a rigorous bound on their error [n, k] (infinite or nan: nothing is known).

        The bound is taken over the largest activations of a chunk of points, which costs next to
        nothing; ``by_row`` takes it for every point by itself, at twice the cost of the scores.
        """
        scores = np.empty((points.shape[0], self.model.score_count))
        errors = np.empty_like(scores)
        for start in range(0, points.shape[0], self.chunk):
            part = slice(start, start + self.chunk)
            scores[part], errors[part] = self._scores(points[part], by_row)
        return scores, errors

    def decisions(self, points: FloatArray) -> tuple[IntArray, BoolArray]:
        """The outcome of each point, and where the error bound leaves it in doubt."""
        decisions = np.empty(points.shape[0], dtype=np.int64)
        in_doubt = np.empty(points.shape[0], dtype=np.bool_)
        for start in range(0, points.shape[0], self.chunk):
            part = slice(start, start + self.chunk)
            decisions[part], in_doubt[part] = self._decide(points[part], by_row=False)
            doubtful = start + np.flatnonzero(in_doubt[part])
            if doubtful.size:
                decisions[doubtful], in_doubt[doubtful] = self._decide(points[doubtful], by_row=True)
        return decisions, in_doubt

    def settled(self, points: FloatArray) -> Settled:
        """Decisions, with the points in doubt settled in exact arithmetic (each distinct one once)."""
        decisions, in_doubt = self.decisions(points)
        rows = np.flatnonzero(in_doubt)
        if not rows.size:
            return Settled(decisions=decisions, exactly=0)
        distinct, where = np.unique(points[rows], axis=0, return_inverse=True)
        found = [decide(self.model.rule, exact_scores(self.model, point)) for point in points_of(distinct)]
        outcomes = np.array([UNDECIDED if outcome is None else outcome for outcome in found], dtype=np.int64)
        decisions[rows] = outcomes[where.ravel()]
        return Settled(decisions=decisions, exactly=len(distinct))

    def approximate_decisions(self, scores: FloatArray) -> IntArray:
        """The outcomes that rows of scores [n, k] come to, as if they were exact."""
        rule = self.model.rule
        if isinstance(rule, ByThreshold):
            return _by_threshold(rule, scores[:, 0], np.zeros(scores.shape[0]))[0]
        return np.asarray(np.argmax(scores, axis=1), dtype=np.int64)

    def margins(self, scores: FloatArray) -> FloatArray:
        """How far each row of scores [n, k] is from another decision, roughly: a preference, no claim."""
        rule = self.model.rule
        if isinstance(rule, ByThreshold):
            return np.abs(scores[:, 0] - float_below((rule.low + rule.high) / 2))
        if scores.shape[1] < 2:
            return np.full(scores.shape[0], np.inf)
        two_best = np.partition(scores, -2, axis=1)[:, -2:]
        return np.asarray(two_best[:, 1] - two_best[:, 0], dtype=np.float64)

    def _decide(self, points: FloatArray, by_row: bool) -> tuple[IntArray, BoolArray]:
        scores, errors = self._scores(points, by_row)
        rule = self.model.rule
        if isinstance(rule, ByThreshold):
            return _by_threshold(rule, scores[:, 0], errors[:, 0])
        return _by_highest(scores, errors)

    def _scores(self, points: FloatArray, by_row: bool) -> tuple[FloatArray, FloatArray]:
        hidden = self.inputs(points)
        if not len(hidden):
            return np.empty((0, self.model.score_count)), np.empty((0, self.model.score_count))
        error = np.zeros((1, hidden.shape[1]))
        # The inputs are multiples of 2**-exponent; None as soon as exactness is lost.
        exponent: int | None = 0 if bool(np.all(np.floor(hidden) == hidden)) else None
        with np.errstate(all="ignore"):
            for layer in self._layers:
                reach = np.abs(hidden)
                if not by_row:
                    reach = reach.max(axis=0, keepdims=True)
                total = reach @ layer.magnitude + layer.bias_magnitude
                exponent = _still_exact(exponent, layer, float(total.max(initial=0.0)))
                before = hidden @ layer.weight + layer.bias
                hidden = _bend(before, layer)
                if exponent is not None:
                    error = np.zeros((1, hidden.shape[1]))
                    continue
                carried = (error + layer.factor * reach) @ layer.magnitude
                error = (carried + layer.factor * layer.bias_magnitude + _TINY) * layer.outward
                if layer.slope_error:
                    # |hidden| <= |z| <= total, and the slope is at most 1.
                    error = (error + layer.slope_error * total + _TINY) * layer.outward
                error = np.where(total < _OVERFLOWS, error, np.inf)
        return hidden, np.broadcast_to(error, hidden.shape)


def _prepare(layer: Layer) -> _Plain:
    weight, bias, slope = layer.weight.floats, layer.bias.floats, layer.slope.floats
    terms = weight.shape[1]
    rounded = 0.0 if layer.weight.is_float and layer.bias.is_float else 2 * _UNIT_ROUNDOFF
    gamma = (terms + 2) * _UNIT_ROUNDOFF / (1 - (terms + 2) * _UNIT_ROUNDOFF)
    plain_slopes = bool(np.all((slope == 0) | (slope == 1))) and layer.slope.is_float
    exponents = [quantum_exponent(array) for array in (layer.weight, layer.bias)]
    known = [exponent for exponent in exponents if exponent is not None]
    return _Plain(
        weight=np.ascontiguousarray(weight.T),
        magnitude=np.ascontiguousarray(np.abs(weight).T),
        bias=bias,
        bias_magnitude=np.abs(bias),
        slope=slope,
        bends=not bool(np.all(layer.linear)),
        # The factors (1 + u) and the second-order terms are covered by one unit roundoff more.
        factor=gamma + rounded + _UNIT_ROUNDOFF,
        outward=1 + 4 * (terms + 16) * _UNIT_ROUNDOFF,
        slope_error=0.0 if plain_slopes else 4 * _UNIT_ROUNDOFF,
        exponent=max(known) if len(known) == 2 and plain_slopes else None,
    )


def _bend(before: FloatArray, layer: _Plain) -> FloatArray:
    return np.where(before > 0, before, before * layer.slope) if layer.bends else before


def _still_exact(exponent: int | None, layer: _Plain, reach: float) -> int | None:
    """The exponent of the layer's outputs if it is computed without any rounding; otherwise None.

    ``reach`` bounds |W||h| + |b| but was itself rounded: below 2**52 quanta it stays below 2**53.
    """
    if exponent is None or layer.exponent is None:
        return None
    # Products of multiples of 2**-i and 2**-j are multiples of 2**-(i + j), as is the bias.
    outputs = exponent + layer.exponent
    return outputs if outputs < 900 and reach < 2.0 ** (52 - outputs) else None


def _by_threshold(rule: ByThreshold, score: FloatArray, error: FloatArray) -> tuple[IntArray, BoolArray]:
    # Strictly above every threshold of the enclosure, strictly below, or exactly a known one. The
    # comparison of rounded sums is safe because one more rounding is granted to each.
    slack = error * (1 + 4 * _UNIT_ROUNDOFF) + 2 * _UNIT_ROUNDOFF * np.where(error > 0, np.abs(score), 0.0)
    above = score - slack > float_above(rule.high)
    below = score + slack < float_below(rule.low)
    tied = np.zeros_like(above)
    if rule.low == rule.high:
        known = error == 0
        # Without error the score is a float, so comparing with the floats next to the threshold is exact.
        above |= known & (score >= float_above(rule.high)) & (score != float_below(rule.low))
        below |= known & (score <= float_below(rule.low)) & (score != float_above(rule.high))
        tied = known & (score == float_above(rule.high)) & (score == float_below(rule.low))
    granting = {
        Relation.GT: above,
        Relation.GE: above | tied,
        Relation.LT: below,
        Relation.LE: below | tied,
        Relation.EQ: tied,
        Relation.NE: above | below,
    }[rule.relation]
    decisions = np.where(granting, rule.granted, rule.otherwise).astype(np.int64)
    return decisions, ~(above | below | tied)


def _by_highest(scores: FloatArray, errors: FloatArray) -> tuple[IntArray, BoolArray]:
    highest = np.argmax(scores, axis=1)
    rows = np.arange(len(scores))
    top, top_error = scores[rows, highest][:, None], errors[rows, highest][:, None]
    with np.errstate(all="ignore"):
        both = top_error + errors
        ahead = top - scores > both * (1 + 4 * _UNIT_ROUNDOFF) + _TINY
        rounding = 4 * _UNIT_ROUNDOFF * (np.abs(top) + np.abs(scores))
        ahead &= (both == 0) | (top - scores > both + rounding)
    # Without error, argmax itself is exact: of equal scores it takes the first, as the rule says.
    ahead |= both == 0
    ahead[rows, highest] = np.isfinite(top[:, 0])
    return highest.astype(np.int64), ~ahead.all(axis=1)
