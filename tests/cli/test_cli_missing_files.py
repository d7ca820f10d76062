"""Files that a spec names and that are not there: the place where they are named is shown."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from fairdsl.cli.app import cli

SPEC = """domain A {
  sex : category { female, male }
  age : integer 20 .. 60
}
protected sex
distribution people over A
  empirical from "nowhere.csv"
model loans : A -> { reject, approve }
  from "nothing.onnx"
  approve when score >= 0
  favourable approve
property groups {
  across sex
  under people
  require parity_gap <= 5%
}
"""
INLINE = SPEC.replace('from "nothing.onnx"', "score = age + 1")


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, arguments)


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_lint_points_at_them() -> None:
    Path("spec.fair").write_text(SPEC, encoding="utf-8")
    found = run("lint", "spec.fair")
    assert found.exit_code == 0
    assert "warning[W0817]: the model file `nothing.onnx` is not there" in found.stderr
    assert "spec.fair:9:8" in found.stderr
    assert "spec.fair:7:18: the data file `nowhere.csv`" in found.stderr
    Path("nowhere.csv").touch()
    assert "nowhere" not in run("lint", "spec.fair").stderr
    assert not run("lint", "spec.fair", "--model", "loans=other.onnx").stderr


def test_data_that_cannot_be_read_is_shown_where_it_is_named() -> None:
    Path("spec.fair").write_text(INLINE, encoding="utf-8")
    assert "spec.fair:7:18" in run("check", "spec.fair").stderr
    other = run("check", "spec.fair", "--data", "people=elsewhere.csv").stderr
    assert "E0530" in other
    assert "spec.fair" not in other
