"""What float32 makes of a score: the checker's own bound of it, and proofs with a margin that is too small."""

from __future__ import annotations

import random
from collections.abc import Sequence
from fractions import Fraction
from operator import mul
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import helper, numpy_helper

from fairdsl.backends.contract import Silent
from fairdsl.cli.app import cli
from fairdsl.elaborate import elaborate
from fairdsl.ir.expr import TRUE
from fairdsl.models.float32.decision import analysis_of, slack
from fairdsl.numerics.narrow import narrow
from fairdsl.proving import prove_spec
from fairdsl.proving.question import question_of
from fairdsl.semantics import front_end
from fairdsl_verify import RejectedError
from fairdsl_verify.bounds import Integers, Pass
from fairdsl_verify.command import check
from fairdsl_verify.onnx_file import Graph
from fairdsl_verify.question import Question
from fairdsl_verify.tree import Checker
from tests.models.tree_files import Branch, Leaf, regressor, tree_file
from tests.proving.test_checker_review import PEOPLE, chain_file, question, tried

F32 = np.float32
AGES = [{"name": "age", "type": "integer", "low": 0, "high": 99}, PEOPLE[1]]


def deep(rng: random.Random) -> onnx.ModelProto:
    """A network whose numbers are no short ones, with each operator that is bounded."""

    def numbers(*shape: int) -> list[Any]:
        return np.array([rng.uniform(-2, 2) for _ in range(int(np.prod(shape)))]).reshape(shape).tolist()

    nodes = [
        helper.make_node("Sub", ["x", "c"], ["a"]),
        helper.make_node("Div", ["a", "d"], ["b"]),
        helper.make_node("Gemm", ["b", "w", "v"], ["e"]),
        helper.make_node("Relu", ["e"], ["f"]),
        helper.make_node("MatMul", ["f", "m"], ["g"]),
        helper.make_node("Add", ["g", "k"], ["h"]),
        helper.make_node("Relu", ["h"], ["i"]),
        helper.make_node("Mul", ["i", "s"], ["j"]),
        helper.make_node("Gemm", ["j", "o"], ["y"], transB=1),
    ]
    shapes = {"c": (2,), "d": (2,), "w": (2, 8), "v": (8,), "m": (8, 8), "k": (8,), "s": (8,), "o": (1, 8)}
    return chain_file(nodes, {name: numbers(*shape) for name, shape in shapes.items()})


def run(model: onnx.ModelProto, rows: np.ndarray, rng: random.Random) -> np.ndarray:
    """The file's nodes in float32, with sums in an order that is drawn."""
    held = {each.name: numpy_helper.to_array(each) for each in model.graph.initializer}
    value = rows.astype(F32)

    def product(left: np.ndarray, right: np.ndarray, *added: np.ndarray) -> np.ndarray:
        terms = [left[:, [at]] * right[[at]] for at in range(right.shape[0])]
        terms += [np.broadcast_to(each, terms[0].shape) for each in added]
        rng.shuffle(terms)
        total = terms[0]
        for term in terms[1:]:
            total = (total + term).astype(F32)
        return total

    for node in model.graph.node:
        settings = {each.name: helper.get_attribute_value(each) for each in node.attribute}
        others = [held[name] for name in node.input[1:]]
        match node.op_type:
            case "Gemm":
                value = product(value, others[0].T if settings.get("transB") else others[0], *others[1:])
            case "MatMul":
                value = product(value, others[0])
            case "Relu":
                value = np.maximum(value, F32(0))
            case _:
                value = {"Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "Div": np.divide}[node.op_type](
                    value, others[0]
                )
        value = value.astype(F32)
    return value[:, 0]


def exactly(net: Integers, person: Sequence[int]) -> list[list[int]]:
    """What the units of each layer are of somebody, in the checker's whole numbers."""
    layers = [net.adds(net.origin, enumerate(person))]
    for rows, biases in zip(net.weights, net.biases, strict=True):
        below = [max(value, 0) for value in layers[-1]]
        found = [sum(map(mul, row, below)) + bias for row, bias in zip(rows, biases, strict=True)]
        layers.append(found)
    return layers


