"""Files that are only run, searched and checked from the spec's text: against onnxruntime on the whole domain."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from click.testing import CliRunner
from onnx import TensorProto, helper, numpy_helper

import fairdsl
from fairdsl.cli.app import cli
from fairdsl.report.model import ExitCode, Judgement
from fairdsl.verdict import Arithmetic
from tests.search.black_boxes import QUESTIONS, Person, Question, everybody, person, spec, units, violations

SAME = "differ in sex\n require same decision"
SCORE = "yes when score > 0.4"


def saved(folder: Path, *, weight: float = 0.35, operator: str = "Sin") -> Path:
    """A wave over the age, less or more by the other attributes; sex (0, 1) moves it by the weight."""
    value = helper.make_tensor_value_info
    nodes = [
        helper.make_node("MatMul", ["x", "ages"], ["age"]),
        helper.make_node(operator, ["age"], ["wave"]),
        helper.make_node("MatMul", ["x", "others"], ["shift"]),
        helper.make_node("Add", ["wave", "shift"], ["y"]),
        helper.make_node("Greater", ["y", "limit"], ["above"]),
        helper.make_node("Cast", ["above"], ["label"], to=TensorProto.INT64),
    ]
    constants = {"ages": [[0], [2.5], [0], [0]], "others": [[weight], [0], [-0.5], [0.3]], "limit": [0.4]}
    graph = helper.make_graph(
        nodes,
        "wave",
        [value("x", TensorProto.FLOAT, ["N", 4])],
        [value("y", TensorProto.FLOAT, ["N", 1]), value("label", TensorProto.INT64, ["N", 1])],
        [numpy_helper.from_array(np.array(array, dtype=np.float32), name) for name, array in constants.items()],
    )
    path = folder / "model.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


def by_running(path: Path, oldest: int = 15) -> dict[Person, int]:
    """Everybody's label, each individual alone."""
    session = onnxruntime.InferenceSession(path)

    def label(one: Person) -> int:
        row = np.float32([[one[0] == "male", one[1], one[2], one[3]]])
        return int(session.run(["label"], {"x": row})[0][0, 0])

    return {one: label(one) for one in everybody(oldest)}


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("decision", [SCORE, "yes when class = 1", "no when class = 0\n  yes when class = 1"])
def test_a_saturated_search_finds_what_there_is(tmp_path: Path, question: Question, decision: str) -> None:
    truth = violations(question, by_running(saved(tmp_path)))
    path = spec(tmp_path, 'black_box "model.onnx"', decision, question.clauses)
    found = fairdsl.search(path, count=None, timeout=30)
    pairs = {frozenset({person(row, "a"), person(row, "b")}) for row in found.rows()}
    assert truth
    assert pairs <= truth
    assert found.numeric_gaps == 0
    assert found.count == len(units(question, pairs))
    if question.shared is not None:
        assert units(question, pairs) == units(question, truth)


@pytest.mark.parametrize("decision", [SCORE, "yes when class = 1"])
def test_a_formula_over_decisions_alone(tmp_path: Path, decision: str) -> None:
    """It asks nothing of scores, which a file that gives labels does not have."""
    label = by_running(saved(tmp_path))
    partner = {one: ("male", *one[1:]) for one in label if one[0] == "female"}
    broken = [one for one, other in partner.items() if label[one] > label[other]]
    demands = "require approve(a) <= approve(b)\n require share(approve(a) <= approve(b)) >= 99%"
    clauses = f"differ in sex\n among a.sex = female and b.sex = male\n {demands}"
    path = spec(tmp_path, 'black_box "model.onnx"', decision, clauses)
    path.write_text(path.read_text(encoding="utf-8").replace("{ no, yes }", "{ no < yes }"), encoding="utf-8")
    required, share = fairdsl.check(path, timeout=20).properties[0].demands
    assert required.judgement is (Judgement.VIOLATED if broken else Judgement.HOLDS)
    assert share.value.low == share.value.high == 1 - Fraction(len(broken), len(partner))


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("weight", [0.35, 0.001, 0.0])
def test_everybody_is_asked_where_that_can_be_done(tmp_path: Path, question: Question, weight: float) -> None:
    """The verdict is about the file: it holds where no two of its own answers break it."""
    truth = violations(question, by_running(saved(tmp_path, weight=weight)))
    path = spec(tmp_path, 'black_box "model.onnx"', SCORE, question.clauses)
    report = fairdsl.check(path, timeout=20)
    demand = report.properties[0].demands[0]
    assert demand.judgement is (Judgement.VIOLATED if truth else Judgement.HOLDS)
    assert demand.arithmetic is Arithmetic.ANSWERS
    assert "decided by the deployed file itself" in demand.notes[-1]
    if not truth:
        assert (demand.backend, report.exit_code) == ("enumerate", ExitCode.HOLDS)
    for witness in demand.witnesses:
        people = [tuple(cells[name] for name in ("sex", "age", "member", "level")) for cells in (witness.a, witness.b)]
        assert frozenset(people) in truth


