"""Whether what the deployed file decided of everybody at once is what it decides of each individual alone.

A file adds in another order for other numbers of individuals, so its last bits may differ. Decisions do not, but for
individuals whose scores are within the file's rounding of another decision; these are run alone.
"""

from __future__ import annotations

import numpy as np

from fairdsl.backends.contract import Budget
from fairdsl.backends.enumerate.census import Census
from fairdsl.ir.problem import Problem
from fairdsl.numerics.evaluate import points_of
from fairdsl.numerics.narrow import Finite, ValueSet
from fairdsl.numerics.rounding import float_above
from fairdsl.replay import runtime_of

__all__ = ["decided_alone"]

#: Individuals that are run alone at most.
_MOST = 4096
#: Margins are rough: whoever is within so many times the bound is run.
_WIDE = 4


def decided_alone(census: Census, problem: Problem, sets: list[Finite], budget: Budget) -> bool:
    """Whether the census has what the file decides of each individual alone; it is put right where that is not so."""
    from fairdsl.models.float32.decision import analysis_of, slack

    model, deployed = problem.model, census.deployed
    if model.deployed is None or deployed is None:
        return False
    values: list[ValueSet] = [*sets]
    file = analysis_of(model, values)
    found = None if file is None else slack(file)
    if found is None:
        return False
    if not any(found.decision):
        return True
    near = census.admissible & ~(census.margins > _WIDE * float_above(max(found.decision)))
    indices = np.flatnonzero(near)
    if len(indices) > _MOST or budget.exhausted:
        return False
    runtime, flat = runtime_of(model.deployed), deployed.reshape(-1)
    for index in indices:
        if budget.exhausted:
            return False
        (flat[index],) = runtime.decide(points_of(census.grid.points(np.array([index]))))
    return True
