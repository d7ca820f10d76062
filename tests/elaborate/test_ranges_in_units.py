"""A range is held against the rows behind a population: what is in another unit is warned of, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

import fairdsl
from tests.models.model_files import saved
from tests.models.tree_files import Branch, Leaf, Tree, regressor, tree_file

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


COMPARED = """\
domain Applicant {
  age : integer LOW .. HIGH
  sex : category { f, m }
}
protected sex
model approve : Applicant -> { reject, grant }
  from "trees.onnx"
  READS
  grant when score > 0
property p {
  compare a, b : Applicant
  differ in sex
  require same decision
}
"""


@pytest.mark.parametrize(
    ("low", "high", "reads", "thresholds", "seen"),
    [
        (18, 75, "age", (6570, 21900), "6570 .. 21900"),  # days
        (18, 75, "age", (240,), "240"),  # months
        (18, 75, "(age - 40) / 10", (30, 50), "340 .. 540"),
        (18, 75, "(age - 40) / 10", (-1, 30), None),
        (18, 75, "age", (40, 6570), None),
        (18, 25, "age", (30,), None),  # a domain of the young, and a file for all
        (20, 20, "age", (30,), None),
    ],
)
def test_ranges_beside_thresholds_of_trees(
    low: int, high: int, reads: str, thresholds: tuple[float, ...], seen: str | None, tmp_path: Path
) -> None:
    tree: Tree = Leaf(((0, 1.0),))
    for threshold in thresholds:
        tree = Branch("BRANCH_LEQ", 0, threshold, Leaf(((0, -1.0),)), tree)
    sex = Branch("BRANCH_LEQ", 1, 0.5, Leaf(((0, 1.0),)), tree)
    saved(tree_file([regressor([sex])], outputs=("y",), width=2), tmp_path, "trees.onnx")
    spec = COMPARED.replace("LOW", str(low)).replace("HIGH", str(high))
    (tmp_path / "spec.fair").write_text(spec.replace("READS", f"reads {reads}, sex"), encoding="utf-8")
    warned = [found for found in fairdsl.check(tmp_path / "spec.fair").diagnostics if found.code == "W0820"]
    assert [found.primary and found.primary.text for found in warned] == (
        [] if seen is None else [f"`approve` compares it with {seen} alone"]
    )
