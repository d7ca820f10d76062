"""``fairdsl check``: options reach the API, reports reach the streams, exit codes reach the shell."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result

import fairdsl
from fairdsl.cli.app import COMMANDS, cli
from fairdsl.diagnostics import Diagnostic, DiagnosticError
from fairdsl.ir.enclosure import Enclosure
from fairdsl.options import Run, declared
from fairdsl.plan.registry import sections
from fairdsl.report.model import DemandReport, PropertyReport, Report, SpecFile
from fairdsl.verdict import Evidence, Holds, Judgement, Reason, Refused, Unknown, Value, Violated

EVIDENCE = Evidence(backend="enumerate", method="all")
VERDICTS = {
    Judgement.HOLDS: Holds(evidence=EVIDENCE),
    Judgement.VIOLATED: Violated(witnesses=(), evidence=EVIDENCE),
    Judgement.UNKNOWN: Unknown(reason=Reason.TIMEOUT, detail="late", evidence=EVIDENCE),
    Judgement.REFUSED: Refused(),
    Judgement.MEASURED: Value(number=Enclosure(low=Fraction(1, 2), high=Fraction(1, 2)), evidence=EVIDENCE),
}


def demand(judgement: Judgement) -> DemandReport:
    return DemandReport(text="measure fair_share", metric="fair_share", verdict=VERDICTS[judgement])


def report(*judgements: Judgement) -> Report:
    properties = tuple(
        PropertyReport(name=f"p{n}", sentence="", clauses=("differ in sex",), demands=(demand(judgement),))
        for n, judgement in enumerate(judgements)
    )
    return Report(fairdsl="0.1.0", spec=SpecFile(path="x.fair", sha256="ab" * 32), properties=properties)


class Api:
    """Stands in for ``fairdsl.check``: remembers how it was called."""

    def __init__(self, answer: Report | BaseException) -> None:
        self.answer = answer
        self.asked: dict[str, Any] = {}

    def __call__(self, spec: str, **options: Any) -> Report:
        self.asked = {"spec": spec, **options}
        options["observer"].progress("p0", None, "looking")
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.answer


@pytest.fixture
def spec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    Path("x.fair").write_text("audit\n", encoding="utf-8")
    return "x.fair"


def run(monkeypatch: pytest.MonkeyPatch, answer: Report | BaseException, *arguments: str) -> tuple[Result, Api]:
    api = Api(answer)
    monkeypatch.setattr(fairdsl, "check", api)
    return CliRunner().invoke(cli, ["check", *arguments]), api


@pytest.mark.parametrize(
    ("judgements", "code"),
    [
        ((), 0),
        ((Judgement.HOLDS, Judgement.MEASURED), 0),
        ((Judgement.VIOLATED, Judgement.REFUSED, Judgement.UNKNOWN), 1),
        ((Judgement.HOLDS, Judgement.REFUSED, Judgement.UNKNOWN), 2),
        ((Judgement.HOLDS, Judgement.UNKNOWN), 3),
    ],
)
def test_exit_codes(monkeypatch: pytest.MonkeyPatch, spec: str, judgements: tuple[Judgement, ...], code: int) -> None:
    result, _ = run(monkeypatch, report(*judgements), spec)
    assert result.exit_code == code
    assert f"exit code {code}:" in result.stdout
    assert result.stderr == ""


def test_options_reach_the_api(monkeypatch: pytest.MonkeyPatch, spec: str) -> None:
    _, api = run(
        monkeypatch, report(), spec, "--timeout", "5", "--seed", "7", "--jobs", "2", "--backend", "smt",
        "--memory", "1.5GiB", "--cross-check", "--effort", "9",
        "--property", "p", "--property", "q", "--model", "m=a.onnx", "--model", "n=b=c.onnx",
        "--data", "people=new.csv", "--let", "limit=75%",
        "--partition", "10", "--set", "partition.first=3", "--set", "smt.trust_milp=yes", "--set", "ssat.solver=a=b",
    )  # fmt: skip
    del api.asked["observer"], api.asked["listener"]
    assert api.asked == {
        "spec": spec,
        "timeout": 5.0,
        "effort": 9,
        "seed": 7,
        "jobs": 2,
        "memory": 3 << 29,
        "backend": "smt",
        "properties": ("p", "q"),
        "models": {"m": "a.onnx", "n": "b=c.onnx"},
        "let": {"limit": "75%"},
        "data": {"people": "new.csv"},
        "options": {
            "partition": {"size": "10", "first": "3"},
            "smt": {"trust_milp": "yes"},
            "ssat": {"solver": "a=b"},
        },
        "cross_check": True,
        "also": (),
        "bundles": "contradictions",
    }


def test_defaults(monkeypatch: pytest.MonkeyPatch, spec: str) -> None:
    _, api = run(monkeypatch, report(), spec)
    assert (api.asked["timeout"], api.asked["seed"], api.asked["jobs"]) == (None, 0, None)
    assert (api.asked["backend"], api.asked["properties"], api.asked["models"]) == (None, (), {})
    assert (api.asked["memory"], api.asked["options"]) == (2 << 30, {})


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--model", "m"), "write --model NAME=PATH"),
        (("--model", "m=a", "--model", "m=b"), "the model `m` is given twice"),
        (("--data", "people.csv"), "write --data NAME=PATH"),
        (("--data", "d=a", "--data", "d=b"), "the distribution `d` is given twice"),
        (("--timeout", "0"), "0"),
        (("--timeout", "nan"), "nan"),
        (("--timeout", "inf"), "inf"),
        (("--jobs", "0"), "0"),
        (("--memory", "plenty"), "write for example `2GiB`"),
        (("--memory", "2GiBB"), "write for example `2GiB`"),
        (("--memory", "1MB"), "at least 64MiB"),
        (("--nonsense",), "No such option"),
        (("--trust-milp",), "write `--set smt.trust_milp=yes|no`"),
        (("--ssat-solver", "pysdd"), "write `--set ssat.solver="),
    ],
)
def test_usage_errors(monkeypatch: pytest.MonkeyPatch, spec: str, arguments: tuple[str, ...], words: str) -> None:
    result, api = run(monkeypatch, report(), spec, *arguments)
    assert result.exit_code == 2
    assert words in result.stderr
    assert not api.asked


def test_a_missing_spec_is_a_usage_error(monkeypatch: pytest.MonkeyPatch) -> None:
    result, _ = run(monkeypatch, report(), "nowhere.fair")
    assert result.exit_code == 2
    assert "nowhere.fair" in result.stderr


def test_json_is_one_object_on_standard_output(monkeypatch: pytest.MonkeyPatch, spec: str) -> None:
    result, _ = run(monkeypatch, report(Judgement.HOLDS), spec, "--json")
    assert json.loads(result.stdout)["properties"][0]["judgement"] == "holds"
    assert result.stderr == ""


def test_errors_of_the_spec(monkeypatch: pytest.MonkeyPatch, spec: str) -> None:
    error = DiagnosticError(Diagnostic(code="E0203", title="`sxe` is not declared"))
    result, _ = run(monkeypatch, error, spec)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert "error[E0203]: `sxe` is not declared" in result.stderr
    assert result.stderr.endswith("\n\n1 error\n")
    result, _ = run(monkeypatch, error, spec, "--json", "--seed", "3")
    written = json.loads(result.stdout)
    assert (result.exit_code, result.stderr) == (2, "")
    assert (written["properties"], written["seed"]) == ([], 3)
    assert [finding["code"] for finding in written["diagnostics"]] == ["E0203"]
    assert len(written["spec"]["sha256"]) == 64


def test_warnings_stand_beside_the_report(monkeypatch: pytest.MonkeyPatch, spec: str) -> None:
    warned = replace(report(Judgement.HOLDS), diagnostics=(Diagnostic(code="W0801", title="unused"),))
    result, _ = run(monkeypatch, warned, spec)
    assert result.exit_code == 0
    assert "warning[W0801]" in result.stderr
    assert "warning" not in result.stdout


def test_an_interruption_says_where_it_was(monkeypatch: pytest.MonkeyPatch, spec: str) -> None:
    result, _ = run(monkeypatch, KeyboardInterrupt(), spec)
    assert result.exit_code == 130
    assert result.stderr == "interrupted during p0 (looking); no verdict is reported\n"
    assert result.stdout == ""


def test_no_progress_bar_where_nobody_watches(monkeypatch: pytest.MonkeyPatch, spec: str) -> None:
    import fairdsl.cli.progress as progress

    monkeypatch.setattr(progress, "_PATIENCE", 0.0)
    result, _ = run(monkeypatch, report(), spec)
    assert result.stderr == ""


@pytest.mark.parametrize("command", [*COMMANDS, ""])
def test_the_everyday_help_fits_one_screen(command: str) -> None:
    # Of 100 columns click leaves two free.
    shown = CliRunner().invoke(cli, [*command.split(), "--help"], terminal_width=98).stdout
    assert len(shown.splitlines()) <= 24
    assert max(map(len, shown.splitlines())) <= 100


def test_the_help_names_every_command_and_all_of_it_describes_each() -> None:
    shown = CliRunner().invoke(cli, ["--help"], terminal_width=80).stdout
    assert len(shown.splitlines()) <= 24
    assert set(COMMANDS) <= set(re.findall(r"\w+", shown))
    every = CliRunner().invoke(cli, ["--help", "--all"], terminal_width=100).stdout
    for name in COMMANDS:
        command = cli.get_command(click.Context(cli), name)
        assert command is not None
        assert re.search(rf"^  {name} +{re.escape(command.get_short_help_str(50)[:-3])}", every, re.MULTILINE), name
    assert "--memory-limit" in every
    assert "--memory-limit" not in CliRunner().invoke(cli, ["--help"]).stdout


def test_all_options_are_listed_on_demand() -> None:
    every = {each.path for section in sections().values() for each in declared(section)}
    help_text = CliRunner().invoke(cli, ["check", "--help", "--all"]).stdout
    explained = CliRunner().invoke(cli, ["explain", "options"]).stdout
    assert all(f"  {path}=" in help_text and f"  {path}=" in explained for path in every)
    assert all(str(each.flag) in help_text and str(each.flag) in explained for each in declared(Run))
