"""What enumeration answers and what it refuses, with the numbers that decide it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import prod

from fairdsl.backends.contract import Cost, Offer, Refusal, only_pairs
from fairdsl.backends.enumerate.redrawn import refusal_of_redrawn
from fairdsl.backends.enumerate.tuples import steps_of
from fairdsl.backends.worst import refusal_of_worst
from fairdsl.ir.demand import Demanded
from fairdsl.ir.expr import TRUE, Predicate, Who, conjoin, variables
from fairdsl.ir.population import Rows
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Individually, Pair, PairUnder, SameDecision, ScoreGap, WorstPair
from fairdsl.metrics.weights import unlisted
from fairdsl.numerics.grid import Grid
from fairdsl.numerics.narrow import Finite, narrow
from fairdsl.numerics.predicates import mask

#: Individuals that are evaluated at most, and points that are gone through to find them.
MOST_POINTS, _MOST_BOX = 2**22, 2**24
#: And where each has a probability of its own.
MOST_WEIGHED = 2**18
#: Pairs that are visited one by one at most, where a question's pairs have no product structure.
MOST_PAIRS = 2**26


def offer(problem: Problem) -> Offer | Refusal:
    """Offer to answer, or the first reason not to."""
    if not isinstance(problem.question, Pair | PairUnder | Individually | WorstPair | Demanded):
        return only_pairs(problem)
    if (refusal := refusal_of_worst(problem) or refusal_of_redrawn(problem)) is not None:
        return refusal
    asked = problem.of_everybody.of_pairs.question
    pair = problem.demanded.pair
    if isinstance(pair.demand, ScoreGap) and problem.model.score_count != 1:
        return Refusal(why="a gap of scores needs a model with one score", span=pair.span)
    if pair.sure and problem.model.logits is None:
        return Refusal(why="the model's confidence needs its probabilities", span=pair.sure[0].span)
    if isinstance(problem.population, Rows):
        return Refusal(why="it counts individuals, and not the rows of a table", other=True)
    if problem.population is not None and (column := unlisted(problem.population, len(problem.domain.attributes))):
        why = f"values of `{column.name}` have no probabilities one by one in `{problem.population.name}`"
        return Refusal(why=why, span=column.span)
    sets = narrow(problem.domain, pair.target)
    for attribute, values in zip(problem.domain.attributes, sets, strict=True):
        if not isinstance(values, Finite):
            return Refusal(why=f"`{attribute.name}` is real-valued", span=attribute.span)
        if not Grid.representable(values):
            return Refusal(why=f"`{attribute.name}` has values that are not float64 numbers", span=attribute.span)
    assert isinstance(asked, Pair | Demanded)
    return _counted(problem, asked, tuple(values for values in sets if isinstance(values, Finite)))


def _counted(problem: Problem, asked: Pair | Demanded, sets: tuple[Finite, ...]) -> Offer | Refusal:
    """Refuses too many individuals, and too many pairs; whom a condition leaves is counted where it matters."""
    pair = problem.demanded.pair
    most = MOST_POINTS if problem.population is None else MOST_WEIGHED
    partners = partner_count(problem.demanded, sets) if visits_tuples(asked) else 1
    points = people = prod(values.count for values in sets)
    if points <= _MOST_BOX and (points > most or points * partners > MOST_PAIRS):
        people = _left(conjoin(problem.domain.where, pair.target), sets)
    if people > most:
        of = f"{_power(people)} of " * (people < points)
        return Refusal(why=f"{of}{_power(points)} points; its limit is {_power(most)}", span=problem.domain.span)
    if people * partners > MOST_PAIRS:
        what = "tuples" if problem.demanded.several else "pairs"
        why = f"{_power(people * partners)} {what} to visit one by one; its limit is 2^26"
        return Refusal(why=why, span=pair.span)
    return Offer(method=f"evaluates all {people:,} individuals", decides=True, cost=Cost.COUNT)


@lru_cache(maxsize=64)  # one question is asked about for every number that it demands
def _left(wanted: Predicate, sets: tuple[Finite, ...]) -> int:
    """How many points meet a condition: only the attributes that it reads are gone through."""
    read = {variable.attribute for variable in variables(wanted)}
    grid = Grid([values if place in read else Finite(range(1)) for place, values in enumerate(sets)])
    met = sum(int(mask(wanted, {Who.EACH: grid.points(some)}).sum()) for some in grid.chunks(2**16))
    return met * prod(values.count for place, values in enumerate(sets) if place not in read)


def visits_tuples(asked: Pair | Demanded) -> bool:
    """Whether the pairs must be visited one by one: counting partners along the axes is not enough."""
    return isinstance(asked, Demanded) or asked.pair_target != TRUE or not isinstance(asked.demand, SameDecision)


def partner_count(asked: Demanded, sets: Sequence[Finite]) -> int:
    """How many tuples are visited that begin with one individual, from the values of each attribute."""
    steps = prod(len(steps) for steps in steps_of(asked, sets).values())
    return prod([steps] * (len(asked.people) - 1))


def _power(count: int) -> str:
    """A count as the power of two at or above it, e.g. ``2^31``; small counts in digits."""
    return f"{count:,}" if count < 2**14 else f"2^{(count - 1).bit_length()}"
