"""The procedure: evaluate everybody, mark who is in a violation, count units, replay witnesses.

Brute force is the definition; everything here is that definition (docs/semantics.md, sections 2 and 3)
made fast enough for millions of individuals.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.contract import Budget, Capability, Facts, Observer, Offer, Refusal
from fairdsl.backends.enumerate.alone import decided_alone
from fairdsl.backends.enumerate.census import Census, take_census, with_deployed
from fairdsl.backends.enumerate.choose import Chosen, choose
from fairdsl.backends.enumerate.demands import answer_demand
from fairdsl.backends.enumerate.marks import Marks, mark_by_counting
from fairdsl.backends.enumerate.offer import offer, visits_pairs
from fairdsl.backends.enumerate.pairs import mark_by_pairs
from fairdsl.ir.demand import Demanded
from fairdsl.ir.expr import Who
from fairdsl.ir.model import Model
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Pair, Quantity
from fairdsl.numerics.grid import Grid
from fairdsl.numerics.narrow import Finite, narrow
from fairdsl.numerics.predicates import mask
from fairdsl.verdict import Arithmetic, Evidence, Holds, Known, Reason, Shares, Unknown, Vacuous, Verdict, Violated

__all__ = ["Enumerate"]


class Enumerate:
    """Answers pair questions over at most 2^22 individuals, exactly."""

    name = "enumerate"
    about = Capability(
        questions=(
            "pairs: same decision, score gap; any, each, within, regardless of, among, when, where",
            "any formula over decisions and scores of one individual or a pair, of several models",
        ),
        quantities=(Quantity.HOLDS.value, Quantity.FAIR_SHARE.value, Quantity.DISCRIMINATION_RATE.value),
        models=("every model that can be evaluated, on at most 2^22 individuals, no real attributes",),
    )

    def offer(self, problem: Problem) -> Offer | Refusal:
        """Refuses reals, too many individuals, and too many pairs where they must be visited singly."""
        return offer(problem)

    def answer(self, problem: Problem, facts: Facts, budget: Budget, observer: Observer) -> Verdict:
        """The exact verdict; bounds or Unknown when the budget ends first."""
        pair = problem.question
        if isinstance(pair, Demanded):
            return answer_demand(problem, pair, facts, budget, observer)
        if not isinstance(pair, Pair):
            raise ValueError("enumeration was asked what it refuses")
        sets = [values for values in narrow(problem.domain, pair.target) if isinstance(values, Finite)]
        if len(sets) != len(problem.domain.attributes):
            raise ValueError("enumeration was asked what it refuses")
        census = take_census(problem, pair, Grid(sets), budget, observer)
        marks = _mark(problem, pair, census, budget, observer)
        note = with_deployed(census, problem, budget, observer)
        asked = problem.quantity is Quantity.HOLDS and not pair.sure
        alone = asked and decided_alone(census, problem, sets, budget)
        unshared = _only_in_float32(pair, census, marks)
        notes = [entry for entry in (note, _counted_in_float32(unshared)) if entry is not None]
        evidence = Evidence(backend=self.name, method=_method(census, problem.model), notes=tuple(notes))
        if census.complete and not marks.paired.any() and not marks.undecided.any():
            return Vacuous(evidence=evidence)
        facts.somebody = bool(marks.paired.any())
        chosen = choose(problem, pair, census, marks.violating, budget)
        facts.witnesses.extend(chosen.witnesses)
        facts.gaps.extend(chosen.gaps)
        if problem.quantity is Quantity.HOLDS:
            verdict = _holds(census, marks, chosen, evidence)
            checked = _checked_in_float32(verdict, problem, pair, census, unshared, budget)
            return _of_the_file(checked) if alone and unshared is not None else checked
        return _shares(problem, pair, census, marks, chosen, evidence)


def _mark(problem: Problem, pair: Pair, census: Census, budget: Budget, observer: Observer) -> Marks:
    if visits_pairs(pair):
        return mark_by_pairs(census, pair, problem.model, budget, observer)
    return mark_by_counting(census, pair, census.decisions)


def _only_in_float32(pair: Pair, census: Census, marks: Marks) -> NDArray[np.bool_] | None:
    """Who is in a violation of the deployed file but in none of exact arithmetic; None where not counted."""
    violating = _violating_in_float32(pair, census)
    return None if violating is None else violating & ~marks.violating


def _violating_in_float32(pair: Pair, census: Census) -> NDArray[np.bool_] | None:
    """Who is in a violation of the deployed file; None where it was not run or pairs cannot be counted."""
    if census.deployed is None or visits_pairs(pair):
        return None
    return mark_by_counting(census, pair, census.deployed).violating


def _counted_in_float32(unshared: NDArray[np.bool_] | None) -> str | None:
    if unshared is None or not unshared.any():
        return None
    return f"in float32 {int(unshared.sum()):,} more individuals are in a violation"


def _checked_in_float32(
    verdict: Verdict,
    problem: Problem,
    pair: Pair,
    census: Census,
    unshared: NDArray[np.bool_] | None,
    budget: Budget,
) -> Verdict:
    """What holds of the exact model but not of the file as it runs is no proof of fairness: a numeric gap."""
    deployed = census.as_deployed
    if not isinstance(verdict, Holds) or deployed is None or unshared is None or not unshared.any():
        return verdict
    return Unknown(
        reason=Reason.NUMERIC_GAP,
        detail="it holds in exact arithmetic, but the deployed float32 file decides differently",
        evidence=verdict.evidence,
        witnesses=tuple(choose(problem, pair, deployed, unshared, budget).gaps),
    )


def _of_the_file(verdict: Verdict) -> Verdict:
    """What holds was counted in the file's own decisions too."""
    if not isinstance(verdict, Holds):
        return verdict
    basis = replace(verdict.evidence.basis, arithmetic=Arithmetic.DEPLOYED)
    return Holds(evidence=replace(verdict.evidence, basis=basis))


