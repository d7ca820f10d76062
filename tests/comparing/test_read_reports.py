"""Reports read back: what was written is what is read, and nothing else passes for a report."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from reports import F, as_json, demand, group, interval, part, report, saved

import fairdsl
from fairdsl.comparing.read import read_report
from fairdsl.diagnostics import DiagnosticError
from fairdsl.report.model import Report, SpecFile
from fairdsl.verdict import Interval, Judgement

REPORT = report(
    demand(
        "measure parity_gap",
        Judgement.MEASURED,
        Interval(F(1, 3), F(2, 3)),
        group("f", interval(F(1, 3)), given={"repaid": True}, mark="-"),
        group("m", Interval(F(1, 7), F(3, 7)), given={"repaid": True}, mark="+"),
        parts=(part({"age": 3}, interval(F(1, 3))), part({"age": F(1, 2)}, None)),
        sampling=Interval(F(0), F(1)),
    ),
)


def test_what_was_written_is_read(tmp_path: Path) -> None:
    assert read_report(saved(tmp_path, "report.json", REPORT)) == REPORT


#: Decisions that were recorded of nobody.
NOWHERE = {
    "model": "m",
    "path": "p.csv",
    "sha256": "ab",
    "column": "c",
    "reading": "names",
    "disagreements": [],
    "rows": 0,
    "agreeing": 0,
    "ties": 0,
    "agreeing_exactly": None,
    "asked": 1,
    "findings": [],
}


def spoilt(change: Callable[[Any], object]) -> Any:
    content: Any = as_json(REPORT)
    change(content)
    return content


def first(content: Any) -> Any:
    return content["properties"][0]["demands"][0]


def rate(content: Any) -> Any:
    return first(content)["verdict"]["rates"][0]


IN_VERDICT = "`properties[0].demands[0].verdict."


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ([], "the document is not an object (line 1, column 1)"),
        ({}, "`schema` is not `fairdsl.report/2`"),
        ({"schema": "fairdsl.manifest/2"}, "`schema` is not `fairdsl.report/2`"),
        ({"schema": "fairdsl.report/1"}, "`schema` is `fairdsl.report/1`; this fairdsl reads `fairdsl.report/2`"),
        ({"schema": ["fairdsl.report/2"]}, "`schema` is not"),
        (spoilt(lambda r: r.pop("spec")), "`spec` is missing"),
        (spoilt(lambda r: r.update(seed=True)), "`seed` is not a whole number"),
        (spoilt(lambda r: r.update(models={})), "`models` is not a list"),
        (spoilt(lambda r: r.update(later=1)), "`later` is not a key that is read here"),
        (spoilt(lambda r: r["data"][0].update(sha256=5)), "`data[0].sha256` is not text"),
        (spoilt(lambda r: r["properties"].append(r["properties"][0])), "share a name"),
        (spoilt(lambda r: r["properties"][0].update(judgement="holds")), "judgement` is not what the rest of it comes"),
        (spoilt(lambda r: r["properties"][0].update(demands=[])), "`properties[0]` does not fit together"),
        (spoilt(lambda r: first(r).update(judgement="true")), "`properties[0].demands[0].judgement` is not what"),
        (spoilt(lambda r: first(r)["value"].pop("high")), "`properties[0].demands[0].value` is not what"),
        (spoilt(lambda r: first(r)["verdict"].pop("high")), IN_VERDICT + "high` is missing"),
        (spoilt(lambda r: first(r)["verdict"].update(low=0.9)), IN_VERDICT + "low` is not what `low_exact` rounds to"),
        (spoilt(lambda r: rate(r).update(low_exact="0.5")), IN_VERDICT + "rates[0].low_exact` is not a fraction `p/q`"),
        (spoilt(lambda r: rate(r).update(low_exact="1/0")), IN_VERDICT + "rates[0].low_exact` is not a fraction `p/q`"),
        (spoilt(lambda r: rate(r)["mass"].update(low=0.75)), IN_VERDICT + "rates[0].mass` does not fit together"),
        (spoilt(lambda r: rate(r)["mass"].update(high="1")), IN_VERDICT + "rates[0].mass.high` is not a number"),
        (spoilt(lambda r: rate(r)["group"].update(sex=None)), IN_VERDICT + "rates[0].group.sex` is not text or a numb"),
        (spoilt(lambda r: first(r)["verdict"].update(most=[2])), "verdict` does not fit together"),
        (spoilt(lambda r: first(r)["verdict"].update(least=[-1])), "verdict` does not fit together"),
        (spoilt(lambda r: r["models"][0].update(agreement=NOWHERE)), "agreement` does not fit together"),
        (spoilt(lambda r: first(r).update(threshold={"relation": "~"})), "threshold.relation` is not one of"),
        (spoilt(lambda r: rate(r).update(low_exact="1/" + "9" * 1_000_000)), "low_exact` has too many digits"),
    ],
)  # fmt: skip
def test_what_is_no_report(content: Any, words: str, tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(DiagnosticError) as caught:
        read_report(str(path))
    (finding,) = caught.value.diagnostics
    assert (finding.code, finding.title) == ("E0630", f"`{path}` cannot be read as a report")
    assert words in finding.notes[0]
    assert finding.notes[0].endswith(")"), "line and column"


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"\xff\xfe", b"[" * 100_000, json.dumps(as_json(REPORT)).replace("0.1.0", "\x00").encode()[:-9],
     b'{"schema": "fairdsl.report/2", "seed": NaN}', b'{"schema": "fairdsl.report/2", "seed": ' + b"9" * 5000 + b"}"],
    ids=["empty", "cut off", "binary", "deep", "torn", "no number", "long number"],
)  # fmt: skip
def test_what_is_no_json(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(content)
    with pytest.raises(DiagnosticError) as caught:
        read_report(str(path))
    assert [finding.code for finding in caught.value.diagnostics] == ["E0630"]


def test_a_missing_file() -> None:
    with pytest.raises(fairdsl.SpecError) as caught:
        fairdsl.compare("nowhere.json", REPORT)
    assert caught.value.diagnostics[0].code == "E0630"


@pytest.mark.parametrize("one", [Report(fairdsl="0", spec=SpecFile(path="x.fair"))])
def test_a_report_without_verdicts(one: Report) -> None:
    for pair in ((REPORT, one), (one, REPORT)):
        with pytest.raises(fairdsl.SpecError) as caught:
            fairdsl.compare(*pair)
        assert caught.value.diagnostics[0].code == "E0631"


def test_nothing_in_common() -> None:
    with pytest.raises(fairdsl.SpecError) as caught:
        fairdsl.compare(REPORT, report(demand("measure fair_share", value=interval(Fraction(1))), name="q"))
    assert caught.value.diagnostics[0].code == "E0632"
