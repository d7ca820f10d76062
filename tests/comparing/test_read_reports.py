"""Reports read back: what was written is what is read, and nothing else passes for a report."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from reports import F, as_json, demand, group, interval, report, saved

import fairdsl
from fairdsl.comparing.read import read_report, report_of
from fairdsl.diagnostics import DiagnosticError
from fairdsl.report.model import Interval, PartReport, Report
from fairdsl.verdict import Judgement

REPORT = report(
    demand(
        "measure statistical_parity",
        Judgement.MEASURED,
        Interval(F(1, 3), F(2, 3)),
        group("f", interval(F(1, 3)), given={"repaid": True}, mark="-"),
        group("m", Interval(F(1, 7), F(3, 7)), given={"repaid": True}, mark="+"),
        parts=(PartReport(at={"age": 3}, value=interval(F(1, 3))), PartReport(at={"age": F(1, 2)}, value=None)),
        sampling=Interval(F(0), F(1)),
    ),
)


def test_what_was_written_is_read(tmp_path: Path) -> None:
    read = read_report(saved(tmp_path, "report.json", REPORT))
    assert (read.version, read.path, read.sha256, read.seed) == ("0.1.0", "spec.fair", REPORT.sha256, 0)
    assert (read.models, read.data) == (REPORT.models, REPORT.data)
    assert read.properties[0].clauses == ("across sex",)
    written, found = REPORT.properties[0].demands[0], read.properties[0].demands[0]
    assert (found.text, found.metric, found.judgement) == (written.text, written.metric, written.judgement)
    assert written.groups is not None
    assert found.groups is not None
    assert [(one.group, one.given, one.most, one.least) for one in found.groups.groups] == [
        (one.group, one.given, one.most, one.least) for one in written.groups.groups
    ]
    # Numbers are exact, bounds are moved outward by at most one unit in the last place.
    assert [found.groups.groups[0].rate, found.groups.parts[0].value] == [interval(F(1, 3)), interval(F(1, 3))]
    for near, true in ((found.value, written.value), (found.groups.groups[1].rate, written.groups.groups[1].rate)):
        (low, high), (least, most) = ends(near), ends(true)
        assert 0 <= least - low < F(1, 2**50)
        assert 0 <= high - most < F(1, 2**50)
    assert found.groups.parts[1].value is None
    assert found.groups.sampling == Interval(F(0), F(1))


def ends(value: Interval | None) -> tuple[Fraction, Fraction]:
    assert value is not None
    assert value.low is not None
    assert value.high is not None
    return value.low, value.high


def spoilt(change: Callable[[Any], object]) -> Any:
    content: Any = as_json(REPORT)
    change(content)
    return content


def first(content: Any) -> Any:
    return content["properties"][0]["demands"][0]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ([], "it is no object"),
        ({}, "its schema is not `fairdsl.report/1`"),
        ({"schema": "fairdsl.manifest/2"}, "its schema is not `fairdsl.report/1`"),
        ({"schema": "fairdsl.report/2"}, "it follows `fairdsl.report/2`"),
        ({"schema": ["fairdsl.report/1"]}, "its schema is not"),
        (spoilt(lambda r: r.pop("spec")), "`spec` is missing"),
        (spoilt(lambda r: r.update(seed=True)), "`seed` is no integer"),
        (spoilt(lambda r: r.update(models={})), "`models` is no list"),
        (spoilt(lambda r: r["data"][0].update(sha256=5)), "`data[0].sha256` is no text"),
        (spoilt(lambda r: r["properties"].append(r["properties"][0])), "share a name"),
        (spoilt(lambda r: r["properties"][0].update(verdict="holds")), "is not what its demands come to"),
        (spoilt(lambda r: r["properties"][0].update(demands=[])), "`properties[0].demands` is empty"),
        (spoilt(lambda r: first(r).update(verdict="true")), "`properties[0].demands[0].verdict` is no verdict"),
        (spoilt(lambda r: first(r)["value"].pop("high")), "`properties[0].demands[0].value.high` is missing"),
        (spoilt(lambda r: first(r)["value"].update(low=0.9)), "ends the wrong way round"),
        (spoilt(lambda r: first(r)["value"].update(exact="1/1")), "ends the wrong way round"),
        (spoilt(lambda r: first(r)["value"].update(exact="0.5")), "is no fraction `p/q`"),
        (spoilt(lambda r: first(r)["value"].update(exact="1/0")), "is no fraction `p/q`"),
        (spoilt(lambda r: first(r)["value"].update(high="1")), "value.high` is no number"),
        (spoilt(lambda r: first(r)["groups"][0]["group"].update(sex=None)), "group.sex` is no value of an attribute"),
        (spoilt(lambda r: first(r)["parts"][0].pop("value")), "parts[0].value` is missing"),
        (spoilt(lambda r: first(r).update(threshold={"relation": "~"})), "threshold.relation` is no relation"),
        (spoilt(lambda r: first(r)["value"].update(exact="1/" + "9" * 1_000_000)), "a number in it is too long"),
    ],
)
def test_what_is_no_report(content: Any, words: str) -> None:
    with pytest.raises(DiagnosticError) as caught:
        report_of(content, "x.json")
    (finding,) = caught.value.diagnostics
    assert (finding.code, finding.title) == ("E0630", "`x.json` cannot be read as a report")
    assert words in finding.notes[0]


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"\xff\xfe", b"[" * 100_000, json.dumps(as_json(REPORT)).replace("0.1.0", "\x00").encode()[:-9],
     b'{"schema": "fairdsl.report/1", "seed": NaN}', b'{"schema": "fairdsl.report/1", "seed": ' + b"9" * 5000 + b"}"],
    ids=["empty", "cut off", "binary", "deep", "torn", "no number", "long number"],
)  # fmt: skip
def test_what_is_no_json(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(content)
    with pytest.raises(DiagnosticError) as caught:
        read_report(str(path))
    assert [finding.code for finding in caught.value.diagnostics] == ["E0630"]


def test_numbers_that_overflow_are_none(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text(json.dumps(as_json(REPORT)).replace('"exact": "1/3"', '"low": 1e999'), encoding="utf-8")
    with pytest.raises(DiagnosticError) as caught:
        read_report(str(path))
    assert "is no number" in caught.value.diagnostics[0].notes[0]


def test_keys_that_are_not_known_are_passed_over() -> None:
    content: Any = as_json(REPORT)
    content["later"] = first(content)["later"] = {"x": 1}
    assert report_of(content, "x.json") == report_of(as_json(REPORT), "x.json")


def test_a_missing_file() -> None:
    with pytest.raises(fairdsl.SpecError) as caught:
        fairdsl.compare("nowhere.json", REPORT)
    assert caught.value.diagnostics[0].code == "E0630"


@pytest.mark.parametrize("one", [Report(version="0", path="x.fair", sha256=None)])
def test_a_report_without_verdicts(one: Report) -> None:
    for pair in ((REPORT, one), (one, REPORT)):
        with pytest.raises(fairdsl.SpecError) as caught:
            fairdsl.compare(*pair)
        assert caught.value.diagnostics[0].code == "E0631"


def test_nothing_in_common() -> None:
    with pytest.raises(fairdsl.SpecError) as caught:
        fairdsl.compare(REPORT, report(demand("measure fair_share", value=interval(Fraction(1))), name="q"))
    assert caught.value.diagnostics[0].code == "E0632"
