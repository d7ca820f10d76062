"""The screening example: every number of the published tables, computed again from the rows by nothing of fairdsl."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from statistics import median

import pytest

import fairdsl
from tests.examples.example_folders import script_of

FOLDER = Path(__file__).parents[2] / "examples" / "screening"
GROUPINGS = {"sex": ("sex",), "race": ("race",), "(sex, race)": ("sex", "race")}
Table = dict[tuple[str, ...], tuple[str, ...]]


@pytest.fixture(scope="module")
def report() -> fairdsl.Report:
    return fairdsl.check(FOLDER / "screening.fair", timeout=60)


@pytest.fixture(scope="module")
def rows() -> list[dict[str, str]]:
    with (FOLDER / "candidates.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def counted(rows: list[dict[str, str]], columns: Sequence[str], hit: str) -> Table:
    """The table by plain counting: who is of unknown category counts nowhere, small categories have no ratio."""
    known = [row for row in rows if all(row[column] != "unknown" for column in columns)]
    people = Counter(tuple(row[column] for column in columns) for row in known)
    middle = median(float(row["score"]) for row in rows)
    hits = Counter(
        tuple(row[column] for column in columns)
        for row in known
        if (row["decision"] == "pass" if hit == "selection" else float(row["score"]) > middle)
    )
    small = {group for group, count in people.items() if count / len(known) < 0.02}
    greatest = max(Fraction(hits[group], people[group]) for group in people if group not in small)
    found: Table = {}
    for group, count in people.items():
        rate = Fraction(hits[group], count)
        ratio = "left out" if group in small else f"{float(rate / greatest):.3f}"
        found[group] = (f"{count:,}", f"{hits[group]:,}", f"{float(100 * rate):.1f}%", ratio)
    return found


def published(text: str, heading: str, columns: int) -> Table:
    """The table below a heading, by the categories in its first columns."""
    lines = text.replace("\\", "").split(f"#### {heading}\n\n")[1].split("\n\n")[0].split("\n")[2:]
    cells = [tuple(cell.strip() for cell in line.strip("|").split("|")) for line in lines]
    return {row[:columns]: row[columns:] for row in cells}


@pytest.mark.parametrize("name", GROUPINGS)
@pytest.mark.parametrize(("preset", "of"), [("ll144", "selection"), ("ll144_scores", "scoring")])
def test_every_number_is_that_of_plain_counting(
    report: fairdsl.Report, rows: list[dict[str, str]], preset: str, of: str, name: str
) -> None:
    columns = GROUPINGS[name]
    table = published(report.rendered("ll144"), f"{preset}_{of}[{name}]", len(columns))
    expected = counted(rows, columns, of)
    assert table == expected
    assert any(row[-1] == "left out" for row in table.values()) is (name != "sex")
    # What `check` says of the property is the smallest ratio of the table.
    (impact,) = (each for each in report.properties if each.name == f"{preset}_impact[{name}]")
    value = impact.demands[0].value
    assert value is not None
    assert value.exact is not None
    smallest = min(row[-1] for row in expected.values() if row[-1] != "left out")
    assert f"{float(value.exact):.3f}" == smallest


def test_the_script_that_counts_again_finds_what_differs(report: fairdsl.Report, tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    recount, published = script_of(FOLDER, "recount", FOLDER), tmp_path / "published.md"
    text = report.rendered("ll144")
    published.write_text(text, encoding="utf-8")
    assert recount.main(str(published)) == 0
    for number, wrong in (("0.578", "0.579"), ("(156 of", "(155 of"), ("pacific (28, 57", "pacific (29, 57")):
        assert number in text
        published.write_text(text.replace(number, wrong), encoding="utf-8")
        assert recount.main(str(published)) > 0


def test_people_of_unknown_category_and_what_is_not_stated(report: fairdsl.Report, rows: list[dict[str, str]]) -> None:
    text = report.rendered("ll144", {"audited": "2026-01-15", "left_out": "too few for a rate"})
    sexless, raceless = (sum(row[column] == "unknown" for row in rows) for column in ("sex", "race"))
    both = sum("unknown" in (row["sex"], row["race"]) for row in rows)
    assert f"{len(rows):,} people were assessed" in text
    assert f"{both:,} people ({sexless:,} of unknown sex and {raceless:,} of unknown race)" in text
    assert f"above {median(float(row['score']) for row in rows):g}, the median" in text
    assert "Date of the audit: 2026-01-15" in text
    assert "Distribution date: **not stated**" in text
    assert text.count("Justification: too few for a rate") == 2
    with pytest.raises(ValueError, match="no place for `auditor`"):
        report.rendered("ll144", {"auditor": "somebody"})


def test_a_report_without_the_audit_says_what_to_write() -> None:
    other = fairdsl.check(FOLDER.parent / "cookbook" / "scoring-rate.fair", timeout=60)
    for name in ("ll144", "eeoc"):
        with pytest.raises(ValueError, match=f"apply preset {name} to"):
            other.rendered(name)


def test_significance_of_adverse_impact(report: fairdsl.Report) -> None:
    table = published(report.rendered("eeoc").replace("### ", "#### "), "eeoc_impact[sex]: holds", 1)
    # 516 of 1,322 and 655 of 1,522, of which scipy's fisher_exact gives 0.03243.
    assert table["female",][-2:] == ("2.16", "0.0324")
    assert table["male",][-2:] == ("", "")


def test_the_script_writes_the_table(tmp_path: Path) -> None:
    script_of(FOLDER, "make_data", tmp_path).main()
    assert (tmp_path / "candidates.csv").read_bytes() == (FOLDER / "candidates.csv").read_bytes()
