"""What builds use: the action's own steps, the hooks, gates, and specs as tests of pytest."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import click
import pytest
from click.shell_completion import ShellComplete

import fairdsl
from fairdsl.cli.app import cli
from fairdsl.cli.gate import Gate
from fairdsl.integrations import pytest_plugin
from fairdsl.integrations.notebook import fair
from fairdsl.report.model import DemandReport, ExitCode, PropertyReport, Report, SpecFile
from fairdsl.verdict import Evidence, Holds, Judgement, Reason, Refused, Unknown, Verdict, Violated

ROOT = Path(__file__).parents[2]
SPEC = """\
domain Applicant {{
  age : integer 18 .. 75
  sex : boolean
}}
protected sex
model approve : Applicant -> {{ reject, grant }}
  score = age - 30 + {weight} * sex
  grant when score > 0
property sex_never_decides {{
  compare a, b : Applicant
  differ  in sex
  require same decision
}}
"""
EVIDENCE = Evidence(backend="smt", method="")
VERDICTS: dict[Judgement, Verdict] = {
    Judgement.HOLDS: Holds(evidence=EVIDENCE),
    Judgement.VIOLATED: Violated(witnesses=(), evidence=EVIDENCE),
    Judgement.REFUSED: Refused(),
    Judgement.UNKNOWN: Unknown(reason=Reason.TIMEOUT, detail="", evidence=EVIDENCE),
}
HELD, BROKEN, OPEN, REFUSED = Judgement.HOLDS, Judgement.VIOLATED, Judgement.UNKNOWN, Judgement.REFUSED


def report(*judgements: Judgement) -> Report:
    demands = tuple(
        DemandReport(text=f"require {number}", metric="same_decision", verdict=VERDICTS[judgement])
        for number, judgement in enumerate(judgements)
    )
    item = PropertyReport(name="p", sentence="", clauses=("differ in sex",), demands=demands)
    return Report(fairdsl="1", spec=SpecFile(path="x.fair"), properties=(item,))


def test_gates_let_through_what_they_say() -> None:
    violated_alone = Gate(unknown=False, written="violated")
    assert [violated_alone.exit_code(report(one)).value for one in (HELD, BROKEN, OPEN)] == [0, 1, 0]
    assert [Gate().exit_code(report(one)).value for one in (HELD, BROKEN, OPEN)] == [0, 1, 3]
    assert violated_alone.said(report(OPEN)) == "exit code 0 in place of 3, by `--fail-on violated`"


@pytest.mark.parametrize(
    ("before", "after", "code"),
    [
        ((BROKEN, HELD), (BROKEN, HELD), ExitCode.HOLDS),
        ((BROKEN, HELD), (BROKEN, BROKEN), ExitCode.VIOLATED),
        ((OPEN,), (BROKEN,), ExitCode.VIOLATED),
        ((BROKEN,), (OPEN,), ExitCode.HOLDS),
        ((HELD,), (OPEN,), ExitCode.UNKNOWN),
        ((HELD,), (HELD, BROKEN), ExitCode.VIOLATED),  # what the baseline does not have is held against nothing
        ((HELD, BROKEN), (HELD,), ExitCode.HOLDS),
        ((HELD, BROKEN), (REFUSED, BROKEN), ExitCode.UNKNOWN),
    ],
)
def test_what_is_worse_than_a_baseline(
    before: tuple[Judgement, ...], after: tuple[Judgement, ...], code: ExitCode
) -> None:
    assert Gate(baseline=report(*before)).exit_code(report(*after)) is code


def test_another_question_is_held_against_nothing() -> None:
    [item] = report(BROKEN).properties
    other = replace(report(BROKEN), properties=(replace(item, clauses=("differ in age",)),))
    assert Gate(baseline=report(BROKEN)).exit_code(other) is ExitCode.VIOLATED
    unasked = replace(report(HELD), properties=(replace(item, clauses=(), demands=report(HELD).properties[0].demands),))
    assert Gate(baseline=report(HELD, BROKEN)).exit_code(unasked) is ExitCode.HOLDS
    [line] = item.demands
    other = replace(report(BROKEN), properties=(replace(item, demands=(replace(line, definition="most(rate(low))"),)),))
    assert Gate(baseline=report(BROKEN)).exit_code(other) is ExitCode.VIOLATED


def test_what_held_and_is_not_asked_any_more_is_unknown_and_named() -> None:
    [item] = report(HELD).properties
    after = replace(report(HELD), properties=(replace(item, name="renamed"),))
    gate = Gate(baseline=report(HELD, BROKEN), written="worse-than=x.json")
    assert gate.exit_code(after) is ExitCode.UNKNOWN
    assert (gate.said(after) or "").splitlines()[1:] == [
        "    not asked any more: p, require 0",
        "    if that is meant: --removed p",
    ]
    for meant in (gate.of_run(["p"], ()), gate.of_run((), ["renamed"]), Gate(baseline=report(BROKEN))):
        assert (meant.exit_code(after), meant.said(after)) == (ExitCode.HOLDS, None)
    with pytest.raises(click.UsageError, match="is about a baseline"):
        Gate().of_run(["p"], ())


def test_what_was_removed_on_purpose_is_not_worse() -> None:
    [item] = report(HELD).properties
    before = replace(report(HELD), properties=(item, replace(item, name="other")))
    for removed, course in (((), "worse"), (["other"], "removed")):
        compared = fairdsl.compare(before, report(HELD), removed=removed)
        assert [each.course.value for each in compared.properties] == ["same", course]
        assert compared.exit_code.value == (not removed)


def test_mistakes_pass_no_gate() -> None:
    from fairdsl.diagnostics import Diagnostic

    wrong = replace(report(HELD), diagnostics=(Diagnostic(code="E0203", title="`x` is not declared"),))
    for gate in (Gate(unknown=False), Gate(baseline=report(HELD))):
        assert gate.exit_code(wrong) is ExitCode.REFUSED


def step(name: str) -> str:
    """The script of the action's step with this id."""
    text = (ROOT / "action.yml").read_text(encoding="utf-8")
    found = re.search(rf"- id: {name}\n.*?run: \|\n(.*?)\n    - ", text, re.DOTALL)
    assert found is not None
    return re.sub(r"^ {8}", "", found[1], flags=re.MULTILINE)


