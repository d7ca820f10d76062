"""Small reports, and the JSON that ``check --json`` writes of them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

from fairdsl.ir.enclosure import Enclosure
from fairdsl.ir.question import Quantity
from fairdsl.report.model import DemandReport, HashedFile, PropertyReport, Report, SpecFile
from fairdsl.verdict import (
    Cell,
    Evidence,
    Holds,
    Interval,
    Judgement,
    Named,
    Part,
    Rate,
    Reason,
    Refused,
    Unknown,
    Value,
    Verdict,
    Violated,
)

F = Fraction
EVIDENCE = Evidence(backend="rates", method="all rows")
#: A rate, and whether it may be the most (+) or the least (-) favoured.
Group = tuple[Rate, str]


def interval(low: Fraction, high: Fraction | None = None) -> Interval:
    return Interval(low, low if high is None else high)


def ends(value: Interval) -> Enclosure:
    assert value.low is not None
    assert value.high is not None
    return Enclosure(low=value.low, high=value.high)


def group(sex: Cell, rate: Interval, *, given: Mapping[str, Cell] | None = None, mark: str = "") -> Group:
    return Rate(group=Named({"sex": sex}), given=Named(given), number=ends(rate), mass=Enclosure.exactly(F(1, 2))), mark


def part(at: Mapping[str, Cell], value: Interval | None) -> Part:
    number = Enclosure(low=F(0), high=F(1)) if value is None else ends(value)
    return Part(at=Named(at), number=number, defined=value is not None)


def demand(
    text: str,
    judgement: Judgement = Judgement.MEASURED,
    value: Interval | None = None,
    *groups: Group,
    parts: tuple[Part, ...] = (),
    sampling: Interval | None = None,
) -> DemandReport:
    """A line that came to ``judgement``; one with a number is a measure."""
    found = DemandReport(
        text=text,
        metric=text.split()[1],
        quantity=Quantity.METRIC,
        verdict=_verdict(judgement, value, groups, parts, sampling),
    )
    assert found.judgement is judgement
    return found


def _verdict(
    judgement: Judgement,
    value: Interval | None,
    groups: tuple[Group, ...],
    parts: tuple[Part, ...],
    sampling: Interval | None,
) -> Verdict:
    match judgement:
        case Judgement.HOLDS:
            return Holds(evidence=EVIDENCE)
        case Judgement.VIOLATED:
            return Violated(witnesses=(), evidence=EVIDENCE)
        case Judgement.REFUSED:
            return Refused()
        case Judgement.UNKNOWN:
            bounds = value or Interval(None, None)
            return Unknown(reason=Reason.TIMEOUT, detail="late", evidence=EVIDENCE, low=bounds.low, high=bounds.high)
        case Judgement.MEASURED:
            return Value(
                number=ends(value or interval(F(1, 2))),
                evidence=EVIDENCE,
                rates=tuple(rate for rate, _ in groups),
                most=tuple(place for place, (_, mark) in enumerate(groups) if "+" in mark),
                least=tuple(place for place, (_, mark) in enumerate(groups) if "-" in mark),
                parts=parts,
                sampling=None if sampling is None else ends(sampling),
                confidence=None if sampling is None else F(19, 20),
            )


def report(
    *demands: DemandReport, name: str = "p", clauses: tuple[str, ...] = ("across sex",), data: str = "ab"
) -> Report:
    return Report(
        fairdsl="0.1.0",
        spec=SpecFile(path="spec.fair", sha256="cd" * 32),
        models=(HashedFile(name="m", path=None, sha256=None),),
        data=(HashedFile(name="people", path=f"{data}.csv", sha256=data * 32),),
        properties=(PropertyReport(name=name, sentence="", clauses=clauses, demands=demands),),
    )


def saved(folder: Path, name: str, one: Report) -> str:
    path = folder / name
    path.write_text(one.to_json(), encoding="utf-8")
    return str(path)


def as_json(one: Report) -> object:
    return json.loads(one.to_json())


def with_verdict(one: DemandReport, verdict: Verdict, quantity: Quantity) -> DemandReport:
    """The same line with another answer."""
    return replace(one, verdict=verdict, quantity=quantity)
