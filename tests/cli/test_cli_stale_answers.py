"""An answer belongs to the file that was asked, and to no later one of its name."""

from __future__ import annotations

from pathlib import Path

import pytest

import fairdsl
from fairdsl.diagnostics import DiagnosticError

SPEC = """
domain People {
  x   : integer 0 .. 9
  sex : category { female, male }
}
protected sex
model m : People -> { no, yes }
  score = x - 4 + FACTOR * (sex = male)
  yes when score > 0
property alike {
  compare  a, b : People
  differ   in sex
  require  same decision
}
"""


def spec(folder: Path, factor: int) -> Path:
    path = folder / "people.fair"
    path.write_text(SPEC.replace("FACTOR", str(factor)))
    return path


@pytest.mark.parametrize("answer", ["alike.smt2.answer", "alike.out", "alike.smt2.txt"])
def test_files_with_answers_are_not_replaced(tmp_path: Path, answer: str) -> None:
    out = tmp_path / "out"
    fairdsl.compile(spec(tmp_path, 0), to="smtlib", directory=out)
    (out / answer).write_text("unsat\n")
    assert fairdsl.recover(out).exit_code.value == 0
    # The same files again are not a danger.
    fairdsl.compile(spec(tmp_path, 0), to="smtlib", directory=out)
    unfair = spec(tmp_path, 9)
    with pytest.raises(DiagnosticError) as caught:
        fairdsl.compile(unfair, to="smtlib", directory=out)
    assert [found.code for found in caught.value.diagnostics] == ["E0611"]
    assert answer in caught.value.diagnostics[0].title
    # What stands in the folder is still about the old spec, and says so.
    with pytest.raises(DiagnosticError) as stale:
        fairdsl.recover(out)
    assert [found.code for found in stale.value.diagnostics] == ["E0621"]


def test_a_folder_without_a_manifest_is_said_to_be_one(tmp_path: Path) -> None:
    with pytest.raises(DiagnosticError) as caught:
        fairdsl.recover(tmp_path, models={"m": "other.onnx"})
    assert [found.code for found in caught.value.diagnostics] == ["E0613"]