def _method(census: Census, model: Model) -> str:
    evaluated = (
        f"all {census.count:,} individuals evaluated"
        if census.complete
        else f"{census.seen:,} of {census.count:,} individuals evaluated"
        if census.masked
        else "stopped while finding the individuals that are asked about"
    )
    if census.doubled:
        evaluated += f", {census.doubled:,} in twice the precision"
    how = "in exact arithmetic" if model.rational else "by enclosures of high precision"
    return f"{evaluated}, {census.exactly:,} {how}" if census.exactly else evaluated


def _holds(census: Census, marks: Marks, chosen: Chosen, evidence: Evidence) -> Verdict:
    if chosen.witnesses:
        return Violated(witnesses=tuple(chosen.witnesses), evidence=evidence)
    if marks.violating.any():
        return Unknown(
            reason=Reason.NUMERIC_GAP if chosen.gaps else Reason.REPLAY_FAILED,
            detail="exact arithmetic finds violations that the deployed float32 model does not share",
            evidence=evidence,
            witnesses=tuple(chosen.gaps),
        )
    if not census.complete:
        return Unknown(reason=Reason.TIMEOUT, detail="the budget ended first", evidence=evidence)
    if marks.undecided.any():
        return Unknown(
            reason=Reason.INCOMPLETE,
            detail="some scores or pairs stayed open",
            evidence=evidence,
        )
    return Holds(evidence=evidence)


def _shares(problem: Problem, pair: Pair, census: Census, marks: Marks, chosen: Chosen, evidence: Evidence) -> Shares:
    """Count units: individuals with ``relax`` or a one-sided target, otherwise assignments of what does not differ.

    A unit that is fair in one arithmetic and unfair in the other is neither certified nor falsified.
    """

    def units(individuals: NDArray[np.bool_]) -> NDArray[np.bool_]:
        return individuals if pair.of_individuals else np.asarray(individuals.any(axis=pair.differ), dtype=np.bool_)

    present = units(census.admissible & _can_be_a_unit(pair, census))
    unfair, paired = units(marks.violating), units(marks.paired)
    deployed = _violating_in_float32(pair, census)
    gap = unfair ^ units(deployed) if deployed is not None else np.zeros_like(unfair)
    open_units = (units(marks.undecided) & ~unfair) | gap
    known = Known(
        fair=int((present & paired & ~unfair & ~open_units).sum()),
        unfair=int((unfair & ~gap).sum()),
        undecided=int(open_units.sum()),
        vacuous=int((present & ~paired & ~open_units).sum()),
    )
    if not census.masked:
        known = Known(fair=0, unfair=0, undecided=1)
    reason = None
    if known.undecided:
        reason = Reason.NUMERIC_GAP if gap.any() else Reason.INCOMPLETE if census.complete else Reason.TIMEOUT
    parts = known.parts()
    return Shares(
        certified=parts.certified,
        falsified=parts.falsified,
        undecided=parts.undecided,
        vacuous=parts.vacuous,
        measure="counting",
        unit=problem.unit_in_words,
        evidence=evidence,
        witnesses=tuple(chosen.witnesses),
        total=int(known.possible) if census.masked else None,
        reason=reason,
    )


def _can_be_a_unit(pair: Pair, census: Census) -> NDArray[np.bool_]:
    """Who meets what a one-sided target asks of the one that it names."""
    if pair.one_sided is None:
        return census.admissible
    everybody = np.flatnonzero(census.admissible)
    found = np.zeros(census.grid.size, dtype=np.bool_)
    found[everybody] = mask(pair.unit_target, {Who.EACH: census.grid.points(everybody)})
    return found.reshape(census.grid.shape)
