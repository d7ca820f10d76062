"""What can be asked is asked: stacks that no backend proves, files that nobody reads, refusals, and what is printed.

Nothing here knows a case: models, clauses and domains are drawn by a seed, and what is true is said by onnxruntime or
by the definition.
"""

from __future__ import annotations

import json
import random
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

import fairdsl
from fairdsl.codec import plain
from fairdsl.diagnostics import DiagnosticError
from fairdsl.report.model import DemandReport, Judgement, Report, Witness
from fairdsl.report.text import render

HEAD = """
domain Applicant {
  sex    : category { female, male }
  age    : integer 18 .. 90
  income : integer 0 .. 60000
  debt   : integer 0 .. 9000
}
protected sex
"""
NAMES = ("sex", "age", "income", "debt")
LOWEST, HIGHEST = (0, 18, 0, 0), (1, 90, 60000, 9000)
ALIKE = "property alike { compare a, b : Applicant differ in sex require same decision }\n"


def spec(folder: Path, model: str, properties: str, head: str = HEAD) -> str:
    path = folder / "audit.fair"
    path.write_text(
        f"{head}model approve : Applicant -> {{ reject, grant }}\n  {model}\n  favourable grant\n{properties}"
    )
    return str(path)


def saved(folder: Path, nodes: list[Any], constants: dict[str, Any], outputs: dict[str, int]) -> str:
    graph = helper.make_graph(
        nodes,
        "drawn",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 4])],
        [helper.make_tensor_value_info(name, kind, None) for name, kind in outputs.items()],
        [numpy_helper.from_array(np.asarray(value, dtype=np.float32), name) for name, value in constants.items()],
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 3)]
    made = helper.make_model(graph, opset_imports=opsets)
    made.ir_version = 8
    onnx.save(made, str(folder / "model.onnx"))
    return str(folder / "model.onnx")


def answers(path: str, witness: Witness) -> list[dict[str, Any]]:
    """What onnxruntime says of either individual of a pair, by itself."""
    session = onnxruntime.InferenceSession(path)
    found = []
    for who in (witness.a, witness.b):
        row = [("female", "male").index(str(who["sex"])), *(float(who[name]) for name in NAMES[1:])]
        values = session.run(None, {"x": np.array([row], dtype=np.float32)})
        found.append(dict(zip((output.name for output in session.get_outputs()), values, strict=True)))
    return found


def only(report: Report) -> DemandReport:
    (demand,) = report.properties[0].demands
    return demand


# ---- read, and too much for every proof -----------------------------------------------------------


def tree_node(rng: random.Random, number: int, leans: bool) -> Any:
    """A random regression tree of depth two or three over the four inputs; one that ``leans`` also asks for the sex."""
    rows: list[tuple[str, int, float, int, int, float]] = []

    def grow(depth: int) -> int:
        place = len(rows)
        rows.append(("LEAF", 0, 0.0, 0, 0, rng.uniform(-3, 3)))
        if depth:
            feature = rng.choice((0, 1, 2, 3) if leans else (1, 2, 3))
            border = rng.uniform(LOWEST[feature], HIGHEST[feature])
            yes, no = grow(depth - 1), grow(depth - 1)
            rows[place] = ("BRANCH_LEQ", feature, float(np.float32(border)), yes, no, 0.0)
        return place

    grow(3)
    leaves = [place for place, row in enumerate(rows) if row[0] == "LEAF"]
    return helper.make_node(
        "TreeEnsembleRegressor",
        ["x"],
        [f"tree{number}"],
        domain="ai.onnx.ml",
        n_targets=1,
        nodes_treeids=[0] * len(rows),
        nodes_nodeids=list(range(len(rows))),
        nodes_featureids=[row[1] for row in rows],
        nodes_modes=[row[0] for row in rows],
        nodes_values=[row[2] for row in rows],
        nodes_truenodeids=[row[3] for row in rows],
        nodes_falsenodeids=[row[4] for row in rows],
        target_treeids=[0] * len(leaves),
        target_nodeids=leaves,
        target_ids=[0] * len(leaves),
        target_weights=[rows[leaf][5] for leaf in leaves],
    )