def test_shares_of_a_small_domain_are_counted(tmp_path: Path) -> None:
    truth = violations(QUESTIONS[0], by_running(saved(tmp_path)))
    path = spec(tmp_path, 'black_box "model.onnx"', SCORE, "differ in sex\n measure fair_share")
    (share,) = (report.properties[0].demands[0].value for report in [fairdsl.check(path)])
    assert share is not None
    assert share.low == share.high == 1 - len(truth) / (16 * 2 * 4)


@pytest.mark.parametrize(("limit", "judgement"), [("0.3", Judgement.VIOLATED), ("0.4", Judgement.HOLDS)])
def test_gaps_are_of_the_files_numbers(tmp_path: Path, limit: str, judgement: Judgement) -> None:
    saved(tmp_path)
    path = spec(
        tmp_path, 'black_box "model.onnx"', SCORE, f"differ in sex\n require abs(score(a) - score(b)) <= {limit}"
    )
    assert fairdsl.check(path, timeout=10).properties[0].demands[0].judgement is judgement


def test_gaps_that_only_rounding_makes(tmp_path: Path) -> None:
    """The gap is the weight in exact arithmetic; the file's own float32 numbers are farther apart, or nearer."""
    model = saved(tmp_path, weight=0.25)
    session = onnxruntime.InferenceSession(model)

    def score(one: Person) -> float:
        return float(session.run(["y"], {"x": np.float32([[one[0] == "male", one[1], one[2], one[3]]])})[0][0, 0])

    gaps = [abs(score(one) - score(("male", *one[1:]))) for one in everybody() if one[0] == "female"]
    assert any(gap > 0.25 for gap in gaps)
    path = spec(tmp_path, 'black_box "model.onnx"', SCORE, "differ in sex\n require abs(score(a) - score(b)) <= 0.25")
    assert fairdsl.check(path, timeout=10).properties[0].demands[0].judgement is Judgement.VIOLATED
    found = fairdsl.search(path, count=None, timeout=10)
    assert 0 < found.count <= sum(gap > 0.25 for gap in gaps)
    assert all(abs(row["a.score"] - row["b.score"]) > 0.2499999 for row in found.rows())


#: The backends that need to know a model's layers or nodes.
READ_LAYERS = ("smt", "intervals", "leaf_boxes", "ssat")


def test_too_many_to_go_through(tmp_path: Path) -> None:
    """Nothing is found, and nothing is said to hold."""
    saved(tmp_path, weight=0.0)
    path = spec(tmp_path, 'black_box "model.onnx"', SCORE, SAME, oldest=10**9)
    demand = fairdsl.check(path, effort=2_000).properties[0].demands[0]
    assert demand.judgement is Judgement.UNKNOWN
    assert "no backend can prove" in (demand.detail or "")
    shares = spec(tmp_path, 'black_box "model.onnx"', SCORE, "differ in sex\n measure fair_share", oldest=10**9)
    demand = fairdsl.check(shares, effort=2_000).properties[0].demands[0]
    assert (demand.judgement, demand.value.low, demand.value.high) == (Judgement.UNKNOWN, 0, 1)
    (plan,) = fairdsl.plans(shares)
    reasons = " ".join(plan.reasons)
    assert reasons.count("the model is a black box, of which nothing is known but its answers") == len(READ_LAYERS)


