"""Demands over the rows of a table: of each row, whether the unit that it lies in is treated fairly.

Every row is judged by the definition (docs/semantics.md, section 3), by everybody who decides its people, so the share
of the rows is exact, or the interval of both readings. The rows are in turn a sample of the population that they come
from: if they were drawn from it independently of each other, and of the model, the share among all that could have been
drawn lies in Clopper and Pearson's interval. They are judged in a random order: where the time ends before all are
judged, the first of that order are a random sample, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.contract import Budget, Cost, Facts, Observer, Offer, Refusal
from fairdsl.backends.units import Judged, Units, units_of
from fairdsl.clock import Deadline, now, until
from fairdsl.ir.domain import Domain
from fairdsl.ir.enclosure import Enclosure
from fairdsl.ir.exact_rows import ExactRows
from fairdsl.ir.expr import Who, conjoin
from fairdsl.ir.population import Rows
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Quantity
from fairdsl.numerics.binomial import clopper_pearson
from fairdsl.numerics.predicates import mask
from fairdsl.replay import replayed
from fairdsl.verdict import (
    Arithmetic,
    Basis,
    ByDecider,
    Decider,
    DifferingRow,
    Estimate,
    Evidence,
    Holds,
    Individual,
    Reason,
    Shares,
    Unknown,
    Vacuous,
    Verdict,
    Violated,
)

_CONFIDENCE = Fraction(95, 100)
#: Rows that are judged at once, and violating pairs that are kept.
_ROWS, _PAIRS = 2**9, 512
#: Judging takes at most all but one part in so many of the time, which is left for replaying what was found; and so
#: does what is judged at once of the time that judging has left, for nothing of it counts before it is done.
_PART = 8

_Marks = NDArray[np.bool_]


def offer_of_share(problem: Problem, rows: Rows) -> Offer | Refusal:
    """Refuses people who cannot be listed."""
    units = units_of(problem.of_everybody, drawn=False)
    if isinstance(units, Refusal):
        return units
    return Offer(method=f"takes all {rows.sample.rows:,} rows, {units.how}", decides=True, cost=Cost.ROWS)


def share_over_rows(problem: Problem, rows: Rows, facts: Facts, budget: Budget, observer: Observer) -> Verdict:
    """The share of the rows, and what it says of the population that they come from; or whether all are fair."""
    plain = problem.of_everybody
    units = units_of(plain, drawn=False)
    if isinstance(units, Refusal):
        raise ValueError("rows was asked what it refuses")
    people = rows.sample.values.keep(range(len(problem.domain.attributes)))
    wanted = np.flatnonzero(mask(conjoin(units.counted, problem.given), {Who.EACH: people}))
    people = people.at(wanted)
    by = units.by_decider()
    evidence = _evidence(rows, len(people), units, problem.quantity, both=Decider.DEPLOYED in by)
    if not len(people):
        return Vacuous(evidence=evidence)
    judged = _judge(by, people, budget, observer)
    if not judged.possible:
        return Vacuous(evidence=evidence)
    shares = replace(_shares(judged, rows.name, evidence), differing=_listed(judged, people, wanted, problem.domain))
    if problem.quantity is not Quantity.HOLDS:
        facts.so_far = shares
    witnesses, breaches = replayed(plain, judged.pairs)
    facts.witnesses.extend(witnesses)
    shares = replace(shares, witnesses=witnesses, breaches=breaches)
    return _yes_or_no(shares) if problem.quantity is Quantity.HOLDS else shares


def _yes_or_no(shares: Shares) -> Verdict:
    """Whether the unit of every row is fair, by everybody who decides."""
    evidence = shares.evidence
    if shares.certified == 1:
        return Holds(evidence=evidence)
    if shares.falsified and (shares.witnesses or shares.breaches):
        return Violated(witnesses=shares.witnesses, breaches=shares.breaches, evidence=evidence)
    details = {
        Reason.TIMEOUT: "the time ended before every row was judged",
        Reason.NUMERIC_GAP: "rows are treated fairly in one arithmetic and unfairly in the other",
    }
    reason = shares.reason or Reason.NUMERIC_GAP
    detail = details.get(reason, "for some rows it stays open what is decided")
    return Unknown(reason=reason, detail=detail, evidence=evidence, differing=shares.differing)


def _evidence(rows: Rows, inside: int, units: Units, quantity: Quantity, *, both: bool) -> Evidence:
    how = "each judged exactly and as the deployed file decides" if both else units.how
    about = "" if quantity is Quantity.HOLDS else "; the interval is about whom they were drawn from"
    return Evidence(
        backend="rows",
        method=f"{inside:,} of {rows.sample.rows:,} rows of `{rows.name}` are asked about, {how}",
        notes=("for the rows themselves" + about,),
        basis=Basis(arithmetic=Arithmetic.DEPLOYED if both else Arithmetic.EXACT),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Marked:
    """What one decider makes of the units of the rows in question, [rows in question] each."""

    unfair: _Marks
    doubtful: _Marks

    @property
    def shares(self) -> tuple[int, int]:
        """How many are fair, and how many unfair."""
        return int((~(self.unfair | self.doubtful)).sum()), int(self.unfair.sum())


@dataclass(frozen=True, slots=True, eq=False)
class _Judged:
    """What is known of the ``places`` in question among the ``seen`` of ``rows`` rows, by everybody who decides.

    The others of them have nobody to compare. ``drawn`` [places]: those that are a random sample of all the rows.
    """

    rows: int
    seen: int
    places: NDArray[np.intp]
    drawn: _Marks
    marks: Mapping[Decider, _Marked]
    pairs: list[tuple[tuple[Fraction, ...], tuple[Fraction, ...]]]

    @property
    def all_seen(self) -> bool:
        """Whether every row was judged."""
        return self.seen == self.rows

    @property
    def alone(self) -> int:
        """Of the rows that were judged, those that nobody is compared with."""
        return self.seen - len(self.places)

    @property
    def possible(self) -> int:
        """How many rows may be in question."""
        return self.rows - self.alone


def _judge(by: Mapping[Decider, Units], people: ExactRows, budget: Budget, observer: Observer) -> _Judged:
    """Judge the rows in a random order, those that are alike at once."""
    order = np.random.default_rng(budget.seed).permutation(len(people))
    distinct, which = people.at(order).distinct()
    first = np.unique(which, return_index=True)[1]
    turns = np.argsort(first)
    rank = np.argsort(turns)[which]  # of each row, in that order: when it is judged
    found: list[Mapping[Decider, Judged]] = []
    done, step, until_then = 0, 1, Deadline.within(budget.remaining * (_PART - 1) / _PART)
    while done < len(turns) and not until_then.passed:
        began, some = now(), None
        with until(until_then):
            units = distinct.at(turns[done : done + step])
            some = {decider: each.judge(units) for decider, each in by.items()}
        if some is None:
            break
        found.append(some)
        done += len(units)
        pace = step / max(now() - began, 1e-6)
        step = max(1, int(min(2 * step, _ROWS, pace * until_then.remaining / _PART)))
        observer.progress("rows", done / len(turns), f"{done:,} of {len(turns):,} different rows")
    asked = _joined([np.logical_or.reduce([one.in_question for one in some.values()]) for some in found])
    judged = np.flatnonzero(rank < done)
    judged = judged[np.argsort(order[judged])]  # as they stand in the table
    places = judged[asked[rank[judged]]]
    drawn = len(order) if done == len(turns) else first[turns[done]]
    return _Judged(
        rows=len(people),
        seen=len(judged),
        places=order[places],
        drawn=places < drawn,
        marks={
            decider: _Marked(
                _joined([some[decider].unfair for some in found])[rank[places]],
                # Whom a premise is true of may be read in one arithmetic only.
                _joined([some[decider].doubtful | some[decider].alone for some in found])[rank[places]],
            )
            for decider in by
        },
        pairs=_pairs(found),
    )


def _joined(parts: list[_Marks]) -> _Marks:
    return np.concatenate([np.zeros(0, dtype=np.bool_), *parts])


def _pairs(found: list[Mapping[Decider, Judged]]) -> list[tuple[tuple[Fraction, ...], tuple[Fraction, ...]]]:
    """Two people of every unfair unit, of the first so many."""
    pairs: list[tuple[tuple[Fraction, ...], tuple[Fraction, ...]]] = []
    for judged in (judged for some in found for judged in some.values()):
        some = slice(max(0, _PAIRS - len(pairs)))
        pairs.extend(zip(judged.a.at(some).points(), judged.b.at(some).points(), strict=True))
    return pairs


def _shares(judged: _Judged, name: str, evidence: Evidence) -> Shares:
    """What is certified is so by everybody who decides: the share is between the least and the greatest of theirs."""
    total = judged.possible
    counts = [marks.shares for marks in judged.marks.values()]
    fair, unfair = min(count for count, _ in counts), min(count for _, count in counts)
    return Shares(
        certified=Fraction(fair, total),
        falsified=Fraction(unfair, total),
        undecided=Fraction(total - fair - unfair, total),
        vacuous=Fraction(judged.alone, judged.rows),
        measure="rows",
        unit=f"a row of `{name}` that is asked about",
        evidence=evidence,
        total=total if judged.all_seen else None,
        estimate=_estimate(judged),
        reason=_reason(judged, counts),
        by_decider=tuple(
            ByDecider(by=by, number=Enclosure(low=Fraction(least, total), high=Fraction(total - other, total)))
            for by, (least, other) in zip(judged.marks, counts, strict=True)
        ),
    )


def _estimate(judged: _Judged) -> Estimate | None:
    """What the random sample among the rows says of whom they come from; None where nobody is in it."""
    sampled = int(judged.drawn.sum())
    if not sampled:
        return None
    counts = [_Marked(each.unfair[judged.drawn], each.doubtful[judged.drawn]).shares for each in judged.marks.values()]
    fair, unfair = min(count for count, _ in counts), min(count for _, count in counts)
    low, _ = clopper_pearson(fair, sampled, float(_CONFIDENCE))
    _, high = clopper_pearson(sampled - unfair, sampled, float(_CONFIDENCE))
    return Estimate(sampled=sampled, unfair=unfair, interval=Enclosure(low=low, high=high), confidence=_CONFIDENCE)


def _reason(judged: _Judged, counts: list[tuple[int, int]]) -> Reason | None:
    """Why there is an interval and no number."""
    if not judged.all_seen:
        return Reason.TIMEOUT
    if len(set(counts)) > 1:
        return Reason.NUMERIC_GAP
    return Reason.INCOMPLETE if any(sum(count) < judged.possible for count in counts) else None


def _listed(judged: _Judged, people: ExactRows, rows: NDArray[np.intp], domain: Domain) -> tuple[DifferingRow, ...]:
    """The rows whose units are not judged alike by all."""
    marks = list(judged.marks.values())
    apart = np.zeros(len(judged.places), dtype=np.bool_)
    for each in marks:
        apart |= each.doubtful | (each.unfair != marks[0].unfair)
    exact = judged.marks.get(Decider.EXACT)
    file = judged.marks.get(Decider.DEPLOYED) or judged.marks.get(Decider.ANSWERS)
    places = np.flatnonzero(apart)
    return tuple(
        DifferingRow(
            row=int(rows[judged.places[place]]) + 1,
            values=Individual.of(domain, point),
            exact=_said(exact, place),
            deployed=_said(file, place),
        )
        for place, point in zip(places.tolist(), people.at(judged.places[places]).points(), strict=True)
    )


def _said(marks: _Marked | None, place: int) -> str | None:
    if marks is None or marks.doubtful[place]:
        return None
    return "unfair" if marks.unfair[place] else "fair"
