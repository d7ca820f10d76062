"""One individual at a time: conditions that nobody meets refute all cases that ask for them.

Theorem. A case asks for conditions on a's scores, and for others on b's. If no individual that may be a meets those
on a, or none that may be b meets those on b, no pair meets the case. The individuals are those of all cases
that ask for the same; so where everybody is decided alike, one program about one copy of the network takes
the place of a program about two copies for every pair of values of the differing attributes.

Rules on pairs are left out, and so is what ``where`` and target say beside the attributes' values: refuted is more
than is asked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.smt.cases import Atom, Case
from fairdsl.backends.smt.milp.branch import Search, StoppedError
from fairdsl.backends.smt.milp.certificate import certified
from fairdsl.backends.smt.milp.place import Enclosures
from fairdsl.backends.smt.milp.query import Query, network_query
from fairdsl.backends.smt.region import Region
from fairdsl.clock import Deadline
from fairdsl.ir.domain import Point
from fairdsl.ir.problem import Problem
from fairdsl.numerics.bounds import float_layers, outward
from fairdsl.numerics.dual import Targets
from fairdsl.numerics.evaluate import BatchEvaluator
from fairdsl.numerics.narrow import Finite, Interval, ValueSet
from fairdsl.numerics.products import product

FloatArray = NDArray[np.float64]

#: Linear programs for one side.
_NODES = 100


def left_by_sides(
    problem: Problem, asked: Sequence[Case], enclosures: Enclosures, *, seconds: float, least: int = 3
) -> list[Case]:
    """The cases whose conditions on a and on b are each met by somebody, as far as a few programs tell.

    Conditions that fewer than ``least`` cases share are not looked at: they are better asked of pairs.
    ``enclosures`` are those of the problem's network.
    """
    deadline = Deadline.within(seconds)
    shared = [atoms for atoms, count in Counter(case.atoms for case in asked).items() if count >= least]
    if not shared or problem.model.one_of:
        return list(asked)  # of trees, bounds of pairs know more than a program about one individual
    region = _joined([case.region for case in asked])
    # Where there are many outcomes, the conditions on a recur with each of those on b.
    nobody: dict[tuple[str, tuple[Atom, ...]], bool] = {}
    for who, own in ((who, _about(who, atoms)) for atoms in shared for who in "ab"):
        if own and (who, own) not in nobody:
            nobody[who, own] = _refuted(problem, own, region, who, enclosures, deadline)
    refuted = {atoms for atoms in shared if any(nobody.get((who, _about(who, atoms))) for who in "ab")}
    return [case for case in asked if case.atoms not in refuted]


def _joined(regions: Sequence[Region]) -> Region:
    """A region that contains all of them, which are parts of one."""
    a, b = (
        [_union(sets) for sets in zip(*products, strict=True)]
        for products in zip(*((r.a, r.b) for r in regions), strict=True)
    )
    return Region(tuple(a), tuple(b), regions[0].shared)


def _union(parts: Sequence[ValueSet]) -> ValueSet:
    """The least set that contains all of them; of intervals their hull."""
    distinct = list(dict.fromkeys(parts))
    if len(distinct) == 1:
        return distinct[0]
    finite = [part for part in distinct if isinstance(part, Finite)]
    if len(finite) == len(distinct):
        return Finite(tuple(sorted({value for part in finite for value in part.values})))
    lows, highs = [part.low for part in distinct], [part.high for part in distinct]
    return Interval(
        None if None in lows else min(low for low in lows if low is not None),
        None if None in highs else max(high for high in highs if high is not None),
    )


def _about(who: str, atoms: Sequence[Atom]) -> tuple[Atom, ...]:
    """Those of the inequalities in which the other individual's scores do not occur."""
    return tuple(atom for atom in atoms if not any(atom.b if who == "a" else atom.a))


def _side_query(problem: Problem, own: Sequence[Atom], region: Region, who: str) -> Query:
    """Whether one individual of the region can meet the inequalities about it."""
    rows = np.array([[float(value) for value in (atom.a if who == "a" else atom.b)] for atom in own])
    return replace(
        network_query(float_layers(problem.model), problem.model.inputs, region, (who,)),
        targets=Targets((rows,), np.array([outward(atom.constant, atom.constant)[1] for atom in own])),
        strict=np.array([atom.strict for atom in own], dtype=np.bool_),
    )


def _refuted(
    problem: Problem, own: Sequence[Atom], region: Region, who: str, enclosures: Enclosures, deadline: Deadline
) -> bool:
    """Whether it is proved that nobody meets the conditions on ``who``."""
    query = _side_query(problem, own, region, who)
    search = Search(query, None, _Somebody(problem, query), deadline, _NODES, enclosures=enclosures)
    tree = search.run(region).tree
    return tree is not None and certified(query, region, tree, None, enclosures)


class _Somebody:
    """Looks at points of relaxations: whether an individual beside the point seems to meet the conditions."""

    def __init__(self, problem: Problem, query: Query) -> None:
        self._query = query
        self._evaluator = BatchEvaluator(problem.model)

    def at(self, columns: FloatArray, region: Region) -> tuple[Point, Point] | None:
        """Gives up where somebody does; never a pair."""
        sets = region.sets(*self._query.copies)
        individual = np.array([[float(own.nearest(x)) for own, x in zip(sets, columns.tolist(), strict=False)]])
        scores = self._evaluator.approximate(individual)[0]
        (rows,) = self._query.targets.rows
        if (product(rows, scores) + self._query.targets.constants >= 0).all():
            raise StoppedError("somebody meets the conditions")
        return None
