"""From verdicts to the report: judges numbers against thresholds, puts witnesses into the spec's words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import assert_never

from fairdsl.ir.domain import Domain, Point
from fairdsl.ir.population import Population
from fairdsl.ir.question import Quantity, Threshold
from fairdsl.report.cells import cell_of
from fairdsl.report.groups import groups_report, judged_value
from fairdsl.report.model import (
    Cell,
    DemandReport,
    EstimateReport,
    Interval,
    RegionReport,
    ShareReport,
    WitnessReport,
)
from fairdsl.report.rows import by_decider, differing_rows, shares_by_decider
from fairdsl.verdict import (
    Estimate,
    Estimated,
    Evidence,
    Fidelity,
    Holds,
    Judgement,
    Reason,
    Refused,
    Region,
    Shares,
    Unknown,
    Value,
    Verdict,
    Violated,
    Within,
    Witness,
    judge,
    share_value,
)

__all__ = ["demand_report", "witness_report"]


def demand_report(
    *,
    text: str,
    metric: str,
    quantity: Quantity,
    threshold: Threshold | None,
    verdict: Verdict,
    domain: Domain,
    outcomes: Sequence[str],
    seconds: float,
    population: Population | None = None,
) -> DemandReport:
    """What one demand came to. ``text`` is the line as the spec writes it, ``require`` included.

    ``population`` has the columns that groups are made of.

    ``threshold`` is None for a measure, and for demands that compare no number (``require same
    decision``): then a share or value is *measured*, and any other verdict is taken as it is.
    """
    asked = DemandReport(text=text, metric=metric, judgement=Judgement.REFUSED, threshold=threshold, seconds=seconds)
    match verdict:
        case Refused(diagnostics=diagnostics):
            return replace(asked, refusals=diagnostics)
        case Holds(evidence=evidence):
            return replace(_resting(asked, evidence), judgement=Judgement.HOLDS)
        case Violated(witnesses=witnesses, evidence=evidence):
            return replace(
                _resting(asked, evidence),
                judgement=Judgement.VIOLATED,
                witnesses=_witnesses(witnesses, domain, outcomes),
            )
        case Unknown():
            return _unknown(asked, verdict, domain, outcomes)
        case Shares():
            counted = replace(
                _resting(asked, verdict.evidence),
                shares=_shares(verdict, domain),
                estimate=None if verdict.estimate is None else _estimate(verdict.estimate, quantity),
                witnesses=_witnesses(verdict.witnesses, domain, outcomes),
                by_decider=shares_by_decider(verdict.by_decider, quantity),
                differing=differing_rows(verdict.differing, domain, outcomes),
            )
            low, high = share_value(verdict.certified, verdict.falsified, quantity)
            return _judged(counted, low, high, verdict.reason)
        case Estimated():
            return _estimated(asked, verdict, quantity, domain, outcomes)
        case Value():
            columns = domain.attributes if population is None else population.columns
            resting = replace(
                _resting(asked, verdict.evidence),
                groups=groups_report(verdict, columns, population),
                by_decider=by_decider(verdict.by_decider),
                differing=differing_rows(verdict.differing, domain, outcomes),
            )
            return judged_value(resting, verdict)
        case _:
            assert_never(verdict)


def _resting(demand: DemandReport, evidence: Evidence) -> DemandReport:
    """The demand with what its answer rests on."""
    return replace(
        demand,
        basis=evidence.basis,
        fidelity=evidence.fidelity,
        backend=evidence.backend,
        method=evidence.method,
        notes=evidence.notes,
        coverage=evidence.coverage,
    )


def _estimated(
    asked: DemandReport, verdict: Estimated, quantity: Quantity, domain: Domain, outcomes: Sequence[str]
) -> DemandReport:
    """An estimate that was asked for: its interval is what a threshold is held against, with its confidence."""
    estimate = _estimate(verdict.estimate, quantity)
    demand = replace(
        _resting(asked, verdict.evidence),
        estimate=replace(estimate, within=verdict.within, measure=verdict.measure, unit=verdict.unit),
        witnesses=_witnesses(verdict.witnesses, domain, outcomes),
    )
    if asked.threshold is None and verdict.reason is not None:
        shown = replace(demand, value=Interval(estimate.low, estimate.high), reason=verdict.reason)
        return replace(shown, judgement=Judgement.MEASURED, detail=_SHORT_OF_PRECISION.get(verdict.reason))
    judged = _judged(demand, estimate.low, estimate.high, verdict.reason)
    if asked.threshold is None:
        return replace(judged, judgement=Judgement.MEASURED, reason=None, detail=None)
    if judged.judgement is not Judgement.UNKNOWN:
        return judged
    return replace(judged, detail="the interval of the sample leaves room on both sides of the threshold")


#: Why an estimate is not as close as it was asked to be.
_SHORT_OF_PRECISION = {
    Reason.TIMEOUT: "the time ended before enough units were drawn for the precision that was asked for",
    Reason.INCOMPLETE: "some decisions stayed open, and the interval allows for both",
}


def _judged(demand: DemandReport, low: Fraction, high: Fraction, reason: Reason | None) -> DemandReport:
    """The demand with its number, judged where the spec gives a threshold.

    ``reason`` says why the number is only an interval. A share of which nothing at all is known is no
    measurement.
    """
    demand = replace(demand, value=Interval(low, high))
    open_ended = replace(demand, reason=reason or Reason.INCOMPLETE, detail=_BETWEEN.get(reason))
    if demand.threshold is None:
        if low == high:
            return replace(demand, judgement=Judgement.MEASURED)
        # Nor is one bound of a share that nobody tried to count.
        nothing_known = (low == 0 and high == 1) or demand.fidelity is Fidelity.NARROWS
        return replace(open_ended, judgement=Judgement.UNKNOWN if nothing_known else Judgement.MEASURED)
    judgement = judge(low, high, demand.threshold.relation, demand.threshold.limit)
    return replace(open_ended if judgement is Judgement.UNKNOWN else demand, judgement=judgement)


#: What lies between the bounds, by the reason for it.
_BETWEEN = {
    Reason.NUMERIC_GAP: "exact arithmetic and the deployed float32 file disagree on what lies between the bounds",
    Reason.TIMEOUT: "the time ended before everybody was evaluated",
    Reason.INTERRUPTED: "the run was interrupted before everybody was evaluated",
    None: "the bounds that were proved leave room on both sides of the threshold",
}


def _unknown(demand: DemandReport, verdict: Unknown, domain: Domain, outcomes: Sequence[str]) -> DemandReport:
    """An unknown verdict: its bounds are reported as bounds and never judged."""
    bounded = verdict.low is not None or verdict.high is not None
    return replace(
        _resting(demand, verdict.evidence),
        judgement=Judgement.UNKNOWN,
        reason=verdict.reason,
        detail=verdict.detail,
        value=Interval(verdict.low, verdict.high) if bounded else None,
        disagreements=_witnesses(verdict.witnesses, domain, outcomes),
        differing=differing_rows(verdict.differing, domain, outcomes),
    )


def _shares(verdict: Shares, domain: Domain) -> ShareReport:
    return ShareReport(
        certified=verdict.certified,
        falsified=verdict.falsified,
        undecided=verdict.undecided,
        vacuous=verdict.vacuous,
        measure=verdict.measure,
        unit=verdict.unit,
        total=verdict.total,
        float32_certified=verdict.float32_certified,
        regions=tuple(_region(region, domain) for region in verdict.regions),
    )


def _estimate(estimate: Estimate, quantity: Quantity) -> EstimateReport:
    """The estimate in the terms of the demand: of the fair share, or of its complement."""
    low, high = share_value(estimate.low, 1 - estimate.high, quantity)
    value, _ = share_value(estimate.value, 1 - estimate.value, quantity)
    return EstimateReport(value=value, low=low, high=high, confidence=estimate.confidence, sampled=estimate.sampled)


def _region(region: Region, domain: Domain) -> RegionReport:
    restricted: dict[str, Interval | tuple[Cell, ...]] = {}
    for restriction in region.restrictions:
        attribute = domain.attributes[restriction.attribute]
        if isinstance(restriction, Within):
            restricted[attribute.name] = Interval(restriction.low, restriction.high)
        else:
            restricted[attribute.name] = tuple(cell_of(attribute, value) for value in restriction.values)
    return RegionReport(
        restricted=restricted, share=region.share, falsified=region.falsified, undecided=region.undecided
    )


def _witnesses(witnesses: tuple[Witness, ...], domain: Domain, outcomes: Sequence[str]) -> tuple[WitnessReport, ...]:
    return tuple(witness_report(witness, domain, outcomes) for witness in witnesses)


def witness_report(witness: Witness, domain: Domain, outcomes: Sequence[str]) -> WitnessReport:
    """A witness in the words of the spec."""
    replay = witness.replay
    deployed = replay.float32_decisions
    return WitnessReport(
        a=_individual(witness.a, domain),
        b=_individual(witness.b, domain),
        decision_a=_outcome(outcomes, replay.decision_a),
        decision_b=_outcome(outcomes, replay.decision_b),
        scores_a=replay.scores_a,
        scores_b=replay.scores_b,
        replayed=replay.agrees,
        float32_decisions=None if deployed is None else (outcomes[deployed[0]], outcomes[deployed[1]]),
        score_error=replay.score_error,
        asked=replay.asked,
    )


def _outcome(outcomes: Sequence[str], decision: int) -> str:
    return outcomes[decision] if decision >= 0 else "undecided"


def _individual(point: Point, domain: Domain) -> dict[str, Cell]:
    """Every attribute by name, its value as the spec would write it."""
    values = zip(domain.attributes, point, strict=True)
    return {attribute.name: cell_of(attribute, value) for attribute, value in values}
