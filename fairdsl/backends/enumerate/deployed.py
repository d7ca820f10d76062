"""What the deployed file decides of everybody, and whether that is what it decides of each individual alone.

It is run on everybody. A file that takes so many at a time takes much longer than all the rest, so it is not run on
those who are so far from another decision that its rounding changes none
(:func:`fairdsl.models.float32.decision.slack`), but for some dozens of them: if it decides only one of those
otherwise, it does not compute as supposed, and is run on the others as well.

A file adds in another order for other numbers of individuals, so its last bits may differ. Decisions do not, but for
those in doubt; these are run alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.contract import Budget, Observer
from fairdsl.backends.demands import Judge
from fairdsl.backends.enumerate.census import UNSEEN, Census
from fairdsl.ir.opaque import BlackBox
from fairdsl.ir.problem import Problem
from fairdsl.numerics.evaluate import points_of
from fairdsl.numerics.narrow import Finite
from fairdsl.numerics.rounding import float_above
from fairdsl.replay import runtime_of

#: Individuals that the deployed file is run on at most, at once, alone, and although a bound says how it decides.
_DEPLOYED, _ROWS, _MOST, _PROBES = 2**20, 2**14, 4096, 64
#: Margins are rough: whoever is within so many times the bound is run.
_WIDE = 4


def with_deployed(
    census: Census, problem: Problem, sets: Sequence[Finite], judge: Judge | None, budget: Budget, observer: Observer
) -> str | None:
    """Run the deployed files on everybody where that is affordable; the note to print, or None."""
    if not census.complete or not 0 < census.count <= _DEPLOYED:
        return None
    if judge is not None and judge.has_files and census.measured is not None:
        census.as_files = judge.as_deployed(census.grid.points(census.listed), census.measured)
        pairs = zip(census.measured.decisions, census.as_files.decisions, strict=True)
        return _agreeing(census, int(np.logical_or.reduce([ours != theirs for ours, theirs in pairs]).sum()))
    if problem.model.deployed is None or isinstance(problem.model.opaque, BlackBox):
        return None  # of a black box it was the file that decided
    runtime = runtime_of(problem.model.deployed)
    exact, everybody = census.decisions.reshape(-1), np.flatnonzero(census.admissible)
    run, spared, probes = everybody, np.zeros(0, dtype=np.int64), 0
    if runtime.batch is not None and (doubt := _in_doubt(census, problem, sets)) is not None:
        clear = ~doubt.reshape(-1)[everybody] & (exact[everybody] >= 0)
        probed = np.flatnonzero(clear)[:: max(1, int(clear.sum()) // _PROBES)]
        probes, clear[probed] = len(probed), False
        doubtful = np.setdiff1d(everybody[~clear], everybody[probed])
        run, spared = np.concatenate([everybody[probed], doubtful]), everybody[clear]
    deployed: NDArray[Any] = np.full(census.grid.size, UNSEEN, dtype=np.int16)
    start = 0
    while start < run.size:
        if budget.exhausted:
            return None
        indices = run[start : start + _ROWS]
        deployed[indices] = runtime.decide_array(census.grid.points(indices))
        if not start and (deployed[run[:probes]] != exact[run[:probes]]).any():
            run, spared = np.concatenate([run, spared]), spared[:0]
        start += len(indices)
        observer.progress("float32", start / run.size, f"{run.size:,} individuals")
    deployed[spared] = exact[spared]
    census.deployed = deployed.reshape(census.grid.shape)
    return _agreeing(census, int((census.deployed[census.admissible] != census.decisions[census.admissible]).sum()))


def _agreeing(census: Census, apart: int) -> str:
    if apart:
        return f"float32 disagrees on {apart:,} of {census.count:,} individuals"
    return f"float32 agrees on all {census.count:,} individuals"


def decided_alone(census: Census, problem: Problem, sets: Sequence[Finite], budget: Budget) -> bool:
    """Whether the census has what the file decides of each individual alone; it is put right where that is not so."""
    model, deployed = problem.model, census.deployed
    if model.deployed is None or deployed is None:
        return False
    near = _in_doubt(census, problem, sets)
    if near is None:
        return False
    indices = np.flatnonzero(near)
    if len(indices) > _MOST or budget.exhausted:
        return False
    runtime, flat = runtime_of(model.deployed), deployed.reshape(-1)
    for index in indices:
        if budget.exhausted:
            return False
        (flat[index],) = runtime.decide(points_of(census.grid.points(np.array([index]))))
    return True


def _in_doubt(census: Census, problem: Problem, sets: Sequence[Finite]) -> NDArray[np.bool_] | None:
    """Who may be decided otherwise by the file's rounding, by the grid's shape; None: not known."""
    from fairdsl.models.float32.decision import analysis_of, slack

    file = analysis_of(problem.model, sets)
    found = None if file is None else slack(file)
    if found is None:
        return None
    if not any(found.decision):
        return np.zeros(census.grid.shape, dtype=np.bool_)
    return census.admissible & ~(census.margins > _WIDE * float_above(max(found.decision)))
