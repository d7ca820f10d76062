"""Estimates from spec to report: never without an interval, judged only with the confidence that was asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jsonschema
import pytest

import fairdsl
from fairdsl.codec import plain, schema
from fairdsl.diagnostics import DiagnosticError
from fairdsl.report.model import Report
from fairdsl.report.text import render
from fairdsl.source import SourceFile
from fairdsl.syntax.format import format_spec
from fairdsl.syntax.parse import parse

SPEC = """
domain Person {
  sex  : category { female, male }
  age  : integer 0 .. 9999
  debt : integer 0 .. 9999
}

protected sex

model score : Person -> { reject, grant }
  score = age - debt + 900 * (sex = male)
  grant when score > 0

property rate {
  compare a, b : Person
  differ  in sex
"""


#: Unfair are those whose age is at most 899 below the debt: 900 diagonals of 10,000 by 10,000.
TRUTH = sum(10_000 - below for below in range(900)) / 10_000**2


def report_on(tmp_path: Path, *lines: str, **options: Any) -> fairdsl.Report:
    path = tmp_path / "spec.fair"
    path.write_text(SPEC + "\n".join(f"  {line}" for line in lines) + "\n}\n")
    return fairdsl.check(path, **options)


def demands(tmp_path: Path, *lines: str, **options: Any) -> list[dict[str, Any]]:
    written = plain(report_on(tmp_path, *lines, **options))
    jsonschema.validate(written, schema(Report), cls=jsonschema.Draft202012Validator)
    found: list[dict[str, Any]] = written["properties"][0]["demands"]
    return found


def test_a_rate_within_a_distance(tmp_path: Path) -> None:
    rate, share = demands(tmp_path, "measure discrimination_rate within 0.5%, fair_share within 2% with confidence 99%")
    for demand, within, confidence, truth in ((rate, 0.005, 0.95, TRUTH), (share, 0.02, 0.99, 1 - TRUTH)):
        verdict, value = demand["verdict"], demand["value"]
        evidence, estimate = verdict["evidence"], verdict["estimate"]
        assert (demand["judgement"], evidence["basis"]["arithmetic"]) == ("measured", "estimate")
        assert (verdict["kind"], evidence["backend"]) == ("estimated", "sampling")
        assert (verdict["within"], estimate["confidence"]) == (within, confidence)
        assert value["low"] <= truth <= value["high"]
        assert estimate["high"] - within <= estimate["value"] <= estimate["low"] + within


def test_a_requirement_is_judged_with_its_confidence(tmp_path: Path) -> None:
    required = "require discrimination_rate <= {} with confidence 99%"
    low, near, high = demands(tmp_path, *(required.format(limit) for limit in ("5%", "8.6%", "20%")), timeout=2)
    assert [low["judgement"], high["judgement"]] == ["violated", "holds"]
    assert low["verdict"]["estimate"]["confidence"] == high["verdict"]["estimate"]["confidence"] == 0.99
    # The truth is 8.595 %: whatever a sample in so short a time says, it does not say more than it knows.
    assert near["judgement"] in ("unknown", "holds")
    assert near["verdict"]["estimate"]["sampled"] > high["verdict"]["estimate"]["sampled"]


def test_nothing_is_certified_by_a_sample(tmp_path: Path) -> None:
    report = report_on(tmp_path, "measure discrimination_rate within 2%")
    assert report.properties[0].shares is None
    text = render(report)
    assert "an estimate, no proof" in text
    assert "with 95% confidence" in text
    assert "    shares  " not in text


def test_where_the_time_ends_first_it_says_so(tmp_path: Path) -> None:
    (demand,) = demands(tmp_path, "measure discrimination_rate within 0.01% with confidence 99.9%", timeout=1)
    assert demand["reason"] == "timeout"
    if demand["judgement"] == "measured":
        assert demand["verdict"]["estimate"]["high"] - demand["verdict"]["estimate"]["value"] > 0.0001


def test_an_exact_count_is_within_any_distance(tmp_path: Path) -> None:
    """Where everybody can be counted, nothing is sampled; a sample is taken if it is asked for by name."""
    path = tmp_path / "spec.fair"
    path.write_text(SPEC.replace("9999", "99").replace("900", "9") + "  measure fair_share within 5%\n}\n")
    (counted,) = fairdsl.check(path).properties[0].demands
    assert (counted.backend, counted.estimate) == ("enumerate", None)
    (sampled,) = fairdsl.check(path, backend="sampling").properties[0].demands
    assert sampled.estimate is not None
    assert counted.value is not None
    assert sampled.estimate.interval.low <= counted.value.exact <= sampled.estimate.interval.high


@pytest.mark.parametrize(
    ("line", "title"),
    [
        ("measure fair_share within 0%", "a precision lies above 0% and below 50%"),
        ("measure fair_share within 50%", "a precision lies above 0% and below 50%"),
        ("measure fair_share within 3", "a precision lies above 0% and below 50%"),
        ("measure fair_share within 1% with confidence 100%", "no sample is that certain"),
        ("measure fair_share within 1% with confidence 0%", "a confidence lies above 0%"),
        ("require fair_share >= 1% with confidence 100%", "no sample is that certain"),
    ],
)
def test_precisions_that_make_no_sense(tmp_path: Path, line: str, title: str) -> None:
    with pytest.raises(DiagnosticError) as caught:
        report_on(tmp_path, line)
    assert [(found.code, found.title) for found in caught.value.diagnostics] == [("E0308", title)]


def test_how_precise_items_are_written() -> None:
    line = "measure  fair_share  within 1%   with  confidence 99%"
    source = SourceFile("spec.fair", f"property p {{\n  compare a, b : P\n  differ  in s\n  {line}\n}}\n")
    written = format_spec(parse(source).spec)
    assert "fair_share within 1% with confidence 99%\n" in written
