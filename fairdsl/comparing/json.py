"""A comparison as JSON, schema ``fairdsl.comparison/1`` (``comparison.schema.json`` beside this file; docs/comparing.md
describes it key by key).

Bounds are rounded outward, as in reports; ``exact`` holds the rational itself as ``p/q``.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from fairdsl.comparing.model import (
    Change,
    Comparison,
    DemandChange,
    FileChange,
    GroupChange,
    Movement,
    PropertyChange,
    Side,
)
from fairdsl.ir.numbers import above, below, json_number, nearest, ratio
from fairdsl.report.model import Cell, HashedFile, Interval
from fairdsl.verdict import Judgement

__all__ = ["SCHEMA", "comparison_to_json"]

SCHEMA = "fairdsl.comparison/1"

_JsonObject = dict[str, Any]


def comparison_to_json(comparison: Comparison) -> _JsonObject:
    """The comparison as plain dictionaries, without ``schema`` and ``diagnostics``."""
    tolerance = comparison.tolerance
    return {
        "before": _side(comparison.before),
        "after": _side(comparison.after),
        "spec": _file(comparison.spec),
        "models": [{"name": file.name} | _file(file) for file in comparison.models],
        "data": [{"name": file.name} | _file(file) for file in comparison.data],
        "tolerance": None if tolerance is None else ratio(tolerance),
        "within_tolerance": comparison.within_tolerance,
        "properties": [_property(item, tolerance) for item in comparison.properties],
        "exit_code": comparison.exit_code.value,
    }


def _side(side: Side) -> _JsonObject:
    return {"report": side.name, "fairdsl": side.version, "seed": side.seed}


def _file(file: FileChange) -> _JsonObject:
    return {"same": file.same, "before": _hashed(file.before), "after": _hashed(file.after)}


def _hashed(file: HashedFile | None) -> _JsonObject | None:
    return None if file is None else {"path": file.path, "sha256": file.sha256}


def _property(item: PropertyChange, tolerance: Fraction | None) -> _JsonObject:
    return {
        "name": item.name,
        "before": _verdict(item.before),
        "after": _verdict(item.after),
        "course": item.course.value,
        "clauses": {"left": list(item.left), "joined": list(item.joined)},
        "demands": [_demand(demand, tolerance) for demand in item.demands],
    }


def _verdict(judgement: Judgement | None) -> str | None:
    return None if judgement is None else judgement.value


def _demand(demand: DemandChange, tolerance: Fraction | None) -> _JsonObject:
    written: _JsonObject = {
        "text": demand.text,
        "metric": demand.metric,
        "before": _verdict(demand.before),
        "after": _verdict(demand.after),
        "course": demand.course.value,
    }
    if demand.value is not None:
        written["value"] = _span(demand.value) if demand.spread else _change(demand.value)
        if demand.movement is Movement.ESTIMATED:
            written["value"] |= {"difference": None, "movement": demand.movement.value}
    if demand.estimated:
        written["estimated"] = _estimated(demand)
    if demand.sampling is not None:
        written["sampling"] = _span(demand.sampling) if demand.spread else _change(demand.sampling)
    if demand.groups:
        written["groups"] = [_group(group) for group in demand.groups]
    if demand.parts:
        written["parts"] = [_group(part) for part in demand.parts]
    if demand.favoured:
        written["favoured"] = {
            which: {"before": before, "after": after}
            for which, (before, after) in zip(("most", "least"), demand.favoured, strict=True)
        }
    written["ideal"] = None if demand.ideal is None else nearest(demand.ideal)
    if tolerance is not None and demand.in_both:
        written["within_tolerance"] = demand.within(tolerance)
    return written


def _estimated(demand: DemandChange) -> _JsonObject:
    """The confidences of what is an estimate, and the one with which the two differ; null of what is proved or open."""
    before, after = (None if one is None else nearest(one) for one in demand.confidences)
    return {"before": before, "after": after, "apart": None if demand.apart is None else nearest(demand.apart)}


def _group(group: GroupChange) -> _JsonObject:
    written = {"at": {name: _cell(value) for name, value in group.at.items()}} | _change(group.number)
    return written if group.sampling is None else written | {"sampling": _change(group.sampling)}


def _cell(value: Cell) -> str | bool | int | float:
    return json_number(value) if isinstance(value, Fraction) else value


def _change(change: Change) -> _JsonObject:
    return _span(change) | {"difference": _interval(change.difference), "movement": change.movement.value}


def _span(change: Change) -> _JsonObject:
    """Before and after without a difference: several numbers lie between the ends."""
    return {"before": _interval(change.before), "after": _interval(change.after)}


def _interval(value: Interval | None) -> _JsonObject | None:
    if value is None:
        return None
    written: _JsonObject = {
        "low": None if value.low is None else below(value.low),
        "high": None if value.high is None else above(value.high),
    }
    return written if value.exact is None else written | {"exact": ratio(value.exact)}