@pytest.mark.parametrize("backend", READ_LAYERS)
def test_who_reads_layers_refuses(tmp_path: Path, backend: str) -> None:
    saved(tmp_path)
    path = spec(tmp_path, 'black_box "model.onnx"', SCORE, SAME)
    demand = fairdsl.check(path, backend=backend).properties[0].demands[0]
    assert (demand.judgement, demand.refusals[0].code) == (Judgement.REFUSED, "E0602")
    assert "black box" in str(demand.refusals[0])


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["compile", "--to", "smtlib", "-o", "out"], "E0603"),
        (["prune", "-o", "pruned.onnx"], "E0561"),
        (["search", "--strategy", "gradient"], "E0637"),
    ],
)
def test_commands_that_need_layers_say_so(tmp_path: Path, arguments: list[str], code: str) -> None:
    saved(tmp_path)
    path = spec(tmp_path, 'black_box "model.onnx"', SCORE, SAME)
    arguments = [str(tmp_path / part) if part in ("out", "pruned.onnx") else part for part in arguments]
    result = CliRunner().invoke(cli, [*arguments, str(path)])
    assert (result.exit_code, code in result.output) == (2, True), result.output


def test_other_commands_go_on(tmp_path: Path) -> None:
    saved(tmp_path)
    path = spec(tmp_path, 'black_box "model.onnx"', SCORE, SAME)
    for arguments in (["lint", "--files"], ["explain"], ["check", "--explain-plan"]):
        result: Any = CliRunner().invoke(cli, [*arguments, str(path)])
        assert result.exit_code == 0, result.output
    assert fairdsl.search(path, representatives=2, severity=True, count=50).count > 0
    named = spec(tmp_path, 'black_box "model.onnx"', "yes when class = 1", SAME)
    assert fairdsl.search(named, representatives=2, severity=True, rank="bits", count=50).count > 0


def test_a_difference_that_is_not_read_is_said_to_be_none(tmp_path: Path) -> None:
    saved(tmp_path)
    path = spec(tmp_path, 'black_box "model.onnx"', f"{SCORE}\n  reads 1 - 0 * age, age, member, level", SAME)
    assert "W0805" in [finding.code for finding in fairdsl.lint(path, files=True)]


def test_rows_and_samples_are_judged_by_the_files_answers(tmp_path: Path) -> None:
    """Over rows every unit is counted; a sample of units has its interval."""
    decided = by_running(saved(tmp_path))
    people = everybody()[::3]
    unfair = sum(decided[("female", *one[1:])] != decided[("male", *one[1:])] for one in people)
    rows = "\n".join(",".join([one[0], str(one[1]), str(one[2]).lower(), str(one[3])]) for one in people)
    (tmp_path / "people.csv").write_text(f"sex,age,member,level\n{rows}\n", encoding="utf-8")
    path = spec(tmp_path, 'black_box "model.onnx"', SCORE, "differ in sex\n under rows\n measure fair_share")
    declared = 'distribution rows over Applicant\n  empirical from "people.csv"\nproperty fair'
    path.write_text(path.read_text(encoding="utf-8").replace("property fair", declared), encoding="utf-8")
    demand = fairdsl.check(path).properties[0].demands[0]
    assert demand.backend == "rows"
    assert demand.shares is not None
    assert demand.shares.falsified == Fraction(unfair, len(people))

    clauses = "differ in sex\n measure fair_share within 6% with confidence 99%"
    path = spec(tmp_path, 'black_box "model.onnx"', SCORE, clauses)
    demand = fairdsl.check(path, backend="sampling").properties[0].demands[0]
    fair = 1 - Fraction(len(violations(QUESTIONS[0], decided)), 16 * 2 * 4)
    assert demand.value is not None
    assert demand.value.low <= fair <= demand.value.high
