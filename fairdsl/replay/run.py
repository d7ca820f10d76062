"""A pair on the original model: exact arithmetic, and float32 where a file is deployed; of a black box its answers."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

from fairdsl.clock import Work, spend
from fairdsl.ir.domain import Point
from fairdsl.ir.model import Deployed, Model, Readout
from fairdsl.ir.opaque import BlackBox
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Pair, PairDemand, SameDecision, ScoreGap
from fairdsl.numerics.exact import settled_gap, settled_scores
from fairdsl.replay.admissible import admissible
from fairdsl.verdict import Individual, Replay, Witness

if TYPE_CHECKING:
    from fairdsl.models.running.runtime import Runtime

#: What is counted where effort is given.
_REPLAYED = Work("pairs replayed", 100)
#: What represents a decision that nobody knows.
_OPEN = "undecided"
#: Outputs of these kinds are the score up to an increasing map (probabilities): no gap is taken of them.
_SCORES = (Readout.SCORE, Readout.DIFFERENCE)


@lru_cache(maxsize=8)
def runtime_of(deployed: Deployed) -> Runtime:
    """The deployed file, opened once."""
    from fairdsl.models.running.runtime import Runtime

    return Runtime(deployed)


def breaks(
    demand: PairDemand, scores: tuple[Fraction, Fraction] | None, decisions: tuple[int | None, int | None]
) -> bool:
    """Whether two individuals break the demand; an open decision breaks nothing.

    ``scores`` are the two single scores (None where there are several; a gap is then not defined).
    """
    match demand:
        case SameDecision():
            return None not in decisions and decisions[0] != decisions[1]
        case ScoreGap(relation=relation, limit=limit):
            if scores is None:
                raise ValueError("a score gap needs a model with one score")
            return not relation.compares(abs(scores[0] - scores[1]), limit)


def replay(problem: Problem, a: Point, b: Point) -> Replay:
    """Evaluate both individuals; says nothing about whether the pair is admissible."""
    pair = problem.question
    if not isinstance(pair, Pair):
        raise ValueError("only questions about pairs have witnesses to replay")
    spend(_REPLAYED)
    model = problem.model
    if isinstance(model.opaque, BlackBox):
        return _asked(pair.demand, model, a, b)
    (scores_a, decision_a), (scores_b, decision_b) = settled_scores(model, a), settled_scores(model, b)
    in_float32, float32_decisions = (
        (None, None) if model.deployed is None else _deployed(pair.demand, model, model.deployed, a, b)
    )
    return Replay(
        exact=_exactly(pair.demand, model, (a, b), (decision_a, decision_b)),
        float32=in_float32,
        scores_a=scores_a.values,
        scores_b=scores_b.values,
        decision_a=_outcome(model, decision_a),
        decision_b=_outcome(model, decision_b),
        float32_decisions=float32_decisions,
        score_error=max(*scores_a.errors, *scores_b.errors),
    )


def _asked(demand: PairDemand, model: Model, a: Point, b: Point) -> Replay:
    """What a black box answers about either individual alone, which is all there is to know."""
    from fairdsl.models.black_boxes.asked import BlackBoxEvaluator

    answers = BlackBoxEvaluator(model).ask_exactly((a, b))
    scores_a, scores_b = (tuple(Fraction(score) for score in row) for row in answers.scores.tolist())
    decisions = answers.decisions.tolist()
    single = (scores_a[0], scores_b[0]) if len(scores_a) == 1 else None
    return Replay(
        exact=breaks(demand, single, (decisions[0], decisions[1])),
        float32=None,
        scores_a=scores_a,
        scores_b=scores_b,
        decision_a=_outcome(model, decisions[0]),
        decision_b=_outcome(model, decisions[1]),
        asked=True,
    )


def _outcome(model: Model, decision: int | None) -> str:
    """The outcome by name."""
    return _OPEN if decision is None or decision < 0 else model.outcomes[decision]


def _exactly(
    demand: PairDemand, model: Model, points: tuple[Point, Point], decisions: tuple[int | None, int | None]
) -> bool:
    """Whether it is proved that the two break the demand."""
    if isinstance(demand, SameDecision):
        return breaks(demand, None, decisions)
    if model.score_count != 1:
        raise ValueError("a score gap needs a model with one score")
    return settled_gap(model, points, demand.relation, demand.limit) is False


def _deployed(
    demand: PairDemand, model: Model, deployed: Deployed, a: Point, b: Point
) -> tuple[bool | None, tuple[str, str]]:
    """Whether the file breaks the demand, as far as it says so, and what it decides."""
    runtime = runtime_of(deployed)
    first, second = runtime.decide([a, b])
    named = (_outcome(model, first), _outcome(model, second))
    if isinstance(demand, SameDecision):
        return first != second, named
    if deployed.readout not in _SCORES:
        return None, named
    values = [Fraction(float(score)) for score in runtime.scores([a, b]).ravel().tolist()]
    return breaks(demand, (values[0], values[1]), (first, second)), named


def witness(problem: Problem, a: Point, b: Point) -> Witness | None:
    """The pair as a checked witness; None if it is not admissible or no arithmetic calls it a violation.

    A witness whose ``replay.agrees`` is false is a violation in one arithmetic only.
    """
    pair = problem.question
    if not isinstance(pair, Pair) or admissible(pair, problem.domain, a, b, problem.model) is not None:
        return None
    result = replay(problem, a, b)
    if not result.exact and not result.float32:
        return None
    domain = problem.domain
    return Witness(a=Individual.of(domain, a), b=Individual.of(domain, b), replay=result)
