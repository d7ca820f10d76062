"""Trap 25 once more: the interval of a sample is not a pair of bounds, so nothing about a change of it is certain."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from click.testing import CliRunner
from reports import F, demand, interval, report, saved, with_verdict

import fairdsl
from fairdsl.cli.app import cli
from fairdsl.codec import plain, schema
from fairdsl.comparing import Comparison, compare_reports
from fairdsl.comparing.compare import compared
from fairdsl.comparing.model import Confidences, ExitCode, Movement
from fairdsl.ir.enclosure import Enclosure
from fairdsl.ir.question import Quantity
from fairdsl.report.model import DemandReport, Report
from fairdsl.verdict import Arithmetic, Basis, Estimate, Estimated, Evidence, Judgement, Shares

SCHEMA = schema(Comparison)
SAMPLED = Evidence(backend="sampling", method="", basis=Basis(arithmetic=Arithmetic.ESTIMATE))
RATE = "measure discrimination_rate within 1%"
SPEC = """
domain Person {
  sex  : category { female, male }
  age  : integer 0 .. 9999
  debt : integer 0 .. 9999
}

protected sex

model score : Person -> { reject, grant }
  score = age - debt + FAVOUR * (sex = male)
  grant when score > 0

property rate {
  compare a, b : Person
  differ  in sex
  measure discrimination_rate within 2% with confidence 99%
}
"""


def estimated(low: Fraction, high: Fraction, text: str = RATE, found: Judgement = Judgement.MEASURED) -> DemandReport:
    sample = Estimate(
        sampled=1000,
        unfair=int(500 * (low + high)),
        interval=Enclosure(low=1 - high, high=1 - low),
        confidence=F(19, 20),
    )
    verdict = Estimated(estimate=sample, measure="counting", unit="a unit", evidence=SAMPLED)
    return with_verdict(demand(text, found, interval(low, high)), verdict, Quantity.DISCRIMINATION_RATE)


LOW, HIGH = estimated(F(1, 100), F(2, 100)), estimated(F(5, 100), F(6, 100))
TOUCHING = estimated(F(2, 100), F(3, 100))
PROVED = demand(RATE, Judgement.MEASURED, interval(F(4, 100)))


def change(before: DemandReport, after: DemandReport, tolerance: Fraction | None = None) -> Any:
    found = compared(("a", "b"), report(before), report(after), tolerance)
    return found.properties[0].demands[0]


@pytest.mark.parametrize(
    ("before", "after", "apart"),
    [
        (LOW, HIGH, F(9, 10)),
        (HIGH, LOW, F(9, 10)),
        (LOW, PROVED, F(19, 20)),
        (PROVED, HIGH, F(19, 20)),
        (LOW, TOUCHING, None),
        (LOW, LOW, None),
    ],
)
def test_nothing_is_certain_of_an_estimate(before: DemandReport, after: DemandReport, apart: Fraction | None) -> None:
    found = change(before, after, F(1, 2))
    assert found.movement is Movement.ESTIMATED
    assert found.apart == apart
    assert found.within_tolerance is None, "not even that it stayed within half of everybody"


def test_bounds_are_compared_as_before() -> None:
    wide = demand(RATE, Judgement.MEASURED, interval(F(1, 100), F(2, 100)))
    found = change(wide, PROVED, F(1, 2))
    assert (found.movement, found.within_tolerance, found.estimated) == (Movement.ROSE, True, False)


def test_a_proved_share_of_rows_stays_proved_beside_an_estimate_for_others() -> None:
    """Rows have an exact share, and an interval for whom they come from; only the latter may miss."""
    beside = Estimate(sampled=100, unfair=4, interval=Enclosure(low=F(95, 100), high=F(97, 100)), confidence=F(19, 20))
    proved = Shares(
        certified=F(96, 100),
        falsified=F(4, 100),
        undecided=F(0),
        vacuous=F(0),
        measure="rows",
        unit="a row",
        evidence=SAMPLED,
        estimate=beside,
    )
    one = with_verdict(PROVED, proved, Quantity.DISCRIMINATION_RATE)
    assert one.estimate == beside.complement
    found = change(one, one)
    assert (found.movement, found.estimated) == (Movement.SAME, False)


def test_the_exit_code_does_not_rest_on_estimates(tmp_path: Path) -> None:
    first, second = saved(tmp_path, "a.json", report(LOW)), saved(tmp_path, "b.json", report(HIGH))
    assert compare_reports(first, second).exit_code is ExitCode.NOT_WORSE
    assert compare_reports(first, second, F(1, 100)).exit_code is ExitCode.UNKNOWN
    assert compare_reports(second, first, F(1, 100)).exit_code is ExitCode.UNKNOWN


def test_both_outputs_say_that_it_proves_nothing(tmp_path: Path) -> None:
    first, second = saved(tmp_path, "a.json", report(LOW)), saved(tmp_path, "b.json", report(HIGH))
    said = CliRunner().invoke(cli, ["compare", first, second, "--tolerance", "1%"])
    text = " ".join(said.stdout.split())
    assert "estimate between 1% and 2% (95%) -> between 5% and 6% (95%), higher with 90% confidence" in text
    assert "an estimate proves nothing" in text
    assert "rose by" not in text
    assert said.exit_code == 3
    written = plain(compare_reports(first, second, F(1, 100)))["properties"][0]["demands"][0]
    assert (written["movement"], written["apart"]) == ("estimated", 0.9)
    assert (written["confidences"]["before"], written["confidences"]["after_exact"]) == (0.95, "19/20")
    assert "within_tolerance" not in written
    whole = json.loads(CliRunner().invoke(cli, ["compare", first, second, "--json"]).stdout)
    jsonschema.Draft202012Validator(SCHEMA).validate(whole)


def checked(folder: Path, favour: int) -> Report:
    spec = folder / "rate.fair"
    spec.write_text(SPEC.replace("FAVOUR", str(favour)), encoding="utf-8")
    return fairdsl.check(spec, backend="sampling")


def test_reports_as_check_writes_them(tmp_path: Path) -> None:
    before, after = checked(tmp_path, 300), checked(tmp_path, 900)
    for first, second in ((before, after), (saved(tmp_path, "a", before), saved(tmp_path, "b", after))):
        (found,) = compare_reports(first, second).properties[0].demands
        assert found.confidences == Confidences(before=F(99, 100), after=F(99, 100))
        assert (found.movement, found.apart) == (Movement.ESTIMATED, F(98, 100))
