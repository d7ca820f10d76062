"""A range is held against the rows behind a population: what is in another unit is warned of, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

import fairdsl

SPEC = """\
domain Applicant {
  amount : RANGE
  sex : category { f, m }
}
protected sex
model approve : Applicant -> { reject, grant }
  score = 2 * (amount >= 1) - 1
  grant when score > 0
  favourable grant
distribution people over Applicant
  empirical from "people.csv"
PROPERTY
"""
PROPERTY = """
property NAME {
  across sex
  under people
  measure parity_gap
}
"""


def warnings(folder: Path, kind: str, numbers: list[str]) -> list[str]:
    rows = "".join(f"{numbers[place % len(numbers)]},{'fm'[place % 2]}\n" for place in range(40))
    (folder / "people.csv").write_text(f"amount,sex\n{rows}", encoding="utf-8")
    both = PROPERTY.replace("NAME", "p") + PROPERTY.replace("NAME", "q")
    (folder / "spec.fair").write_text(SPEC.replace("RANGE", kind).replace("PROPERTY", both), encoding="utf-8")
    report = fairdsl.check(folder / "spec.fair")
    return [str(found.primary and found.primary.text) for found in report.diagnostics if found.code == "W0819"]


@pytest.mark.parametrize(
    ("kind", "numbers", "seen"),
    [
        ("integer 0 .. 1200", ["18", "40", "75"], "18 .. 75"),
        ("integer 0 .. 1200", ["18", "40", "101"], None),
        ("real 0 .. 100 or missing", ["0.5", "", "0.25", "1"], "0.25 .. 1"),
        ("real 0 .. 1", ["0.02", "0.03", "0.08"], None),
        ("real 0 .. 1", ["0.002", "0.003", "0.008"], "0.002 .. 0.008"),
        ("real 0 .. 100", ["0", "1"], None),  # marks
        ("real -1000 .. 10", ["-1", "2", "3"], "-1 .. 3"),
        ("real", ["-1", "2", "3"], None),
    ],
)
def test_ranges_beside_rows(kind: str, numbers: list[str], seen: str | None, tmp_path: Path) -> None:
    """Two properties say it once."""
    wanted = [] if seen is None else [f"the rows of `people` have {seen}"]
    assert warnings(tmp_path, kind, numbers) == wanted
