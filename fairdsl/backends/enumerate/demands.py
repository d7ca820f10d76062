"""General demands over everybody: each tuple judged by the definition (docs/semantics.md, section 2).

Of pairs, everybody is taken as ``a`` at once and given one value of what may differ after the other as ``b``, so that
the work is one array for each such value and not one step for each pair.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import product
from math import prod

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.contract import Budget, Cost, Facts, Observer, Offer, Refusal
from fairdsl.backends.demands import Judge, Judged, Measured, breaches_of
from fairdsl.ir.demand import Demanded
from fairdsl.ir.expr import TRUE, Who, conjoin, rename
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Differ, Pair, Quantity
from fairdsl.numerics.grid import Grid
from fairdsl.numerics.narrow import Finite, ValueSet, narrow
from fairdsl.numerics.predicates import mask
from fairdsl.numerics.rounding import float_below
from fairdsl.verdict import (
    Basis,
    Breach,
    Evidence,
    Holds,
    Known,
    Reason,
    Shares,
    Unknown,
    Vacuous,
    Verdict,
    Violated,
)

__all__ = ["answer_demand", "offer_demand"]

BoolArray = NDArray[np.bool_]
Integers = NDArray[np.int64]

_POINTS, _PAIRS = 2**22, 2**26
#: Individuals and pairs that deployed files are asked about as well, at most.
_DEPLOYED, _DEPLOYED_PAIRS = 2**20, 2**24
#: Tuples that are kept to be replayed.
_KEPT = 4096


def offer_demand(problem: Problem, asked: Demanded, sets: tuple[ValueSet, ...], points: int | None) -> Offer | Refusal:
    """Offer to answer, or the first reason not to; that all values are finite floats was looked at before."""
    if problem.population is not None:
        return Refusal(why="it counts individuals alike, and not the rows of a table", other=True)
    if points is None or points > _POINTS:
        return Refusal(why="more than 2^22 individuals", span=problem.domain.span)
    pairs = points * prod(sets[axis].count or 0 for axis in _free(asked.pair))
    if not asked.alone and pairs > _PAIRS:
        return Refusal(why="more than 2^26 pairs to visit one by one", span=asked.span)
    return Offer(method=f"evaluates all {points:,} individuals", decides=True, cost=Cost.COUNT)


def answer_demand(problem: Problem, asked: Demanded, facts: Facts, budget: Budget, observer: Observer) -> Verdict:
    """The exact verdict; bounds or Unknown when the budget ends first."""
    sets = [values for values in narrow(problem.domain, asked.pair.target) if isinstance(values, Finite)]
    census = _Census(problem, asked, Grid(sets), budget, observer)
    marks = census.marks(census.measured)
    deployed = census.deployed() if marks.complete else None
    facts.somebody = bool(marks.asked.any())
    notes, basis = _compared(marks, deployed)
    method = f"all {census.seen:,} individuals evaluated" if marks.complete else "the time ended before everybody"
    evidence = Evidence(backend="enumerate", method=method, notes=notes, basis=basis)
    if marks.complete and not marks.asked.any() and not marks.undecided.any():
        return Vacuous(evidence=evidence)
    found = census.breaches(marks)
    if problem.quantity is Quantity.HOLDS:
        return _holds(marks, deployed, found, census, evidence)
    return census.shares(marks, deployed, found, evidence)


@dataclass(slots=True)
class _Marks:
    """Who is asked about, who is in a violation, and of whom that is open; by role, arrays over those admissible."""

    roles: Mapping[Who, Mapping[str, BoolArray]]
    complete: bool = True
    #: Tuples that violate, some of them: positions by individual.
    kept: dict[Who, list[Integers]] = field(default_factory=dict)

    def any_of(self, kind: str, one: Who | None = None) -> BoolArray:
        """Who is marked so, as ``one`` of the two or in any role."""
        chosen = [marks[kind] for who, marks in self.roles.items() if one in (None, who)]
        return np.asarray(np.logical_or.reduce(chosen), dtype=np.bool_)

    @property
    def asked(self) -> BoolArray:
        """In a tuple that the demand is about."""
        return self.any_of("asked")

    @property
    def violating(self) -> BoolArray:
        """In a tuple that breaks the demand."""
        return self.any_of("violating")

    @property
    def undecided(self) -> BoolArray:
        """In a tuple that stays open."""
        return self.any_of("undecided")


class _Census:
    """Everybody in domain and target, measured."""

    def __init__(self, problem: Problem, asked: Demanded, grid: Grid, budget: Budget, observer: Observer) -> None:
        self._problem, self._asked, self._grid = problem, asked, grid
        self._budget, self._observer = budget, observer
        self._judge = Judge(problem)
        wanted = conjoin(problem.domain.where, asked.pair.target)
        inside = [part[mask(wanted, {Who.EACH: grid.points(part)})] for part in grid.chunks(1 << 16)]
        self._flat: Integers = np.concatenate(inside) if inside else np.zeros(0, dtype=np.int64)
        self.seen, self.complete = len(self._flat), True
        self.points = grid.points(self._flat)
        self.measured = self._measured()

    def _measured(self) -> Measured:
        """All of them, part by part, so that the clock is looked at."""
        parts: list[Measured] = []
        for start in range(0, max(1, self.seen), 1 << 14):
            if self._budget.exhausted:
                self.complete = False
                break
            parts.append(self._judge.measure(self.points[start : start + (1 << 14)]))
            self._observer.progress("enumerate", start / max(1, self.seen), f"{start:,} individuals")
        if not self.complete:
            self._flat, self.points = self._flat[:0], self.points[:0]
            parts = [self._judge.measure(self.points)]
        return _joined(parts)

    def marks(self, measured: Measured, *, files: bool = False) -> _Marks:
        """Who is in which kind of tuple, as these numbers have it."""
        count = len(self._flat)
        kinds = ("asked", "violating", "undecided")
        roles = {who: {kind: np.zeros(count, dtype=np.bool_) for kind in kinds} for who in self._asked.people}
        marks = _Marks(roles, complete=self.complete, kept={who: [] for who in self._asked.people})
        kept = 0
        for rows in self._tuples():
            if self._budget.exhausted:
                marks.complete = False
                break
            judged = self._judge.judge(dict.fromkeys(rows, measured), rows, files=files)
            _mark(marks, rows, judged)
            if kept < _KEPT and judged.violating.any():
                some = np.flatnonzero(judged.violating)[:_KEPT]
                for who, indices in rows.items():
                    marks.kept[who].append(indices[some])
                kept += len(some)
        return marks

    def _tuples(self) -> Iterator[dict[Who, Integers]]:
        """Positions of those in a tuple, many tuples at a time."""
        everybody = np.arange(len(self._flat), dtype=np.int64)
        if self._asked.alone:
            for start in range(0, len(everybody), 1 << 18):
                yield {Who.EACH: everybody[start : start + (1 << 18)]}
            return
        pair, grid = self._asked.pair, self._grid
        free = _free(pair)
        position = np.full(grid.size, -1, dtype=np.int64)
        position[self._flat] = everybody
        coordinates = np.unravel_index(self._flat, grid.shape) if grid.shape else ()
        strides = {axis: prod(grid.shape[axis + 1 :]) for axis in free}
        base = self._flat - sum((coordinates[axis] * strides[axis] for axis in free), np.zeros_like(self._flat))
        near = {each.attribute: _near(grid.sets[each.attribute], each.by) for each in pair.relax}
        for values in product(*(range(grid.shape[axis]) for axis in free)):
            at = dict(zip(free, values, strict=True))
            partner = position[base + sum(value * strides[axis] for axis, value in at.items())]
            apart = [coordinates[axis] != at[axis] for axis in pair.differ]
            joined = np.logical_and if pair.mode is Differ.EACH else np.logical_or
            fits = (partner >= 0) & joined.reduce(apart)
            for axis, table in near.items():
                fits &= table[coordinates[axis], at[axis]]
            a = everybody[fits]
            b = partner[fits]
            if pair.pair_target != TRUE and len(a):
                kept = mask(pair.pair_target, {Who.A: self.points[a], Who.B: self.points[b]})
                a, b = a[kept], b[kept]
            if len(a):
                yield {Who.A: a, Who.B: b}

    def deployed(self) -> _Marks | None:
        """The same as the deployed files decide; None where there are none, or too many individuals for them."""
        pairs = self.seen * prod(self._grid.shape[axis] for axis in _free(self._asked.pair))
        if not self._judge.has_files or self.seen > _DEPLOYED or pairs > _DEPLOYED_PAIRS or not self.seen:
            return None
        marks = self.marks(self._judge.as_deployed(self.points, self.measured), files=True)
        return marks if marks.complete else None

    def breaches(self, marks: _Marks) -> list[Breach]:
        """Some of the tuples that violate, replayed."""
        rows = {who: np.concatenate([*some, np.zeros(0, dtype=np.int64)]) for who, some in marks.kept.items()}
        return breaches_of(self._judge, dict.fromkeys(rows, self.measured), rows)

    def shares(self, marks: _Marks, deployed: _Marks | None, found: list[Breach], evidence: Evidence) -> Shares:
        """Units by what is known of them (docs/semantics.md, section 3)."""
        one = self._asked.one_sided
        present = self._units(self._can_be_a_unit(one))
        unfair, asked = self._units(marks.any_of("violating", one)), self._units(marks.any_of("asked", one))
        open_ = self._units(marks.any_of("undecided", one)) & ~unfair
        gap = np.zeros_like(unfair)
        if deployed is not None:
            gap = unfair ^ self._units(deployed.any_of("violating", one))
        open_ |= gap
        known = Known(
            fair=int((present & asked & ~unfair & ~open_).sum()),
            unfair=int((unfair & ~gap).sum()),
            undecided=int(open_.sum()),
            vacuous=int((present & ~asked & ~open_).sum()),
        )
        if not marks.complete:
            known = Known(fair=0, unfair=0, undecided=1)
        parts = known.parts()
        reason = None
        if known.undecided:
            reason = Reason.TIMEOUT if not marks.complete else Reason.NUMERIC_GAP if gap.any() else Reason.INCOMPLETE
        return Shares(
            certified=parts.certified,
            falsified=parts.falsified,
            undecided=parts.undecided,
            vacuous=parts.vacuous,
            measure="counting",
            unit=self._problem.unit_in_words,
            evidence=evidence,
            breaches=tuple(each for each in found if each.agrees),
            total=int(known.possible) if marks.complete else None,
            reason=reason,
        )

    def _units(self, individuals: BoolArray) -> BoolArray:
        """Units with somebody who is marked."""
        everybody = np.zeros(self._grid.size, dtype=np.bool_)
        everybody[self._flat] = individuals
        shaped = everybody.reshape(self._grid.shape)
        if self._asked.of_individuals:
            return shaped
        return np.asarray(shaped.any(axis=self._asked.pair.differ), dtype=np.bool_)

    def _can_be_a_unit(self, one: Who | None) -> BoolArray:
        if one is None or self._asked.pair.one_sided is None:
            return np.ones(len(self._flat), dtype=np.bool_)
        return mask(rename(self._asked.pair.pair_target, {one: Who.EACH}), {Who.EACH: self.points})


def _mark(marks: _Marks, rows: Mapping[Who, Integers], judged: Judged) -> None:
    for who, indices in rows.items():
        for kind, found in (
            ("asked", judged.asked),
            ("violating", judged.violating),
            ("undecided", judged.undecided),
        ):
            marks.roles[who][kind][indices[found]] = True


def _holds(marks: _Marks, deployed: _Marks | None, found: list[Breach], census: _Census, evidence: Evidence) -> Verdict:
    sound = tuple(each for each in found if each.agrees)
    if sound:
        return Violated(witnesses=(), breaches=sound, evidence=evidence)
    if marks.violating.any():
        detail = "exact arithmetic finds violations that the deployed file does not share"
        reason = Reason.NUMERIC_GAP if found else Reason.REPLAY_FAILED
        return Unknown(reason=reason, detail=detail, evidence=evidence, breaches=tuple(found))
    if not marks.complete:
        return Unknown(reason=Reason.TIMEOUT, detail="the budget ended first", evidence=evidence)
    if marks.undecided.any():
        return Unknown(reason=Reason.INCOMPLETE, detail="some scores or decisions stayed open", evidence=evidence)
    if deployed is not None and deployed.violating.any():
        detail = "it holds in exact arithmetic, but the deployed file decides differently"
        apart = tuple(census.breaches(deployed))
        return Unknown(reason=Reason.NUMERIC_GAP, detail=detail, evidence=evidence, breaches=apart)
    return Holds(evidence=evidence)


def _compared(marks: _Marks, deployed: _Marks | None) -> tuple[tuple[str, ...], Basis]:
    """What running the deployed files on everybody adds."""
    if deployed is None:
        return (), Basis()
    apart = int((marks.violating ^ deployed.violating).sum())
    if apart:
        return (f"as deployed, {apart:,} individuals are in a violation in one arithmetic only",), Basis()
    return ("the deployed files were run on everybody and break the demand nowhere else",), Basis()


def _free(pair: Pair) -> list[int]:
    return sorted({*pair.differ, *(each.attribute for each in pair.relax)})


def _near(values: Finite, by: Fraction | None) -> BoolArray:
    """Which values of an attribute are as near to each other as its relaxation asks, [values, values]."""
    listed = np.array([float(value) for value in values.values], dtype=np.float64)
    apart = np.abs(listed[:, None] - listed[None, :])  # whole numbers, so the differences are exact
    return np.asarray(apart <= (np.inf if by is None else float_below(by)), dtype=np.bool_)


def _joined(parts: list[Measured]) -> Measured:
    if len(parts) == 1:
        return parts[0]
    first = parts[0]
    scores = tuple(
        replace(
            one,
            low=np.concatenate([part.scores[place].low for part in parts]),
            high=np.concatenate([part.scores[place].high for part in parts]),
            step=_finest([part.scores[place].step for part in parts]),
        )
        for place, one in enumerate(first.scores)
    )
    return Measured(
        np.concatenate([np.asarray(part.points) for part in parts]),
        tuple(np.concatenate([part.decisions[place] for part in parts]) for place in range(len(first.decisions))),
        scores,
        tuple(_finest([part.steps[index] for part in parts]) for index in range(len(first.steps))),
    )


def _finest(steps: list[int | None]) -> int | None:
    known = [step for step in steps if step is not None]
    return max(known) if len(known) == len(steps) else None
