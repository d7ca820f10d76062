"""Demands that solver files state themselves, with the verdicts on them, as the report that ``check`` would give."""

from __future__ import annotations

from collections.abc import Sequence

from fairdsl.backends.solved import AnsweredDemand
from fairdsl.report.model import DemandReport, HashedFile, PropertyReport, Report, SpecFile
from fairdsl.resources import version
from fairdsl.verdict import Value


def report_of(answered: Sequence[AnsweredDemand]) -> Report:
    """One report on demands of one spec, its properties in the order of the demands."""
    asked = {one.asked.property: one.asked for one in reversed(answered)}
    first = answered[0].asked
    models = {
        one.asked.model: HashedFile(name=one.asked.model, path=one.asked.model_path, sha256=one.asked.model_sha256)
        for one in answered
        if one.asked.model
    }
    data = {
        one.data.name: HashedFile(name=one.data.name, path=one.data.path, sha256=one.data.sha256)
        for one in answered
        if one.data is not None
    }
    return Report(
        fairdsl=version(),
        audit=first.title,
        spec=SpecFile(path=first.spec, sha256=first.spec_sha256 or None),
        models=tuple(models.values()),
        data=tuple(data.values()),
        properties=tuple(
            PropertyReport(
                name=name,
                sentence=asked[name].sentence,
                clauses=asked[name].clauses,
                preset=asked[name].preset,
                demands=tuple(_demand(one) for one in answered if one.asked.property == name),
            )
            for name in dict.fromkeys(one.asked.property for one in answered)
        ),
        diagnostics=tuple(
            warning for one in answered if isinstance(one.verdict, Value) for warning in one.verdict.warnings
        ),
    )


def _demand(one: AnsweredDemand) -> DemandReport:
    return DemandReport(
        text=one.asked.demand,
        metric=one.asked.metric,
        quantity=one.quantity,
        threshold=one.asked.threshold,
        verdict=one.verdict,
        seconds=round(one.seconds, 3),
    )
