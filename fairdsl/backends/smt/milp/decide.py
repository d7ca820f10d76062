"""One case on one region: refuted with a checked certificate, a pair that was checked exactly, or neither.

The order is that of what pays: a branch and bound with few nodes (it decides nearly all regions that a
partition of moderate size leaves, in milliseconds), then the solver's own mixed-integer search (it finds
pairs that need many signs at once), then branch and bound for the rest of the time, over bounds that linear
programs made tighter.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np

from fairdsl.backends.smt.cases import Case
from fairdsl.backends.smt.milp.branch import Search, Searched
from fairdsl.backends.smt.milp.candidate import Candidates
from fairdsl.backends.smt.milp.certify import certified
from fairdsl.backends.smt.milp.highs import mixed_optimum
from fairdsl.backends.smt.milp.place import CopyBounds, places
from fairdsl.backends.smt.milp.program import program, with_binaries
from fairdsl.backends.smt.milp.prune import tightened
from fairdsl.backends.smt.milp.query import Query, pair_query
from fairdsl.backends.smt.region import Region
from fairdsl.backends.smt.settle import Bounded
from fairdsl.ir.domain import Point
from fairdsl.ir.problem import Problem

__all__ = ["CaseAnswer", "settle_case"]

#: Nodes of the first branch and bound, and those of the second one unless the caller says otherwise.
_FEW_NODES, _MANY_NODES = 400, 100_000
#: Shares of the remaining time: for the mixed-integer search, and for tighter bounds of one copy.
_MIXED_SHARE, _TIGHTENING_SHARE = 0.4, 0.1
#: Programs with more open units than this are not built: they would be large and hardly ever decided.
_MOST_UNITS = 600


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseAnswer:
    """What came of a case on a region.

    ``status`` is ``refuted`` (nobody meets the case: a certificate of ``leaves`` leaves was checked),
    ``candidate`` (the pair ``a``, ``b`` is admissible and meets the case in exact arithmetic; whether it is
    one of the deployed file is for the caller to replay), ``infeasible`` (the solver finds none, within its
    tolerances: no proof) or ``unknown``; ``detail`` says why. ``nodes`` counts the linear programs.
    """

    status: str
    leaves: int = 0
    nodes: int = 0
    a: Point | None = None
    b: Point | None = None
    detail: str = ""


def settle_case(
    problem: Problem,
    case: Case,
    bounded: Bounded,
    *,
    seconds: float,
    trust_milp: bool = False,
    nodes: int = _MANY_NODES,
) -> CaseAnswer:
    """Decide the case on the region of ``bounded`` within the seconds (a single call of HiGHS may exceed them).

    ``nodes`` limits each branch and bound; with few of them there is only one. ``trust_milp``: the caller is
    content with ``infeasible``, so that no certificate is looked for after it.
    """
    deadline = time.monotonic() + seconds
    if bounded.settled or bounded.region.empty:
        return CaseAnswer(status="refuted", detail="by bounds")
    if bounded.undecided > _MOST_UNITS:
        return CaseAnswer(status="unknown", detail=f"{bounded.undecided} undecided units are too many")
    query = pair_query(problem, replace(case, region=bounded.region))
    known: CopyBounds = (bounded.a, bounded.b)
    candidates = Candidates(problem, case, query)
    first = Search(query, known, candidates, deadline, min(_FEW_NODES, nodes)).run(bounded.region)
    answer = _answer(query, bounded.region, known, first)
    if answer is not None:
        return answer
    mixed = _mixed(query, bounded, known, candidates, first.value, deadline)
    if mixed.status == "candidate" or (mixed.status == "infeasible" and trust_milp) or nodes <= _FEW_NODES:
        return replace(mixed, nodes=first.nodes)
    known = _tighter(problem, bounded, known, deadline)
    second = Search(query, known, candidates, deadline, nodes).run(bounded.region)
    answer = _answer(query, bounded.region, known, second)
    if answer is not None:
        return replace(answer, nodes=first.nodes + answer.nodes)
    why = second.detail or "a leaf's bound lies too near to zero"
    detail = why if mixed.status == "unknown" else f"{mixed.detail}; no certificate: {why}"
    return CaseAnswer(status=mixed.status, nodes=first.nodes + second.nodes, detail=detail)


def _tighter(problem: Problem, bounded: Bounded, known: CopyBounds, deadline: float) -> CopyBounds:
    """The bounds of both copies, tightened by linear programs for a share of the time that is left."""
    left = max(0.0, deadline - time.monotonic())
    return tuple(
        tightened(problem.model, sets, bounds, seconds=left * _TIGHTENING_SHARE).bounds
        for sets, bounds in zip((bounded.region.a, bounded.region.b), known, strict=True)
    )


def _answer(query: Query, region: Region, known: CopyBounds, found: Searched) -> CaseAnswer | None:
    """The answer that a search stands for, its certificate checked; None where it has none."""
    if found.pair is not None:
        return CaseAnswer(status="candidate", nodes=found.nodes, a=found.pair[0], b=found.pair[1])
    if found.tree is None:
        return None
    checked = certified(query, region, found.tree, known)
    if not checked.proven:
        return None
    return CaseAnswer(status="refuted", leaves=checked.leaves, nodes=found.nodes)


def _mixed(
    query: Query, bounded: Bounded, known: CopyBounds, candidates: Candidates, value: float, deadline: float
) -> CaseAnswer:
    """What the mixed-integer search finds: a pair, that there is none, or neither."""
    left = deadline - time.monotonic()
    if left <= 0:
        return CaseAnswer(status="unknown", detail="the time is up")
    if not np.isfinite(value):
        return CaseAnswer(status="unknown", detail="the linear program was not solved")
    whole = with_binaries(program(query, places(query, [bounded.region], known)[0]))
    whole.low[-1] = 0.0
    found = mixed_optimum(whole, seconds=left * _MIXED_SHARE, any_point=True)
    if found.status == "infeasible":
        return CaseAnswer(status="infeasible", detail="HiGHS finds no pair, within its tolerances")
    if found.columns is not None:
        pair = candidates.at(found.columns, bounded.region)
        if pair is not None:
            return CaseAnswer(status="candidate", a=pair[0], b=pair[1])
    return CaseAnswer(status="unknown", detail="HiGHS ran out of time or its point is no pair")
