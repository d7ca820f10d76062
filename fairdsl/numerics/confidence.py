"""Whether a model is sure: the probability of the decision that it takes, compared with a level.

Definition. Let outcome i be decided and l_j be the logits (``Model.logits``). The probability of i is
``1 / (1 + sum of exp(d_j))`` over the other outcomes j, with the *leads* ``d_j = l_j - l_i``; of one score z the
only lead is -z above the threshold and z below it. So

    probability >= q   if and only if   sum of exp(d_j) <= (1 - q) / q,

and likewise with ``>`` and ``<``. Nothing here is rounded towards an answer: three are given, and the third is
that it stays open.

Theorem. Where the leads are rational, the two sides are equal only if all leads are 0 (the exponentials of distinct
rational numbers are linearly independent over the rationals, Lindemann and Weierstrass, and all of them are added).
That case is told exactly; in every other one an enclosure decides, if it is narrow enough.

In float64, with u = 2**-53 and leads known within e: ``exp`` is monotone, so the sum lies between those of the
leads moved down and up by e. numpy's ``exp`` is within a factor 1 + 16 u (numerics/curves.py), a sum of k positive
terms within 1 + k u; both are covered by a factor 1 + 2**-40 for k up to 2**12, and what vanishes by 2**-1000. A
lead itself takes a subtraction of two scores, a product with ``scale``, which is 1 or 1/2, and the move: with s the
largest score's size, three roundings of at most 2 s + e each, less than 16 u s beside 16 u e.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from fairdsl.ir.domain import Point
from fairdsl.ir.expr import Relation
from fairdsl.ir.model import ByHighest, ByThreshold, DecisionRule, Logits, Model
from fairdsl.ir.question import Sure
from fairdsl.numerics.exact import Enclosed, decide_enclosed, enclosed_scores
from fairdsl.numerics.rounding import float_above, float_below

FloatArray = NDArray[np.float64]
TriArray = NDArray[np.int8]

#: Stands for an answer that stays open, where a number is needed.
OPEN = -1

#: Binary digits of curved units' values, and decimal digits of the exponentials of each.
_PRECISIONS = ((96, 24), (192, 60), (400, 120), (400, 300))
#: Exponentials of leads beyond this are only known to be very large, or nearly 0.
_FAR = 10_000
_UNIT_ROUNDOFF = 2.0**-53
_SUM_ERROR = 2.0**-40
#: Rivals at most for which that bounds the error of a sum.
_MOST_RIVALS = 2**12
#: Sums beyond this are no longer distinguished in float64.
_LARGEST = 1e300


class Scored(Protocol):
    """What probabilities follow from, beside scores: how these decide, and what they are logits of."""

    @property
    def rule(self) -> DecisionRule:
        """How scores decide."""

    @property
    def logits(self) -> Logits | None:
        """How they give probabilities."""


def is_sure(model: Model, point: Point, wanted: Sequence[Sure]) -> bool | None:
    """Whether the model is as sure of its decision as all of ``wanted`` ask; None where that stays open."""
    answers = [_is_sure(model, point, sure) for sure in wanted]
    if False in answers:
        return False
    return None if None in answers else True


def _is_sure(model: Model, point: Point, sure: Sure) -> bool | None:
    for bits, digits in _PRECISIONS:
        scores = enclosed_scores(model, point, bits)
        outcome = decide_enclosed(model.rule, scores)
        if outcome is None:
            continue
        leads, errors = leads_of(model, scores, outcome)
        answer = _compared(leads, errors, sure, digits)
        if answer is not None:
            return answer
    return None


def leads_of(model: Model, scores: Enclosed, outcome: int) -> tuple[list[Fraction], list[Fraction]]:
    """How far the logit of each other outcome is above the decided one's, and the errors."""
    scale = _logits(model).scale
    values, errors = scores.values, scores.errors
    if isinstance(model.rule, ByHighest):
        others = [other for other in range(len(values)) if other != outcome]
        leads = [scale * (values[other] - values[outcome]) for other in others]
        return leads, [scale * (errors[other] + errors[outcome]) for other in others]
    sign = -1 if outcome == model.rule.above else 1
    return [sign * scale * values[0]], [scale * errors[0]]


def _logits(model: Scored) -> Logits:
    if model.logits is None:
        raise ValueError("a model without probabilities")
    return model.logits


def _compared(leads: Sequence[Fraction], errors: Sequence[Fraction], sure: Sure, digits: int) -> bool | None:
    """Whether the exponentials of the leads add up to no more than the level admits."""
    limit = sure.odds_against
    if not any(leads) and not any(errors):
        return len(leads) < limit or (len(leads) == limit and sure.relation is Relation.GE)
    down, up = _context(digits, ROUND_FLOOR), _context(digits, ROUND_CEILING)
    low, high = Decimal(0), Decimal(0)
    for lead, error in zip(leads, errors, strict=True):
        below, above = exp_between(lead - error, lead + error, digits)
        low, high = down.add(low, below), up.add(high, above)
    if high < _ratio(limit, down):
        return True
    return False if low > _ratio(limit, up) else None


