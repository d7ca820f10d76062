"""One case on one region: refuted with a checked certificate, a pair that was checked exactly, or neither.

The order is that of what pays: a branch and bound (it decides nearly all regions that a partition of moderate
size leaves, most of them in milliseconds), then the solver's own mixed-integer search (it finds pairs that need
many signs at once), then branch and bound for the rest of the time, over bounds that linear programs made
tighter.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.smt.case_bounds import Bounded
from fairdsl.backends.smt.cases import Case, asked_by
from fairdsl.backends.smt.milp.branch import MOST_UNITS, Search, Searched
from fairdsl.backends.smt.milp.certificate import certified
from fairdsl.backends.smt.milp.highs import mixed_point
from fairdsl.backends.smt.milp.place import CopyBounds, Enclosures, places
from fairdsl.backends.smt.milp.program import program, with_binaries
from fairdsl.backends.smt.milp.prune import tightened
from fairdsl.backends.smt.milp.query import Query, pair_query
from fairdsl.backends.smt.region import Region
from fairdsl.clock import Deadline
from fairdsl.ir.domain import Point
from fairdsl.ir.problem import Problem
from fairdsl.numerics.evaluate import BatchEvaluator
from fairdsl.numerics.exact import exact_scores
from fairdsl.replay.admissible import admissible, outside

FloatArray = NDArray[np.float64]

#: With at most so many nodes there is a single branch and bound; how many there are unless the caller says otherwise.
_FEW_NODES, _MANY_NODES = 400, 100_000
#: Nodes after which a region is halved.
_PATIENCE = 60
#: Shares of the remaining time: for the mixed-integer search, and for tighter bounds of one copy.
_MIXED_SHARE, _TIGHTENING_SHARE = 0.25, 0.1
#: A pair that misses an inequality by more than this share of its size in float64 is not looked at exactly.
_NEAR = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseAnswer:
    """What came of a case on a region.

    ``status`` is ``refuted`` (nobody meets the case: a certificate was checked),
    ``candidate`` (the pair ``a``, ``b`` is admissible and meets the case in exact arithmetic; whether it is
    one of the deployed file is for the caller to replay), ``infeasible`` (the solver finds none, within its
    tolerances: no proof) or ``unknown``; ``detail`` says why. ``nodes`` counts the linear programs.
    """

    status: str
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
    enclosures: Enclosures | None = None,
) -> CaseAnswer:
    """Decide the case on the region of ``bounded`` within the seconds (a single call of HiGHS may exceed them).

    ``nodes`` limits each branch and bound; with few of them there is only one. ``trust_milp``: the caller is
    content with ``infeasible``, so that no certificate is looked for after it.
    """
    deadline = Deadline.within(seconds)
    if bounded.settled or bounded.region.empty:
        return CaseAnswer(status="refuted", detail="by bounds")
    if bounded.undecided > MOST_UNITS:
        return CaseAnswer(status="unknown", detail=f"{bounded.undecided} undecided units are too many")
    query = pair_query(problem, replace(case, region=bounded.region))
    known: CopyBounds = (bounded.a, bounded.b)
    candidates = Candidates(problem, case, query)
    enclosures = Enclosures(query.layers, query.reads) if enclosures is None else enclosures
    thorough = nodes > _FEW_NODES
    patience = None if problem.model.one_of else _PATIENCE  # halves do not sharpen what is said about trees

    def search(until: Deadline, bounds: CopyBounds) -> tuple[Searched, CaseAnswer | None]:
        found = Search(query, bounds, candidates, until, nodes, patience, enclosures).run(bounded.region)
        return found, _answer(query, bounded.region, bounds, found, enclosures)

    first, answer = search(deadline.later(-seconds * _MIXED_SHARE) if thorough else deadline, known)
    if answer is not None:
        return answer
    mixed = _mixed(query, bounded, known, candidates, deadline)
    if mixed.status == "candidate" or (mixed.status == "infeasible" and trust_milp) or not thorough:
        return replace(mixed, nodes=first.nodes)
    second, answer = search(deadline, _tighter(problem, bounded, known, deadline))
    if answer is not None:
        return replace(answer, nodes=first.nodes + answer.nodes)
    why = second.detail or "a leaf's bound lies too near to zero"
    detail = why if mixed.status == "unknown" else f"{mixed.detail}; no certificate: {why}"
    return CaseAnswer(status=mixed.status, nodes=first.nodes + second.nodes, detail=detail)


def _tighter(problem: Problem, bounded: Bounded, known: CopyBounds, deadline: Deadline) -> CopyBounds:
    """The bounds of both copies, tightened by linear programs for a share of the time that is left."""
    left = deadline.remaining
    return tuple(
        tightened(problem.model, sets, bounds, seconds=left * _TIGHTENING_SHARE)
        for sets, bounds in zip((bounded.region.a, bounded.region.b), known, strict=True)
    )


def _answer(
    query: Query, region: Region, known: CopyBounds, found: Searched, enclosures: Enclosures
) -> CaseAnswer | None:
    """The answer that a search stands for, its certificate checked; None where it has none."""
    if found.pair is not None:
        return CaseAnswer(status="candidate", nodes=found.nodes, a=found.pair[0], b=found.pair[1])
    if found.tree is None:
        return None
    if not certified(query, region, found.tree, known, enclosures):
        return None
    return CaseAnswer(status="refuted", nodes=found.nodes)


def _mixed(query: Query, bounded: Bounded, known: CopyBounds, candidates: Candidates, deadline: Deadline) -> CaseAnswer:
    """What the mixed-integer search finds: a pair, that there is none, or neither."""
    left = deadline.remaining
    if left <= 0:
        return CaseAnswer(status="unknown", detail="the time is up")
    (place,) = places(query, [bounded.region], known)
    if not place.bounded:
        return CaseAnswer(status="unknown", detail="units have no bounds")
    whole = with_binaries(program(query, place))
    whole.low[-1] = 0.0
    found = mixed_point(whole, seconds=left * _MIXED_SHARE)
    if found.infeasible:
        return CaseAnswer(status="infeasible", detail="HiGHS finds no pair, within its tolerances")
    if found.columns is not None:
        pair = candidates.at(found.columns, bounded.region)
        if pair is not None:
            return CaseAnswer(status="candidate", a=pair[0], b=pair[1])
    return CaseAnswer(status="unknown", detail="HiGHS ran out of time or its point is not a pair")


class Candidates:
    """From a solver's point to a pair of one case that is checked exactly.

    A relaxation's point is rounded to values that the region has, completed for both individuals, tried in float64
    and, where it passes there, checked in exact arithmetic: the rules on pairs and every inequality of the case.
    """

    def __init__(self, problem: Problem, case: Case, query: Query) -> None:
        self._problem = problem
        self._case = case
        self._query = query
        self._evaluator = BatchEvaluator(problem.model)
        self._rows = (
            np.array([[float(x) for x in atom.a] for atom in case.atoms]),
            np.array([[float(x) for x in atom.b] for atom in case.atoms]),
        )
        self._constants = np.array([float(atom.constant) for atom in case.atoms])

    def at(self, columns: FloatArray, region: Region) -> tuple[Point, Point] | None:
        """The pair nearest to the point in the region, if it is admissible and meets the case exactly."""
        a, b = self._pair(columns, region)
        scores = self._evaluator.approximate(np.array([[float(x) for x in a], [float(x) for x in b]]))
        parts = self._rows[0] * scores[0], self._rows[1] * scores[1]
        met = parts[0].sum(axis=1) + parts[1].sum(axis=1) + self._constants
        size = np.abs(parts[0]).sum(axis=1) + np.abs(parts[1]).sum(axis=1) + np.abs(self._constants)
        if (met < -_NEAR * size).any():
            return None
        pair, domain = asked_by(self._problem, self._case), self._problem.domain
        beside = admissible(pair, domain, a, b, self._problem.model) if pair.differ else outside("a", a, pair, domain)
        if beside is not None:
            return None
        exact = exact_scores(self._problem.model, a), exact_scores(self._problem.model, b)
        return (a, b) if all(atom.met(*exact) for atom in self._case.atoms) else None

    def _pair(self, columns: FloatArray, region: Region) -> tuple[Point, Point]:
        """The attributes' values, each the nearest one that the region has."""
        a: list[Fraction] = [Fraction(0)] * len(region.a)
        b = list(a)
        for (who, attribute), value in zip(self._query.attributes, columns.tolist(), strict=False):
            near = region.sets(who)[attribute].nearest(value)
            if who == "a":
                a[attribute] = near
            if who == "b" or region.shared[attribute]:
                b[attribute] = near
        return tuple(a), tuple(b)