def held(model: onnx.ModelProto, rng: random.Random) -> bool:
    """No evaluation is off by more than is said of the person alone, of a box around it, and of everybody; is one?"""
    content = model.SerializeToString()
    reads = [["age", rng.choice((1, "1/3", 100))], ["sex", [0, rng.randint(1, 9)]]]
    asked = Question(
        question(
            attributes=AGES,
            reads=[{"constant": rng.choice((0, "-1/7")), "terms": [each]} for each in reads],
            decides={"of": "score", "relation": ">", "threshold": 0},
        )
    )
    checker = Checker(asked, Graph(content))
    net = checker.net
    assert isinstance(net, Integers)
    people = [(rng.randrange(100), rng.randrange(2)) for _ in range(40)]
    rows = np.array([[float(column.of(person)) for column in asked.reads] for person in people])
    session = onnxruntime.InferenceSession(content)
    deployed = session.run(None, {"x": rows.astype(F32)})[0][:, 0]
    everybody, some = checker.net.rounding(), Fraction(0)
    for person, *scores in zip(people, deployed, run(model, rows, rng), strict=True):
        layers = exactly(net, person)
        box = ((rng.randint(0, person[0]), rng.randint(person[0], 99)), (0, 1))
        alone = net.float32.off([(at, at) for at in person], [(values, values) for values in layers])
        around = net.float32.off(box, Pass(net, box, range(len(net.moves))).bounds)
        off = max(abs(Fraction(float(score)) * net.scale - layers[-1][0]) for score in scores)
        assert off <= min(alone, around, everybody * net.scale)
        some = max(some, off)
    return some > 0


@pytest.mark.parametrize("seed", range(8))
def test_no_evaluation_is_off_by_more(seed: int) -> None:
    rng = random.Random(seed)
    assert held(deep(rng), rng)


@pytest.mark.slow
def test_no_evaluation_of_other_networks_is_off_by_more() -> None:
    found = [held(deep(rng), rng) for rng in map(random.Random, range(8, 400))]
    assert sum(found) > 380  # of a few the score is a constant


@pytest.mark.parametrize("seed", range(3))
def test_it_is_as_narrow_as_what_check_says_of_everybody(seed: int, tmp_path: Path) -> None:
    """Both are worst cases of the same errors, found with different code; of one person it is a fraction of that."""
    onnx.save(deep(random.Random(seed)), tmp_path / "m.onnx")
    (tmp_path / "p.fair").write_text(SPEC.replace(" among age >= 60", ""))
    spec, _ = front_end(str(tmp_path / "p.fair"), None)
    (demand,) = elaborate(spec, {}, data={}, hold=False).demands
    problem, graph = demand.problem, Graph((tmp_path / "m.onnx").read_bytes())
    file = analysis_of(problem.model, narrow(problem.domain, TRUE))
    assert file is not None
    engine = slack(file)
    assert engine is not None
    claims = question()["claims"]
    checker = Checker(Question({**question_of(problem, graph), "claims": claims}), graph)
    net = checker.net
    assert isinstance(net, Integers)
    assert engine.decision[0] / 2 < checker.net.rounding() < engine.decision[0] * 2
    layers = exactly(net, (1, 0))
    alone = net.float32.off([(1, 1), (0, 0)], [(values, values) for values in layers])
    assert alone < engine.decision[0] * net.scale / 4


def near(folder: Path, margin: str, lines: tuple[str, ...] = ("=",), threshold: str = "-1/1048576", **said: Any) -> Any:
    """``(age - sex) / 10 - (age - sex) / 10 + ...`` is 0 or nearly so: what is proved hangs on the margin."""
    nodes = [
        helper.make_node("Gemm", ["x", "w", "b"], ["z"], transB=1),
        helper.make_node("Relu", ["z"], ["h"]),
        helper.make_node("Gemm", ["h", "v"], ["y"], transB=1),
    ]
    tensors = {"w": [[0.1, 0.0], [0.1, 0.0]], "b": [1.0, 1.0], "v": [[1.0, -1.0]]}
    asked = question(
        attributes=AGES, arithmetic="float32", decides={"of": "score", "relation": ">", "threshold": threshold}
    )
    asked["claims"] = asked["claims"] | {"margin": margin}
    return tried(folder, chain_file(nodes, tensors), asked | said, *lines)


