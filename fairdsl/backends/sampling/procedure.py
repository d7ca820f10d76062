"""The procedure: draw units until an interval is as narrow as was asked for, or clear of the threshold.

Every decision is exact, as far as it can be; what is uncertain is the sample alone. The answer is an estimate and says
so: nothing is certified by it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from fairdsl.backends.contract import Answering, Budget, Capability, Cost, Facts, Observer, Offer, Refusal, at_once
from fairdsl.ir.demand import Demanded
from fairdsl.ir.enclosure import Enclosure
from fairdsl.ir.expr import TRUE
from fairdsl.ir.population import Inside, Network, Population, Rows
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import GroupMetric, Pair, PairUnder, Precision, Quantity
from fairdsl.numerics.narrow import Finite, narrow
from fairdsl.verdict import (
    Arithmetic,
    Basis,
    Estimate,
    Estimated,
    Evidence,
    Judgement,
    Reason,
    Unknown,
    Vacuous,
    Verdict,
    judge,
    share_value,
)

if TYPE_CHECKING:
    from fairdsl.backends.sampling.draw import Sample
    from fairdsl.backends.sampling.looks import Look
    from fairdsl.backends.sampling.people import People
    from fairdsl.backends.units import Units

#: Units that are drawn at most.
_MOST = 2**32


class Sampling:
    """Estimates the share of units that are treated fairly, or a metric of groups, where an estimate is asked for."""

    name = "sampling"
    about = Capability(
        questions=(
            "shares of pairs, and of any formula over decisions and scores of one individual or a pair, of several "
            "models; any, each, within, regardless of, among, where; under a distribution, too",
            "metrics of groups: across, under, among, for each, label, excluding, privileged, influence, allow",
        ),
        quantities=(
            "fair_share, discrimination_rate: `within` a distance, or required `with confidence`",
            "every metric of groups: `within` a distance, or required `with confidence` of a distribution without rows",
        ),
        models=("every model that can be evaluated, over any number of individuals, bounded reals too",),
    )

    def offer(self, problem: Problem) -> Offer | Refusal:
        """Refuses whatever no estimate was asked for, and people that cannot be drawn."""
        pair, precision = problem.question, problem.precision
        if isinstance(pair, GroupMetric):
            from fairdsl.backends.sampling.groups import offer_of_metric

            return offer_of_metric(problem, pair)
        if not isinstance(pair, Pair | PairUnder | Demanded) or isinstance(problem.population, Rows):
            return Refusal(why="it answers questions about pairs and groups, and rows are counted", other=True)
        if problem.given != TRUE:
            return Refusal(why="it draws from all who are asked about", span=problem.span)
        if problem.quantity is Quantity.HOLDS:
            return Refusal(why="no sample shows that a demand holds of everybody", other=True)
        if precision is None:
            return Refusal(
                why="an estimate is not a proof: it is made where one is asked for",
                other=True,
                instead="write `measure fair_share within 1%`, or `with confidence 95%` behind a required share",
            )
        from fairdsl.backends.sampling.looks import most_needed
        from fairdsl.backends.units import units_of

        most = most_needed(precision)
        if most > _MOST:
            return Refusal(why=f"that precision may take {most:,} units; its limit is 2^32", span=precision.span)
        units = units_of(problem.of_everybody, drawn=problem.population is None)
        if isinstance(units, Refusal):
            return units
        if problem.population is None:
            return Offer(method=f"draws up to {most:,} units, {units.how}", decides=True, cost=Cost.COUNT)
        if lacking := _unknown_inside(problem, problem.population):
            return lacking
        method = f"draws up to {most:,} individuals from `{problem.population.name}`, {units.how}"
        return Offer(method=method, decides=True, cost=Cost.COUNT)

    def answer(self, problem: Problem, facts: Facts, budget: Budget, observer: Observer) -> Verdict:
        """The estimate of the first look that is close enough; of the last look there was time for, else."""
        return at_once(self.answering(problem, facts, budget, observer))

    def answering(self, problem: Problem, facts: Facts, budget: Budget, observer: Observer) -> Answering:
        """The same by budgets: the sample grows on."""
        if isinstance(problem.question, GroupMetric):
            from fairdsl.backends.sampling.groups import answering_metric

            return (yield from answering_metric(problem, problem.question, facts, budget, observer))
        from fairdsl.backends.sampling.draw import Sample
        from fairdsl.backends.sampling.looks import looks, most_needed
        from fairdsl.backends.units import units_of
        from fairdsl.clock import until

        units, precision = units_of(problem.of_everybody, drawn=problem.population is None), problem.precision
        if isinstance(units, Refusal) or precision is None:
            raise ValueError("sampling was asked what it refuses")
        sample, seen, ended = Sample(units, budget.seed, _people_of(problem, units, budget.seed)), None, False
        most = most_needed(precision)
        for look in () if units.empty else looks(precision):
            while sample.size < look.size and not sample.barren:
                if budget.exhausted:
                    budget = yield self._verdict(
                        problem, precision, _Seen(sample, seen, units.empty, ended=True), facts
                    )
                with until(budget.deadline):
                    sample.grow(look.size - sample.size)
                detail = f"{sample.size:,} units, {sample.unfair:,} of them unfair"
                observer.progress("sampling", sample.size / most, detail)
            if ended := sample.size < look.size:
                break
            seen = _read(sample, look, precision.confidence)
            if _close_enough(problem, precision, seen):
                break
        return self._verdict(problem, precision, _Seen(sample, seen, units.empty, ended), facts)

    def _verdict(self, problem: Problem, precision: Precision, seen: _Seen, facts: Facts) -> Verdict:
        from fairdsl.replay import replayed

        sample, estimate = seen.sample, seen.estimate
        evidence = Evidence(
            backend=self.name,
            method=f"{sample.size:,} units drawn {_from(problem)} ({sample.candidates:,} candidates), {sample.how}",
        )
        if seen.nobody:
            return Vacuous(evidence=evidence)
        if estimate is None and sample.barren:
            detail = f"in none of {sample.candidates:,} units is anybody compared"
            return Unknown(reason=Reason.INCOMPLETE, detail=detail, evidence=evidence)
        if estimate is None:
            detail = "the time ended before the first look at the sample"
            return Unknown(reason=Reason.TIMEOUT, detail=detail, evidence=evidence)
        close = _close_enough(problem, precision, estimate)
        witnesses, breaches = replayed(problem.of_everybody, sample.pairs)
        facts.witnesses.extend(witnesses)
        return Estimated(
            estimate=estimate,
            measure=_measure(problem),
            unit=problem.unit_in_words,
            evidence=replace(evidence, basis=Basis(arithmetic=Arithmetic.ESTIMATE)),
            within=precision.within,
            witnesses=witnesses,
            breaches=breaches,
            reason=None if close else Reason.TIMEOUT if seen.ended else Reason.INCOMPLETE,
        )


@dataclass(frozen=True, slots=True)
class _Seen:
    """A sample, what was read off at the last look there was time for, and why there may be none.

    ``nobody`` can be drawn, or the time ``ended`` before the next look.
    """

    sample: Sample
    estimate: Estimate | None
    nobody: bool
    ended: bool


def _read(sample: Sample, look: Look, confidence: Fraction) -> Estimate:
    """The interval of this look; with the others it has the confidence that is asked for."""
    from fairdsl.numerics.binomial import clopper_pearson

    # A unit in doubt counts as unfair below and as fair above.
    fair = sample.size - sample.unfair
    low, _ = clopper_pearson(fair - sample.doubtful, sample.size, look.confidence)
    _, high = clopper_pearson(fair, sample.size, look.confidence)
    interval = Enclosure(low=low, high=high)
    return Estimate(sampled=sample.size, unfair=sample.unfair, interval=interval, confidence=confidence)


def _close_enough(problem: Problem, precision: Precision, estimate: Estimate) -> bool:
    """Whether both ends are near enough, or the interval says whether the threshold is met."""
    low, high = estimate.interval
    near = max(high - estimate.value, estimate.value - low)
    if precision.within is not None and near <= precision.within:
        return True
    if problem.threshold is None:
        return False
    share = share_value(estimate.interval, problem.quantity)
    return judge(share, problem.threshold.relation, problem.threshold.limit) is not Judgement.UNKNOWN


def _unknown_inside(problem: Problem, population: Population) -> Refusal | None:
    """Why nobody can be drawn: what lies within some cells is not known."""
    assert isinstance(population, Network)
    for column, attribute in enumerate(problem.domain.attributes):
        if population.factor_of(column).normal:
            continue
        if any(cell.inside is Inside.UNKNOWN for cell in population.cells[column]):
            why = f"`{population.name}` does not say how values of `{attribute.name}` lie within its bins"
            return Refusal(why=why, span=attribute.span)
    return None


def _people_of(problem: Problem, units: Units, seed: int) -> People | None:
    """Individuals of the distribution, where one is asked about."""
    if not isinstance(problem.population, Network):
        return None
    import numpy as np

    from fairdsl.backends.sampling.people import People
    from fairdsl.metrics.subject import Subject

    everything = tuple(range(len(problem.domain.attributes)))
    subject = Subject(network=problem.population, model=problem.model, condition=units.counted, keys=everything)
    return People(subject, np.random.default_rng(seed))


def _from(problem: Problem) -> str:
    return "uniformly" if problem.population is None else f"from `{problem.population.name}`"


def _measure(problem: Problem) -> str:
    if problem.population is not None:
        return "probability"
    asked = problem.demanded
    sets = enumerate(narrow(problem.domain, asked.pair.target))
    shared = [values for index, values in sets if asked.of_individuals or index not in asked.pair.differ]
    return "counting" if all(isinstance(values, Finite) for values in shared) else "volume"
