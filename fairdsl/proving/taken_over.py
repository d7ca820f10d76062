"""Verdicts take over what their proofs show: a checked proof counts for no less than an engine's word."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce

from fairdsl.plan.joining import contradicted, contradiction, is_final, joined
from fairdsl.proving.run import Proved
from fairdsl.report.model import DemandReport, Report
from fairdsl.report.proof import CHECKER
from fairdsl.verdict import Estimated, Holds, Refused, Shares, Unknown, Value, Verdict


def with_proofs(report: Report, proved: Sequence[Proved]) -> Report:
    """The report with the proofs at the demands that they are of, whose verdicts say no less than these show.

    Demands that ask one question have one answer: what the proof of any of them shows counts for all.
    """
    left = list(proved)

    def of(name: str, demand: DemandReport) -> DemandReport:
        found = next((one for one in left if (one.property, one.demand) == (name, demand.text)), None)
        if found is None or found.proof is None:
            return demand
        left.remove(found)
        asked = found.proof.question
        shown = [one.shows for one in proved if one.proof is not None and one.proof.question == asked]
        verdict = reduce(taken_over, (each for each in shown if each is not None), demand.verdict)
        return replace(demand, proof=found.proof, verdict=verdict)

    properties = (
        replace(item, demands=tuple(of(item.name, demand) for demand in item.demands)) for item in report.properties
    )
    return replace(report, properties=tuple(properties))


def taken_over(verdict: Verdict, shown: Holds | Shares | Value) -> Verdict:
    """An engine's verdict, and what a proof shows; Unknown where one of them must be wrong.

    Where both arithmetics disagree, and wherever else no other engine would change the verdict, no proof does.
    """
    if isinstance(verdict, Refused | Estimated):
        return verdict
    if (against := contradiction(verdict, shown)) is not None:
        return contradicted(verdict.evidence, CHECKER, against)
    if is_final(verdict) or (isinstance(verdict, Unknown) and (verdict.witnesses or verdict.breaches)):
        return verdict
    found = joined(verdict, shown)
    if not isinstance(verdict, Unknown):
        return found
    assert not isinstance(found, Refused), "a proof shows something"
    before = verdict.evidence
    notes = (f"`{before.backend}` left it open",) if before.backend else ()
    return replace(found, evidence=replace(found.evidence, coverage=before.coverage, notes=notes))
