"""``fairdsl search`` near given rows, with severity, ranks and representatives: options, columns, words, JSON."""

from __future__ import annotations

import csv
import json
import sys
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner, Result

import fairdsl
from fairdsl.cli.app import cli

SPEC = """\
domain Applicant {{
  job      : category {{ clerk, guard, cook }}
  age      : integer 18 .. 90
  rate     : real 0 .. 1
  distance : integer 0 .. 9
  where rate > 0 or age < 80
}}
protected job
model approve : Applicant -> {{ no, yes }}
  score = age + 10 * rate - 40 * (job = cook)
  yes when score > 50
distribution cohort over Applicant
  empirical from "cohort.csv"{pin}
distribution anybody over Applicant
  uniform
property fair {{
  compare a, b : Applicant
  differ in job
  require same decision
}}
"""

#: Row 2 and row 5 are decided by their job; row 3 has an age that nobody has, row 4 a job, row 6 a combination.
ROWS = """\
name,job,age,rate,distance
Ann,clerk,30,0.5,3
Bob,cook,60,0.25,3
Cem,guard,120,0.5,2
Dia,pilot,60,0.5,2
Eva,guard,70,0.5,9
Flo,clerk,85,0,1
"""


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    path = tmp_path / "spec.fair"
    path.write_text(SPEC.format(pin=""), encoding="utf-8")
    (tmp_path / "cohort.csv").write_text(ROWS, encoding="utf-8")
    return path


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(cli, ["search", *map(str, arguments)])


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_pairs_near_the_rows_of_a_file(spec: Path, tmp_path: Path) -> None:
    output = tmp_path / "pairs.csv"
    result = run(spec, "--near", tmp_path / "cohort.csv", "--count", "40", "-o", output)
    assert result.exit_code == 1
    text = " ".join(result.stdout.split())
    assert "3 rows; left out: 2 with a value outside the domain, 1 that `where` excludes" in text
    assert "2 pairs at a row itself" in text
    assert "ranked the nearest first; it is those found that are ordered, not all there are" in text
    rows = rows_of(output)
    assert list(rows[0])[-3:] == ["found.distance", "nearest_row", "found.by"]
    distances = [float(row["found.distance"]) for row in rows]
    assert distances == sorted(distances)
    assert [(row["age"], row["nearest_row"], row["found.by"]) for row in rows[:2]] == [
        ("60", "2", "data"),
        ("70", "5", "data"),
    ]
    # Deviations from the medians 60, 0.5 and 3 have the medians 10 and 0, 0: what is left of those are 1/12 and 2.
    scales = {"age": 10.0, "rate": 0.25 / 3, "distance": 2.0}
    people = [{"age": 30.0, "rate": 0.5, "distance": 3.0}, {"age": 60.0, "rate": 0.25, "distance": 3.0}]
    people.append({"age": 70.0, "rate": 0.5, "distance": 9.0})
    for row in rows:
        known = [sum(abs(float(row[name]) - who[name]) / scales[name] for name in scales) for who in people]
        assert float(row["found.distance"]) == pytest.approx(min(known), abs=1e-6)
        assert known[{"1": 0, "2": 1, "5": 2}[row["nearest_row"]]] == pytest.approx(min(known), abs=1e-6)


def test_numbers_are_printed_as_the_table_writes_them(spec: Path) -> None:
    (spec.parent / "cohort.csv").write_text("job,age,rate,distance\nclerk,60,0.07,3\n", encoding="utf-8")
    text = " ".join(run(spec, "--near", "cohort", "--count", "2").stdout.split())
    assert "age = 60, rate = 0.07, distance = 3" in text
    assert "distance 0 from row 1" in text


def test_check_says_how_to_find_people_of_the_table(spec: Path) -> None:
    counted = "property counted { compare a, b : Applicant  differ in job  under cohort  measure fair_share }"
    path, text = spec.parent / "both.fair", spec.read_text(encoding="utf-8")
    path.write_text(text + counted, encoding="utf-8")
    (spec.parent / "cohort.csv").write_text("job,age,rate,distance\nclerk,60,0.07,3\n", encoding="utf-8")
    command = f"among people of the table: fairdsl search {path} --property fair --near cohort"
    assert command in str(fairdsl.check(path))
    assert "people of the table" not in str(fairdsl.check(path, properties="counted"))


