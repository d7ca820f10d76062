"""Which violations to show: distinct pairs with large margins, replayed in both arithmetics."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.contract import Budget
from fairdsl.backends.enumerate.census import Census
from fairdsl.backends.enumerate.marks import mark_by_counting
from fairdsl.backends.enumerate.tuples import Kept
from fairdsl.ir.domain import Point
from fairdsl.ir.expr import Who
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Pair
from fairdsl.replay import admissible, breach, witness
from fairdsl.verdict import Breach, Witness

BoolArray = NDArray[np.bool_]
IntArray = NDArray[np.int64]

#: Witnesses that a verdict carries at most.
SHOWN = 10
#: Individuals and partners of each that are tried at most.
_INDIVIDUALS, _PARTNERS, _REPLAYS = 512, 64, 400


@dataclass(slots=True)
class Chosen:
    """Violations in both arithmetics, and violations that only one of the two shows."""

    witnesses: list[Witness] = field(default_factory=list)
    gaps: list[Witness] = field(default_factory=list)
    breaches: list[Breach] = field(default_factory=list)

    @property
    def agreeing(self) -> tuple[Breach, ...]:
        """Those who break a formula in both arithmetics."""
        return tuple(one for one in self.breaches if one.agrees)


def choose_tuples(problem: Problem, census: Census, kept: Kept, budget: Budget) -> Chosen:
    """The same among tuples that were judged to violate: those with the largest margins first."""
    chosen, margins = Chosen(), census.margins.reshape(-1)
    least = np.minimum.reduce([margins[indices] for indices in kept.values()])
    met: set[frozenset[Point]] = set()
    for tries, row in enumerate(np.argsort(-least, kind="stable").tolist()):
        done = max(len(chosen.witnesses), len(chosen.agreeing)) >= SHOWN or tries >= _REPLAYS
        if done or ((chosen.witnesses or chosen.gaps or chosen.breaches) and budget.exhausted):
            break
        people = {who: census.grid.point(int(indices[row])) for who, indices in kept.items()}
        if frozenset(people.values()) in met:
            continue
        met.add(frozenset(people.values()))
        _note(chosen, problem, people)
    chosen.breaches.sort(key=lambda one: not one.agrees)
    del chosen.gaps[SHOWN:], chosen.breaches[SHOWN:]
    return chosen


def _note(chosen: Chosen, problem: Problem, people: Mapping[Who, Point]) -> None:
    if isinstance(problem.question, Pair):
        found = witness(problem, *people.values())
        if found is not None:
            (chosen.witnesses if found.replay.agrees else chosen.gaps).append(found)
    elif (broken := breach(problem, people)) is not None:
        chosen.breaches.append(broken)


def choose(problem: Problem, pair: Pair, census: Census, violating: BoolArray, budget: Budget) -> Chosen:
    """Up to ``SHOWN`` distinct witnesses among the violating individuals, at least one if there is one.

    Where the deployed file's decisions are known, individuals on which it agrees come first.
    """
    chosen = Chosen()
    met: set[frozenset[Point]] = set()
    for tries, (a, b) in enumerate(_candidates(pair, census, violating)):
        found_some = bool(chosen.witnesses or chosen.gaps)
        if len(chosen.witnesses) >= SHOWN or tries >= _REPLAYS or (found_some and budget.exhausted):
            break
        first, second = census.grid.point(a), census.grid.point(b)
        if frozenset((first, second)) in met:
            continue
        for ordered in ((first, second), (second, first)):
            if admissible(pair, problem.domain, *ordered, problem.model) is not None:
                continue
            found = witness(problem, *ordered)
            if found is not None:
                met.add(frozenset(ordered))
                (chosen.witnesses if found.replay.agrees else chosen.gaps).append(found)
                break
    del chosen.gaps[SHOWN:]
    return chosen


def _candidates(pair: Pair, census: Census, violating: BoolArray) -> Iterator[tuple[int, int]]:
    """Pairs that may be violations, the best partner of each individual first, then the second best."""
    margins = census.margins.reshape(-1)
    agrees = _agreement(pair, census, violating)
    free = sorted({*pair.differ, *(relaxation.attribute for relaxation in pair.relax)})
    listed = [
        (individual, partners)
        for individual in _best(np.flatnonzero(violating), margins, agrees, _INDIVIDUALS).tolist()
        if (partners := _partners(pair, census, individual, free, margins, agrees)).size
    ]
    # A pair is as convincing as the weaker of its two margins.
    listed.sort(key=lambda entry: -min(float(margins[entry[0]]), float(margins[entry[1][0]])))
    if agrees is not None:
        listed.sort(key=lambda entry: not (agrees[entry[0]] and agrees[entry[1][0]]))
    for rank in range(_PARTNERS):
        for individual, partners in listed:
            if rank < len(partners):
                yield individual, int(partners[rank])


def _agreement(pair: Pair, census: Census, violating: BoolArray) -> BoolArray | None:
    """Where float32 decides alike - of those, individuals with a violating partner alike, if countable."""
    if census.deployed is None:
        return None
    alike = census.deployed == census.decisions
    usable = np.where(alike, census.decisions, np.int16(-1)).astype(np.int16)
    alike = alike & mark_by_counting(census, pair, usable).violating
    return np.asarray(alike & violating, dtype=np.bool_).reshape(-1)


def _best(indices: IntArray, margins: NDArray[np.float32], agrees: BoolArray | None, most: int) -> IntArray:
    """The indices with the largest margins, agreeing ones before all others."""
    if agrees is None:
        order = np.lexsort((indices, -margins[indices]))
    else:
        order = np.lexsort((indices, -margins[indices], ~agrees[indices]))
    return indices[order[:most]]


def _partners(
    pair: Pair,
    census: Census,
    individual: int,
    free: list[int],
    margins: NDArray[np.float32],
    agrees: BoolArray | None,
) -> IntArray:
    grid = census.grid
    others = grid.along(individual, free)
    others = others[census.admissible.reshape(-1)[others]]
    others = others[_sure(pair, census, individual, others)]
    decisions = census.decisions.reshape(-1)
    others = others[(decisions[others] >= 0) & (decisions[others] != decisions[individual])]
    return _best(others[_near(pair, census, individual, others)], margins, agrees, _PARTNERS)


def _sure(pair: Pair, census: Census, individual: int, others: IntArray) -> BoolArray:
    """With which of the others the individual makes a pair, in either order, that the model is sure enough of."""
    if not pair.sure:
        return np.ones(len(others), dtype=np.bool_)
    first, second = census.surely(Who.A).reshape(-1), census.surely(Who.B).reshape(-1)
    return np.asarray((first[individual] & second[others]) | (second[individual] & first[others]), dtype=np.bool_)


def _near(pair: Pair, census: Census, individual: int, others: IntArray) -> BoolArray:
    """Which of the others are within the relaxations of the individual."""
    grid = census.grid
    near = np.ones(len(others), dtype=np.bool_)
    if not pair.relax:
        return near
    here, there = np.unravel_index(individual, grid.shape), np.unravel_index(others, grid.shape)
    for relaxation in pair.relax:
        axis = relaxation.attribute
        starts, stops = grid.window(axis, relaxation.by)
        near &= (there[axis] >= starts[int(here[axis])]) & (there[axis] < stops[int(here[axis])])
    return near
