"""General demands over the rows of a table: of each row whether the individual in it meets the formula.

Exact arithmetic and the deployed files both judge every row; a share is the interval of the two readings, and the rows
are in turn a sample of whom they were drawn from (docs/semantics.md, section 3).
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.contract import Cost, Offer, Refusal
from fairdsl.backends.demands import Judge, Judged, breaches_of
from fairdsl.ir.demand import Demanded
from fairdsl.ir.expr import Who, conjoin
from fairdsl.ir.population import Rows
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Quantity
from fairdsl.numerics.binomial import clopper_pearson
from fairdsl.numerics.predicates import mask
from fairdsl.verdict import (
    Arithmetic,
    Basis,
    ByDecider,
    Decider,
    Estimate,
    Evidence,
    Holds,
    Reason,
    Shares,
    Unknown,
    Vacuous,
    Verdict,
    Violated,
)

__all__ = ["demand_over_rows", "offer_of_demand"]

_CONFIDENCE = Fraction(95, 100)


def offer_of_demand(asked: Demanded, rows: Rows) -> Offer | Refusal:
    """Refuses pairs: a row is one individual."""
    if not asked.alone:
        return Refusal(
            why="of pairs it counts for `same decision` only",
            span=asked.span,
            instead="leave out `under`, or ask about one individual, `compare a : DOMAIN`",
        )
    return Offer(method=f"takes all {rows.sample.rows:,} rows", decides=True, cost=Cost.ROWS)


def demand_over_rows(problem: Problem, asked: Demanded, rows: Rows) -> Verdict:
    """The share of the rows in question whose individual meets the formula, or whether all do."""
    judge = Judge(problem)
    people = rows.sample.values.keep(range(len(problem.domain.attributes)))
    inside = mask(conjoin(problem.domain.where, asked.pair.target), {Who.EACH: people})
    people = people.at(np.flatnonzero(inside))
    measured = judge.measure(people)
    every = {Who.EACH: np.arange(len(people), dtype=np.int64)}
    by: dict[Decider, Judged] = {Decider.EXACT: judge.judge({Who.EACH: measured}, every)}
    if judge.has_files:
        filed = judge.as_deployed(people.floats, measured)
        by[Decider.DEPLOYED] = judge.judge({Who.EACH: filed}, every, files=True)
    evidence = Evidence(
        backend="rows",
        method=f"{len(people):,} of {rows.sample.rows:,} rows of `{rows.name}` are asked about",
        notes=("for the rows themselves",),
        basis=Basis(arithmetic=Arithmetic.DEPLOYED if judge.has_files else Arithmetic.EXACT),
    )
    possible = np.logical_or.reduce([each.asked | each.undecided for each in by.values()])
    if not possible.any():
        return Vacuous(evidence=evidence)
    exact = by[Decider.EXACT]
    found = [
        each
        for each in breaches_of(judge, {Who.EACH: measured}, {Who.EACH: np.flatnonzero(exact.violating)})
        if each.agrees
    ]
    counts = {name: _counts(each, possible) for name, each in by.items()}
    total = int(possible.sum())
    fair, unfair = (min(count[place] for count in counts.values()) for place in (0, 1))
    if problem.quantity is Quantity.HOLDS:
        if found:
            return Violated(witnesses=(), breaches=tuple(found), evidence=evidence)
        if fair == total:
            return Holds(evidence=evidence)
        detail = "some rows meet the demand in one arithmetic only, or it stays open whether they do"
        return Unknown(reason=Reason.NUMERIC_GAP, detail=detail, evidence=evidence)
    low, _ = clopper_pearson(fair, total, float(_CONFIDENCE))
    _, high = clopper_pearson(total - unfair, total, float(_CONFIDENCE))
    return Shares(
        certified=Fraction(fair, total),
        falsified=Fraction(unfair, total),
        undecided=Fraction(total - fair - unfair, total),
        vacuous=Fraction(len(people) - total, len(people)),
        measure="rows",
        unit=f"a row of `{rows.name}` that is asked about",
        evidence=evidence,
        breaches=tuple(found),
        total=total,
        estimate=Estimate(sampled=total, unfair=unfair, low=low, high=high, confidence=_CONFIDENCE),
        reason=None if fair + unfair == total else Reason.NUMERIC_GAP,
        by_decider=tuple(
            ByDecider(by=name, low=Fraction(one, total), high=Fraction(total - other, total))
            for name, (one, other) in counts.items()
        ),
    )


def _counts(judged: Judged, possible: NDArray[np.bool_]) -> tuple[int, int]:
    """How many rows that may be in question are certainly fair, and certainly unfair, as one decider has it."""
    fair = possible & judged.asked & ~judged.violating & ~judged.undecided
    return int(fair.sum()), int((possible & judged.violating).sum())
