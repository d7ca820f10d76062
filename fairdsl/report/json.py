"""The report as JSON, schema ``fairdsl.report/1`` (``report.schema.json`` beside this file).

Numbers are rounded outward: what is written as ``low`` is not above the true bound, what is written as
``high`` not below it. ``exact`` holds the rational itself as ``p/q``. Reading programs ignore keys that
they do not know: later versions add some within ``/1``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from fairdsl.diagnostics import Diagnostic
from fairdsl.diagnostics.json import diagnostics_to_json
from fairdsl.ir.numbers import above, below, json_number, nearest, ratio
from fairdsl.ir.question import Threshold
from fairdsl.ir.reading import Reading
from fairdsl.report.binding_json import agreement_to_json, binding_to_json
from fairdsl.report.model import (
    Cell,
    DemandReport,
    EstimateReport,
    GroupReport,
    GroupsReport,
    HashedFile,
    Interval,
    PartReport,
    PropertyReport,
    RegionReport,
    Report,
    RowReport,
    ShareReport,
    WitnessReport,
)
from fairdsl.verdict import Basis, Coverage, Decider, Tally

__all__ = ["SCHEMA", "report_to_json", "write"]

SCHEMA = "fairdsl.report/1"

JsonObject = dict[str, Any]


def write(report: Report) -> str:
    """The report as text, ending in a line break."""
    return json.dumps(report_to_json(report), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def report_to_json(report: Report) -> JsonObject:
    """The report as plain dictionaries, always in the same order of keys."""
    written: JsonObject = {
        "schema": SCHEMA,
        "fairdsl": report.version,
        "audit": report.title,
        "spec": {"path": report.path, "sha256": report.sha256},
        "models": [_file(file) for file in report.models],
        "data": [_file(file) for file in report.data],
        "seed": report.seed,
        "properties": [_property(item) for item in report.properties],
        "diagnostics": diagnostics_to_json(_all_diagnostics(report)),
    }
    if report.ended is not None:
        written["ended"] = report.ended.value
    return written


def _all_diagnostics(report: Report) -> list[Diagnostic]:
    """The spec's findings and the reasons of refusals, each once."""
    refusals = [finding for item in report.properties for demand in item.demands for finding in demand.refusals]
    distinct: list[Diagnostic] = []
    for finding in [*report.diagnostics, *refusals]:
        if finding not in distinct:
            distinct.append(finding)
    return distinct


def _file(file: HashedFile) -> JsonObject:
    written: JsonObject = {"name": file.name, "path": file.path, "sha256": file.sha256}
    if file.reading is not None:
        written["reading"] = _reading(file.reading)
    if file.binding is not None:
        written["binding"] = binding_to_json(file.binding)
    if file.agreement is not None:
        written["agreement"] = agreement_to_json(file.agreement)
    return written


def _reading(reading: Reading) -> JsonObject:
    """How far what was read of a model's file was held against it."""
    return {"individuals": reading.individuals, "bounded": reading.bounded}


def _property(item: PropertyReport) -> JsonObject:
    written: JsonObject = {
        "name": item.name,
        "sentence": item.sentence,
        "verdict": item.judgement.value,
        "clauses": list(item.clauses),
        "demands": [_demand(demand) for demand in item.demands],
    }
    if item.shares is not None:
        written["shares"] = _shares(item.shares)
    written["witnesses"] = [_witness(witness, item.found_for(witness)) for witness in item.witnesses]
    if item.disagreements:
        written["disagreements"] = [_witness(pair, item.found_for(pair)) for pair in item.disagreements]
    return written


