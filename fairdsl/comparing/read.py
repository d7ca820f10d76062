"""Reports read back from their JSON, schema ``fairdsl.report/1``: what a comparison needs of them, and no more.

Witnesses, shares, methods and diagnostics are left out. Keys that are not known are ignored, as the schema asks of
programs that read it; everything that is read has to be as the schema says. Of a bound that was written as a float
the very number that the float stands for is taken: it was rounded outward, so the interval still contains the number.
"""

from __future__ import annotations

import json
from enum import Enum
from fractions import Fraction
from math import isfinite
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from fairdsl.comparing import errors
from fairdsl.comparing.cursor import Cursor, MisfitError
from fairdsl.diagnostics import DiagnosticError
from fairdsl.ir.expr import Relation
from fairdsl.ir.question import Threshold
from fairdsl.report.json import SCHEMA
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
    Report,
)
from fairdsl.verdict import Judgement

__all__ = ["read_report", "report_of"]

_FAMILY = SCHEMA.rpartition("/")[0] + "/"
_Member = TypeVar("_Member", bound=Enum)


def read_report(path: str) -> Report:
    """The report in a file; DiagnosticError where it is none, is damaged, or follows another schema."""
    try:
        content = json.loads(Path(path).read_bytes(), parse_constant=_no_number)
    except OSError as error:
        raise DiagnosticError(errors.unreadable_report(path, error.strerror or str(error))) from error
    except (ValueError, RecursionError) as error:
        raise DiagnosticError(errors.unreadable_report(path, "it is no JSON document")) from error
    return report_of(content, path)


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


def report_of(content: Any, name: str) -> Report:
    """The report in a JSON document, which messages call ``name``."""
    try:
        return _report(Cursor(content))
    except MisfitError as misfit:
        raise DiagnosticError(errors.unreadable_report(name, str(misfit))) from misfit
    except ValueError as error:
        # Python reads no whole number of thousands of digits, and what fairdsl writes has none.
        raise DiagnosticError(errors.unreadable_report(name, "a number in it is too long")) from error


def _report(document: Cursor) -> Report:
    schema = document.find("schema")
    if schema is None or schema.value != SCHEMA:
        if schema is not None and isinstance(schema.value, str) and schema.value.startswith(_FAMILY):
            raise MisfitError(f"it follows `{schema.value}`; this fairdsl reads `{SCHEMA}`")
        raise MisfitError(f"its schema is not `{SCHEMA}`")
    spec = document.key("spec")
    properties = tuple(_property(item) for item in document.key("properties").items())
    if len({item.name for item in properties}) < len(properties):
        raise MisfitError("two of its properties share a name")
    return Report(
        version=document.key("fairdsl").text(),
        path=spec.key("path").text(),
        sha256=spec.key("sha256").text_or_null(),
        title=document.key("audit").text_or_null(),
        models=tuple(_file(item) for item in document.key("models").items()),
        data=tuple(_file(item) for item in document.key("data").items()),
        seed=document.key("seed").whole(),
        properties=properties,
    )


def _file(item: Cursor) -> HashedFile:
    return HashedFile(
        name=item.key("name").text(),
        path=item.key("path").text_or_null(),
        sha256=item.key("sha256").text_or_null(),
    )


def _property(item: Cursor) -> PropertyReport:
    found = PropertyReport(
        name=item.key("name").text(),
        sentence=item.key("sentence").text(),
        clauses=tuple(clause.text() for clause in item.key("clauses").items()),
        demands=tuple(_demand(demand) for demand in item.key("demands").items()),
    )
    verdict = item.key("verdict")
    if not found.demands:
        raise MisfitError(f"`{item.place}.demands` is empty")
    if _member(verdict, Judgement, "verdict") is not found.judgement:
        raise MisfitError(f"`{verdict.place}` is not what its demands come to")
    return found


def _demand(item: Cursor) -> DemandReport:
    value, threshold = item.find("value"), item.find("threshold")
    return DemandReport(
        text=item.key("text").text(),
        metric=item.key("metric").text(),
        judgement=_member(item.key("verdict"), Judgement, "verdict"),
        value=None if value is None else _interval(value),
        threshold=None if threshold is None else _threshold(threshold),
        groups=_groups(item),
        estimate=_estimate(item),
    )


def _estimate(item: Cursor) -> EstimateReport | None:
    """What a sample says; the value is an estimate where ``unit`` says what was drawn."""
    found = item.find("estimate")
    if found is None:
        return None
    unit, sampled = found.find("unit"), found.find("sampled")
    return EstimateReport(
        value=found.key("value").number(),
        low=found.key("low").number(),
        high=found.key("high").number(),
        confidence=_as_written(found.key("confidence")),
        sampled=0 if sampled is None else sampled.whole(),
        unit=None if unit is None else unit.text(),
    )


def _as_written(item: Cursor) -> Fraction:
    """A number as its digits say it: a confidence is written by people, 0.95 for 95%, and was not rounded outward."""
    item.number()
    return Fraction(str(item.value))


def _threshold(item: Cursor) -> Threshold:
    return Threshold(
        relation=_member(item.key("relation"), Relation, "relation"),
        limit=item.key("exact").ratio(),
        text=item.key("text").text(),
    )


def _groups(item: Cursor) -> GroupsReport | None:
    groups, parts, sampling = item.find("groups"), item.find("parts"), item.find("sampling")
    if groups is None:
        return None
    return GroupsReport(
        groups=tuple(_group(group) for group in groups.items()),
        parts=() if parts is None else tuple(_part(part) for part in parts.items()),
        sampling=None if sampling is None else _interval(sampling),
        confidence=None if sampling is None else sampling.key("confidence").number(),
    )


def _group(item: Cursor) -> GroupReport:
    given, favoured = item.find("given"), item.find("favoured")
    marks = [] if favoured is None else [mark.text() for mark in favoured.items()]
    return GroupReport(
        group=_individual(item.key("group")),
        given={} if given is None else _individual(given),
        rate=_interval(item.key("rate")),
        mass=_interval(item.key("mass")),
        sampling=_sampling(item),
        most="most" in marks,
        least="least" in marks,
    )


def _part(item: Cursor) -> PartReport:
    value = item.key("value")
    return PartReport(
        at=_individual(item.key("at")),
        value=None if value.value is None else _interval(value),
        sampling=_sampling(item),
    )


def _sampling(item: Cursor) -> Interval | None:
    found = item.find("sampling")
    return None if found is None else _interval(found)


def _interval(item: Cursor) -> Interval:
    """Both ends, or the number itself; it has to lie between them."""
    exact = item.find("exact")
    low, high = (_end(item.key(name)) for name in ("low", "high"))
    number = None if exact is None else exact.ratio()
    ends = [end for end in (low, number, high) if end is not None]
    if ends != sorted(ends):
        raise MisfitError(f"`{item.place}` has its ends the wrong way round")
    return Interval(low, high) if number is None else Interval(number, number)


def _end(item: Cursor) -> Fraction | None:
    return None if item.value is None else item.number()


def _individual(item: Cursor) -> dict[str, Cell]:
    return {name: _cell(value) for name, value in item.entries()}


def _cell(item: Cursor) -> Cell:
    value = item.value
    if isinstance(value, float) and isfinite(value):
        return Fraction(value)
    if not isinstance(value, str | bool | int):
        raise item.misfit("value of an attribute")
    return value


def _member(item: Cursor, kind: type[_Member], what: str) -> _Member:
    """The member of an enumeration with that value."""
    for member in kind:
        if member.value == item.value:
            return member
    raise item.misfit(what)
