"""``compile --data`` and ``recover --data``: the same spec about other people, as with ``check``."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import fairdsl
from fairdsl.cli.app import cli

SPEC = """
domain Applicant {
  sex    : category { female, male }
  income : integer 0 .. 9
}

protected sex

model approve : Applicant -> { reject, grant }
  score = income - 4 + (sex = male)
  grant when score > 0
  favourable grant

distribution people over Applicant
  independent given sex
  from "people.csv"

property parity {
  across   sex
  under    people
  measure  parity_gap
}

property alike {
  compare  a, b : Applicant
  differ   in sex
  require  same decision
}
"""


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, arguments)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The spec's own file of people is nowhere; there are two others."""
    monkeypatch.chdir(tmp_path)
    Path("loans.fair").write_text(SPEC, encoding="utf-8")
    for name, women in (("poor.csv", 2), ("rich.csv", 7)):
        rows = [f"female,{women}", "female,9", "male,6", "male,9"]
        Path(name).write_text("\n".join(["sex,income", *rows]) + "\n", encoding="utf-8")


def test_instances_are_about_the_data_that_was_given() -> None:
    for name, value in (("poor", 0.5), ("rich", 0.0)):
        written = run("compile", "loans.fair", "--to", "subset-sum", "-o", name, "--data", f"people={name}.csv")
        assert written.exit_code == 0, written.output
        assert "cannot express this question: it answers metrics of groups" in written.stderr  # the one about pairs
        (instance,) = Path(name).glob("parity*.json")
        solved = fairdsl.solve(instance)
        assert float(solved.report.properties[0].demands[0].value.exact) == value
        said = run("check", "loans.fair", "--property", "parity", "--data", f"people={name}.csv").stdout
        assert f"parity gap {value:g}" in said


def test_data_that_is_nowhere_or_nobodys() -> None:
    assert "E0530" in run("compile", "loans.fair", "--to", "subset-sum", "-o", "out").stderr
    result = run("compile", "loans.fair", "--to", "smtlib", "-o", "out", "--data", "poeple=poor.csv")
    assert (result.exit_code, "E0553" in result.stderr) == (2, True)


def test_answers_are_recovered_beside_other_data() -> None:
    data = ("--data", "people=poor.csv")
    assert run("compile", "loans.fair", "--to", "smtlib", "-o", "out", *data).exit_code == 0
    for script in Path("out").glob("*.smt2"):
        fairdsl.solve(script)
    assert "E0530" in run("recover", "out").stderr
    recovered = run("recover", "out", *data)
    assert recovered.exit_code == 1, recovered.output
    assert "alike" in recovered.stdout
    assert "data   people  poor.csv" in recovered.stdout