def test_a_margin_that_is_too_small_is_rejected(tmp_path: Path) -> None:
    with pytest.raises(RejectedError, match="smaller than what float32"):
        near(tmp_path, "0")
    with pytest.raises(RejectedError, match="smaller than what float32"):
        near(tmp_path, "1/100000000")
    assert near(tmp_path, "1/1024", threshold="-1").follows
    with pytest.raises(RejectedError, match="do not say so"):  # real arithmetic would say so
        near(tmp_path, "1/1024")
    with pytest.raises(RejectedError, match="nearer to the threshold"):
        near(tmp_path, "1/1024", lines=("E",))
    claims = question()["claims"]
    assert near(tmp_path, "0", arithmetic="real", lines=("E",), claims=claims).follows
    with pytest.raises(RejectedError, match="not real or float32"):
        near(tmp_path, "1", arithmetic="float64")
    with pytest.raises(RejectedError, match="smaller"):
        near(tmp_path, "-1", arithmetic="real", claims=claims | {"margin": "-1"})


@pytest.mark.parametrize("fault", ["Float32", "of_trees"])
def test_a_margin_of_a_faulty_engine_is_rejected(fault: str, tmp_path: Path) -> None:
    """Half of the bound, as an engine would have it whose analysis forgets something."""
    if fault == "of_trees":
        node = regressor([Branch("BRANCH_LEQ", 1, 0.5, Leaf(((0, 0.7),)), Leaf(((0, 0.3),)))] * 3)
        model = tree_file([node], outputs=["y"])
    else:
        model = deep(random.Random(3))
    asked = question(arithmetic="float32", decides={"of": "score", "relation": ">", "threshold": "-1000"})
    real = Question(asked | {"arithmetic": "real"})
    bound = Checker(real, Graph(model.SerializeToString())).net.rounding()
    assert bound > 0
    for margin, fits in ((bound, True), (bound / 2, False), (bound * Fraction(999999, 1000000), False)):
        claimed = asked | {"claims": asked["claims"] | {"margin": str(margin)}}
        if fits:
            assert tried(tmp_path, model, claimed, "=").follows
        else:
            with pytest.raises(RejectedError, match="smaller than what float32"):
                tried(tmp_path, model, claimed, "=")


def test_what_overflows_on_the_way_has_no_bound(tmp_path: Path) -> None:
    """``age / 1e-30 / 1e-30 * 1e-37 * 1e-23`` is about the age, and infinite in between."""
    nodes = [
        helper.make_node("Div", ["x", "d"], ["z"]),
        helper.make_node("Div", ["z", "d"], ["h"]),
        helper.make_node("Mul", ["h", "e"], ["k"]),
        helper.make_node("Gemm", ["k", "w"], ["y"], transB=1),
    ]
    model = chain_file(nodes, {"d": [1e-30, 1e-30], "e": [1e-37, 1e-37], "w": [[1e-23, 0]]})
    asked = question(attributes=AGES)
    assert tried(tmp_path, model, asked, "=").follows
    with pytest.raises(RejectedError, match="may overflow"):
        tried(tmp_path, model, asked | {"arithmetic": "float32", "claims": asked["claims"] | {"margin": "1"}}, "=")


def test_votes_that_are_short_numbers_are_summed_without_rounding(tmp_path: Path) -> None:
    node = regressor([Branch("BRANCH_LEQ", 1, 0.5, Leaf(((0, 0.75),)), Leaf(((0, 0.25),)))] * 3)
    model = tree_file([node], outputs=["y"])
    asked = question(arithmetic="float32", decides={"of": "score", "relation": ">", "threshold": "1/2"})
    assert Checker(Question(asked | {"arithmetic": "real"}), Graph(model.SerializeToString())).net.rounding() == 0
    assert tried(tmp_path, model, asked, "=").follows


SPEC = """fair 1
audit "deployed"
domain Person {
  age : integer 0 .. 99
  sex : category { f, m }
}
protected sex
model m : Person -> { no, yes }
  from "m.onnx"
  reads age, sex
  yes when score > 0
  favourable yes
property calm { compare a, b : Person differ in sex among age >= 60 require same decision }
"""


