"""``compile``, ``solve`` and ``recover`` on solver files: two solvers' answers come to what ``check`` says."""

from __future__ import annotations

import csv
import json
import re
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
  among age >= {least}
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
    return json.loads(result.stdout)["properties"][0]["demands"][0]["judgement"]


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


def test_a_file_of_a_partition_says_what_it_proves(spec: Callable[..., Path]) -> None:
    path = spec(0)
    options = ("--partition", 5, "--seed", 1)
    for form, proved in (("smtlib", "unsat: the property holds"), ("vnnlib", "unsat proves that no pair")):
        folder = path.parent / form
        run("compile", path, "--to", form, "-o", folder, *options, "--first", 3)
        (question,) = json.loads((folder / "manifest.json").read_text())["questions"]
        assert "in each of all 8 partitions; here are the files of 3 of them" in question["verdict"]["holds"]
        for part in question["parts"]:
            values = "; ".join(f"{name} {value}" for name, value in part["box"].items())
            for name in [name for alternative in part["settled_by"] for name in alternative]:
                text = (folder / name).read_text()
                assert f"; the partition: {values}\n" in text
                assert re.search(f"{proved} (on this partition alone|in this partition)", text)
        run("compile", path, "--to", form, "-o", folder, *options)
        (question,) = json.loads((folder / "manifest.json").read_text())["questions"]
        assert question["verdict"]["holds"].endswith("in each of all 8 partitions")
        run("compile", path, "--to", form, "-o", folder)
        (question,) = json.loads((folder / "manifest.json").read_text())["questions"]
        assert "partition" not in question["verdict"]["holds"]
        assert not any("partition" in file.read_text() for file in folder.glob(f"*.{form[:3]}*"))


def test_reasons_are_counted_and_advise_nothing_that_recover_has_not(spec: Callable[..., Path]) -> None:
    path = spec(0)
    folder = path.parent / "out"
    run("compile", path, "--to", "smtlib", "-o", folder, "--partition", 5)
    said = ["unknown (TIMEOUT)", "timeout", "unknown (TIMEOUT)", "what?", "unknown (MEMOUT)", "unsat", "unknown"]
    for script, output in zip(sorted(folder.glob("*.smt2")), said, strict=False):
        script.with_name(f"{script.name}.out").write_text(output)
    report = run("recover", folder)
    assert report.exit_code == 3
    lines = " ".join(report.stdout.split())
    for line in (
        "unknown because solvers need more time: 3",
        "unknown because a solver's answer was not understood: 1",
        "unknown because solvers need more memory: 1",
        "unknown because their files have no answer, or one that decides nothing: 2",
    ):
        assert line in lines
    (demand, *_) = json.loads(run("recover", folder, "--json").stdout)["properties"][0]["demands"]
    counts = demand["verdict"]["evidence"]["coverage"]
    assert counts["reasons"] == {"timeout": 3, "incomplete": 2, "malformed": 1, "memory_out": 1}
    for script in folder.glob("*.smt2"):
        script.with_name(f"{script.name}.out").write_text("unknown (TIMEOUT)")
    printed = run("recover", folder).stdout
    assert "the solver's time ran out" in printed
    assert "--timeout" not in printed
    assert "--query-timeout" not in printed


def test_the_manifest_is_nothing_to_solve(spec: Callable[..., Path]) -> None:
    path = spec(0)
    for form, help_ in (("smtlib", "fair.smt2"), ("vnnlib", "fair.vnnlib")):
        folder = path.parent / form
        run("compile", path, "--to", form, "-o", folder)
        refused = run("solve", folder / "manifest.json")
        assert refused.exit_code == 2
        assert "error[E0607]" in refused.stderr
        assert help_ in " ".join(refused.stderr.split())


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
    # Of a point beside it the pair is found as well; without a point there is nothing to replay.
    for said, judgement in (("", "holds"), (values.format("9.0"), "violated"), (values.format("10.6"), "violated")):
        point.write_text(f"sat\n({said})\n")
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
    assert json.loads(run("solve", script, "--json").stdout)["found"]["status"] == "unsat"
    assert "error[E0611]" in run("solve", script).stderr
    assert "an earlier run" in run("solve", script, "--resume").stdout
    script.with_name("fair.smt2.answer").write_text("timeout\n")
    assert "   unsat\n    solved by  z3" in run("solve", script, "--resume").stdout
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
    path.write_text(path.read_text().replace("among age >= 0", "among age = income + 0.5"))
    folder = path.parent / "out"
    run("compile", path, "--to", "smtlib", "-o", folder)
    run("solve", folder / "fair.smt2")
    report = run("recover", folder, "--json")
    assert judged(report) == "vacuous"
    assert [finding["code"] for finding in json.loads(report.stdout)["diagnostics"]] == ["W0804"]
