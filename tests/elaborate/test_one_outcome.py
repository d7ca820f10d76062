"""A file that decides alike about every row is warned of, and only where that says something."""

from __future__ import annotations

from pathlib import Path
from shutil import copy

import pytest

import fairdsl

GOLDEN = Path(__file__).parent.parent / "golden" / "errors" / "W0818-scaled-in-training"
SPEC = (GOLDEN / "spec.fair").read_text(encoding="utf-8")
ROWS = [(sex, age) for sex in ("female", "male") for age in range(20, 65)]


def warned(folder: Path, spec: str = SPEC, rows: list[tuple[str, int]] = ROWS, **given: object) -> bool:
    copy(GOLDEN / "approve.onnx", folder)
    (folder / "people.csv").write_text("\n".join(["sex,age", *(f"{sex},{age}" for sex, age in rows)]) + "\n")
    (folder / "spec.fair").write_text(spec, encoding="utf-8")
    report = fairdsl.check(folder / "spec.fair", **given)
    return any(finding.code == "W0818" for finding in report.diagnostics)


def test_every_row_but_one(tmp_path: Path) -> None:
    """The score is age - sex - 30, and the rows above 21 of the first 256 are all granted."""
    spec = SPEC.replace("score > -30", "score > -10")
    assert warned(tmp_path, spec, [row for row in ROWS if row[1] > 21])
    assert not warned(tmp_path, spec, [row for row in ROWS if row[1] > 21] * 4 + [("male", 20)])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("  reads sex, age\n", '  reads sex, age\n  agrees with column "decision" in "recorded.csv"\n'),
        ('  from "approve.onnx"\n  reads sex, age\n', "  score = age\n"),
    ],
)
def test_who_vouches_for_the_numbers(old: str, new: str, tmp_path: Path) -> None:
    (tmp_path / "recorded.csv").write_text("sex,age,decision\nfemale,30,grant\n")
    assert not warned(tmp_path, SPEC.replace(old, new))


def test_few_rows_may_well_be_alike(tmp_path: Path) -> None:
    assert warned(tmp_path, rows=ROWS[:30])
    assert not warned(tmp_path, rows=ROWS[:29])


def test_a_function_is_not_asked_for_it(tmp_path: Path) -> None:
    spec = SPEC.replace('from "approve.onnx"\n  reads sex, age\n', "from callable\n")
    assert not warned(tmp_path, spec, callables={"approve": lambda columns: [5.0] * len(columns["age"])})