def _demand(demand: DemandReport) -> JsonObject:
    written: JsonObject = {
        "text": demand.text,
        "metric": demand.metric,
        "verdict": demand.judgement.value,
    }
    if demand.value is not None:
        written["value"] = _interval(demand.value)
    if demand.threshold is not None:
        written["threshold"] = _threshold(demand.threshold)
    written |= {
        "arithmetic": None if demand.arithmetic is None else demand.arithmetic.value,
        "fidelity": None if demand.fidelity is None else demand.fidelity.value,
        "backend": demand.backend,
        "method": demand.method,
        "seconds": round(demand.seconds, 3),
    }
    if demand.basis is not None:
        written["basis"] = _basis(demand.basis)
    if demand.reason is not None:
        written |= {"reason": demand.reason.value, "detail": demand.detail or ""}
    elif demand.refusals:
        written |= {"reason": demand.refusals[0].code, "detail": demand.refusals[0].title}
    if demand.notes:
        written["notes"] = list(demand.notes)
    if demand.estimate is not None:
        written["estimate"] = _estimate(demand.estimate)
    if len(demand.by_decider) > 1:
        written["by_decider"] = _by_decider(demand.by_decider)
    if demand.differing:
        written["differing_rows"] = [_row(row) for row in demand.differing]
    if demand.coverage is not None:
        written["partitions"] = _coverage(demand.coverage)
    if demand.groups is not None:
        written |= _groups(demand.groups)
    return written


def _basis(basis: Basis) -> JsonObject:
    """What the answer is about, and whose word it is; ``arithmetic`` stands beside it."""
    written: JsonObject = {"model": basis.model, "word": basis.word.value}
    if basis.reading is not None:
        written["reading"] = _reading(basis.reading)
    if basis.margin is not None:
        written["margin"] = {"at_least": below(basis.margin), "exact": ratio(basis.margin)}
    if basis.distribution is not None:
        written["distribution"] = basis.distribution
    if basis.rows is not None:
        rows = basis.rows
        written["rows"] = {"path": rows.path, "sha256": rows.sha256, "count": rows.rows, "counted": basis.counted}
    return written


def _interval(value: Interval) -> JsonObject:
    written: JsonObject = {
        "low": None if value.low is None else below(value.low),
        "high": None if value.high is None else above(value.high),
    }
    if value.exact is not None:
        written["exact"] = ratio(value.exact)
    return written


def _by_decider(numbers: Mapping[Decider, Interval | None]) -> JsonObject:
    return {by.value: None if number is None else _interval(number) for by, number in numbers.items()}


def _row(row: RowReport) -> JsonObject:
    return {"row": row.row, "values": _individual(row.values), "exact": row.exact, "deployed": row.deployed}


def _threshold(threshold: Threshold) -> JsonObject:
    return {
        "relation": threshold.relation.value,
        "limit": nearest(threshold.limit),
        "exact": ratio(threshold.limit),
        "text": threshold.text,
    }


def _shares(shares: ShareReport) -> JsonObject:
    """Certified and falsified are lower bounds, undecided an upper one."""
    written: JsonObject = {
        "certified": below(shares.certified),
        "falsified": below(shares.falsified),
        "undecided": above(shares.undecided),
        "vacuous": below(shares.vacuous),
        "measure": shares.measure,
        "unit": shares.unit,
        "exact": {
            "certified": ratio(shares.certified),
            "falsified": ratio(shares.falsified),
            "undecided": ratio(shares.undecided),
            "vacuous": ratio(shares.vacuous),
        },
    }
    if shares.total is not None:
        written["total"] = shares.total
    if shares.float32_certified is not None:
        written["float32"] = {"certified": below(shares.float32_certified), "exact": ratio(shares.float32_certified)}
    if shares.regions:
        written["regions"] = [_region(region) for region in shares.regions]
    return written


def _estimate(estimate: EstimateReport) -> JsonObject:
    written: JsonObject = {
        "value": nearest(estimate.value),
        "low": below(estimate.low),
        "high": above(estimate.high),
        "confidence": nearest(estimate.confidence),
        "sampled": estimate.sampled,
    }
    if estimate.within is not None:
        written["within"] = nearest(estimate.within)
    if estimate.unit is not None:
        written |= {"measure": estimate.measure, "unit": estimate.unit}
    return written


