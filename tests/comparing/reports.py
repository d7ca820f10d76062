"""Small reports, as reports and as the JSON that ``check --json`` writes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path

from fairdsl.report.json import write
from fairdsl.report.model import (
    Cell,
    DemandReport,
    GroupReport,
    GroupsReport,
    HashedFile,
    Interval,
    PartReport,
    PropertyReport,
    Report,
)
from fairdsl.verdict import Basis, Fidelity, Judgement

F = Fraction


def interval(low: Fraction, high: Fraction | None = None) -> Interval:
    return Interval(low, low if high is None else high)


def group(sex: Cell, rate: Interval, *, given: Mapping[str, Cell] | None = None, mark: str = "") -> GroupReport:
    return GroupReport(
        group={"sex": sex}, given=given or {}, rate=rate, mass=interval(F(1, 2)), most="+" in mark, least="-" in mark
    )


def demand(
    text: str,
    judgement: Judgement = Judgement.MEASURED,
    value: Interval | None = None,
    *groups: GroupReport,
    parts: tuple[PartReport, ...] = (),
    sampling: Interval | None = None,
) -> DemandReport:
    return DemandReport(
        text=text,
        metric=text.split()[1],
        judgement=judgement,
        value=value,
        basis=Basis(),
        fidelity=Fidelity.EXACT,
        backend="subset_sum",
        method="all rows",
        groups=GroupsReport(groups=groups, parts=parts, sampling=sampling, confidence=F(19, 20) if sampling else None)
        if groups
        else None,
    )


def report(
    *demands: DemandReport, name: str = "p", clauses: tuple[str, ...] = ("across sex",), data: str = "ab"
) -> Report:
    return Report(
        version="0.1.0",
        path="spec.fair",
        sha256="cd" * 32,
        models=(HashedFile(name="m", path=None, sha256=None),),
        data=(HashedFile(name="people", path=f"{data}.csv", sha256=data * 32),),
        properties=(PropertyReport(name=name, sentence="", clauses=clauses, demands=demands),),
    )


def saved(folder: Path, name: str, one: Report) -> str:
    path = folder / name
    path.write_text(write(one), encoding="utf-8")
    return str(path)


def as_json(one: Report) -> object:
    return json.loads(write(one))
