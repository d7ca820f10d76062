"""Somebody whom a question compares: a few drawn pairs, held against every rule of the question."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations
from random import Random

from fairdsl.ir.problem import Problem
from fairdsl.numerics.narrow import Finite, ValueSet, narrow
from fairdsl.replay.demands import Exactly, outside_of

#: Pairs that are drawn at most.
_DRAWS = 200
#: The range of draws of a real number that has no end on some side.
_REACH = Fraction(1000)


def compares_somebody(problem: Problem) -> bool:
    """Whether the demand is about one of a few tuples that are drawn; False says nothing.

    The draws are the same in each run.
    """
    asked = problem.demanded
    pair, exactly = asked.pair, Exactly(problem)
    sets = narrow(problem.domain, pair.target)
    if any(values.count == 0 for values in sets):
        return False
    rng = Random(0)
    relaxed = [entry.attribute for entry in pair.relax]
    for number in range(_DRAWS):
        drawn = [[_drawn(values, rng) for values in sets]]
        for _ in asked.people[1:]:
            drawn.append(list(drawn[0]))
            for index in (*pair.differ, *(relaxed if number % 2 else ())):
                drawn[-1][index] = _drawn(sets[index], rng)
        for ordered in permutations(map(tuple, drawn)):
            people = dict(zip(asked.people, ordered, strict=True))
            if outside_of(problem, people) is None and exactly.meets(people):
                return True
    return False


def _drawn(values: ValueSet, rng: Random) -> Fraction:
    if isinstance(values, Finite):
        return Fraction(values.values[rng.randrange(values.count)])
    low = values.low if values.low is not None else (values.high or Fraction(0)) - _REACH
    high = values.high if values.high is not None else low + _REACH
    return low + (high - low) * Fraction(rng.randrange(2**10 + 1), 2**10)
