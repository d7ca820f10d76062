"""Models on many points: scores with rigorous error bounds, and decisions with nothing left in doubt.

Points are exact: float64 numbers taken as they are, or rows of data whose decimals are not float64
(:mod:`fairdsl.ir.exact_rows`); :mod:`fairdsl.numerics.forward` has the error analysis. What its bounds leave open
:mod:`fairdsl.numerics.settle` decides, and only that.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from fairdsl.clock import Work, spend
from fairdsl.ir.domain import Point
from fairdsl.ir.exact_rows import ExactRows
from fairdsl.ir.expr import Predicate, Relation, Who
from fairdsl.ir.feature import AttributeInput, IndicatorInput
from fairdsl.ir.model import ByThreshold, DecisionRule, Model
from fairdsl.numerics.forward import Forward, Read
from fairdsl.numerics.kernel_forward import KernelForward
from fairdsl.numerics.leaves import Leaves
from fairdsl.numerics.predicates import mask
from fairdsl.numerics.rounding import float_above, float_below
from fairdsl.numerics.settle import settle

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]
#: What is counted where effort is given.
_EVALUATED = Work("individuals evaluated", 0.5)
#: Weights of the layers, each multiplied three times, that take as long as everything else does of an individual.
_WEIGHTS = 4000
#: Rows of which predicates are evaluated at once, for each predicate takes as long as hundreds of them; and the numbers
#: that are read of them at most.
_ROWS, _NUMBERS = 1 << 14, 1 << 22
#: Individuals [n, attributes].
Points = FloatArray | ExactRows

_UNIT_ROUNDOFF = 2.0**-53


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """Decisions with nothing left to doubt: ``UNDECIDED`` only inside a threshold's open enclosure, and where
    the score of curved units cannot be told from the threshold.

    ``scores`` [n, k] are within ``errors`` of the exact ones. Of the distinct points that float64 left in
    doubt, ``doubled`` were settled with more digits, ``exactly`` in exact arithmetic.
    """

    decisions: IntArray
    scores: FloatArray
    errors: FloatArray
    doubled: int
    exactly: int


@dataclass(frozen=True, slots=True)
class Around:
    """Individuals that are neighbours of others: of ``centres[owners[i]]`` the i-th; [c, attributes] and [n]."""

    centres: FloatArray
    owners: IntArray

    def at(self, rows: IntArray) -> Around:
        """Some of the neighbours."""
        return Around(self.centres, self.owners[rows])


def points_of(rows: Points) -> list[Point]:
    """The exact points that rows [n, attributes] hold."""
    if isinstance(rows, ExactRows):
        return rows.points()
    return [tuple(Fraction(value) for value in row) for row in rows.tolist()]


class BatchEvaluator:
    """Evaluates one model on points [n, attributes], which are exact numbers."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self._leaves = Leaves.of(model)
        #: What evaluates a kernel machine; None for layers alone.
        self.kernel = KernelForward(model, self._leaves) if model.opaque is not None else None
        self._forward = self.kernel or Forward(model.layers, self._leaves)
        self.chunk = self._forward.chunk
        #: Times the effort of an individual of a model without layers to speak of.
        self._price = 1.0 + sum(layer.weight.floats.size for layer in model.layers if not self._leaves.trees) / _WEIGHTS
        self._attributes: list[tuple[int, int]] = []
        self._indicators: list[tuple[int, Predicate]] = []
        for column, position in enumerate(self._leaves.others.tolist()):
            match model.inputs[position]:
                case AttributeInput(attribute):
                    self._attributes.append((column, attribute))
                case IndicatorInput(predicate):
                    self._indicators.append((column, predicate))
        predicates = len(self._indicators) + len(self._leaves.tests)
        rows = min(_ROWS, _NUMBERS // (len(self._leaves.others) + self._leaves.trees + predicates + 1))
        #: Rows that are read together: whole chunks.
        self._together = self.chunk * max(1, rows // self.chunk if predicates else 1)

    def inputs(self, points: Points) -> FloatArray:
        """What the first layer reads: of floats exact, since attributes are copied and indicators are 0 or 1."""
        read = self.read(points)
        if not self._leaves.trees:
            return read.numbers
        inputs = np.zeros((len(points), len(self.model.inputs)), order="F")
        inputs[:, self._leaves.others] = read.numbers
        np.put_along_axis(inputs, read.leaves, 1.0, axis=1)
        return inputs

    def read(self, points: Points) -> Read:
        """What the first layer reads, of each tree the one leaf that is reached."""
        spend(_EVALUATED, len(points), each=self._price)
        floats = points.floats if isinstance(points, ExactRows) else points
        rounding = points.rounding if isinstance(points, ExactRows) else None
        numbers = np.empty((len(points), len(self._leaves.others)), order="F")
        error = None if rounding is None else np.zeros_like(numbers)
        for column, attribute in self._attributes:
            numbers[:, column] = floats[:, attribute]
            if error is not None and rounding is not None:
                error[:, column] = rounding[:, attribute]
        for column, predicate in self._indicators:
            numbers[:, column] = mask(predicate, {Who.EACH: points})
        return Read(numbers, self._leaves.reached(points), error if error is not None and error.any() else None)

    def approximate(self, points: FloatArray) -> FloatArray:
        """Scores [n, k] in plain float64, without an error bound: for searching, never for deciding."""
        found = np.empty((points.shape[0], self.model.score_count))
        for part, read in self._parts(points):
            found[part] = self._forward.plain(read)
        return found

    def _parts(self, points: Points) -> Iterator[tuple[slice, Read]]:
        """What is read of each chunk of points."""
        for start in range(0, len(points), self._together):
            read = self.read(_some(points, slice(start, start + self._together)))
            for first in range(0, len(read.numbers), self.chunk):
                rows = slice(first, first + self.chunk)
                yield slice(start + first, start + first + self.chunk), read.at(rows)

    def together(self, members: FloatArray, around: Around | None = None) -> FloatArray:
        """What :meth:`approximate` gives of individuals [n, k, attributes], [n * k, scores].

        The k of each row are alike but for some attributes; a kernel machine evaluates what they share once, and uses
        what it has in common with others that it is said to be ``around``.
        """
        points = members.reshape(-1, members.shape[2])
        size = members.shape[1]
        if self.kernel is None or size < 2:
            return self.approximate(points)
        if around is not None:
            return self.kernel.around(self.read(points), size, self.read(around.centres), around.owners)
        found = np.empty((len(points), self.model.score_count))
        step = max(1, self.chunk // size) * size
        for start in range(0, len(points), step):
            part = slice(start, start + step)
            found[part] = self.kernel.together(self.read(points[part]), size)
        return found

    def scores(self, points: Points, *, by_row: bool = False) -> tuple[FloatArray, FloatArray]:
        """Scores [n, k] and a rigorous bound on their error [n, k] (infinite or nan: nothing is known).

        The bound is taken over the largest activations of a chunk of points, which costs next to
        nothing; ``by_row`` takes it for every point by itself, at twice the cost of the scores.
        """
        scores = np.empty((len(points), self.model.score_count))
        errors = np.empty_like(scores)
        for part, read in self._parts(points):
            scores[part], errors[part] = self._forward.bounded(read, by_row=by_row)
        return scores, errors

    def scores_as_rounded(self, points: Points, *, by_row: bool) -> tuple[FloatArray, FloatArray]:
        """What :meth:`scores` gives, as if every operation rounded: the bound is not 0 where float64 happens to be
        exact, so it can be scaled to other floating-point numbers.
        """
        scores = np.empty((len(points), self.model.score_count))
        errors = np.empty_like(scores)
        for part, read in self._parts(points):
            if isinstance(self._forward, Forward):
                known = np.zeros((1, read.numbers.shape[1]))
                scores[part], errors[part] = self._forward.bounded(read, by_row=by_row, error=known)
            else:
                scores[part], errors[part] = self._forward.bounded(read, by_row=by_row)
        return scores, errors

    def decisions(self, points: Points) -> tuple[IntArray, BoolArray]:
        """The outcome of each point, and where the error bound leaves it in doubt."""
        decisions, in_doubt, _, _ = self._judged(points)
        return decisions, in_doubt

    def settled(self, points: Points) -> Settled:
        """Decisions, with the points in doubt settled in more digits or exactly (each distinct one once)."""
        decisions, in_doubt, scores, errors = self._judged(points)
        rows = np.flatnonzero(in_doubt)
        if not rows.size:
            return Settled(decisions=decisions, scores=scores, errors=errors, doubled=0, exactly=0)
        distinct, where = ExactRows.of(_some(points, rows)).distinct()
        found = settle(self.model, distinct.points(), None if distinct.scaled else self.inputs(distinct))
        decisions[rows] = found.decisions[where]
        return Settled(decisions=decisions, scores=scores, errors=errors, doubled=found.doubled, exactly=found.exactly)

    def _judged(self, points: Points) -> tuple[IntArray, BoolArray, FloatArray, FloatArray]:
        """Decisions, doubts, scores and errors: by a chunk's common bound, then row by row where needed."""
        scores, errors = self.scores(points)
        decisions, in_doubt = self._decide(scores, errors)
        rows = np.flatnonzero(in_doubt)
        if rows.size:
            scores[rows], errors[rows] = self.scores(_some(points, rows), by_row=True)
            decisions[rows], in_doubt[rows] = self._decide(scores[rows], errors[rows])
        return decisions, in_doubt, scores, errors

    def _decide(self, scores: FloatArray, errors: FloatArray) -> tuple[IntArray, BoolArray]:
        rule = self.model.rule
        if isinstance(rule, ByThreshold):
            return _by_threshold(rule, scores[:, 0], errors[:, 0])
        return _by_highest(scores, errors)

    def approximate_decisions(self, scores: FloatArray) -> IntArray:
        """The outcomes that rows of scores [n, k] come to, as if they were exact."""
        return decisions_by(self.model.rule, scores)

    def margins(self, scores: FloatArray) -> FloatArray:
        """How far each row of scores [n, k] is from another decision, roughly: a preference, no claim."""
        return margins_by(self.model.rule, scores)


def _some(points: Points, rows: NDArray[np.intp] | slice) -> Points:
    return points.at(rows) if isinstance(points, ExactRows) else points[rows]


def decisions_by(rule: DecisionRule, scores: FloatArray) -> IntArray:
    """The outcomes that rows of scores [n, k] come to, as if they were exact."""
    if isinstance(rule, ByThreshold):
        return _by_threshold(rule, scores[:, 0], np.zeros(scores.shape[0]))[0]
    return np.asarray(np.argmax(scores, axis=1), dtype=np.int64)


def margins_by(rule: DecisionRule, scores: FloatArray) -> FloatArray:
    """How far each row of scores [n, k] is from another decision, roughly: a preference, no claim."""
    if isinstance(rule, ByThreshold):
        return np.abs(scores[:, 0] - float_below((rule.low + rule.high) / 2))
    if scores.shape[1] < 2:
        return np.full(scores.shape[0], np.inf)
    two_best = np.partition(scores, -2, axis=1)[:, -2:]
    return np.asarray(two_best[:, 1] - two_best[:, 0], dtype=np.float64)


def _by_threshold(rule: ByThreshold, score: FloatArray, error: FloatArray) -> tuple[IntArray, BoolArray]:
    # Strictly above every threshold of the enclosure, strictly below, or exactly a known one. The
    # comparison of rounded sums is safe because one more rounding is granted to each.
    with np.errstate(all="ignore"):
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
        ahead = top - scores > both * (1 + 4 * _UNIT_ROUNDOFF) + 1e-300
        rounding = 4 * _UNIT_ROUNDOFF * (np.abs(top) + np.abs(scores))
        ahead &= (both == 0) | (top - scores > both + rounding)
    # Without error, argmax itself is exact: of equal scores it takes the first, as the rule says.
    ahead |= both == 0
    ahead[rows, highest] = np.isfinite(top[:, 0])
    return highest.astype(np.int64), ~ahead.all(axis=1)
