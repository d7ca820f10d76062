"""Solvers of others beside a verdict: who agrees is named, who contradicts leaves a bundle, who is silent is said."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

import fairdsl
from fairdsl.cli.app import cli
from fairdsl.report.model import ExitCode, Report
from fairdsl.report.opinion import Opinion, Stand
from fairdsl.second_opinions import solvers_of

SPEC = """fair 1

domain Person {
  age : integer 0 .. 9
  sex : category { female = 0, male = 1 }
}

protected sex

model m : Person -> { no, yes }
  score = age + 2 * (sex = male) - 5
  yes when score > 0
  favourable yes

distribution people over Person
  age : uniform(0, 9)
  sex : table { female : 0.25, male : 0.75 }

property differs {
  compare a, b : Person
  differ in sex
  require same decision
}

property old_ones {
  compare a, b : Person
  differ in sex
  among age >= 6
  require same decision
}

property rates {
  across sex
  under people
  measure parity_gap
}
"""


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    path = tmp_path / "s.fair"
    path.write_text(SPEC, encoding="utf-8")
    return path


def program(folder: Path, name: str, code: str) -> str:
    """A solver of ours: a script that has its arguments in ``sys.argv``."""
    path = folder / name
    path.write_text(f"#!{sys.executable}\nimport sys\n{code}\n", encoding="utf-8")
    path.chmod(0o755)
    return str(path)


def opinion(report: Report, property_: str, solver: str) -> Opinion:
    item = next(item for item in report.properties if item.name == property_)
    return next(one for one in item.demands[0].opinions if one.solver == solver)


def check(spec: Path, *also: str, **more: object) -> Report:
    return fairdsl.check(spec, also=also, bundles=spec.parent / "bundles", timeout=40, **more)  # type: ignore[arg-type]


def test_cvc5_agrees_and_is_named_in_the_evidence(spec: Path) -> None:
    pytest.importorskip("cvc5")
    report = check(spec, "cvc5")
    found = opinion(report, "differs", "cvc5")
    assert (found.stand, found.files) == (Stand.AGREES, ("differs.smt2",))
    assert found.said == "finds a violation, too, which replays"
    assert opinion(report, "old_ones", "cvc5").said == "proves it, too"
    assert any(note.startswith("cvc5 ") for note in report.properties[1].demands[0].notes)
    assert opinion(report, "rates", "cvc5").stand is Stand.UNSUITED
    assert report.exit_code is ExitCode.VIOLATED
    assert Report.from_json(report.to_json()) == report
    assert report.asked is not None
    assert "--also cvc5" in report.asked.command("s.fair", 0)


def test_who_says_unsat_where_somebody_was_found_contradicts(spec: Path) -> None:
    liar = program(spec.parent, "liar", "print('unsat')")
    report = check(spec, f"liar={liar} {{file}}", properties=["differs", "old_ones"])
    found = opinion(report, "differs", "liar")
    assert found.stand is Stand.CONTRADICTS
    assert report.exit_code is ExitCode.CONTRADICTED
    # The verdict itself stands, with its pair.
    plain = fairdsl.check(spec, properties=["differs"], timeout=40).properties[0].demands[0]
    assert report.properties[0].demands[0].verdict == plain.verdict
    assert opinion(report, "old_ones", "liar").stand is Stand.AGREES
    bundle = Path(found.bundle or "")
    assert (bundle / "files" / "differs.smt2").read_text().startswith(";") or (bundle / "files").is_dir()
    assert (bundle / "outputs" / "differs.smt2.out").read_text() == "unsat\n"
    assert (bundle / "inputs" / "s.fair").read_text() == SPEC
    assert "fairdsl " in (bundle / "versions.txt").read_text()
    again = Report.from_json((bundle / "report.json").read_text())
    assert again.exit_code is ExitCode.CONTRADICTED
    # The solver's own command runs as it stands in the script.
    line = next(line for line in (bundle / "reproduce.sh").read_text().splitlines() if line.startswith("(cd files"))
    done = subprocess.run(line, shell=True, cwd=bundle, capture_output=True, text=True, check=True)
    assert done.stdout == "unsat\n"
    # A second run finds another place.
    assert opinion(check(spec, f"liar={liar} {{file}}"), "differs", "liar").bundle == f"{bundle}-2"


def test_sat_against_a_proof_contradicts_whether_its_pair_replays_or_not(spec: Path) -> None:
    yes = program(spec.parent, "yes", "print('sat')")
    report = check(spec, f"yes={yes} {{file}}", properties=["differs", "old_ones"])
    assert opinion(report, "old_ones", "yes").stand is Stand.CONTRADICTS
    # Without values there is nothing to replay, so it agrees with nothing either.
    assert opinion(report, "differs", "yes").stand is Stand.OPEN


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("sys.exit(3)", "code 3"),
        ("import time; time.sleep(60)", "timeout"),
        ("print('perhaps')", "neither sat, unsat nor unknown"),
        ("print('x' * (1 << 27))", "verdict"),
    ],
)
def test_a_solver_that_comes_to_nothing_is_said(spec: Path, code: str, said: str) -> None:
    broken = program(spec.parent, "broken", code)
    report = fairdsl.check(spec, also=[f"broken={broken} {{file}}"], timeout=3, properties=["old_ones"])
    found = opinion(report, "old_ones", "broken")
    assert found.stand is Stand.OPEN
    assert said in found.said
    assert report.exit_code is ExitCode.HOLDS


def test_a_solver_that_is_missing_is_no_mistake(spec: Path) -> None:
    report = check(spec, "nowhere=no-such-program {file}", "cvc5=/no/such/cvc5")
    assert opinion(report, "differs", "nowhere").said == "not asked: there is no program `no-such-program`"
    assert opinion(report, "rates", "cvc5").stand is Stand.MISSING
    assert report.exit_code is ExitCode.VIOLATED


def test_verifiers_of_networks_are_given_file_and_network(spec: Path) -> None:
    fake = program(
        spec.parent,
        "verifier",
        "import os\nnetwork, file, seconds = sys.argv[1:]\nassert int(seconds) >= 1\n"
        "assert os.path.basename(network) in open(file).read() and os.path.exists(network)\nprint('unsat')",
    )
    found = check(spec, f"v={fake} {{network}} {{file}} {{seconds}}", properties=["differs", "old_ones"])
    assert opinion(found, "old_ones", "v").said == "proves it, too"
    assert opinion(found, "differs", "v").stand is Stand.CONTRADICTS
    files = opinion(found, "differs", "v").files
    assert files
    assert all(name.endswith(".vnnlib") and ".case" in name for name in files)


def test_marabou_is_not_asked_where_every_input_is_a_constant(spec: Path) -> None:
    """A fake one says unsat to everything, and is told to leave this one alone."""
    fake = program(spec.parent, "Marabou", "print('unsat')")
    text = SPEC.replace("among age >= 6", "among age = 4")
    spec.write_text(text, encoding="utf-8")
    found = opinion(check(spec, f"marabou={fake}", properties=["old_ones"]), "old_ones", "marabou")
    assert found.said.startswith("finds a violation, too")
    assert "every input is a constant" in found.said


def test_counts_agree_or_contradict(spec: Path) -> None:
    """A counter that has the embedded solver answer agrees; one that says a half of everything does not."""
    right = program(
        spec.parent,
        "right",
        f"sys.path[:0] = {sys.path!r}\nimport fairdsl\nprint(fairdsl.solve(sys.argv[1]).to_json())",
    )
    half, silent = program(spec.parent, "half", "print('0.5')"), program(spec.parent, "silent", "print('none')")
    texts = [f"{name}:sdimacs={path} {{file}}" for name, path in (("right", right), ("half", half), ("silent", silent))]
    report = check(spec, *texts, properties=["rates"])
    assert opinion(report, "rates", "right").said in ("comes to the same number", "comes to the same numbers")
    assert opinion(report, "rates", "half").stand is Stand.CONTRADICTS
    assert opinion(report, "rates", "silent").stand is Stand.OPEN
    assert "no number for 1 of 1 files" in opinion(report, "rates", "silent").said


def test_the_command_prints_them_and_ends_with_its_own_code(spec: Path) -> None:
    liar = program(spec.parent, "liar", "print('unsat')")
    words = ["check", str(spec), "--also", f"liar={liar} {{file}}", "--bundles", str(spec.parent / "b")]
    done = CliRunner().invoke(cli, words)
    assert done.exit_code == 4
    assert "against    liar: it says unsat" in done.stdout
    assert (spec.parent / "b" / "differs-1-liar" / "reproduce.sh").is_file()
    as_json = CliRunner().invoke(cli, [*words, "--json"])
    demand = json.loads(as_json.stdout)["properties"][0]["demands"][0]
    assert demand["judgement"] == "violated"
    assert demand["opinions"][0]["stand"] == "contradicts"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("nobody", "not a solver that is known"),
        ("x=prog", "not a solver that is known"),
        ("x=prog {place}", "has no `{file}`|means nothing"),
        ("x=prog {file} {place}", "means nothing"),
        ("x:latex=prog {file}", "not a solver"),
        ("x='prog {file}", "cannot be read"),
        ("cvc5,cvc5", "named twice"),
        (",", "no solver is named"),
    ],
)
def test_what_names_no_solver(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        solvers_of([text])


def test_a_template_is_a_command_line_without_a_shell(tmp_path: Path) -> None:
    echo = program(tmp_path, "echo", "print(sys.argv[1:])")
    (one,) = solvers_of([f"e={shlex.quote(echo)} --x='a b' {{file}};ls"])
    from fairdsl.second_opinions.solvers import Question

    assert one.command is not None
    assert one.command(Question(tmp_path / "q.smt2", None, 1.5)) == [echo, "--x=a b", f"{tmp_path / 'q.smt2'};ls"]
