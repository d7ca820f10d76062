"""Shares under the rows of a table: every row by the definition, and an interval for whom they come from."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import fairdsl
from fairdsl.diagnostics import DiagnosticError
from fairdsl.report.text import render
from fairdsl.verdict import Judgement

SPEC = """
domain Applicant {
  sex    : category { female, male }
  age    : integer 18 .. 90
  income : integer 0 .. 100
  where age >= 20 or income <= 50
}
protected sex
distribution cohort over Applicant
  empirical from "rows.csv"
model approve : Applicant -> { reject, grant }
  score = income - 30 + 10 * (sex = male)
  grant when score > 0
"""

ROWS = [(row % 2, 18 + row * 7 % 70, row * 13 % 51) for row in range(200)]


def asked(tmp_path: Path, *lines: str, **options: object) -> fairdsl.Report:
    with (tmp_path / "rows.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["sex", "age", "income"])
        writer.writerows(ROWS)
    path = tmp_path / "spec.fair"
    body = "\n".join(f"  {line}" for line in lines)
    path.write_text(f"{SPEC}property rate {{\n  compare a, b : Applicant\n  differ in sex\n{body}\n}}\n")
    return fairdsl.check(path, **options)  # type: ignore[arg-type]


def unfair(age: int, income: int) -> bool:
    """Men are granted above 20, women above 30."""
    return (income > 20) != (income > 30)


def test_every_row_counts_once(tmp_path: Path) -> None:
    report = asked(tmp_path, "under cohort", "measure discrimination_rate, fair_share")
    rate, share = report.properties[0].demands
    expected = Fraction(sum(unfair(age, income) for _, age, income in ROWS), len(ROWS))
    assert rate.value is not None
    assert share.value is not None
    assert (rate.value.exact, share.value.exact) == (expected, 1 - expected)
    assert 0 < expected < 1
    assert rate.backend == "rows"
    assert rate.estimate is not None
    assert rate.estimate.interval.low < expected < rate.estimate.interval.high
    assert (rate.estimate.sampled, rate.estimate.confidence) == (200, Fraction(95, 100))
    assert rate.witnesses
    text = render(report)
    assert "under cohort" in text
    assert "rows of `cohort`" in text
    assert "measured by rows" in text


def test_a_target_leaves_rows_out(tmp_path: Path) -> None:
    (rate,) = asked(tmp_path, "among age >= 60", "under cohort", "measure discrimination_rate").properties[0].demands
    kept = [(age, income) for _, age, income in ROWS if age >= 60]
    assert rate.value is not None
    assert rate.value.exact == Fraction(sum(unfair(*row) for row in kept), len(kept))
    assert f"{len(kept)} of 200 rows" in (rate.method or "")


def test_rows_and_domain_differ(tmp_path: Path) -> None:
    """Beside each other: of all individuals of the domain, and of the rows."""
    (uniform,) = asked(tmp_path, "measure discrimination_rate").properties[0].demands
    (of_rows,) = asked(tmp_path, "under cohort", "measure discrimination_rate").properties[0].demands
    assert uniform.value is not None
    assert of_rows.value is not None
    assert uniform.value.exact is not None
    assert of_rows.value.exact is not None
    assert of_rows.value.exact > Fraction(3, 2) * uniform.value.exact


def test_thresholds_are_held_against_the_rows(tmp_path: Path) -> None:
    lines = ("under cohort", "require discrimination_rate <= 1%", "require fair_share >= 50%")
    judged = [demand.judgement for demand in asked(tmp_path, *lines).properties[0].demands]
    assert judged == [Judgement.VIOLATED, Judgement.HOLDS]


@pytest.mark.parametrize(
    "line",
    [
        "measure fair_share within 1%",
        "require fair_share >= 50% with confidence 95%",
    ],
)
def test_what_rows_do_not_answer_is_refused(tmp_path: Path, line: str) -> None:
    (demand,) = asked(tmp_path, "under cohort", line).properties[0].demands
    assert demand.judgement is Judgement.REFUSED
    assert "under cohort" in demand.refusals[0].title or "with" in demand.refusals[0].title


def test_every_row_is_treated_alike_or_some_is_not(tmp_path: Path) -> None:
    lines = ("under cohort", "require same decision", "measure discrimination_rate")
    report = asked(tmp_path, *lines)
    (demand, rate) = report.properties[0].demands
    assert demand.judgement is Judgement.VIOLATED
    assert (demand.backend, rate.backend) == ("rows", "rows")
    assert demand.witnesses
    assert all(unfair(witness.a["age"], witness.a["income"]) for witness in demand.witnesses)  # type: ignore[arg-type]
    assert "For the other attributes of every row of `cohort`, any two individuals" in render(report)
    # The demand is violated somewhere in the domain, and by nobody of these rows.
    (fair,) = asked(tmp_path, "among income <= 20", "under cohort", "require same decision").properties[0].demands
    assert fair.judgement is Judgement.HOLDS


def test_nobody_is_left(tmp_path: Path) -> None:
    (demand,) = (
        asked(tmp_path, "among age = 19 and income = 49", "under cohort", "measure fair_share").properties[0].demands
    )
    assert demand.judgement is Judgement.VACUOUS


def test_a_distribution_that_there_is_not(tmp_path: Path) -> None:
    with pytest.raises(DiagnosticError):
        asked(tmp_path, "under nobody", "measure fair_share")


def by_hand(people: Mapping[str, NDArray[np.float64]]) -> NDArray[np.str_]:
    return np.where(people["income"] - 30 + 10 * (people["sex"] == "male") > 0, "grant", "reject")


def test_what_was_judged_counts_where_the_time_ends(tmp_path: Path) -> None:
    """A function that is only asked: bounds from the rows that were judged, and an estimate from a random order."""
    rows = [(row % 2, 20 + row * 7 % 70, row * 13 % 101) for row in range(1500)]
    text = SPEC[: SPEC.index("  score")] + "  from callable\n"
    share = "property rate {\n  compare a, b : Applicant\n  differ in sex\n  under cohort\n  measure fair_share\n}\n"
    truth = 1 - Fraction(sum(unfair(age, income) for _, age, income in rows), len(rows))
    (tmp_path / "spec.fair").write_text(text + share)
    with (tmp_path / "rows.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["sex", "age", "income"], *rows])
    widths = []
    for effort in (10_000, 20_000, 10**6):
        report = fairdsl.check(tmp_path / "spec.fair", callables={"approve": by_hand}, effort=effort)
        demand = report.properties[0].demands[0]
        assert demand.shares is not None
        assert demand.estimate is not None
        assert demand.shares.certified <= truth <= 1 - demand.shares.falsified
        assert demand.estimate.interval.low < truth < demand.estimate.interval.high
        assert not demand.shares.falsified or demand.witnesses
        widths.append(demand.shares.undecided)
        assert ("in random order" in render(report)) == (widths[-1] > 0)
    assert 1 > widths[0] > widths[1] > widths[2] == 0
