"""A repair as JSON: the document ``fairdsl.repaired/1``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fairdsl.diagnostics.json import diagnostics_to_json
from fairdsl.ir.numbers import above, below, json_number, nearest, ratio
from fairdsl.repairing.measure import OnRows, Rate
from fairdsl.repairing.result import Candidate, Repaired
from fairdsl.repairing.wording import ROWS_CONFIDENCE, interval_of
from fairdsl.report.model import DemandReport
from fairdsl.resources import version

__all__ = ["document"]

Written = dict[str, Any]


def document(repaired: Repaired) -> Written:
    """Everything that is the same whenever and wherever the same repair runs."""
    settings = repaired.settings
    fit, choose, report = repaired.split
    return {
        "schema": "fairdsl.repaired/1",
        "fairdsl": version(),
        "spec": repaired.spec,
        "property": repaired.property_name,
        "model": repaired.model,
        "estimator": repaired.estimator,
        "train": {"path": repaired.train, "sha256": repaired.train_sha256},
        "rows": {"to_train_on": fit, "to_choose_by": choose, "to_report_on": report},
        "settings": {
            "recipe": settings.recipe,
            "rounds": settings.rounds,
            "max_accuracy_loss": json_number(settings.loss),
            "within": json_number(settings.within),
            "confidence": json_number(settings.confidence),
            "add": json_number(settings.share),
            "seed": settings.seed,
        },
        "candidates": [_candidate(candidate) for candidate in repaired.candidates],
        "best": repaired.candidates.index(repaired.best),
        "improved": repaired.improved,
        "reduction_at_least": None if repaired.reduction is None else below(repaired.reduction),
        "report": {
            "before": _rows(repaired.compared.before, repaired.outcomes, with_intervals=True),
            "after": _rows(repaired.compared.after, repaired.outcomes, with_intervals=True),
            "decisions_changed": repaired.compared.changed,
        },
        "ending": repaired.ending.value,
        "by_the_clock": repaired.by_the_clock,
        "file": {"path": repaired.file, "sha256": repaired.sha256, "pinned": repaired.pinned},
        "checked": _checked(repaired),
        "diagnostics": diagnostics_to_json(repaired.findings),
    }


def _candidate(candidate: Candidate) -> Written:
    found = candidate.measured
    return {
        "round": candidate.round,
        "recipe": candidate.recipe or None,
        "added": candidate.added,
        "choice": candidate.choice.value,
        "rate": None if found is None or found.rate is None else _rate(found.rate),
        "rows": None if found is None else _rows(found.rows, None),
        "differing": candidate.differing,
        "detail": candidate.detail or None,
    }


def _rate(rate: Rate) -> Written:
    exact = {"value": ratio(rate.low)} if rate.exact else {}
    return {"low": below(rate.low), "high": above(rate.high), "sampled": rate.sampled, **exact}


def _rows(rows: OnRows, outcomes: tuple[str, ...] | None, *, with_intervals: bool = False) -> Written:
    written: Written = {
        "rows": rows.rows,
        "in_target": rows.in_target,
        "unfair": rows.unfair,
        "correct": rows.correct,
    }
    if outcomes is not None:
        written["decided"] = dict(zip(outcomes, rows.decided, strict=True))
    if with_intervals:
        unfair, right = interval_of(rows.unfair, rows.in_target), interval_of(rows.correct, rows.rows)
        written["confidence"] = nearest(ROWS_CONFIDENCE)
        written["unfair_interval"] = None if unfair is None else [below(unfair[0]), above(unfair[1])]
        written["correct_interval"] = None if right is None else [below(right[0]), above(right[1])]
    return written


def _checked(repaired: Repaired) -> list[Written] | None:
    if repaired.report is None:
        return None
    return [
        {
            "property": checked.name,
            "judgement": checked.judgement.value,
            "demands": [_demand(d) for d in checked.demands],
        }
        for checked in repaired.report.properties
    ]


def _demand(demand: DemandReport) -> Mapping[str, Any]:
    value = demand.value
    return {
        "text": " ".join(demand.text.split()),
        "judgement": demand.judgement.value,
        "low": None if value is None or value.low is None else below(value.low),
        "high": None if value is None or value.high is None else above(value.high),
    }