def test_rows_by_the_name_of_a_distribution(spec: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = fairdsl.search(spec, near="cohort", count=20)
    assert found.near is not None
    assert (found.near.rows, found.near.outside, found.near.excluded, found.near.at_rows) == (3, 2, 1, 2)
    assert (found.strategy, found.rank) == ("outward", "distance")
    other = tmp_path / "other.csv"
    other.write_text("job,age,rate,distance\ncook,55,1,0\n", encoding="utf-8")
    replaced = fairdsl.search(spec, near="cohort", data={"cohort": other}, count=20, strategy="portfolio")
    assert replaced.near is not None
    assert (replaced.near.path, replaced.near.rows, replaced.strategy) == (str(other), 1, "portfolio")
    first = replaced.rows()[0]
    assert (first["age"], first["found.distance"], first["nearest_row"]) == (55, 0.0, 1)
    monkeypatch.setitem(sys.modules, "polars", SimpleNamespace(DataFrame=dict))
    frame = replaced.to_frame(library="polars")
    assert [dict(zip(frame, row, strict=True)) for row in zip(*frame.values(), strict=True)] == replaced.rows()


def test_pinned_rows_and_rows_that_are_none(spec: Path, tmp_path: Path) -> None:
    digest = sha256(ROWS.encode()).hexdigest()
    spec.write_text(SPEC.format(pin=f' sha256 "{digest}"'), encoding="utf-8")
    assert run(spec, "--near", "cohort", "--count", "3").exit_code == 1
    (tmp_path / "cohort.csv").write_text(ROWS + "Gil,cook,60,1,0\n", encoding="utf-8")
    assert "E0534" in run(spec, "--near", "cohort", "--count", "3").stderr
    strangers = tmp_path / "strangers.csv"
    strangers.write_text("job,age,rate,distance\npilot,60,1,0\ncook,17,1,0\n", encoding="utf-8")
    for near, reason in (
        ("anybody", "a distribution without rows"),
        ("nobody", "no file and no distribution"),
        (strangers, "none of its 2 rows lies in the domain"),
    ):
        result = run(spec, "--near", near)
        assert (result.exit_code, "E0635" in result.stderr) == (2, True)
        assert reason in result.stderr
    assert "E0530" in run(spec, "--near", tmp_path / "no.csv").stderr
    strangers.write_text("job,age\ncook,17\n", encoding="utf-8")
    assert "E0531" in run(spec, "--near", strangers).stderr


def test_rank_and_severity(spec: Path, tmp_path: Path) -> None:
    """One job of three is treated otherwise: 0.918 bits; and all scores are 40 apart."""
    output = tmp_path / "pairs.csv"
    assert run(spec, "--count", "30", "--severity", "-o", output).exit_code == 1
    rows = rows_of(output)
    assert list(rows[0])[-3:] == ["score_gap", "bits", "found.by"]
    assert {float(row["bits"]) for row in rows} == {0.918295834}
    assert {float(row["score_gap"]) for row in rows} == {40.0}
    plain = fairdsl.search(spec, count=30)
    assert [row["age"] for row in plain.rows()] == [int(row["age"]) for row in rows]
    assert plain.rank is None
    assert {name for row in plain.rows() for name in row}.isdisjoint({"bits", "score_gap"})
    assert [pair.bits for pair in plain.pairs] == [pytest.approx(0.918295834)] * 4
    assert [pair.score_gap for pair in plain.pairs] == [40.0] * 4


RACES = """\
domain Person {
  race : category { a, b, c, d, e }
  age  : integer 0 .. 9
}
protected race
model approve : Person -> { no, yes }
  score = 10 * (race = a) + 3 * (race = b) + age
  yes when score > 9
property fair {
  compare a, b : Person
  differ in race
  require same decision
}
"""


@pytest.mark.parametrize("rank", ["bits", "gap"])
def test_the_most_severe_come_first(rank: str, tmp_path: Path) -> None:
    """Up to 6 only race a is granted, from 7 on b as well: 0.722 and 0.971 bits."""
    path = tmp_path / "spec.fair"
    path.write_text(RACES, encoding="utf-8")
    found = fairdsl.search(path, count=None, rank=rank)
    rows = found.rows()
    assert found.count == 10
    assert [row["bits"] for row in rows] == (
        [0.970950594] * 3 + [0.721928095] * 7 if rank == "bits" else [row["bits"] for row in rows]
    )
    gaps = [row["score_gap"] for row in rows]
    assert rank == "bits" or gaps == sorted(gaps, reverse=True)
    assert [pair.score_gap for pair in found.pairs] == gaps[:4]
    said = run(path, "--saturate", "--rank", rank).stdout
    assert "first; it is those found" in " ".join(said.split())


def test_representatives_in_words_in_json_and_in_the_table(tmp_path: Path) -> None:
    path, output = tmp_path / "spec.fair", tmp_path / "pairs.csv"
    path.write_text(RACES, encoding="utf-8")
    result = run(path, "--saturate", "--representatives", "2", "-o", output)
    text = " ".join(result.stdout.split())
    assert "for everybody 50 individuals, 10 pairs found among them; every unit in it violates (each was" in text
    assert {row["representative"] for row in rows_of(output)} == {"1"}
    said = json.loads(run(path, "--saturate", "--representatives", "2", "--json").stdout)
    (one,) = said["representatives"]
    assert (one["box"], one["individuals"], one["bounded"], one["found"]) == ({}, 50, False, 10)
    assert (one["low"], one["high"], one["all_violate"], one["how"], one["confidence"]) == (
        1,
        1,
        True,
        "counted",
        None,
    )
    assert one["pair"]["bits"] in (0.721928095, 0.970950594)


def test_a_pair_in_no_box_has_an_empty_cell(spec: Path, tmp_path: Path) -> None:
    """Ages from 51 or so to 90, a real rate: a box leaves some out, and the score is not a tree."""
    output = tmp_path / "pairs.csv"
    result = run(spec, "--count", "300", "--representatives", "1", "--near", "cohort", "--json", "-o", output)
    said = json.loads(result.stdout)
    (one,) = said["representatives"]
    assert {row["representative"] for row in rows_of(output)} <= {"", "1"}
    assert sum(row["representative"] == "1" for row in rows_of(output)) == one["found"]
    age = one["box"]["age"]
    inside = [row for row in rows_of(output) if age["low"] <= int(row["age"]) <= age["high"]]
    assert len(inside) >= one["found"] > 0
    assert one["individuals"] is None
    low, high = one["low"], one["high"]
    assert 0.8 < low < high <= 1
    assert (said["rank"], said["near"]["rows"], said["near"]["outside"]) == ("distance", 3, 2)
    assert {"distance", "nearest_row", "bits", "score_gap"} <= set(said["pairs"][0])


def test_one_seed_is_one_file(spec: Path, tmp_path: Path) -> None:
    asked = (spec, "--near", "cohort", "--severity", "--representatives", "2", "--count", "100", "--seed", "4", "-o")
    for name in ("one.csv", "other.csv"):
        assert run(*asked, tmp_path / name).exit_code == 1
    assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "other.csv").read_bytes()


def test_options_that_make_no_sense_together(spec: Path) -> None:
    assert run(spec, "--rank", "distance").exit_code == 2
    assert run(spec, "--rank", "money").exit_code == 2
    assert run(spec, "--representatives", "0").exit_code == 2
    with pytest.raises(ValueError, match="near"):
        fairdsl.search(spec, rank="distance")
    with pytest.raises(fairdsl.SpecError, match="distance"):
        fairdsl.search(spec, rank="severity")


def test_near_rows_but_nothing_to_find(spec: Path, tmp_path: Path) -> None:
    spec.write_text(SPEC.format(pin="").replace("> 50", "> 200"), encoding="utf-8")
    output = tmp_path / "none.csv"
    result = run(spec, "--near", "cohort", "--timeout", "0.4", "--representatives", "2", "--severity", "-o", output)
    assert result.exit_code == 3
    assert rows_of(output) == []
    assert "no pair; that proves nothing" in result.stdout
