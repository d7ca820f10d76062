"""Python functions, searched and checked through the API: against asking them about everybody."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import fairdsl
from fairdsl.api.specs import plans
from fairdsl.cli.app import cli
from fairdsl.codec import plain
from fairdsl.report.model import ExitCode, Judgement, Report
from fairdsl.report.text import render
from fairdsl.report.words import rests_on
from fairdsl.verdict import Arithmetic
from tests.search.black_boxes import QUESTIONS, Function, Question, everybody, person, spec, units, violations

SAME = "differ in sex\n require same decision"


def wave(people: Mapping[str, Any]) -> Any:
    """A score with a decision boundary all over the domain."""
    male = people["sex"] == "male"
    return np.sin(2.5 * people["age"]) + 0.3 * people["level"] + np.where(male, 0.35, 0.0) - 0.5 * people["member"]


def outcomes(people: Mapping[str, Any]) -> Any:
    return np.where(wave(people) > 0.4, "yes", "no")


def classes(people: Mapping[str, Any]) -> Any:
    return wave(people) > 0.4


def blind(people: Mapping[str, Any]) -> Any:
    return np.cos(people["age"]) + people["level"]


def by_asking(oldest: int = 15) -> dict[Any, int]:
    """Everybody's decision, one by one."""
    decided = {}
    for one in everybody(oldest):
        cells = {name: np.array([value]) for name, value in zip(("sex", "age", "member", "level"), one, strict=True)}
        decided[one] = int(wave(cells)[0] > 0.4)
    return decided


DECIDED = by_asking()


def verdict(report: Report) -> Any:
    return report.properties[0].demands[0]


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize(
    ("function", "decision"), [(wave, "yes when score > 0.4"), (outcomes, ""), (classes, "yes when class = 1")]
)
def test_a_saturated_search_finds_what_there_is(
    tmp_path: Path, question: Question, function: Function, decision: str
) -> None:
    path = spec(tmp_path, "callable", decision, question.clauses)
    found = fairdsl.search(path, callables={"approve": function}, count=None, timeout=30)
    truth = violations(question, DECIDED)
    pairs = {frozenset({person(row, "a"), person(row, "b")}) for row in found.rows()}
    assert truth
    assert pairs <= truth
    assert found.numeric_gaps == 0
    assert found.count == len(units(question, pairs))
    if question.shared is not None:  # with `relax` pairs are drawn, so not all of them need be met
        assert units(question, pairs) == units(question, truth)
    for row in found.rows():
        assert (row["a.decision"], row["b.decision"]) in {("yes", "no"), ("no", "yes")}


def test_each_strategy_but_gradients(tmp_path: Path) -> None:
    path = spec(tmp_path, "callable", "yes when score > 0.4", SAME)
    for strategy in ("uniform", "zero-order", "climb", "random", "fully-directed", "portfolio"):
        found = fairdsl.search(path, callables={"approve": wave}, count=5, strategy=strategy, timeout=20)
        assert found.count == 5, strategy
    with pytest.raises(fairdsl.SpecError, match="E0637"):
        fairdsl.search(path, callables={"approve": wave}, strategy="gradient")


def test_the_same_seed_finds_the_same_pairs(tmp_path: Path) -> None:
    path = spec(tmp_path, "callable", "yes when score > 0.4", SAME, oldest=10**6)
    one, other = (fairdsl.search(path, callables={"approve": wave}, count=200, seed=3).rows() for _ in range(2))
    assert one == other


@pytest.mark.parametrize(("limit", "judgement"), [("0.3", Judgement.VIOLATED), ("0.4", Judgement.UNKNOWN)])
def test_gaps_of_scores_are_the_functions_own(tmp_path: Path, limit: str, judgement: Judgement) -> None:
    clauses = f"differ in sex\n require abs(score(a) - score(b)) <= {limit}"
    path = spec(tmp_path, "callable", "yes when score > 0.4", clauses)
    found = fairdsl.search(path, callables={"approve": wave}, count=None, timeout=10)
    assert found.count == (16 * 2 * 4 if judgement is Judgement.VIOLATED else 0)
    assert verdict(fairdsl.check(path, callables={"approve": wave}, timeout=5)).judgement is judgement


def test_a_gap_needs_a_score(tmp_path: Path) -> None:
    clauses = "differ in sex\n require abs(score(a) - score(b)) <= 0.3"
    demand = verdict(fairdsl.check(spec(tmp_path, "callable", "", clauses), callables={"approve": outcomes}))
    assert (demand.judgement, demand.refusals[0].code) == (Judgement.REFUSED, "E0551")


