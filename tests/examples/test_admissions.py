"""The admissions example: its scripts write its files, and its figures are those of plain counting."""

from __future__ import annotations

import csv
import json
from collections import Counter
from fractions import Fraction
from pathlib import Path

import pytest

import fairdsl
from tests.examples.example_folders import assert_in_order, exact_value, script_of

FOLDER = Path(__file__).parents[2] / "examples" / "admissions"
SPEC = FOLDER / "admissions.fair"
DEPARTMENTS = ("arts", "law", "science", "engineering")


def rows() -> list[dict[str, str]]:
    with (FOLDER / "applicants.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


class Model:
    """The document read plainly."""

    def __init__(self) -> None:
        document = json.loads((FOLDER / "admit.json").read_text(encoding="utf-8"))
        self.grade, self.experience, *indicators = (Fraction(weight) for weight in document["coefficients"])
        self.indicators = dict(zip((*DEPARTMENTS, "female", "male"), indicators, strict=True))
        self.intercept = Fraction(document["intercept"])

    def admits(self, sex: str, department: str, grade: int, experience: int) -> bool:
        numbers = self.intercept + self.grade * grade + self.experience * experience
        return numbers + self.indicators[sex] + self.indicators[department] > 0


@pytest.fixture(scope="module")
def report() -> fairdsl.Report:
    return fairdsl.check(SPEC, timeout=60)


def test_the_scripts_write_the_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script_of(FOLDER, "make_data", tmp_path).main()
    assert (tmp_path / "applicants.csv").read_bytes() == (FOLDER / "applicants.csv").read_bytes()
    script_of(FOLDER, "train", tmp_path).main()
    written, kept = (json.loads((folder / "admit.json").read_text(encoding="utf-8")) for folder in (tmp_path, FOLDER))
    # The last bits of another machine's arithmetic may move a weight to the next multiple of 1/64.
    assert written["coefficients"] == pytest.approx(kept["coefficients"], abs=1 / 64)
    assert written["intercept"] == pytest.approx(kept["intercept"], abs=1 / 64)
    assert "agrees with the committee" in capsys.readouterr().out


def test_the_spec_is_laid_out_and_free_of_findings() -> None:
    assert_in_order(SPEC)


def test_verdicts(report: fairdsl.Report) -> None:
    assert {checked.name: checked.judgement.value for checked in report.properties} == {
        "four_fifths": "violated",
        "same_rates": "violated",
        "city_and_country": "holds",
        "deserving": "violated",
        "in_each_department": "measured",
        "by_choice": "violated",
    }
    assert report.diagnostics == ()


def test_equal_opportunity_is_counted_in_the_rows(report: fairdsl.Report) -> None:
    model, chances = Model(), {}
    for sex in ("female", "male"):
        decisions = [
            model.admits(sex, row["department"], int(row["grade"]), int(row["experience"]))
            for row in rows()
            if row["sex"] == sex and row["admitted"] == "yes"
        ]
        chances[sex] = Fraction(sum(decisions), len(decisions))
    assert exact_value(report, "deserving") == chances["male"] - chances["female"]


def test_what_is_left_without_the_choice_is_summed_over_the_graph(report: fairdsl.Report) -> None:
    """Grades as everybody's, departments as men's, experience and the model's own reading as each sex has them."""
    table, model = rows(), Model()
    size = len(table)
    grades = Counter(int(row["grade"]) for row in table)
    men = [row for row in table if row["sex"] == "male"]
    departments = Counter(row["department"] for row in men)
    rates = {}
    for sex in ("female", "male"):
        own = [row for row in table if row["sex"] == sex]
        years = Counter(int(row["experience"]) for row in own)
        admitted = sum(
            grades[grade] * departments[department] * years[year]
            for grade in grades
            for department in departments
            for year in years
            if model.admits(sex, department, grade, year)
        )
        rates[sex] = Fraction(admitted, size * len(men) * len(own))
    assert exact_value(report, "by_choice") == rates["male"] - rates["female"]


def test_the_page_shows_the_figures(report: fairdsl.Report) -> None:
    page = (FOLDER / "README.md").read_text(encoding="utf-8")
    for name in ("four_fifths", "same_rates", "city_and_country", "deserving", "in_each_department", "by_choice"):
        assert f"{float(exact_value(report, name)) * 100:.2f}" in page, name
