"""Whether a question is about anybody at all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import permutations

from fairdsl.backends.contract import Budget
from fairdsl.backends.smt.cases import pair_of
from fairdsl.backends.smt.engine import Pool, answer_of_z3
from fairdsl.backends.smt.recover import pair_in
from fairdsl.backends.smt.script import admissible_script
from fairdsl.clock import Deadline
from fairdsl.ir.demand import Chance, Demanded
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Differ, Pair
from fairdsl.numerics.narrow import narrow
from fairdsl.replay import Exactly, compares_somebody, outside_of

#: How long to look for somebody to compare before a proof is reported as it is.
_SECONDS = 5.0


def compares_nobody(problem: Problem, budget: Budget, pool: Pool | None = None) -> bool | None:
    """Whether there is no pair to compare, or nobody whom a formula is about; None: that was not found out.

    It is only worth asking where all holds.
    What the sets of values show, or a pair that is drawn, needs no solver; z3 is asked otherwise, without a pool in a
    process that is started for it.
    """
    pair = pair_of(problem)
    if isinstance(problem.question, Pair):
        sets = narrow(problem.domain, pair.target)
        single = [sets[attribute].count == 1 for attribute in pair.differ]
        if any(values.count == 0 for values in sets) or (any(single) if pair.mode is Differ.EACH else all(single)):
            return True
    if compares_somebody(problem):
        return False
    if (pair.sure or isinstance(problem.question, Demanded)) and not all(model.rational for model in problem.models):
        return None  # the solver's arithmetic knows straight pieces only
    soon = replace(budget, deadline=min(budget.deadline, Deadline.within(_SECONDS)))
    found = answer_of_z3(admissible_script(problem), soon, pool)
    if found.status == "sat" and (pair.sure or any(isinstance(term, Chance) for term in problem.demanded.terms)):
        return False if _counts(problem, found.values) else None
    return {"unsat": True, "sat": False}.get(found.status)


def _counts(problem: Problem, values: Mapping[str, str]) -> bool:
    """Whether the model is as sure of the solver's pair as is asked: the solver knows necessary conditions only."""
    asked, found = problem.demanded, pair_in(problem, values)
    if found is None:
        return False
    people = (dict(zip(asked.people, ordered, strict=False)) for ordered in permutations(found))
    return any(outside_of(problem, each) is None and Exactly(problem).meets(each) for each in people)