def test_a_violation_is_one_and_comes_with_the_pair(tmp_path: Path) -> None:
    report = fairdsl.check(spec(tmp_path, "callable", "yes when score > 0.4", SAME), callables={"approve": wave})
    demand = verdict(report)
    assert (demand.judgement, demand.backend, demand.arithmetic) == (Judgement.VIOLATED, "search", Arithmetic.ANSWERS)
    assert "decided by the Python function itself" in demand.notes[-1]
    witness = demand.witnesses[0]
    a, b = (tuple(cells[name] for name in ("sex", "age", "member", "level")) for cells in (witness.a, witness.b))
    assert frozenset({a, b}) in violations(QUESTIONS[0], DECIDED)
    assert float(witness.replay.scores_a[0]) == float(wave({name: np.array([v]) for name, v in witness.a.items()})[0])
    assert report.exit_code is ExitCode.VIOLATED
    assert (report.models[0].path, report.models[0].sha256) == (None, None)
    assert "a Python function" in render(report)
    assert "put to the original model again" in " ".join(render(report).split())
    assert plain(report)["properties"][0]["demands"][0]["verdict"]["evidence"]["basis"]["arithmetic"] == "answers"


@pytest.mark.parametrize("oldest", [15, 10**9])
def test_nothing_is_proved_of_a_function(tmp_path: Path, oldest: int) -> None:
    """Not even by asking about everybody; and the whole time is for the search, where nobody could."""
    path = spec(tmp_path, "callable", "yes when score > 0.4", SAME, oldest=oldest)
    demand = verdict(fairdsl.check(path, callables={"approve": blind}, timeout=0.6))
    assert (demand.judgement, demand.reason.value) == (Judgement.UNKNOWN, "incomplete")
    assert "no backend can prove" in demand.detail
    found = fairdsl.search(path, callables={"approve": blind}, timeout=0.4)
    assert found.count == 0


def test_plans_and_refusals_give_the_reason(tmp_path: Path) -> None:
    path = spec(tmp_path, "callable", "yes when score > 0.4", SAME)
    for backend in ("enumerate", "smt", "intervals", "rates"):
        demand = verdict(fairdsl.check(path, callables={"approve": wave}, backend=backend))
        assert (demand.judgement, demand.refusals[0].code) == (Judgement.REFUSED, "E0602")
        assert "Python function" in str(demand.refusals[0])
    shares = spec(tmp_path, "callable", "yes when score > 0.4", "differ in sex\n measure fair_share")
    demand = verdict(fairdsl.check(shares, callables={"approve": wave}))
    # Nobody counts it, and the pairs that a search finds leave so much of it.
    assert (demand.judgement, demand.backend, demand.value.low) == (Judgement.UNKNOWN, "search", 0)
    assert demand.value.high == 1 - Fraction(len(demand.witnesses), demand.shares.total)


def test_an_estimate_of_a_share(tmp_path: Path) -> None:
    clauses = "differ in sex\n measure fair_share within 2% with confidence 99%"
    path = spec(tmp_path, "callable", "yes when score > 0.4", clauses)
    demand = verdict(fairdsl.check(path, callables={"approve": wave}))
    fair = 1 - len(violations(QUESTIONS[0], DECIDED)) / (16 * 2 * 4)
    assert demand.backend == "sampling"
    assert float(demand.value.low) <= fair <= float(demand.value.high)
    # A function has no exact arithmetic in which its pairs could be replayed.
    assert demand.witnesses
    assert "every pair put to the original model again, each individual alone" in rests_on(demand)
    assert "exact arithmetic" not in rests_on(demand)


def test_outcomes_without_scores_have_no_line_for_scores(tmp_path: Path) -> None:
    path = spec(tmp_path, "callable", "", SAME)
    shown = render(fairdsl.check(path, callables={"approve": outcomes}))
    assert "decision" in shown
    assert not [line for line in shown.splitlines() if line.split()[:1] == ["score"]]


def test_answers_that_change_with_the_batch_do_not_count(tmp_path: Path) -> None:
    """Whoever is decided otherwise when asked again is not a find: it is a gap."""

    def crowded(people: Mapping[str, Any]) -> Any:
        level = blind(people)
        return level + (people["sex"] == "male") * 3.0 * (len(level) > 100)

    path = spec(tmp_path, "callable", "yes when score > 2", SAME, oldest=10**6)
    found = fairdsl.search(path, callables={"approve": crowded}, count=20, timeout=0.5)
    assert found.count == 0
    assert found.numeric_gaps > 0
    demand = verdict(fairdsl.check(path, callables={"approve": crowded}, timeout=0.5))
    assert demand.judgement is Judgement.UNKNOWN


