"""``compile``, ``solve`` and ``recover`` on solver files: two solvers' answers come to what ``check`` says."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import fairdsl
from fairdsl.backends.smt.recover import answer_text
from fairdsl.cli.app import cli
from tests.smt.second_solver import ask_cvc5

SPEC = """\
domain People {{
  age    : integer 0 .. 19
  income : integer 0 .. 9
  sex    : category {{ woman, man }}
}}
protected sex
model lend : People -> {{ no, yes }}
  score = age + 2 * income + {weight} * (sex = man) - 30
  yes when score >= 0
property fair {{
  compare a, b : People
  differ in sex
  target age >= {least}
  require same decision
  measure fair_share
}}
"""


def run(*arguments: object) -> Result:
    return CliRunner().invoke(cli, [str(argument) for argument in arguments], catch_exceptions=False)


@pytest.fixture
def spec(tmp_path: Path) -> Callable[..., Path]:
    def written(weight: int = 1, least: int = 0) -> Path:
        path = tmp_path / "lend.fair"
        path.write_text(SPEC.format(weight=weight, least=least), encoding="utf-8")
        return path

    return written


def answered_by_cvc5(folder: Path) -> None:
    for script in folder.glob("*.smt2"):
        answer = ask_cvc5(script.read_text(encoding="utf-8"))
        script.with_name(f"{script.name}.out").write_text(answer_text(answer), encoding="utf-8")


def judged(result: Result) -> str:
    return json.loads(result.stdout)["properties"][0]["demands"][0]["verdict"]


@pytest.mark.parametrize(("weight", "judgement", "code"), [(1, "violated", 1), (0, "holds", 0)])
@pytest.mark.parametrize("cut", [(), ("--partition", 10)])
@pytest.mark.parametrize("solver", ["z3", "cvc5"])
def test_answers_come_to_what_check_says(
    spec: Callable[..., Path], weight: int, judgement: str, code: int, cut: tuple[object, ...], solver: str
) -> None:
    path = spec(weight)
    folder = path.parent / "out"
    assert run("compile", path, "--to", "smtlib", "-o", folder, *cut).exit_code == 0
    assert len(list(folder.glob("*.smt2"))) == (2 if cut else 1)
    assert judged(run("recover", folder, "--json")) == "unknown"
    if solver == "cvc5":
        answered_by_cvc5(folder)
    else:
        for script in folder.glob("*.smt2"):
            assert run("solve", script).exit_code == 0
    recovered = run("recover", folder, "--json")
    assert (judged(recovered), recovered.exit_code) == (judgement, code)
    checked = fairdsl.check(path).properties[0].demands[0]
    assert checked.judgement.value == judgement


def test_a_part_of_the_partitions_proves_nothing(spec: Callable[..., Path]) -> None:
    path = spec(0)
    folder = path.parent / "out"
    result = run("compile", path, "--to", "smtlib", "-o", folder, "--partition", 5, "--first", 3, "--seed", 1)
    assert "3 of 8 partitions" in result.stdout
    for script in folder.glob("*.smt2"):
        run("solve", script)
    report = run("recover", folder)
    assert report.exit_code == 3
    assert "5 of 8 partitions have no file" in " ".join(report.stdout.split())
    parts = json.loads((folder / "manifest.json").read_text())["questions"][0]["parts"]
    assert [part["volume"] for part in parts] == ["1/8"] * 3
    assert all(set(part["box"]) == {"age", "income"} for part in parts)


def test_verifiers_answer_files_of_vnnlib(spec: Callable[..., Path]) -> None:
    path = spec(1)
    folder = path.parent / "out"
    assert run("compile", path, "--to", "vnnlib", "-o", folder).exit_code == 0
    names = sorted(file.name for file in folder.glob("*.vnnlib"))
    assert names == ["fair.case1.vnnlib", "fair.case2.vnnlib", "fair.vnnlib"]
    table = folder.parent / "answers.csv"
    with table.open("w", newline="") as handle:
        rows = csv.writer(handle)
        rows.writerow(["file", "output"])
        rows.writerow(["fair.case1.vnnlib", "unsat"])
        rows.writerow([str(folder / "fair.case2.vnnlib"), "timeout"])
    assert judged(run("recover", folder, "--answers", table, "--json")) == "unknown"
    table = table.with_suffix(".jsonl")
    lines = [{"file": name, "output": "unsat"} for name in names[:2]]
    table.write_text("\n".join(json.dumps(line) for line in lines))
    assert judged(run("recover", folder, "--answers", table, "--json")) == "holds"
    # A point counts only when it replays, and then it outweighs any `unsat`.
    point = folder.parent / "fair.vnnlib.txt"
    values = "(X[0,0] {0}) (X[0,1] 10.0) (X[0,2] 0.0) (X2[0,0] {0}) (X2[0,1] 10.0) (X2[0,2] 1.0)"
    for age, judgement in (("9.0", "holds"), ("10.6", "violated")):
        point.write_text(f"sat\n({values.format(age)})\n")
        assert judged(run("recover", folder, "--answers", table, "--answers", point, "--json")) == judgement


def test_what_does_not_belong_together_is_refused(spec: Callable[..., Path]) -> None:
    path = spec(0)
    folder = path.parent / "out"
    run("compile", path, "--to", "smtlib", "-o", folder)
    (folder / "fair.smt2.answer").write_text("unsat\n")
    assert run("recover", folder).exit_code == 0
    foreign = folder.parent / "fiar.smt2.answer"
    foreign.write_text("unsat\n")
    assert "error[E0620]" in run("recover", folder, "--answers", foreign).stderr
    table = folder.parent / "answers.jsonl"
    for text in ('{"file": "fair.smt2"}', "[1]", "unsat", '{"file": 1, "output": "unsat"}'):
        table.write_text(text)
        assert "error[E0623]" in run("recover", folder, "--answers", table).stderr
    script = folder / "fair.smt2"
    content = script.read_text()
    script.write_text(content + "(assert false)\n")
    assert "error[E0621]" in run("recover", folder).stderr
    script.write_text(content)
    manifest = folder / "manifest.json"
    written = manifest.read_text()
    manifest.write_text(written.replace('"fair"', '"unfair"', 1))
    assert "error[E0622]" in run("recover", folder).stderr
    manifest.write_text(written[: len(written) // 2])
    assert "error[E0622]" in run("recover", folder).stderr
    manifest.write_text(written)
    moved = path.rename(folder.parent / "elsewhere.fair")
    assert "error[E0621]" in run("recover", folder).stderr
    assert run("recover", folder, "--spec", moved).exit_code == 0
    moved.write_text(moved.read_text().replace("30", "31"))
    assert "error[E0621]" in run("recover", folder, "--spec", moved).stderr


def test_an_earlier_answer_is_kept(spec: Callable[..., Path]) -> None:
    path = spec(0)
    folder = path.parent / "out"
    run("compile", path, "--to", "smtlib", "-o", folder)
    script = folder / "fair.smt2"
    assert "error[E0610]" in run("solve", script, "--resume").stderr
    assert json.loads(run("solve", script, "--json").stdout)["status"] == "unsat"
    assert "error[E0611]" in run("solve", script).stderr
    assert "an earlier run" in run("solve", script, "--resume").stdout
    script.with_name("fair.smt2.answer").write_text("timeout\n")
    assert "unsat by z3" in run("solve", script, "--resume").stdout
    assert run("solve", script, "--shard", "1/2").exit_code == 2


def test_partitions_are_of_solver_files(spec: Callable[..., Path]) -> None:
    path = spec(0)
    assert (
        "error[E0603]"
        in run("compile", path, "--to", "interval-job", "-o", path.parent / "out", "--partition", 5).stderr
    )
    assert run("compile", path, "--to", "smtlib", "-o", path.parent / "out", "--first", 5).exit_code == 2


def test_nobody_to_compare_is_said(spec: Callable[..., Path]) -> None:
    path = spec(1)
    # No integers are half apart, which only a solver notices.
    path.write_text(path.read_text().replace("target age >= 0", "target age = income + 0.5"))
    folder = path.parent / "out"
    run("compile", path, "--to", "smtlib", "-o", folder)
    run("solve", folder / "fair.smt2")
    report = run("recover", folder, "--json")
    assert judged(report) == "holds"
    assert [finding["code"] for finding in json.loads(report.stdout)["diagnostics"]] == ["W0804"]
