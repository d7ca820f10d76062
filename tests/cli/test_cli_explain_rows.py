"""``explain --error``: how many rows metrics need, and what those at hand are worth."""

from __future__ import annotations

import json
from math import log
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import fairdsl
from fairdsl.cli.app import cli
from tests.cli.declared import DECLARED

SPEC = (
    DECLARED
    + """\
property about_rows {
  across    sex
  under     people
  excluding groups below 3 rows
  require   impact_ratio >= 80% with confidence 90%
  measure   parity_gap, odds_gap, predictive_gap
}
property owed {
  across    sex
  under     learned
  excluding groups of probability 0
  measure   influence of grade on parity_gap
}
property no_rows {
  across  sex
  under   everybody
  measure parity_gap
}
"""
)
ROWS = ["female,3,yes"] * 30 + ["female,8,no"] * 10 + ["male,7,yes"] * 100 + ["male,7,no"] * 60 + ["other,1,no"] * 2


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("spec.fair").write_text(SPEC, encoding="utf-8")
    Path("people.csv").write_text("\n".join(["sex,grade,passed", *ROWS]) + "\n", encoding="utf-8")


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["explain", "spec.fair", *arguments])


def test_rows_by_the_formula() -> None:
    written = json.loads(run("--error", "2%", "--confidence", "0.9", "--json").stdout)
    about = {item["name"]: [each["need"] for each in item["rows"]] for item in written["properties"]}
    impact, parity, odds, predictive = about["about_rows"]
    (first, *_) = (item["rows"][0]["demand"] for item in written["properties"] if item["name"] == "about_rows")
    assert first == "require impact_ratio >= 80% with confidence 90%"
    # Two groups have three rows and more; the label's values make four cohorts of them.
    for need, rates in ((impact, 2), (parity, 2), (odds, 4), (predictive, 2)):
        assert need["rates"] == rates
        assert 0 <= need["rows"] - log(2 * rates / 0.1) / (2 * 0.02**2) <= 1
        assert (need["error_exact"], need["confidence_exact"]) == ("1/50", "9/10")
    assert [(each["group"], each["rows"]) for each in impact["at_hand"]] == [("sex = female", 40), ("sex = male", 160)]
    assert impact["at_hand"][0]["error"] == pytest.approx((log(4 / 0.1) / 80) ** 0.5)
    assert [each["rows"] for each in odds["at_hand"]] == [10, 30, 60, 100]
    assert predictive["at_hand"] is None
    # The report counts the same rows.
    found = fairdsl.check("spec.fair", properties=["about_rows"]).properties[0].demands[0].groups
    assert sorted(rate.rows for rate in found.rates) == [40, 160]
    # As many rows in all as have so many of the 40 among 202.
    assert impact["in_all"] == -(-impact["rows"] * 202 // 40)
    assert {need.get("law") for need in about["about_rows"]} == {None}
    (owed,), (no_rows,) = about["owed"], about["no_rows"]
    assert "no number is known beforehand" in owed
    assert "written by hand" in no_rows


def test_rows_in_words() -> None:
    said = " ".join(run("--confidence", "95%").stdout.split())
    assert "877 rows behind each of 2 rates for an error of 5% with 95% confidence sex = female: 40 rows" in said
    assert "no number is known beforehand" in said
    assert "measure parity_gap: under a distribution written by hand, or read from a file: no rows are needed" in said
    assert "about 4,429 rows in all, if sex = female is as rare as at hand" in said
    # Where no number is said it rests on nothing, and frequencies of rows on no law.
    assert said.count("if rows are independent draws and the model was fixed before them") == 1
    assert "structure" not in said
    assert "rows behind" not in run().stdout
    # Asked of the rows themselves: nothing was said about them before.
    assert run("--error", "5%", "--data", "people=nowhere.csv").exit_code == 2


@pytest.mark.parametrize("share", ["0", "1", "100%", "-1%", "much", "1/0", ""])
def test_what_is_not_a_share(share: str) -> None:
    result = run("--error", share)
    assert (result.exit_code, "is not a share" in result.stderr) == (2, True)


def test_what_has_no_rows() -> None:
    assert "is not a spec" in CliRunner().invoke(cli, ["explain", "E0203", "--error", "1%"]).stderr
    assert "write `--population` or `--error`" in run("--data", "people=people.csv").stderr
    assert "`-o` is about populations" in run("--error", "1%", "-o", "out").stderr
    with pytest.raises(ValueError, match="between 0 and 1"):
        fairdsl.explain("spec.fair", error=2)


BY_MODEL = """
domain Person {
  sex   : category { female, male }
  grade : real 0 .. 10   bins by model
}
protected sex
model one : Person -> { no, yes }
  yes when grade >= 5
  favourable yes
model two : Person -> { no, yes }
  yes when grade >= 7 and grade <= 9
  favourable yes
distribution people over Person
  independent given sex
  from "people.csv"
property of_one { model one across sex under people measure parity_gap }
property of_two { model two across sex under people measure parity_gap }
property of_pairs { compare a, b : Person model one differ in sex require same decision }
"""


def test_a_population_for_each_model(tmp_path: Path) -> None:
    """One law, cut by the thresholds of two models: both properties have their rows, and both laws their model."""
    Path("spec.fair").write_text(BY_MODEL, encoding="utf-8")
    Path("people.csv").write_text("\n".join(["sex,grade", *["female,3"] * 30, *["male,8"] * 50]) + "\n", "utf-8")
    written = json.loads(run("--error", "2%", "--population", "--json").stdout)
    one, two, pairs = (item["rows"][0]["need"] for item in written["properties"])
    assert one == two
    assert (one["rates"], one["law"]) == (2, "people")
    assert "no rows are needed" in pairs
    assert [(each["name"], each["model"]) for each in written["populations"]] == [("people", "one"), ("people", "two")]
    said = " ".join(run("--error", "2%", "--population", "-o", "laws").stdout.split())
    assert "people, divided by the thresholds of `two`" in said
    assert said.count("an error is bounded only if its structure is right") == 2
    assert {"people.one.json", "people.two.json"} <= {path.name for path in Path("laws").iterdir()}
