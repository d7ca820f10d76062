"""The procedure: evaluate everybody, mark who is in a violation, count units, replay witnesses.

Brute force is the definition; everything here is that definition (docs/semantics.md, sections 2 and 3)
made fast enough for millions of individuals.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.contract import Budget, Capability, Facts, Observer, Offer, Refusal
from fairdsl.backends.demands import Judge
from fairdsl.backends.enumerate.census import Census, take_census
from fairdsl.backends.enumerate.choose import Chosen, choose, choose_tuples
from fairdsl.backends.enumerate.deployed import decided_alone, with_deployed
from fairdsl.backends.enumerate.marks import Marks, mark_by_counting
from fairdsl.backends.enumerate.offer import offer, partner_count, visits_tuples
from fairdsl.backends.enumerate.redrawn import redrawn
from fairdsl.backends.enumerate.tuples import Kept, mark_by_tuples
from fairdsl.backends.enumerate.worst import worst_of_everybody
from fairdsl.ir.demand import Demanded
from fairdsl.ir.expr import Who
from fairdsl.ir.model import Model
from fairdsl.ir.population import Network, Rows
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Individually, Pair, Quantity, WorstPair
from fairdsl.metrics.estimated import sampled_share
from fairdsl.metrics.sampling import USUAL
from fairdsl.metrics.weights import weights_of
from fairdsl.numerics.grid import Grid
from fairdsl.numerics.narrow import Finite, narrow
from fairdsl.numerics.predicates import mask
from fairdsl.verdict import Arithmetic, Evidence, Holds, Known, Reason, Shares, Unknown, Vacuous, Verdict, Violated

#: Tuples that are judged as deployed files decide them, at most.
_FILED_PAIRS = 2**24


class Enumerate:
    """Answers pair questions over at most 2^22 individuals, exactly."""

    name = "enumerate"
    about = Capability(
        questions=(
            "pairs: same decision, score gap; any, each, within, regardless of, among, when, where",
            "any formula over decisions and scores of one individual, a pair, three or four, of several models",
            "shares of either under a distribution, of at most 2^18 individuals",
            "how far apart the scores of a pair are at most",
        ),
        quantities=(
            Quantity.HOLDS.value,
            Quantity.FAIR_SHARE.value,
            Quantity.DISCRIMINATION_RATE.value,
            Quantity.MAX_SCORE_GAP.value,
            Quantity.AFFECTED_RATE.value,
            Quantity.REDRAW_DISAGREEMENT.value,
        ),
        models=("every model that can be evaluated, on at most 2^22 individuals, no real attributes",),
    )

    def offer(self, problem: Problem) -> Offer | Refusal:
        """Refuses reals, too many individuals, and too many pairs where they must be visited singly."""
        return offer(problem)

    def answer(self, problem: Problem, facts: Facts, budget: Budget, observer: Observer) -> Verdict:
        """The exact verdict; bounds or Unknown when the budget ends first."""
        drawn, population, problem = problem, problem.population, problem.of_everybody
        if not isinstance(problem.question, Pair | WorstPair | Demanded) or isinstance(population, Rows):
            raise ValueError("enumeration was asked what it refuses")
        asked = problem.demanded
        pair = asked.pair
        sets = [values for values in narrow(problem.domain, pair.target) if isinstance(values, Finite)]
        if len(sets) != len(problem.domain.attributes):
            raise ValueError("enumeration was asked what it refuses")
        if isinstance(problem.question, WorstPair):
            return worst_of_everybody(self.name, problem, Grid(sets), budget, observer)
        if problem.quantity is Quantity.REDRAW_DISAGREEMENT:
            census = take_census(problem, asked, Grid(sets), budget, observer, measure=False)
            with_deployed(census, problem, sets, None, budget, observer)
            return redrawn(drawn, census, Evidence(backend=self.name, method=_method(census, problem.model)))
        judge = Judge(problem) if visits_tuples(problem.question) else None
        census = take_census(problem, asked, Grid(sets), budget, observer, measure=judge is not None)
        marks, kept = _marked(pair, judge, census, budget, observer)
        note = with_deployed(census, problem, sets, judge, budget, observer)
        holds = problem.quantity is Quantity.HOLDS and not pair.sure
        alone = holds and judge is None and decided_alone(census, problem, sets, budget)
        filed, breaking = _marked_in_files(pair, judge, census, budget, observer)
        unshared = None if filed is None else filed & ~marks.violating
        notes = [entry for entry in (note, _counted_in_float32(unshared)) if entry is not None]
        evidence = Evidence(backend=self.name, method=_method(census, problem.model), notes=tuple(notes))
        if census.complete and not marks.paired.any() and not marks.undecided.any():
            return Vacuous(evidence=evidence)
        facts.somebody = bool(marks.paired.any())
        if kept is None:
            chosen = choose(problem, pair, census, marks.violating, budget)
        else:
            chosen = choose_tuples(problem, census, kept, budget)
        facts.witnesses.extend(chosen.witnesses)
        facts.gaps.extend(chosen.gaps)
        if problem.quantity is Quantity.HOLDS:
            verdict = _holds(census, marks, chosen, evidence)
            checked = _checked_in_float32(verdict, problem, pair, census, unshared, breaking, budget)
            return _of_the_file(checked) if alone and unshared is not None else checked
        return _shares(drawn, census, marks, filed, chosen, evidence)


def _marked(
    pair: Pair, judge: Judge | None, census: Census, budget: Budget, observer: Observer
) -> tuple[Marks, Kept | None]:
    """Marks, and some of the tuples that violate where they are judged one by one."""
    if judge is None or census.measured is None:
        return mark_by_counting(census, pair, census.decisions), None
    return mark_by_tuples(census, judge, census.measured, budget, observer)


def _marked_in_files(
    pair: Pair, judge: Judge | None, census: Census, budget: Budget, observer: Observer
) -> tuple[NDArray[np.bool_] | None, Kept | None]:
    """Who is in a violation of the deployed files, and some tuples that are one; None where that was not found out."""
    if judge is None:
        return (None if census.deployed is None else mark_by_counting(census, pair, census.deployed).violating), None
    if census.as_files is None or census.count * partner_count(judge.asked, census.grid.sets) > _FILED_PAIRS:
        return None, None
    marks, kept = mark_by_tuples(census, judge, census.as_files, budget, observer, files=True)
    return (None, None) if budget.exhausted else (marks.violating, kept)


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
    breaking: Kept | None,
    budget: Budget,
) -> Verdict:
    """What holds of the exact model but not of the file as it runs is not a proof of fairness: a numeric gap."""
    if not isinstance(verdict, Holds) or unshared is None or not unshared.any():
        return verdict
    deployed = census.as_deployed
    if breaking is not None:
        chosen = choose_tuples(problem, census, breaking, budget)
    elif deployed is not None:
        chosen = choose(problem, pair, deployed, unshared, budget)
    return Unknown(
        reason=Reason.NUMERIC_GAP,
        detail="it holds in exact arithmetic, but the deployed float32 file decides differently",
        evidence=verdict.evidence,
        witnesses=tuple(chosen.gaps),
        breaches=tuple(chosen.breaches),
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
    if chosen.witnesses or chosen.agreeing:
        return Violated(witnesses=tuple(chosen.witnesses), breaches=chosen.agreeing, evidence=evidence)
    if marks.violating.any():
        return Unknown(
            reason=Reason.NUMERIC_GAP if chosen.gaps or chosen.breaches else Reason.REPLAY_FAILED,
            detail="exact arithmetic finds violations that the deployed float32 model does not share",
            evidence=evidence,
            witnesses=tuple(chosen.gaps),
            breaches=tuple(chosen.breaches),
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


def _shares(
    problem: Problem,
    census: Census,
    marks: Marks,
    filed: NDArray[np.bool_] | None,
    chosen: Chosen,
    evidence: Evidence,
) -> Verdict:
    """Count units: individuals with ``relax`` or a one-sided target, otherwise assignments of what does not differ.

    A unit that is fair in one arithmetic and unfair in the other is neither certified nor falsified. Under a population
    a unit has the probability of the people over it who are given. What happens to individuals themselves is a share of
    individuals.
    """
    asked, population = problem.demanded, problem.population
    individually = asked.of_individuals or isinstance(problem.question, Individually)
    counted = census.admissible & _can_be_a_unit(asked, census)
    weights = None
    if isinstance(population, Network):
        everybody = np.flatnonzero(counted & _given(problem, census))
        weights, over = weights_of(population, census.grid.points(everybody))

    def units(individuals: NDArray[np.bool_]) -> NDArray[np.bool_]:
        differ = asked.pair.differ
        return individuals if individually else np.asarray(individuals.any(axis=differ), dtype=np.bool_)

    def amount(some: NDArray[np.bool_]) -> Fraction | int:
        if weights is None:
            return int(some.sum())
        if not individually:
            some = np.broadcast_to(np.expand_dims(some, asked.pair.differ), counted.shape)
        return Fraction(int(weights[some.reshape(-1)[everybody]].sum()), over)

    present = units(counted)
    unfair, paired = units(marks.violating), units(marks.paired)
    gap = unfair ^ units(filed) if filed is not None else np.zeros_like(unfair)
    open_units = (units(marks.undecided) & ~unfair) | gap

    def of(measure: Callable[[NDArray[np.bool_]], Fraction | int]) -> Known:
        return Known(
            fair=measure(present & paired & ~unfair & ~open_units),
            unfair=measure(unfair & ~gap),
            undecided=measure(open_units),
            vacuous=measure(present & ~paired & ~open_units),
        )

    known = of(amount) if census.masked else Known(fair=0, unfair=0, undecided=1)
    if not known.possible:  # those in question have no mass
        return Vacuous(evidence=evidence)
    reason = None
    if known.undecided:
        reason = Reason.NUMERIC_GAP if gap.any() else Reason.INCOMPLETE if census.complete else Reason.TIMEOUT
    parts = known.parts()
    drawn = isinstance(population, Network) and census.masked
    sampling = sampled_share(population, known) if drawn and isinstance(population, Network) else None
    alike = of(lambda some: int(some.sum())).share if drawn else None
    return Shares(
        certified=parts.certified,
        falsified=parts.falsified,
        undecided=parts.undecided,
        vacuous=parts.vacuous,
        measure="counting" if population is None else "probability",
        unit=problem.unit_in_words,
        evidence=evidence,
        witnesses=tuple(chosen.witnesses),
        breaches=chosen.agreeing,
        total=int(known.possible) if census.masked and population is None else None,
        reason=reason,
        sampling=sampling,
        confidence=None if sampling is None else USUAL,
        of_domain=alike,
    )


def _given(problem: Problem, census: Census) -> NDArray[np.bool_]:
    """Who is in question whatever becomes of others."""
    found = np.zeros(census.grid.size, dtype=np.bool_)
    found[census.listed] = mask(problem.given, {Who.EACH: census.grid.points(census.listed)})
    return found.reshape(census.grid.shape)


def _can_be_a_unit(asked: Demanded, census: Census) -> NDArray[np.bool_]:
    """Who meets what a one-sided target asks of the one that it names."""
    pair = asked.pair
    if asked.one_sided is None or pair.one_sided is None:
        return census.admissible
    everybody = census.listed
    found = np.zeros(census.grid.size, dtype=np.bool_)
    found[everybody] = mask(pair.unit_target, {Who.EACH: census.grid.points(everybody)})
    return found.reshape(census.grid.shape)
