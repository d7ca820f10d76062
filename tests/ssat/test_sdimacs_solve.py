"""``fairdsl solve FILE.sdimacs``: values, bounds, choices by name, exit codes; the same by the API."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import fairdsl
from fairdsl.backends.ssat.writing import sdimacs_of
from fairdsl.cli.app import cli
from fairdsl.cli.solve import heading
from fairdsl.solver_files.solve import SolvedFile
from fairdsl.verdict import Reason
from tests.ssat.test_engine_budget import hard

NAMED = "c name 1 sex\nc name 2 age below 40\np cnf 4 2\ne 1 2 0\nr 0.3 3 0\nr 1/3 4 0\n1 2 3 0\n-1 4 0\n"


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = Path("rule.sdimacs")
    path.write_text(NAMED, encoding="utf-8")
    return path


def run(*arguments: object) -> Result:
    return CliRunner().invoke(cli, [str(argument) for argument in arguments])


def test_the_value_and_who_attains_it(file: Path) -> None:
    done = run("solve", file)
    assert done.exit_code == 0, done.output
    first, *others = done.stdout.splitlines()
    assert first == "rule.sdimacs   1   4 variables, 2 clauses"
    assert [line.split(maxsplit=1)[1] for line in others[:2]] == ["not sex", "age below 40"]
    assert others[-1].startswith("    solved by  the embedded solver in ")


@pytest.mark.parametrize(
    ("chance", "shown"),
    [
        ("0.3", "0.3 = 3/10"),
        ("1/3", "1/3, about 0.333333333333"),
        ("1e-300", "about 1e-300"),
        ("1e-400", "about 1/1000"),
    ],
)
def test_numbers_are_exact_where_that_is_short(file: Path, chance: str, shown: str) -> None:
    file.write_text(f"p cnf 1 1\nr {chance} 1 0\n1 0\n", encoding="utf-8")
    assert f"   {shown}" in run("solve", file).stdout


def test_json_has_the_same(file: Path) -> None:
    file.write_text(NAMED.replace("-1 4 0", "1 0").replace("1 2 3 0", "1 -4 0"), encoding="utf-8")
    written = json.loads(run("solve", file, "--json").stdout)
    assert written["schema"] == "fairdsl.solved/2"
    found = written["found"]
    assert (found["kind"], found["low"], found["high"], "reason" in found) == ("bounds", 1, 1, False)
    assert found["choice"][0] == {"variable": 1, "name": "sex", "true": True}
    assert set(found["work"]) == {"decisions", "propagations", "components", "cache_hits", "cache_entries"}
    again = SolvedFile.from_json(json.dumps(written))
    assert replace(fairdsl.solve(file), seconds=again.seconds) == again


def test_variables_that_nothing_binds_are_noted(file: Path) -> None:
    file.write_text("p cnf 3 1\nr 0.3 1 0\n1 3 2 0\n", encoding="utf-8")
    assert "variables 2, 3 are bound by no line and are existential and outermost" in " ".join(
        run("solve", file).stdout.split()
    )
    assert fairdsl.solve(file).found.choice is not None


def test_time_that_runs_out_leaves_bounds_and_exits_as_unknown(file: Path) -> None:
    file.write_text(sdimacs_of(hard()), encoding="utf-8")
    done = run("solve", file, "--timeout", "0.2")
    assert done.exit_code == 3
    assert "   from 0" in done.stdout
    assert "the time ran out" in done.stdout
    written = json.loads(run("solve", file, "--timeout", "0.2", "--json").stdout)
    assert written["found"]["reason"] == "timeout"
    assert written["found"].get("choice") is None
    assert 0 <= written["found"]["low"] < written["found"]["high"] <= 1
    assert fairdsl.solve(file, timeout=0.2).found.reason is Reason.TIMEOUT


def test_mistakes_exit_as_mistakes(file: Path) -> None:
    file.write_text("p cnf 1 1\n", encoding="utf-8")
    assert "error[E0644]" in run("solve", file).stderr
    assert run("solve", file).exit_code == 2
    assert json.loads(run("solve", file, "--json").stdout)["diagnostics"][0]["code"] == "E0644"
    file.write_bytes(b"p cnf 1 0\nc \xff\n")
    assert "byte 13 is not UTF-8" in run("solve", file).stderr


def test_options_of_other_files_are_refused(file: Path) -> None:
    assert run("solve", file, "--resume").exit_code == 2
    Path("a.job").write_bytes(b"")
    refused = " ".join(run("solve", "a.job", "--set", "ssat.solver=pysdd").stderr.split())
    assert "ssat.solver is about files of sdimacs" in refused
    assert "`a.job` is a file of interval-job" in refused


def test_the_api(file: Path) -> None:
    solved = fairdsl.solve(file, timeout=5).found
    assert solved.low == solved.high == Fraction(1)
    assert [(one.variable, one.true) for one in solved.choice] == [(1, False), (2, True)]
    assert solved.choice[0].name == "sex"
    with pytest.raises(ValueError, match="timeout"):
        fairdsl.solve(file, timeout=0)
    with pytest.raises(fairdsl.SpecError, match=r"E0651|E0650"):
        fairdsl.solve(file, options={"ssat": {"solver": "nobody-wrote-this"}})


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("a.sdimacs", "p cnf 10000000 1\n1 0\n", Fraction(1)),
        ("a.sdimacs", "p cnf 10000000 1\ne 9000000 0\nr 0.25 7 0\n-9000000 7 0\n", Fraction(1)),
        ("a.sdimacs", "p cnf 10000000 1\nr 0.25 7 10000000 0\n7 0\n", Fraction(1, 4)),
        ("a.cnf", "p cnf 1000000 1\n1 -500000 0\n", Fraction(3 * 2**999_998)),
        ("a.cnf", "p cnf 10000000 1\nc p show 1 2 0\n1 3 0\n", Fraction(4)),
        ("a.cnf", "p cnf 1000000 1\nc p weight 9 3 0\nc p weight -9 2 0\n1 0\n", Fraction(5 * 2**999_998)),
    ],
)
def test_variables_that_nothing_mentions_cost_nothing(tmp_path: Path, name: str, text: str, value: Fraction) -> None:
    file = tmp_path / name
    file.write_text(text, encoding="utf-8")
    started = time.process_time()
    solved = fairdsl.solve(file)
    found = solved.found
    assert found.low == found.high == value
    assert heading(solved)[1]
    assert json.loads(solved.to_json())["found"]["low"] > 0
    assert time.process_time() - started < 5
    if name.endswith("sdimacs"):
        assert {choosing.variable for choosing in found.choice or ()} <= {9_000_000, 1}