def test_a_shell_completes_a_gate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "baseline.json").touch()
    (tmp_path / "data.csv").touch()
    (tmp_path / "reports").mkdir()
    monkeypatch.chdir(tmp_path)
    complete = ShellComplete(cli, {}, "fairdsl", "_FAIRDSL_COMPLETE")

    def offered(begun: str) -> list[str]:
        return [item.value for item in complete.get_completions(["check", "x.fair", "--fail-on"], begun)]

    assert offered("") == ["violated", "unknown", "worse-than="]
    assert offered("worse-than=") == ["worse-than=baseline.json", "worse-than=reports/"]
    assert offered("worse-than=base") == ["worse-than=baseline.json"]


def test_the_step_of_the_action(tmp_path: Path) -> None:
    """One spec that holds, one that is violated: the worst decides, and each has its reports."""
    for name, weight in (("good", 0), ("bad", 4)):
        (tmp_path / f"{name}.fair").write_text(SPEC.format(weight=weight), encoding="utf-8")
    program = tmp_path / "bin" / "fairdsl"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m fairdsl "$@"\n')
    program.chmod(0o755)
    environment = {
        **os.environ,
        "PATH": f"{program.parent}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "SPECS": "*.fair",
        "TIMEOUT": "60",
        "FAIL_ON": "unknown",
        "ARGUMENTS": "",
        "OUTPUT": "out",
        "GITHUB_STEP_SUMMARY": "summary.md",
        "GITHUB_OUTPUT": "output",
    }
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step("check")]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "output").read_text() == "exit-code=1\n"
    assert "::error file=bad.fair,line=12" in done.stdout
    assert (
        "sex\\_never\\_decides" in (tmp_path / "summary.md").read_text()
        or "`sex_never_decides`" in (tmp_path / "summary.md").read_text()
    )
    assert {path.name for path in (tmp_path / "out" / "sarif").iterdir()} == {"1-bad.sarif", "2-good.sarif"}


def test_every_hook_is_a_command() -> None:
    from fairdsl.cli.app import COMMANDS

    entries = re.findall(r"fairdsl (\w+)", (ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    assert entries
    assert set(entries) <= set(COMMANDS)


def test_specs_are_tests(tmp_path: Path) -> None:
    for name, weight in (("good", 0), ("bad", 4)):
        (tmp_path / f"{name}.fair").write_text(SPEC.format(weight=weight), encoding="utf-8")
    (tmp_path / "broken.fair").write_text("domain", encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-p", pytest_plugin.__name__, "-p", "no:cacheprovider"]
    if find_spec("pytest_lsp") is not None:  # which looks for fixtures of every test
        command += ["-p", "pytest_asyncio", "-p", "pytest_lsp"]
    command += ["--fair", "-q", "--continue-on-collection-errors", "-c", os.devnull, "--rootdir", "."]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert "1 failed, 1 passed, 1 error" in done.stdout, done.stdout
    assert "bad.fair::sex_never_decides - violated: " in done.stdout, done.stdout
    assert "VIOLATED" in done.stdout
    assert "E01" in done.stdout


def test_a_cell_of_a_notebook(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    magics: dict[str, Callable[[str, str], Report | None]] = {}
    shell = SimpleNamespace(
        user_ns={}, register_magic_function=lambda function, kind, name: magics.update({f"{kind}:{name}": function})
    )
    fairdsl.load_ipython_extension(shell)
    shown = magics["cell:fair"]("kept timeout=30", SPEC.format(weight=4))
    assert shown is shell.user_ns["kept"]
    assert shown is not None
    assert "is broken" in shown._repr_html_()
    assert fair("", SPEC.format(weight=4).replace("protected sex", "protected gender"), shell) is None
    assert "E0203" in capsys.readouterr().out
    assert list(tmp_path.iterdir()) == []


def test_what_a_search_found_in_a_notebook(tmp_path: Path) -> None:
    (tmp_path / "x.fair").write_text(SPEC.format(weight=4), encoding="utf-8")
    found = fairdsl.search(tmp_path / "x.fair", count=3)
    assert str(found).startswith("sex_never_decides   require same decision   by approve, seed 0\n")
    assert "sex = false | true: reject | grant" in str(found)
    assert found._repr_html_() == f"<pre>{found}</pre>"


def test_a_comparison_in_a_notebook() -> None:
    compared = fairdsl.compare(report(HELD), report(BROKEN))
    assert "HOLDS -> VIOLATED" in str(compared)
    shown = compared._repr_html_()
    assert shown.startswith("<pre>")
    assert "HOLDS -&gt; VIOLATED" in shown
