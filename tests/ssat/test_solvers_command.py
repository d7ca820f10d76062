"""``ssat.solver`` on the command line, with programs that stand in for the solvers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from stand_in import install

import fairdsl
from fairdsl.cli.app import cli

RULE = "c name 1 older\np cnf 3 3\ne 1 0\nr 0.3 2 0\nr 0.6 3 0\n1 2 0\n-1 3 0\n-1 3 0\n"
SPEC = """\
domain Applicant {
  sex    : category { female, male }
  member : boolean
  debts  : integer 0 .. 3
}
protected sex
distribution people over Applicant
  sex    : table { female : 0.4, male : 0.6 }
  member : bernoulli(0.3) given sex = female
  member : bernoulli(0.6) given sex = male
  debts  : table { 0 : 0.25, 1 : 0.25, 2 : 0.25, 3 : 0.25 }
model approve : Applicant -> { reject, grant }
  favourable grant
  grant when member = yes or debts <= 0
property fair {
  across sex
  under people
  require parity_gap <= 0.2
}
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("rule.sdimacs").write_text(RULE, encoding="utf-8")
    Path("spec.fair").write_text(SPEC, encoding="utf-8")
    return tmp_path


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, arguments)


@pytest.mark.parametrize("solver", ["ssatABC", "SharpSSAT"])
def test_a_file_is_answered_by_it(here: Path, solver: str) -> None:
    program = install(here, solver)
    done = run("solve", "rule.sdimacs", "--set", f"ssat.solver=./{program.name}", "--json")
    assert done.exit_code == 0, done.output
    written = json.loads(done.stdout)
    found = written["found"]
    assert found["low"] < 0.6 < found["high"] < 0.6 * (1 + 1e-5)
    assert solver in found["detail"]
    assert found.get("choice") == ([{"variable": 1, "true": True, "name": "older"}] if solver == "ssatABC" else None)


@pytest.mark.parametrize("behaviour", ["silent", "abort", "bounds"])
def test_no_answer_is_unknown(here: Path, behaviour: str) -> None:
    install(here, "ssatABC", behaviour)
    done = run("solve", "rule.sdimacs", "--set", "ssat.solver=./abc")
    assert done.exit_code == 3, done.output
    assert "from 0" in done.stdout


def test_other_files_have_no_use_for_it(here: Path) -> None:
    Path("x.smt2").write_text("(check-sat)\n", encoding="utf-8")
    done = run("solve", "x.smt2", "--set", "ssat.solver=pysdd")
    assert done.exit_code == 2
    assert "files of sdimacs" in done.stderr


@pytest.mark.parametrize("solver", ["ssatABC", "SharpSSAT"])
def test_a_spec_is_checked_by_it(here: Path, solver: str) -> None:
    program = install(here, solver)
    report = fairdsl.check("spec.fair", backend="ssat", options={"ssat": {"solver": f"./{program.name}"}})
    assert report.exit_code.value == 1  # 0.225, known to six digits, is above 0.2
    assert (
        f"solved and read back: {solver}"
        in run("check", "spec.fair", "--backend", "ssat", "--json", "--set", f"ssat.solver=./{program.name}").stdout
    )
    assert (here / "seen" / "file").exists()


def test_a_check_without_an_answer_is_unknown(here: Path) -> None:
    install(here, "SharpSSAT", "abort")
    assert fairdsl.check("spec.fair", backend="ssat", options={"ssat": {"solver": "./SharpSSAT"}}).exit_code.value == 3


def test_a_solver_that_is_missing_is_said_before_anything_runs(here: Path) -> None:
    for command, code in (("./SharpSSAT", "E0650"), ("z3", "E0651")):
        done = run("check", "spec.fair", "--set", f"ssat.solver={command}")
        assert done.exit_code == 2
        assert f"error[{code}]" in done.stderr
        with pytest.raises(fairdsl.SpecError):
            fairdsl.check("spec.fair", options={"ssat": {"solver": command}})