def stack(folder: Path, rng: random.Random, leans: bool) -> str:
    """Trees and a linear model, each behind a sigmoid, weighed by a last one: together, nobody treats them."""
    trees = [tree_node(rng, number, leans) for number in range(3)]
    scale = [1.0, 1 / 72, 1 / 60000, 1 / 9000]
    weights = [rng.uniform(1.0, 2.0) * leans, *(rng.uniform(-2, 2) for _ in range(3))]
    nodes = [
        *trees,
        helper.make_node("MatMul", ["x", "w"], ["line"]),
        helper.make_node("Concat", ["line", "tree0", "tree1", "tree2"], ["heads"], axis=1),
        helper.make_node("Sigmoid", ["heads"], ["sure"]),
        helper.make_node("Gemm", ["sure", "v", "c"], ["y"]),
    ]
    last = [rng.uniform(1.0, 2.0) for _ in range(4)]
    constants = {
        "w": [[weight * factor] for weight, factor in zip(weights, scale, strict=True)],
        "v": [[weight] for weight in last],
        "c": [-sum(last) / 2],
    }
    return saved(folder, nodes, constants, {"y": TensorProto.FLOAT})


@pytest.mark.parametrize("seed", range(4))
def test_what_nobody_proves_is_searched(tmp_path: Path, seed: int) -> None:
    path = stack(tmp_path, random.Random(seed), leans=True)
    questions = {
        "same": "require same decision",
        "sure": "require same decision with confidence 95%",
        "targeted": "among age >= 30 require same decision",
        "one_sided": "among a.income <= 50000 require same decision",
        "relaxed": "within 500 in income require same decision",
        "gap": "require abs(score(a) - score(b)) <= 0.05",
        "all_fair": "require fair_share >= 100%",
        "share": "measure fair_share",
        "rate": "within 500 in income measure discrimination_rate",
    }
    asked = "".join(
        f"property {name} {{ compare a, b : Applicant differ in sex {clauses} }}\n"
        for name, clauses in questions.items()
    )
    report = fairdsl.check(spec(tmp_path, f'from "{path}"\n  grant when score > 0', asked), timeout=10, jobs=1)
    for checked in report.properties:
        demand = checked.demands[0]
        measured = checked.name in ("share", "rate")
        assert demand.judgement is (Judgement.UNKNOWN if measured else Judgement.VIOLATED), checked.name
        assert demand.witnesses, checked.name
        for witness in demand.witnesses:
            of_a, of_b = (float(answer["y"][0, 0]) for answer in answers(path, witness))
            if checked.name == "gap":
                assert abs(of_a - of_b) > 0.05
            else:
                assert (of_a > 0) != (of_b > 0), checked.name
        if measured:
            bound = demand.value.high if checked.name == "share" else 1 - demand.value.low
            assert 1 - Fraction(2 * len(demand.witnesses), demand.shares.total) <= bound < 1
    box = fairdsl.check(spec(tmp_path, f'from black_box "{path}"\n  grant when score > 0', ALIKE), timeout=10, jobs=1)
    assert only(box).judgement is Judgement.VIOLATED


def test_what_is_not_found_is_unknown_and_says_why(tmp_path: Path) -> None:
    path = stack(tmp_path, random.Random(7), leans=False)
    report = fairdsl.check(spec(tmp_path, f'from "{path}"\n  grant when score > 0', ALIKE), timeout=1.5, jobs=1)
    demand = only(report)
    if demand.judgement is not Judgement.HOLDS:  # somebody may prove what no input decides
        assert (demand.judgement, demand.reason.value) == (Judgement.UNKNOWN, "incomplete")
        assert "no backend can prove that there is none" in demand.detail
        assert re.search(r"`\w+` comes nearest: ", demand.detail)


# ---- not read, and runnable ------------------------------------------------------------------------

