"""``--let`` gives a parameter another number in every command that reads a spec."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from fairdsl.cli.app import cli

SPEC = """\
let least = 50
let dear = 10

domain Applicant {
  sex    : category { female, male }
  income : integer 0 .. 100
}

protected sex

model approve : Applicant -> { reject, grant }
  score = income - dear * (sex = female)
  grant when score >= least

property sex_never_decides {
  compare  a, b : Applicant
  differ   in sex
  require  same decision
}
"""


@pytest.fixture
def spec(tmp_path: Path) -> str:
    (tmp_path / "spec.fair").write_text(SPEC, encoding="utf-8")
    (tmp_path / "rows.csv").write_text("sex,income,said\nfemale,55,grant\nmale,55,grant\nmale,40,reject\n")
    return str(tmp_path / "spec.fair")


def run(*words: str) -> Result:
    return CliRunner().invoke(cli, words)


def test_replay(spec: str) -> None:
    pair = ("replay", spec, "--a", "sex=female, income=55", "--b", "sex=male")
    assert run(*pair).exit_code == 1
    assert run(*pair, "--let", "dear=5").exit_code == 0


def test_lint_of_predictions(spec: str) -> None:
    recorded = ("lint", spec, "--data", str(Path(spec).parent / "rows.csv"), "--predictions", "said")
    assert run(*recorded).exit_code == 2
    assert run(*recorded, "--let", "dear=5").exit_code == 0


@pytest.mark.parametrize(
    "words",
    [
        ("prune", "-o", "pruned.onnx"),
        ("repair", "--train", "rows.csv", "--estimator", "os:getcwd", "-o", "repaired"),
        ("replay", "--a", "sex=female, income=55", "--b", "sex=male"),
    ],
    ids=lambda words: words[0],
)
def test_a_name_that_is_not_declared_is_said(
    spec: str, words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = run(words[0], spec, *words[1:], "--let", "lest=40")
    assert result.exit_code == 2
    assert "E0215" in result.output