def test_a_failure_in_the_middle_of_a_search(tmp_path: Path) -> None:
    def old(people: Mapping[str, Any]) -> Any:
        if (people["age"] == 14).any() and len(people["age"]) > 100:
            raise RuntimeError("nobody is fourteen")
        return wave(people)

    path = spec(tmp_path, "callable", "yes when score > 0.4", SAME, oldest=60)
    with pytest.raises(fairdsl.SpecError, match="E0517") as caught:
        fairdsl.search(path, callables={"approve": old}, count=None)
    assert "nobody is fourteen" in caught.value.diagnostics[0].notes[0]
    assert "a dictionary of columns" in caught.value.diagnostics[0].notes[1]
    assert "nobody is fourteen" in str(caught.value), "what Python prints says what went wrong, too"
    assert isinstance(caught.value.__cause__, RuntimeError)


def test_a_function_in_place_of_a_file(tmp_path: Path) -> None:
    """Of a file that is not there, and that only a pin binds."""
    path = spec(tmp_path, '"approve.onnx"', "yes when score > 0.4", SAME)
    assert fairdsl.search(path, callables={"approve": wave}, count=3).count == 3
    rules = spec(tmp_path, 'rules "approve.json"', "", SAME)
    assert fairdsl.search(rules, callables={"approve": outcomes}, count=3).count == 3
    pinned = spec(tmp_path, f'"approve.onnx" sha256 "{"0" * 64}"', "yes when score > 0.4", SAME)
    with pytest.raises(fairdsl.SpecError, match="E0550"):
        fairdsl.search(pinned, callables={"approve": wave})
    with pytest.raises(fairdsl.SpecError, match="E0550"):
        fairdsl.search(path, callables={"aprove": wave})


def test_what_the_api_refuses(tmp_path: Path) -> None:
    path = spec(tmp_path, "callable", "yes when score > 0.4", SAME)
    with pytest.raises(TypeError):
        fairdsl.check(path, callables={"approve": "wave"})  # type: ignore[dict-item]
    with pytest.raises(ValueError, match="both"):
        fairdsl.check(path, callables={"approve": wave}, models={"approve": "approve.onnx"})
    with pytest.raises(fairdsl.SpecError, match="E0516"):
        plans(path)


def test_a_file_for_a_model_that_is_a_function(tmp_path: Path) -> None:
    """One finding, which says where the function goes; not that none was given, too."""
    path = spec(tmp_path, "callable", "yes when score > 0.4", SAME)
    with pytest.raises(fairdsl.SpecError) as caught:
        fairdsl.check(path, models={"approve": "approve.onnx"})
    (found,) = caught.value.diagnostics
    assert found.code == "E0550"
    assert found.help is not None
    assert "`callables={'approve': ...}`" in found.help
    assert '`from "file.onnx"`' in found.help


def test_lint_opens_models_only_where_it_is_asked_to(tmp_path: Path) -> None:
    path = spec(tmp_path, "callable", "yes when score > 0.4", SAME)
    assert not fairdsl.lint(path)
    assert [finding.code for finding in fairdsl.lint(path, files=True)] == ["E0516"]
    assert not fairdsl.lint(path, files=True, callables={"approve": wave})


@pytest.mark.parametrize("command", [["check"], ["search"], ["lint", "--files"], ["prune", "-o", "x.onnx"]])
def test_the_command_line_sends_to_python(tmp_path: Path, command: list[str]) -> None:
    path = spec(tmp_path, "callable", "yes when score > 0.4", SAME)
    result = CliRunner().invoke(cli, [*command, str(path)])
    assert result.exit_code == 2
    assert "E0516" in result.output
    assert "callables={" in result.output


@pytest.mark.parametrize(
    ("clauses", "code"),
    [
        ('from "approve.onnx"\n  yes when score > 0', "E0412"),
        ("score = age\n  yes when score > 0", "E0412"),
        ("first yes when age > 3\n  otherwise no", "E0214"),
    ],
)
def test_a_model_comes_from_one_place(tmp_path: Path, clauses: str, code: str) -> None:
    path = spec(tmp_path, "callable", clauses, SAME)
    assert [finding.code for finding in fairdsl.lint(path)] == [code]


def test_a_score_on_the_threshold_in_the_answers_own_type(tmp_path: Path) -> None:
    """As float32, 0.1 is not above 0.1; as a fraction it is."""

    def tenths(people: Mapping[str, Any]) -> Any:
        return np.where(people["sex"] == "male", 0.2, 0.1).astype(np.float32)

    path = spec(tmp_path, "callable", "yes when score > 0.1", SAME)
    assert fairdsl.search(path, callables={"approve": tenths}, count=None).count == 16 * 2 * 4
    assert verdict(fairdsl.check(path, callables={"approve": tenths})).judgement is Judgement.VIOLATED
