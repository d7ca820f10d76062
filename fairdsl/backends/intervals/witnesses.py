"""Pairs to show: individuals from the boxes that are left, evaluated, and replayed on the original model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from math import prod

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.intervals.lowering import Lowered, clipped, drawn
from fairdsl.backends.intervals.refine import OpenBox
from fairdsl.clock import Deadline
from fairdsl.ir.domain import Point
from fairdsl.numerics.evaluate import BatchEvaluator
from fairdsl.replay import admissible, round_point, spread, witness
from fairdsl.verdict import Witness

#: Units of a box, and assignments of each, that are evaluated at most.
_UNITS, _ASSIGNMENTS = 16, 24
#: Boxes of so few units are tried as a whole, and so many pairs of a unit are checked for being compared.
_ALL_UNITS, _TRIED = 128, 64
#: Pairs that are replayed at most, and those chosen first for lying far apart, for each that is wanted.
_REPLAYS, _SPREAD = 100, 3


@dataclass(slots=True)
class Shown:
    """Violations in both arithmetics, and violations that only one of the two shows."""

    witnesses: list[Witness] = field(default_factory=list)
    gaps: list[Witness] = field(default_factory=list)


def look_for_pairs(
    lowered: Lowered,
    boxes: Sequence[OpenBox],
    most: int,
    deadline: Deadline,
    seed: int,
    known: Sequence[tuple[Point, Point]] = (),
) -> Shown:
    """Up to ``most`` distinct violations, spread over the domain; none where none is met before the deadline.

    Candidates come from the boxes and from ``known``, pairs that are likely to be violations.
    """
    shown = Shown()
    met: set[frozenset[Point]] = set()
    candidates = [*_in_turn(lowered, boxes, deadline, seed), *known]
    for a, b in _far_apart(candidates, lowered, most):
        if len(shown.witnesses) >= most or len(met) >= _REPLAYS or deadline.passed:
            break
        if frozenset((a, b)) in met:
            continue
        met.add(frozenset((a, b)))
        found = witness(lowered.problem, a, b) or witness(lowered.problem, b, a)
        if found is not None:
            (shown.witnesses if found.replay.agrees else shown.gaps).append(found)
    del shown.gaps[most:]
    return shown


def _far_apart(candidates: Sequence[tuple[Point, Point]], lowered: Lowered, most: int) -> Iterator[tuple[Point, Point]]:
    """First some that span the domain, then the others in their order."""
    people = _array([a for a, _ in candidates]).reshape(len(candidates), len(lowered.roles.sets))
    chosen = spread(people, lowered.problem.domain, _SPREAD * most)
    yield from (candidates[row] for row in chosen)
    others = sorted(set(range(len(candidates))) - set(chosen))
    yield from (candidates[row] for row in others)


def _in_turn(
    lowered: Lowered, boxes: Sequence[OpenBox], deadline: Deadline, seed: int
) -> Iterator[tuple[Point, Point]]:
    """Candidates of every box, the best of each first, so that what is shown lies in different places."""
    half = Deadline.within(deadline.remaining / 2)
    evaluator = BatchEvaluator(lowered.problem.model)
    rng = np.random.default_rng(seed)
    found: list[list[tuple[Point, Point]]] = []
    for box in sorted(boxes, key=lambda entry: -entry.falsified):
        if half.passed and found:
            break
        found.append(_candidates(lowered, evaluator, box, rng))
    for rank in range(_ALL_UNITS):
        for pairs in found:
            if rank < len(pairs):
                yield pairs[rank]


def _candidates(
    lowered: Lowered, evaluator: BatchEvaluator, box: OpenBox, rng: np.random.Generator
) -> list[tuple[Point, Point]]:
    """Pairs of a box that look violating, those far from the boundary first."""
    members = _members(lowered, box.comparison, rng)
    people: list[Point] = []
    for unit in _sampled(box, rng, again=bool(lowered.roles.idle)):
        here = [lowered.individual(unit, member, rng) for member in members]
        there = [_neighbour(lowered, person, rng) for person in here] if _relaxed(lowered) else []
        people += [round_point(lowered.problem.domain, person) for person in (*here, *there)]
    scores = evaluator.approximate(_array(people))
    decisions, margins = evaluator.approximate_decisions(scores), evaluator.margins(scores)
    size = len(members) * (2 if _relaxed(lowered) else 1)
    found = []
    for start in range(0, len(people), size):
        part = slice(start, start + size)
        pair = _best_pair(lowered, people[part], len(members), decisions[part], margins[part])
        if pair is not None:
            found.append(pair)
    return [(a, b) for _, a, b in sorted(found, key=lambda entry: -entry[0])]


def _sampled(box: OpenBox, rng: np.random.Generator, *, again: bool) -> list[list[int]]:
    """All units of a small box, in random order, ``again`` and again; a sample of a large one."""
    low, high = np.array(box.low), np.array(box.high)
    count = prod((high - low + 1).tolist())
    if count > _ALL_UNITS:
        sample: list[list[int]] = np.unique(rng.integers(low, high + 1, size=(_UNITS, len(low))), axis=0).tolist()
        return sample
    everybody = np.array(list(product(*(range(a, b + 1) for a, b in zip(box.low, box.high, strict=True)))))
    units: list[list[int]] = rng.permutation(everybody).tolist()
    return units * (_ALL_UNITS // count) if again else units


def _members(lowered: Lowered, comparison: int, rng: np.random.Generator) -> list[int]:
    """Assignments to try: those of the comparison, or any where partners may be anywhere."""
    members = list(lowered.members[comparison])
    if len(members) < 2:
        members = list(range(lowered.assignments.count))
    if len(members) > _ASSIGNMENTS:
        inner = rng.choice(members[1:-1], size=_ASSIGNMENTS - 2, replace=False).tolist()
        members = [members[0], *sorted(inner), members[-1]]
    return members


def _relaxed(lowered: Lowered) -> bool:
    return bool(lowered.roles.shifts or lowered.roles.roaming)


def _neighbour(lowered: Lowered, person: Point, rng: np.random.Generator) -> Point:
    """Somebody within the relaxations: as far as they allow, in random directions."""
    roles, values = lowered.roles, list(person)
    for index, by in roles.shifts.items():
        values[index] = clipped(roles.sets[index], person[index] + (by if rng.integers(2) else -by))
    for relaxation in roles.pair.relax:
        if relaxation.attribute in roles.roaming and relaxation.by is None:
            values[relaxation.attribute] = drawn(roles.sets[relaxation.attribute], rng)
    return tuple(values)


def _best_pair(
    lowered: Lowered, people: Sequence[Point], here: int, decisions: NDArray[np.int64], margins: NDArray[np.float64]
) -> tuple[float, Point, Point] | None:
    """The admissible pair of two different decisions that is most surely decided so, one of it ``here``."""
    first, second = np.nonzero(decisions[:here, None] != decisions[None, :])
    sure = np.minimum(margins[first], margins[second])
    pair, domain = lowered.roles.pair, lowered.problem.domain
    for choice in np.argsort(-sure, kind="stable")[:_TRIED].tolist():
        a, b = people[int(first[choice])], people[int(second[choice])]
        if admissible(pair, domain, a, b) is None or admissible(pair, domain, b, a) is None:
            return float(sure[choice]), a, b
    return None


def _array(people: Sequence[Sequence[Fraction]]) -> NDArray[np.float64]:
    return np.array([[float(value) for value in person] for person in people], dtype=np.float64)
