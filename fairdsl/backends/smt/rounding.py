"""Proofs that cover the deployed file's arithmetic.

Let the file decide as the exact rule does about everybody for whom no change of the scores by at most d changes what
the rule says (``models/float32``). Then a pair that the file treats differently satisfies, with its exact scores, some
case of the question whose inequalities are each weakened by d times the sizes of their coefficients. So where the
*widened* question has no such pair, the demand holds of the exact model and of the file.

Where both individuals differ only in what the file does not compute with, or weighs with 0 everywhere, it computes both
alike, and no widening is needed; nor is it where rounding changes no score, as for a single tree over exact features.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from fairdsl.backends.smt.cases import pair_of
from fairdsl.ir.alike import allows_none, apart, computed_alike
from fairdsl.ir.demand import Chance, Decision, Demanded
from fairdsl.ir.domain import Point
from fairdsl.ir.expr import Relation
from fairdsl.ir.model import ByHighest, ByThreshold
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Pair, ScoreGap
from fairdsl.numerics.exact import exact_scores
from fairdsl.numerics.narrow import narrow

#: What the analysis takes for each weight of a model, and the share of the time that it may take.
_SECONDS_A_WEIGHT, _SHARE = 4e-7, 0.1
#: The share of individuals near the threshold beyond which no proof with that much room is tried.
_MANY_NEAR = 0.25
_ORDERS = (Relation.LT, Relation.LE, Relation.GT, Relation.GE)


@dataclass(frozen=True, slots=True)
class Reach:
    """What a proof in exact arithmetic says of the file.

    ``covers`` (a sentence why): everything. ``alike``: no proof is needed, for the model has nothing to tell the two
    apart by. ``slack``: what the scores may be off by, one number a score; empty where no bound is known; ``hopeless``:
    so much that many decisions may be others.
    """

    covers: str | None = None
    alike: bool = False
    slack: tuple[Fraction, ...] = ()
    hopeless: bool = False


def reach_of(problem: Problem, seconds: float) -> Reach:
    """How far proofs about the problem reach; nothing is known of models whose analysis takes long for the seconds."""
    model, pair = problem.model, pair_of(problem)
    weights = sum(layer.weight.floats.size for layer in model.layers)
    chances = any(isinstance(term, Chance) for term in problem.demanded.terms)
    if model.deployed is None or pair.sure or chances or weights * _SECONDS_A_WEIGHT > seconds * _SHARE:
        return Reach()
    if isinstance(problem.question, Demanded) and not _of_decisions(problem.question):
        return Reach()
    # Importing the reader of files is for those that have one.
    from fairdsl.models.float32.decision import analysis_of, attributes_read, slack

    file = analysis_of(model, narrow(problem.domain, pair.target))
    if file is None:
        return Reach()
    read = attributes_read(file)
    if read is not None and isinstance(problem.question, Pair) and apart(pair).isdisjoint(read) and allows_none(pair):
        return Reach(
            covers="the file computes both individuals alike, rounding included", alike=computed_alike(problem)
        )
    found = slack(file)
    if found is None:
        return Reach()
    if isinstance(pair.demand, ScoreGap):
        by_score: Sequence[Fraction] = () if found.score is None else (found.score,)
    else:
        by_score = found.decision if _is_ordered(problem) else ()
    if by_score and not any(by_score):
        return Reach(covers="the file computes its scores without rounding")
    hopeless = not isinstance(pair.demand, ScoreGap) and found.near > _MANY_NEAR
    return Reach(slack=tuple(by_score), hopeless=hopeless)


def _of_decisions(asked: Demanded) -> bool:
    """Whether a formula is about what one model decides: then it is widened as equal decisions are."""
    return len(asked.models) == 1 and all(isinstance(term, Decision) for term in asked.terms)


def _is_ordered(problem: Problem) -> bool:
    rule = problem.model.rule
    return isinstance(rule, ByHighest) or rule.relation in _ORDERS


def widened_by(problem: Problem, slack: Sequence[Fraction]) -> Problem | None:
    """The question of all whose scores are off by at most so much; None where it cannot hold of anybody."""
    pair = pair_of(problem)
    if isinstance(pair.demand, ScoreGap):
        limit = pair.demand.limit - 2 * slack[0]
        if limit < 0:
            return None
        return replace(problem, question=replace(pair, demand=replace(pair.demand, limit=limit)))
    rule = problem.model.rule
    wider: ByThreshold | ByHighest
    match rule:
        case ByThreshold():
            wider = replace(rule, low=rule.low - slack[0], high=rule.high + slack[0])
        case ByHighest():
            wider = replace(rule, slack=tuple(slack))
    return replace(problem, model=replace(problem.model, rule=wider))


def inside(problem: Problem, a: Point, b: Point) -> Fraction:
    """By how much scores have to move at most until the pair breaks the demand: no proof has a wider margin."""
    rule, demand = problem.model.rule, pair_of(problem).demand
    scores = [exact_scores(problem.model, point) for point in (a, b)]
    if isinstance(demand, ScoreGap):
        return max(Fraction(0), (demand.limit - abs(scores[0][0] - scores[1][0])) / 2)
    if isinstance(rule, ByThreshold):
        return min(max(rule.low - score[0], score[0] - rule.high, Fraction(0)) for score in scores)
    ordered = [sorted(score, reverse=True) for score in scores]
    return min((score[0] - score[1]) / 2 for score in ordered)