def test_what_holds_of_the_file_is_proved_of_the_file(tmp_path: Path) -> None:
    """``0.1 age - 0.3 sex - 2.7`` decides alike from 60 on, rounding included; the report says so, and the margin."""
    from click.testing import CliRunner

    nodes = [helper.make_node("Gemm", ["x", "w", "b"], ["y"], transB=1)]
    onnx.save(chain_file(nodes, {"w": [[0.1, -0.3]], "b": [-2.7]}), tmp_path / "m.onnx")
    (tmp_path / "p.fair").write_text(SPEC)
    given = ["check", str(tmp_path / "p.fair"), "--proof", str(tmp_path / "proofs"), "--require-proof"]
    done = CliRunner().invoke(cli, given)
    assert done.exit_code == 0, done.output
    assert "in float32 too, with scores off by up to" in done.stderr
    found = check(tmp_path / "proofs" / "calm.proof", tmp_path / "m.onnx")
    assert found.totals.holds
    assert found.margin is not None
    assert found.margin > 0
    in_real = prove_spec(
        str(tmp_path / "p.fair"), str(tmp_path), models={}, data={}, seconds=5, observer=Silent(), properties=()
    )
    assert in_real[0].proof is not None
    assert in_real[0].proof.margin is None


def test_a_proof_in_exact_arithmetic_is_not_enough_where_the_verdict_is_about_the_file(tmp_path: Path) -> None:
    """At 60 the score is the threshold: onnxruntime decides as exact arithmetic does, which no margin shows."""
    from click.testing import CliRunner

    nodes = [helper.make_node("Gemm", ["x", "w", "b"], ["y"], transB=1)]
    onnx.save(chain_file(nodes, {"w": [[1.0, 0.0]], "b": [-60.0]}), tmp_path / "m.onnx")
    (tmp_path / "p.fair").write_text(SPEC)
    report = tmp_path / "report.json"
    given = ["check", str(tmp_path / "p.fair"), "--proof", str(tmp_path / "proofs"), "--report", str(report)]
    assert CliRunner().invoke(cli, given).exit_code == 0
    done = CliRunner().invoke(cli, [*given, "--require-proof"])
    assert done.exit_code == 3, done.output
    assert "calm, require same decision: the verdict is about the deployed file's arithmetic too" in done.stderr
    assert check(tmp_path / "proofs" / "calm.proof", tmp_path / "m.onnx").follows
    assert CliRunner().invoke(cli, ["compare", str(report), str(report), "--require-proof"]).exit_code == 3


def test_a_box_that_misses_its_margin_is_cut(tmp_path: Path) -> None:
    """``max(1000001 age + 1, 0)`` is above 0, but of old and young together by less than the old are off by."""
    nodes = [
        helper.make_node("Gemm", ["x", "w", "b"], ["z"], transB=1),
        helper.make_node("Relu", ["z"], ["h"]),
        helper.make_node("Gemm", ["h", "v"], ["y"], transB=1),
    ]
    model = chain_file(nodes, {"w": [[1000001, 0.1], [0, 1]], "b": [1, 0], "v": [[1, 0]]})
    onnx.save(model, tmp_path / "m.onnx")
    (tmp_path / "p.fair").write_text(SPEC.replace(" among age >= 60", ""))
    (found,) = prove_spec(
        str(tmp_path / "p.fair"),
        str(tmp_path),
        models={},
        data={},
        seconds=10,
        observer=Silent(),
        deployed=[("calm", "require same decision")],
    )
    assert found.proof is not None
    assert found.proof.holds
    assert found.proof.margin is not None
    assert found.proof.margin > 1


def test_a_share_is_proved_of_the_file_where_nothing_is_rounded(tmp_path: Path) -> None:
    for share, margin in ((0.25, 0), (0.3, None)):
        node = regressor([Branch("BRANCH_LEQ", 1, 0.5, Leaf(((0, 0.75),)), Leaf(((0, share),)))] * 3)
        onnx.save(tree_file([node], outputs=["y"], width=2), tmp_path / "m.onnx")
        (tmp_path / "p.fair").write_text(SPEC.replace("require same decision", "measure fair_share"))
        (found,) = prove_spec(
            str(tmp_path / "p.fair"),
            str(tmp_path),
            models={},
            data={},
            seconds=5,
            observer=Silent(),
            deployed=[("calm", "measure fair_share")],
        )
        assert found.proof is not None
        assert found.proof.verified
        assert (found.proof.certified, found.proof.margin) == (1, margin)