UNREAD = ("Sin", "Softsign", "Sinh", "Cosh", "Atan", "Asinh")
#: A clause, what makes the output, and whether a black box of this clause is the file as it would be read.
CASES = {
    "a score as it is": ("grant when score > 0.3", "raw", True),
    "a score of a sigmoid": ("grant when score > 0.3", "sigmoid", True),
    "a score that is always above": ("grant when score > 0", "sigmoid", False),
    "a probability of a sigmoid": ("grant when probability >= 0.6", "sigmoid", True),
    "a probability of a raw score": ("grant when probability >= 0.6", "raw", False),
    "a probability of two, by a softmax": ("grant when probability >= 0.6", "softmax", True),
    "the higher of two": ("decide by highest score", "softmax", True),
    "the higher of two raw scores": ("decide by highest score", "two", True),
    "a class by two scores": ("grant when class = 1", "two", True),
    "a class by the label behind two scores": ("grant when class = 1", "label behind", True),
    "a class by its label": ("grant when class = 1", "label before", True),
    "the higher of two beside a label": ("decide by highest score", "label before", False),
    "one of two raw scores": ("grant when score > 0.3", "twice", False),
}


def unread(folder: Path, rng: random.Random, made: str) -> str:
    """A file with an operator that nothing reads, and these outputs."""
    width = 1 if made in ("raw", "sigmoid", "twice") else 2
    scale = [1.0, 1 / 72, 1 / 60000, 1 / 9000]
    middle = [0.5, 54 / 72, 0.5, 0.5]  # of the domain, where both scores are equal
    drawn = [rng.uniform(-4, 4) for _ in scale]
    weight = [[side * one * factor for side in (1, -1)[:width]] for one, factor in zip(drawn, scale, strict=True)]
    offset = sum(one * place for one, place in zip(drawn, middle, strict=True))
    nodes = [
        helper.make_node("Gemm", ["x", "w", "c"], ["h"]),
        helper.make_node(rng.choice(UNREAD), ["h"], ["z"]),
    ]
    outputs = {"y": TensorProto.FLOAT}
    match made:
        case "sigmoid":
            nodes.append(helper.make_node("Sigmoid", ["z"], ["y"]))
        case "softmax":
            nodes.append(helper.make_node("Softmax", ["z"], ["y"], axis=1))
        case "twice":
            nodes += [helper.make_node("Identity", ["z"], ["y"]), helper.make_node("Neg", ["z"], ["other"])]
            outputs["other"] = TensorProto.FLOAT
        case "label before" | "label behind":
            nodes += [
                helper.make_node("Identity", ["z"], ["y"]),
                helper.make_node("ArgMax", ["z"], ["label"], axis=1, keepdims=0),
            ]
            label = {"label": TensorProto.INT64}
            outputs = label | outputs if made == "label before" else outputs | label
        case _:
            nodes.append(helper.make_node("Identity", ["z"], ["y"]))
    return saved(folder, nodes, {"w": weight, "c": [-offset, offset][:width]}, outputs)


def granted(clause: str, answer: dict[str, Any]) -> bool:
    """The decision by the definition of the clause."""
    numbers = np.ravel(answer["y"]).tolist()
    match clause.split()[2:4]:
        case ["score", ">"]:
            return bool(np.float32(numbers[0]) > np.float32(0.3))
        case ["probability", _]:
            return bool(np.float32(numbers[-1]) >= np.float32(0.6))
        case ["class", _] if "label" in answer:
            return bool(answer["label"][0] == 1)
        case _:
            return bool(numbers[1] > numbers[0])


@pytest.mark.parametrize("name", CASES)
def test_a_file_that_cannot_be_read_is_asked_where_that_is_the_same_model(tmp_path: Path, name: str) -> None:
    clause, made, alike = CASES[name]
    for seed in range(2):
        path = unread(tmp_path, random.Random(f"{name} {seed}"), made)
        for word in ("", "onnx "):
            written = spec(tmp_path, f'from {word}"{path}"\n  {clause}', ALIKE)
            if word or not alike:
                with pytest.raises(DiagnosticError) as problem:
                    fairdsl.check(written, timeout=5)
                assert {finding.code for finding in problem.value.diagnostics} == {"E0503"}
                continue
            report = fairdsl.check(written, timeout=1, jobs=1)
            (warning,) = (finding for finding in report.diagnostics if finding.code == "W0707")
            assert "is not read" in warning.notes[0]
            assert "black_box" in (warning.help or "")
            demand = only(report)
            assert demand.judgement in (Judgement.VIOLATED, Judgement.UNKNOWN)
            for witness in demand.witnesses:
                decided = [granted(clause, answer) for answer in answers(path, witness)]
                assert decided == [witness.replay.decision_a == "grant", witness.replay.decision_b == "grant"]
            box = fairdsl.check(spec(tmp_path, f'from black_box "{path}"\n  {clause}', ALIKE), timeout=1, jobs=1)
            assert only(box).judgement is demand.judgement
            assert not [finding for finding in box.diagnostics if finding.code == "W0707"]


