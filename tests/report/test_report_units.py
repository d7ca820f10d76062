"""Rates and means of groups in their units, of whichever model, in each table and picture that has them."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path

import pytest

import fairdsl
from fairdsl.report.model import Report
from fairdsl.report.plots import DRAWN
from fairdsl.report.words import group_words, outcome

SPEC = """
domain P {
  rate : category { low, high }
  interval : category { short, long }
  n : integer 0 .. 9
}
protected rate, interval
model old : P -> { no, yes }
  score = 10 * n - 45
  yes when score > 0
  favourable yes
model new : P -> { no, yes }
  score = n + 2 * (rate = high) - 5
  yes when score > 0
  favourable yes
distribution rows over P
  empirical from "rows.csv"
property rates {
  across rate, interval
  under rows
  model old
  measure acceptance_rate
  require impact_ratio >= 50% with confidence 95%
}
property means {
  across rate
  under rows
  model old
  measure most(mean(score)), mean(score)
}
property several {
  across rate
  under rows
  measure acceptance_rate of old, acceptance_rate of new, most_favoured of new
}
"""


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    folder = tmp_path_factory.mktemp("units")
    people = [f"{rate},{interval},{n}" for rate in ("low", "high") for interval in ("short", "long") for n in range(10)]
    (folder / "rows.csv").write_text("\n".join(["rate,interval,n", *people, "high,long,9"]), encoding="utf-8")
    (folder / "s.fair").write_text(SPEC, encoding="utf-8")
    return fairdsl.check(folder / "s.fair")


def test_means_of_scores_are_no_percentages_and_rates_of_any_model_are(report: Report) -> None:
    said = {item.name: [outcome(demand) for demand in item.demands] for item in report.properties}
    assert said["means"] == ["most(mean(score)) rate = high (2.1429)", "mean(score) from 0 to 2.1429"]
    assert said["several"] == [
        "acceptance rate from 50% to 52.38%",
        "acceptance rate of new from 40% to 61.90%",
        "most favoured of new rate = high (61.90%)",
    ]


def test_a_page_has_each_number_below_its_heading(report: Report) -> None:
    """Attributes may be called like the columns of rates."""
    page = report.rendered("html")
    table = next(found for found in re.findall(r"<table>.*?</table>", page, re.S) if "95% interval" in found)
    head = re.findall(r"<th [^>]*>(.*?)</th>", table)
    assert head[:5] == ["rate", "interval", "rate", "0% to 100%", "of all"]
    for row in re.findall(r"<tr>(<td.*?)</tr>", table, re.S):
        cells = dict(zip(range(len(head)), re.findall(r"<td[^>]*>(.*?)</td>", row, re.S), strict=True))
        assert "whisker" in cells[head.index("0% to 100%")]
        assert re.fullmatch(r"[\d.]+%", cells[head.index("of all")])


def test_pictures_have_intervals_and_units(report: Report) -> None:
    panels = {panel.title: panel.draw.keywords for panel in DRAWN["groups"](report, report.properties)}  # type: ignore[attr-defined]
    assert all(whisker is not None for _, _, whisker in panels["rates: acceptance_rate"]["lines"].values())
    assert panels["means: mean(score)"]["scores"]
    assert panels["means: mean(score)"]["lines"]["low"][:2] == (0.0, 0.0)
    assert not panels["several: acceptance_rate of new"]["scores"]
    assert panels["several: acceptance_rate of new"]["lines"]["low"][:2] == (0.4, 0.4)


def test_a_table_has_every_rate(report: Report) -> None:
    table = report.table("groups")
    rows = zip(table["property"], table["rate"], table["value"], strict=True)
    found = [(rate, value) for name, rate, value in rows if name == "several"]
    assert ("acceptance_rate of new", float(Fraction(2, 5))) in found
    assert {rate for rate, _ in found} == {"acceptance_rate", "acceptance_rate of new", "most_favoured of new"}
    assert "mean(score)" in table["rate"]
    # The groups are by an attribute that is called like a column.
    assert set(table["rate (attribute)"]) == {"low", "high"}


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("18 .. 24", "income in 18 .. 24"),
        (">= 0.5 and < 2", "income >= 0.5 and income < 2"),
        ("< -1/3", "income < -1/3"),
        # Categories of the table of Adult, and others that look like bins.
        (">50K", 'income = ">50K"'),
        ("<=50K", 'income = "<=50K"'),
        ("low .. high", 'income = "low .. high"'),
        ("high", "income = high"),
    ],
)
def test_a_category_is_no_bin(value: str, words: str) -> None:
    assert group_words({"income": value}) == words


def test_two_groups_are_two_lines(tmp_path: Path) -> None:
    spec = """
    domain P {
      city : category { "Berlin, West", Berlin }
      part : category { north, "West, north" }
    }
    protected city, part
    model m : P -> { no, yes }
      score = (city = Berlin)
      yes when score > 0
      favourable yes
    distribution alike over P
      uniform
    property p {
      across city, part
      under alike
      measure acceptance_rate
    }
    """
    (tmp_path / "s.fair").write_text(spec, encoding="utf-8")
    report = fairdsl.check(tmp_path / "s.fair")
    [panel] = DRAWN["groups"](report, report.properties)
    assert panel.lines == 4
    assert set(panel.draw.keywords["lines"]) == {  # type: ignore[attr-defined]
        '"Berlin, West", north',
        '"Berlin, West", "West, north"',
        "Berlin, north",
        'Berlin, "West, north"',
    }