def _coverage(coverage: Coverage) -> JsonObject:
    """Numbers are exact; volumes are fractions of all units, rounded to the nearest number beside the exact one."""
    written: JsonObject = {
        "size": "adaptive" if coverage.size is None else coverage.size,
        "total": coverage.total,
        "holds": _tally(coverage.holds),
        "violated": _tally(coverage.violated),
        "unknown": _tally(coverage.unknown),
        "decided_by": dict(coverage.by),
    }
    if coverage.pruned_only.count:
        written["hold_of_pruned_network_only"] = _tally(coverage.pruned_only)
    if coverage.network_folder is not None:
        written["pruned_networks"] = {
            "folder": coverage.network_folder,
            "written": coverage.networks,
            "of_earlier_runs": coverage.networks_kept,
        }
    if coverage.compression is not None:
        written["compression"] = nearest(coverage.compression)
    if coverage.ended is not None:
        written["ended"] = coverage.ended.value
    if coverage.reasons:
        written["unknown_because"] = {reason.value: count for reason, count in coverage.reasons}
    if coverage.ledger is not None:
        written["ledger"] = coverage.ledger
    return written


def _tally(tally: Tally) -> JsonObject:
    return {"count": tally.count, "volume": nearest(tally.volume), "exact": ratio(tally.volume)}


def _groups(groups: GroupsReport) -> JsonObject:
    written: JsonObject = {"groups": [_group(group) for group in groups.groups]}
    if groups.excluded:
        written["excluded"] = [_individual(group) for group in groups.excluded]
    if groups.parts:
        written["parts"] = [_part(part) for part in groups.parts]
    if groups.sampling is not None and groups.confidence is not None:
        written["sampling"] = _interval(groups.sampling) | {"confidence": nearest(groups.confidence)}
    return written


def _group(group: GroupReport) -> JsonObject:
    written: JsonObject = {"group": _individual(group.group)}
    if group.given:
        written["given"] = _individual(group.given)
    written |= {"rate": _interval(group.rate), "mass": _interval(group.mass)}
    if group.rows is not None:
        written["rows"] = group.rows
    if group.empirical is not None:
        written["empirical"] = _interval(group.empirical)
    if group.sampling is not None:
        written["sampling"] = _interval(group.sampling)
    if len(group.by_decider) > 1:
        written["by_decider"] = _by_decider(group.by_decider)
    if group.most or group.least:
        written["favoured"] = [word for word, true in (("most", group.most), ("least", group.least)) if true]
    return written


def _part(part: PartReport) -> JsonObject:
    written: JsonObject = {"at": _individual(part.at), "value": None if part.value is None else _interval(part.value)}
    if part.sampling is not None:
        written["sampling"] = _interval(part.sampling)
    return written


def _region(region: RegionReport) -> JsonObject:
    return {
        "restricted": {
            name: {"low": _cell(values.low), "high": _cell(values.high)}
            if isinstance(values, Interval)
            else {"values": [_cell(value) for value in values]}
            for name, values in region.restricted.items()
        },
        "share": nearest(region.share),
        "falsified": nearest(region.falsified),
        "undecided": nearest(region.undecided),
    }


def _witness(witness: WitnessReport, demands: Sequence[int]) -> JsonObject:
    written: JsonObject = {
        "a": _individual(witness.a),
        "b": _individual(witness.b),
        "decision_a": witness.decision_a,
        "decision_b": witness.decision_b,
        "replayed": witness.replayed,
        "scores_a": _scores(witness.scores_a, witness.score_error),
        "scores_b": _scores(witness.scores_b, witness.score_error),
        "demands": list(demands),
    }
    if witness.score_error:
        rounding = max(abs(score - Fraction(nearest(score))) for score in (*witness.scores_a, *witness.scores_b))
        written["score_error"] = above(witness.score_error + rounding)
    if witness.float32_decisions is not None:
        written["float32"] = dict(zip(("decision_a", "decision_b"), witness.float32_decisions, strict=True))
    return written


def _scores(scores: tuple[Fraction, ...], error: Fraction) -> list[int | float | str]:
    """Exactly, or as floats where they are only known up to an error."""
    return [nearest(score) if error else json_number(score) for score in scores]


def _individual(values: Mapping[str, Cell]) -> JsonObject:
    return {name: _cell(value) for name, value in values.items()}


def _cell(value: Cell | None) -> str | bool | int | float | None:
    return json_number(value) if isinstance(value, Fraction) else value
