"""``explain --sample-sizes``: what metrics would be with more or fewer rows, held against checks of such rows."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import fairdsl
from fairdsl.cli.app import cli
from fairdsl.ir.enclosure import Enclosure
from tests.cli.declared import DECLARED

SPEC = (
    DECLARED
    + """\
property gaps {
  across    sex
  under     people
  excluding groups below 10% of rows
  require   parity_gap <= 30% with confidence 90%
  measure   odds_gap with confidence 95%
  measure   predictive_gap with confidence 95%
}
property ratio {
  across    sex
  under     people
  excluding groups of probability 0
  require   impact_ratio >= 50% with confidence 95%
}
property under_a_law {
  across    sex
  under     learned
  excluding groups of probability 0
  measure   parity_gap
}
property without_rows {
  across    sex
  under     everybody
  measure   parity_gap
}
property influence {
  across    sex
  under     people
  excluding groups of probability 0
  measure   influence of grade on parity_gap
}
property pairs { compare a, b : Person differ in sex require same decision }
"""
)
PEOPLE = [(sex, grade, passed) for sex in ("female", "male", "other") for grade in (3, 8) for passed in ("no", "yes")]


def written(folder: Path, counts: list[int], times: int) -> str:
    rows = [f"{sex},{grade},{passed}" for (sex, grade, passed), n in zip(PEOPLE, counts, strict=True) for _ in range(n)]
    (folder / "spec.fair").write_text(SPEC, encoding="utf-8")
    (folder / "people.csv").write_text("\n".join(["sex,grade,passed", *rows * times]) + "\n", encoding="utf-8")
    return str(folder / "spec.fair")


@given(counts=st.lists(st.integers(1, 9), min_size=12, max_size=12))
@settings(max_examples=2, deadline=None, phases=[Phase.generate])
def test_as_if_there_were_so_many_rows(tmp_path_factory: pytest.TempPathFactory, counts: list[int]) -> None:
    """Of eight copies of the rows, an eighth is the rows, and so on: each interval is that of a check of those rows."""
    folder = tmp_path_factory.mktemp("rows")
    explained = fairdsl.explain(written(folder, counts, 8), sample_sizes=True)
    sizes = {each.name: [one.found for one in each.sizes] for each in explained.properties}
    for place, times in ((0, 1), (3, 8), (5, 32)):
        report = fairdsl.check(written(folder, counts, times), properties=["gaps", "ratio"])
        for checked in report.properties:
            for found, demand in zip(sizes[checked.name], checked.demands, strict=True):
                size = found.sizes[place]
                assert size.rows == times * sum(counts)
                assert Enclosure(low=size.low, high=size.high) == demand.groups.sampling
                assert size.verdict in (None, demand.judgement)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    written(tmp_path, [10, 20, 30, 20, 10, 10, 50, 60, 1, 0, 1, 0], 1)
    return tmp_path


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["explain", "spec.fair", "--sample-sizes", *arguments])


def of(result: Result, name: str) -> list[Any]:
    properties = json.loads(result.stdout)["properties"]
    return [each["found"] for item in properties if item["name"] == name for each in item["sizes"]]


@pytest.mark.usefixtures("folder")
def test_what_it_is_about() -> None:
    result = run("--json", "--confidence", "80%")
    gap, *_ = of(result, "gaps")
    assert [size["rows"] for size in gap["sizes"]] == [26, 53, 106, 212, 424, 848]
    # The demand's own confidence comes first; women pass 50 of 80, men 110 of 130, and two others are left out.
    assert gap["confidence_exact"] == "9/10"
    assert Fraction(gap["low_exact"]) == Fraction(110, 130) - Fraction(50, 80)
    (law,) = of(result, "under_a_law")
    assert (law["confidence_exact"], law["law"]) == ("4/5", "learned")
    widths = [size["high"] - size["low"] for size in gap["sizes"]]
    assert widths == sorted(widths, reverse=True)
    for name, why in (("without_rows", "written by hand"), ("influence", "no frequency"), ("pairs", "not one metric")):
        (found,) = of(result, name)
        assert why in found


@pytest.mark.usefixtures("folder")
def test_in_words() -> None:
    said = " ".join(run().stdout.split())
    assert "require parity_gap <= 30% with confidence 90%: 0.2212 in the rows; with 90% confidence 26 rows: " in said
    assert "848 rows: " in said
    assert ", unknown" in said
    assert ", holds" in said
    assert "numbers of the rows themselves, and not under `learned`" in said
    assert "rows behind each" not in said
    assert "rows behind each" in " ".join(run("--error", "5%").stdout.split())


def test_nothing_but_specs(folder: Path) -> None:
    assert "is not a spec" in CliRunner().invoke(cli, ["explain", "E0203", "--sample-sizes"]).stderr
    (folder / "other.csv").write_text("sex,grade,passed\nfemale,8,yes\nmale,3,no\n", encoding="utf-8")
    gap, *_ = of(run("--data", "people=other.csv", "--json"), "gaps")
    assert [size["rows"] for size in gap["sizes"]] == [0, 0, 1, 2, 4, 8]
