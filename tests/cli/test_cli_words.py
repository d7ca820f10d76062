"""``lint``, ``explain``, ``compile`` and ``capabilities``: what they print and where."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result

import fairdsl
from fairdsl.cli.app import cli
from fairdsl.cli.printing import PRINTERS
from fairdsl.diagnostics import CODES, Diagnostic
from fairdsl.ir.binding import Binding, BoundBy, BoundInput, BoundOutcome
from fairdsl.report.explained import (
    Capabilities,
    Capability,
    ExplainedModel,
    ExplainedPopulation,
    ExplainedProperty,
    Explanation,
    PlannedDemand,
    Plans,
)
from fairdsl.solver_files.write import Compiled

ERROR = Diagnostic(code="E0203", title="`sxe` is not declared")
WARNING = Diagnostic(code="W0801", title="`age` is never used")


@pytest.fixture(autouse=True)
def spec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("x.fair", "y.fair"):
        Path(name).write_text("audit\n", encoding="utf-8")


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, arguments)


def answering(monkeypatch: pytest.MonkeyPatch, verb: str, answer: Any) -> None:
    monkeypatch.setattr(fairdsl, verb, lambda *_, **__: answer)


def test_lint_is_silent_about_a_clean_spec(monkeypatch: pytest.MonkeyPatch) -> None:
    answering(monkeypatch, "lint", ())
    result = run("lint", "x.fair", "y.fair")
    assert (result.exit_code, result.output) == (0, "")


def test_lint_reports_each_finding_once(monkeypatch: pytest.MonkeyPatch) -> None:
    answering(monkeypatch, "lint", (ERROR, WARNING))
    result = run("lint", "x.fair", "y.fair")
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.endswith("\n\n1 error, 1 warning\n")
    answering(monkeypatch, "lint", (WARNING,))
    assert run("lint", "x.fair").exit_code == 0


def test_lint_as_json(monkeypatch: pytest.MonkeyPatch) -> None:
    answering(monkeypatch, "lint", (ERROR,))
    result = run("lint", "x.fair", "--json")
    written = json.loads(result.stdout)
    assert (result.exit_code, result.stderr) == (2, "")
    assert (written["schema"], written["specs"]) == ("fairdsl.findings/1", ["x.fair"])
    assert written["diagnostics"][0]["code"] == "E0203"


BINDING = Binding(
    by=BoundBy.ORDER,
    inputs=(
        BoundInput(input="X[0]", feature="sex", values="no = 0, yes = 1", codes=(("no", 0), ("yes", 1))),
        BoundInput(input="X[1]", feature="(age - 40) / 10", values="-2.2 .. 5"),
    ),
    outcomes=(
        BoundOutcome(outcome="reject", when="label 0 of `y`"),
        BoundOutcome(outcome="grant", when="label 1 of `y`"),
    ),
)
FIRST = {"name": "p", "sentence": "Any two individuals.", "formula": "for all a, b"}
SECOND = {"name": "q", "sentence": "Any other two.", "formula": "Pr"}
EXPLANATION = Explanation(
    properties=(
        ExplainedProperty(**FIRST, clauses=("differ in sex", "equal: age")),
        ExplainedProperty(**SECOND, clauses=("under cohort",)),
    ),
    models=(
        ExplainedModel(name="approve", path="a.onnx", binding=BINDING),
        ExplainedModel(name="other", path="b.onnx", problem="not known: no file", recorded="agrees"),
    ),
    diagnostics=(WARNING,),
)


def test_explain_a_spec(monkeypatch: pytest.MonkeyPatch) -> None:
    answering(monkeypatch, "explain", EXPLANATION)
    result = run("explain", "x.fair")
    assert result.exit_code == 0
    assert result.stdout == (
        "p\n"
        "    Any two individuals.\n"
        "    formula    for all a, b\n"
        "    in force   differ in sex\n"
        "               equal: age\n"
        "\n"
        "q\n"
        "    Any other two.\n"
        "    formula    Pr\n"
        "    in force   under cohort\n"
        "\n"
        "approve  a.onnx\n"
        "    inputs     X[0]  sex              no = 0, yes = 1\n"
        "               X[1]  (age - 40) / 10  -2.2 .. 5\n"
        "    outcomes   reject  label 0 of `y`\n"
        "               grant   label 1 of `y`\n"
        "\n"
        "other  b.onnx\n"
        "    inputs     not known: no file\n"
        "    in force   agrees\n"
    )
    assert "warning[W0801]" in result.stderr
    written = json.loads(run("explain", "x.fair", "--json").stdout)
    assert written["properties"][1] == {**SECOND, "clauses": ["under cohort"], "rows": [], "sizes": []}
    assert written["models"][0]["binding"] == {
        "by": "order",
        "inputs": [
            {"input": "X[0]", "feature": "sex", "values": "no = 0, yes = 1", "codes": {"no": 0, "yes": 1}},
            {"input": "X[1]", "feature": "(age - 40) / 10", "values": "-2.2 .. 5", "codes": {}},
        ],
        "outcomes": [
            {"outcome": "reject", "when": "label 0 of `y`"},
            {"outcome": "grant", "when": "label 1 of `y`"},
        ],
    }
    assert written["models"][1] == {
        "name": "other",
        "path": "b.onnx",
        "problem": "not known: no file",
        "recorded": "agrees",
    }


def test_populations_are_explained_where_they_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = ("population people: laws written by hand", "  a line that is written further in")
    shown = Explanation(properties=(), populations=(ExplainedPopulation(name="people", lines=lines),))
    answering(monkeypatch, "explain", shown)
    assert run("explain", "x.fair", "--population").stdout == (
        "people\n    population people: laws written by hand\n      a line that is written further in\n"
    )
    written = json.loads(run("explain", "x.fair", "--population", "--json").stdout)
    assert written["populations"] == [{"name": "people", "lines": list(lines)}]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("x.fair", "--data", "people=a.csv"), "write `--population` or `--error` too"),
        (("x.fair", "--population", "--data", "people"), "names no distribution and file"),
        (("x.fair", "--population", "--data", "a=1", "--data", "a=2"), "the distribution `a` is given twice"),
        (("E0203", "--population"), "is not a spec"),
    ],
)
def test_options_about_populations_that_say_nothing(arguments: tuple[str, ...], said: str) -> None:
    result = run("explain", *arguments)
    assert result.exit_code == 2
    assert said in " ".join(result.stderr.split())


def test_mistakes_in_an_explained_spec_as_json(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_: Any, **__: Any) -> None:
        raise fairdsl.SpecError(ERROR)

    monkeypatch.setattr(fairdsl, "explain", failing)
    result = run("explain", "x.fair", "--json")
    assert result.exit_code == 2
    assert json.loads(result.stdout)["diagnostics"][0]["code"] == "E0203"


def test_explain_a_code() -> None:
    result = run("explain", "e0203")
    assert result.exit_code == 0
    assert "E0203" in result.stdout
    assert json.loads(run("explain", "E0203", "--json").stdout)["meaning"] == CODES["E0203"]
    result = run("explain", "E0299")
    assert result.exit_code == 2
    assert "no diagnostic has the code `E0299`" in result.stderr


def test_explain_a_metric_and_its_aliases() -> None:
    result = run("explain", "demographic_parity_ratio")
    assert result.exit_code == 0
    assert result.stdout.startswith("impact_ratio\n    is         smallest over largest acceptance rate\n")
    assert "also       disparate_impact, demographic_parity_ratio" in result.stdout
    assert json.loads(run("explain", "fair_share", "--json").stdout)["name"] == "fair_share"


def test_explain_something_else() -> None:
    result = run("explain", "fair_shares")
    assert result.exit_code == 2
    assert (
        "`fair_shares` is not a file, an error code, a metric or an option; did you mean `fair_share`?" in result.stderr
    )
    assert "did you mean `preset four_fifths`?" in run("explain", "four_fifths").stderr


def test_compile_lists_what_it_wrote(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = Compiled(
        format="smtlib",
        files=(Path("out/p.smt2"),),
        manifest=Path("out/manifest.json"),
        questions=(),
        diagnostics=(),
        left_out=("`measure x` is not",),
    )
    answering(monkeypatch, "compile", compiled)
    result = run("compile", "x.fair", "--to", "smtlib", "-o", "out")
    assert (result.exit_code, result.stdout) == (0, "out/p.smt2\nout/manifest.json\n")
    assert result.stderr == "`measure x` is not\n"
    answering(monkeypatch, "compile", replace(compiled, diagnostics=(ERROR,)))
    result = run("compile", "x.fair", "--to", "smtlib", "-o", "out")
    assert result.exit_code == 2
    assert "error[E0203]" in result.stderr


def test_compile_needs_a_format_and_a_folder() -> None:
    assert run("compile", "x.fair", "-o", "out").exit_code == 2
    assert run("compile", "x.fair", "--to", "smtlib").exit_code == 2


def test_capabilities(monkeypatch: pytest.MonkeyPatch) -> None:
    row = Capability(
        backend="smt",
        questions=("pair",),
        quantities=("holds", "fair_share"),
        models=("ReLU",),
        formats=(),
    )
    answering(monkeypatch, "capabilities", Capabilities(backends=(row,)))
    assert run("capabilities").stdout == (
        "smt\n    questions   pair\n    quantities  holds, fair_share\n    models      ReLU\n    formats     none\n"
    )
    written = json.loads(run("capabilities", "--json").stdout)
    assert written["backends"][0]["quantities"] == ["holds", "fair_share"]


def test_every_format_but_text_has_a_flag() -> None:
    flags = {f"--{name}" for name, printer in PRINTERS.items() if printer.words is not None}
    assert {name for name in PRINTERS if f"--{name}" not in flags} == {"text"}
    context = click.Context(cli)
    taken = {}
    for name in cli.list_commands(context):
        command = cli.get_command(context, name)
        assert command is not None
        taken[name] = {flag for one in command.params if one.name == "printer" for flag in one.opts}
    assert taken["check"] == flags
    assert all(found in (flags, set()) for found in taken.values()), taken


def test_the_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = PlannedDemand(
        property="p",
        demand="require same decision",
        stages=("search: random pairs", "smt: two copies"),
        reasons=("enumerate: not used, 2^31 points",),
        turn=1,
        cost="proof",
    )
    answering(monkeypatch, "plans", Plans(demands=(plan,)))
    result = run("check", "x.fair", "--explain-plan")
    assert result.exit_code == 0
    assert result.stdout == (
        "p   require same decision\n"
        "    1. search: random pairs\n"
        "    2. smt: two copies\n"
        "    enumerate: not used, 2^31 points\n"
    )