def exp_between(low: Fraction, high: Fraction, digits: int) -> tuple[Decimal, Decimal]:
    """Numbers between which the exponentials of all numbers in [low, high] lie."""
    return _exp_below(low, digits), _exp_above(high, digits)


def _exp_below(x: Fraction, digits: int) -> Decimal:
    """A number at most exp(x): the rounded one is within half a unit of it, one unit less is below."""
    if x < -_FAR:
        return Decimal(0)
    down = _context(digits, ROUND_FLOOR)
    return down.next_minus(down.exp(_ratio(min(x, Fraction(_FAR)), down)))


def _exp_above(x: Fraction, digits: int) -> Decimal:
    """A number at least exp(x)."""
    if x > _FAR:
        return Decimal("Infinity")
    up = _context(digits, ROUND_CEILING)
    return up.next_plus(up.exp(_ratio(max(x, Fraction(-_FAR)), up)))


def _ratio(value: Fraction, context: Context) -> Decimal:
    """The fraction, rounded as the context says."""
    return context.divide(Decimal(value.numerator), Decimal(value.denominator))


def _context(digits: int, rounding: str) -> Context:
    return Context(prec=digits, rounding=rounding, Emin=MIN_EMIN, Emax=MAX_EMAX, clamp=0, traps=[])


def sure_rows(
    model: Scored, scores: FloatArray, errors: FloatArray, decisions: NDArray[np.integer[Any]], wanted: Sequence[Sure]
) -> TriArray:
    """For each row of scores [n, k] within ``errors`` whether the model is sure: 1, 0, or OPEN; [n].

    ``decisions`` [n] are the proved ones; where they are negative the answer is open.
    """
    answers = np.ones(len(scores), dtype=np.int8)
    if not wanted:
        return answers
    low, high = odds_against(model, scores, errors, decisions)
    for sure in wanted:
        limit = sure.odds_against
        yes, no = high < float_below(limit), low > float_above(limit)
        answers = np.where((answers == 0) | no, 0, np.where((answers == 1) & yes, 1, OPEN)).astype(np.int8)
    answers[decisions < 0] = OPEN
    return answers


def odds_against(
    model: Scored, scores: FloatArray, errors: FloatArray, decisions: NDArray[np.integer[Any]]
) -> tuple[FloatArray, FloatArray]:
    """Bounds of the odds against each row's decision, the sum of the exponentials of its leads; [n] each."""
    scale = float(_logits(model).scale)
    count = max(1, scores.shape[1] - 1)
    with np.errstate(all="ignore"):
        leads = _approximate_leads(model, scores, decisions)
        sizes = np.abs(scores).max(axis=1, initial=0.0)[:, None]
        move = scale * 2 * errors.max(axis=1, initial=0.0)[:, None] + 16 * _UNIT_ROUNDOFF * sizes
        move = move * (1 + 16 * _UNIT_ROUNDOFF) + 2.0**-1000
        low = np.exp(leads - move).sum(axis=1) * (1 - _SUM_ERROR) - 2.0**-1000
        high = np.exp(leads + move).sum(axis=1) * (1 + _SUM_ERROR) + count * 2.0**-1000
    if count > _MOST_RIVALS:
        return np.full(len(scores), -np.inf), np.full(len(scores), np.inf)
    return np.minimum(low, _LARGEST), high


def _approximate_leads(model: Scored, scores: FloatArray, decisions: NDArray[np.integer[Any]]) -> FloatArray:
    """The leads of the other outcomes in float64, [n, others]; negative decisions count as the first outcome."""
    scale = float(_logits(model).scale)
    if isinstance(model.rule, ByThreshold):
        above = decisions == model.rule.above
        return np.where(above, -scale, scale)[:, None] * scores[:, :1]
    count = scores.shape[1]
    decided = np.maximum(decisions, 0)
    others = (decided[:, None] + np.arange(1, count)) % count
    rows = np.arange(len(scores))[:, None]
    found: FloatArray = scale * (scores[rows, others] - scores[rows, decided[:, None]])
    return found


def approximate_log_odds(model: Model, scores: FloatArray, decisions: NDArray[np.integer[Any]]) -> FloatArray:
    """The logit of each row's confidence, [n], without an error bound: for searching, never for deciding."""
    with np.errstate(all="ignore"):
        leads = _approximate_leads(model, scores, decisions)
        highest = leads.max(axis=1, keepdims=True)
        found: FloatArray = -(highest[:, 0] + np.log(np.exp(leads - highest).sum(axis=1)))
    return found