def test_whatever_needs_the_reading_refuses(tmp_path: Path) -> None:
    path = unread(tmp_path, random.Random(1), "raw")
    written = spec(tmp_path, f'from "{path}"\n  grant when score > 0', ALIKE)
    (finding,) = fairdsl.compile(written, to="smtlib", directory=tmp_path / "out").diagnostics
    assert finding.code == "E0603"
    assert "is not read" in finding.primary.text
    with pytest.raises(DiagnosticError) as problem:
        fairdsl.prune(written, tolerance=0.0, output=tmp_path / "pruned.onnx")
    assert [finding.code for finding in problem.value.diagnostics] == ["E0561"]


# ---- refused ---------------------------------------------------------------------------------------

METRICS = ("acceptance_rate", "parity_gap", "impact_ratio", "most_favoured", "least_favoured")


@pytest.mark.parametrize("seed", range(3))
def test_a_refusal_is_said_once_and_shortly(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    path = unread(tmp_path, rng, "raw")
    metrics = rng.sample(METRICS, rng.randint(2, 5))
    asked = (
        "distribution people over Applicant uniform\n"
        f"property groups {{ across sex under people measure {', '.join(metrics)} }}\n"
        "property weighed { compare a, b : Applicant differ in sex under people\n"
        "  require same decision require abs(score(a) - score(b)) <= 1 }\n"
    )
    report = fairdsl.check(spec(tmp_path, f'from black_box "{path}"\n  grant when score > 0', asked), timeout=5)
    assert {demand.judgement for item in report.properties for demand in item.demands} == {Judgement.REFUSED}
    text = render(report)
    assert text.count("E0601") == 2
    assert text.count("= why:") == text.count("= help:") == 2
    assert "no:" not in text
    said = "\n".join(line for line in text.split("\n") if " | " not in line)  # but for the line of the spec
    for name in (*metrics, "abs(score(a) - score(b)) <= 1"):
        assert said.count(name) == 1, name
    # Machines, and those who ask for the plan, have what every backend says.
    refused = [
        one
        for item in plain(report)["properties"]
        for demand in item["demands"]
        for one in demand["verdict"]["diagnostics"]
    ]
    findings = [one for number, one in enumerate(refused) if one["code"] == "E0601" and one not in refused[:number]]
    backends = [row.backend for row in fairdsl.capabilities()]
    assert len(findings) == len(metrics) + 1  # the two of the pair are refused for one place
    for finding in findings:
        assert [note.split()[0] for note in (*finding["notes"], *finding["details"])] == backends
    for plan in fairdsl.plans(spec(tmp_path, f'from black_box "{path}"\n  grant when score > 0', asked)):
        assert [reason.split()[0] for reason in plan.reasons][-len(backends) :] == backends


# ---- printed ---------------------------------------------------------------------------------------

REALS = """
domain Applicant {
  sex    : category { female, male }
  income : real 0 .. 250
  debt   : real -10 .. 40
  rate   : real
}
protected sex
"""


def printed(text: str) -> list[dict[str, str]]:
    """The individuals of the first pair of a report: what differs from the table, and what both have."""
    lines = text.split("witness")[1].split("\n")[1:]
    people: list[dict[str, str]] = [{}, {}]
    for line in lines:
        words = line.split()
        if not words or words[0] in ("decision", "both"):
            break
        for person, value in zip(people, words[1:], strict=True):
            person[words[0]] = value
    both = " ".join(text.split("\n    both ")[1].split("and 4 more")[0].split("properties")[0].split())
    for name, value in re.findall(r"(\w+) = (\S+?)(?:,|$| )", both):
        for person in people:
            person[name] = value
    return people


@pytest.mark.parametrize("seed", range(12))
def test_what_is_printed_is_the_witness(tmp_path: Path, seed: int) -> None:
    """The individuals that a report shows, read back from its text, are decided as it says: by fractions."""
    rng = random.Random(seed)
    weights = {name: Fraction(rng.randint(1, 999), rng.choice((7, 30, 1000))) for name in ("income", "debt", "rate")}
    offset = Fraction(rng.randint(-40000, 40000), 777)
    leaning = Fraction(rng.randint(1, 2000), 1000)
    terms = [f"{factor.numerator} / {factor.denominator} * {name}" for name, factor in weights.items()]
    score = " + ".join([*terms, f"{leaning} * (sex = male)"])
    clauses = rng.choice(("", "within 0.25 in income", "among debt >= 1.5", "within 3 in rate within 0.001 in debt"))
    path = tmp_path / "audit.fair"
    path.write_text(
        f"{REALS}model approve : Applicant -> {{ reject, grant }}\n  score = {score}\n  grant when score > {offset}\n"
        f"property alike {{ compare a, b : Applicant differ in sex {clauses} require same decision }}\n"
    )
    report = fairdsl.check(path, timeout=10, jobs=1)
    demand = only(report)
    assert demand.judgement is Judgement.VIOLATED
    text = render(report)
    people = printed(text)
    for person, decision in zip(
        people, (demand.witnesses[0].replay.decision_a, demand.witnesses[0].replay.decision_b), strict=True
    ):
        assert not any("~" in value or "/" in value for value in person.values()), text
        assert all(len(value) <= 12 for value in person.values()), text
        value = leaning * (person["sex"] == "male")
        value += sum((factor * Fraction(person[name]) for name, factor in weights.items()), Fraction(0))
        assert decision == ("grant" if value > offset else "reject")
    # JSON has the very numbers.
    exact = json.loads(json.dumps(plain(report)))["properties"][0]["demands"][0]["verdict"]["witnesses"][0]
    for side, person in zip(("a", "b"), people, strict=True):
        for name in weights:
            assert Fraction(exact[side][name]) == Fraction(person[name])


@pytest.mark.parametrize("seed", range(6))
def test_what_is_typed_in_is_decided_as_the_report_says(tmp_path: Path, seed: int) -> None:
    """The printed decimals, typed into the deployed file: also where only long numbers break the demand."""
    rng = random.Random(seed)
    hidden = 5
    first = [[rng.uniform(-1, 1) for _ in range(hidden)] for _ in range(4)]
    first[0] = [0.02 * weight for weight in first[0]] if seed % 2 else first[0]
    nodes = [
        helper.make_node("Gemm", ["x", "w", "c"], ["z"]),
        helper.make_node("Relu", ["z"], ["h"]),
        helper.make_node("Gemm", ["h", "v", "d"], ["y"]),
    ]
    second = [[rng.uniform(-1, 1)] for _ in range(hidden)]
    offset = -float(np.maximum(np.array([1.0, 130.0, 10.0, 0.0]) @ np.array(first), 0) @ np.array(second)[:, 0])
    constants = {"w": first, "c": [0.0] * hidden, "v": second, "d": [offset]}
    path = saved(tmp_path, nodes, constants, {"y": TensorProto.FLOAT})
    thin = "among 3 * income + debt > 400.0001 and 3 * income + debt < 400.000103" if seed % 3 == 2 else ""
    asked = f"property alike {{ compare a, b : Applicant differ in sex {thin} require same decision }}\n"
    head = REALS.replace("rate   : real", "rate   : real -5 .. 5")
    demand = only(
        report := fairdsl.check(
            spec(tmp_path, f'from "{path}"\n  grant when score > 0', asked, head), timeout=10, jobs=1
        )
    )
    assert demand.judgement is Judgement.VIOLATED
    session = onnxruntime.InferenceSession(path)
    for person, mine in zip(printed(render(report)), (demand.witnesses[0].a, demand.witnesses[0].b), strict=True):
        row = [float(person["sex"] == "male")]
        for name in ("income", "debt", "rate"):
            typed = np.float32(float(Fraction(person[name].removeprefix("~"))))
            assert typed == np.float32(float(mine[name]))
            row.append(float(typed))
        (score,) = session.run(None, {"x": np.array([row], dtype=np.float32)})
        decided = (
            demand.witnesses[0].replay.decision_a
            if mine is demand.witnesses[0].a
            else demand.witnesses[0].replay.decision_b
        )
        assert decided == ("grant" if score[0, 0] > 0 else "reject")
