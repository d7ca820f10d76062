"""VNN-LIB queries answered as the standard asks: against the points of grids, and another reader of networks."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import onnx
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper

import fairdsl
from fairdsl.backends.smt import Satisfiability
from fairdsl.cli.app import cli
from fairdsl.cli.supports import SUPPORTED
from fairdsl.models.onnx_import import operators_read
from fairdsl.models.onnx_network import OPERATORS, read_network
from fairdsl.models.onnx_written.chain import read_relu_chain
from tests.drawing import examples


def network(path: Path, *layers: tuple[list[list[float]], list[float]]) -> Path:
    """A chain of Gemm and Relu."""
    nodes, constants, current = [], [], "X"
    for depth, (weight, bias) in enumerate(layers):
        constants.append(numpy_helper.from_array(np.array(weight, dtype=np.float32), f"W{depth}"))
        constants.append(numpy_helper.from_array(np.array(bias, dtype=np.float32), f"b{depth}"))
        last = depth == len(layers) - 1
        made = "Y" if last else f"z{depth}"
        nodes.append(helper.make_node("Gemm", [current, f"W{depth}", f"b{depth}"], [made], transB=1))
        if not last:
            nodes.append(helper.make_node("Relu", [made], [f"h{depth}"]))
            current = f"h{depth}"
    width, height = len(layers[0][0][0]), len(layers[-1][1])
    return saved(path, nodes, constants, width, height)


def saved(path: Path, nodes: list[object], constants: list[object], width: int, height: int) -> Path:
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("X", TensorProto.FLOAT, [1, width])],
        [helper.make_tensor_value_info("Y", TensorProto.FLOAT, [1, height])],
        constants,
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


def asked(folder: Path, text: str, **networks: Path) -> fairdsl.api.files.Verified:  # type: ignore[name-defined]
    query = folder / "q.vnnlib"
    query.write_text(text, encoding="utf-8")
    return fairdsl.verify(query, networks=networks, timeout=20)


DECLARED = (
    "(vnnlib-version <2.0>)\n(declare-network f (declare-input X real [1,{n}]) (declare-output Y real [1,{m}]))\n"
)
SMALL = st.integers(-3, 3)


@given(st.data())
@settings(max_examples=examples(6), deadline=None)
def test_against_a_grid_and_both_readers(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    """A point of a grid that satisfies the query means sat, and whatever is sat satisfies it exactly."""
    folder = tmp_path_factory.mktemp("q")
    width, hidden, height = (data.draw(st.integers(1, 2)) for _ in range(3))
    numbers = [
        ([[data.draw(SMALL) for _ in range(b)] for _ in range(a)], [data.draw(SMALL) for _ in range(a)])
        for a, b in ((hidden, width), (hidden, hidden), (height, hidden))
    ]
    file = network(folder / "n.onnx", *numbers)
    box = [sorted((data.draw(SMALL), data.draw(SMALL))) for _ in range(width)]
    limit, factor, relation = (
        data.draw(st.integers(-6, 6)),
        data.draw(SMALL),
        data.draw(st.sampled_from(["<=", "<", ">", "==", "!="])),
    )
    bounds = "".join(f"(assert (and (>= X[0,{i}] {a}) (<= X[0,{i}] {b})))\n" for i, (a, b) in enumerate(box))
    end = f"(assert (or ({relation} (+ Y[0,0] (* {factor}.0 X[0,0])) {limit}) (> Y[0,{height - 1}] 40.5)))\n"
    found = asked(folder, DECLARED.format(n=width, m=height) + bounds + end, f=file)
    read = read_network(str(file))

    def true(point: tuple[Fraction, ...]) -> bool:
        outputs = read.at(point)
        total, bound = outputs[0] + factor * point[0], Fraction(limit)
        word = {
            "<=": total <= bound,
            "<": total < bound,
            ">": total > bound,
            "==": total == bound,
            "!=": total != bound,
        }
        return word[relation] or outputs[-1] > Fraction(81, 2)

    grid = [[Fraction(a) + Fraction(b - a, 4) * k for k in range(5)] for a, b in box]
    some = any(true(point) for point in product(*grid))
    assert found.status in (Satisfiability.SAT, Satisfiability.UNSAT)
    assert not (some and found.status is Satisfiability.UNSAT)
    if found.status is Satisfiability.SAT and "rounded" not in found.detail:
        point = tuple(Fraction(value) for value in found.assignment[0].values)
        assert true(point)
        assert all(a <= value <= b for value, (a, b) in zip(point, box, strict=True))
        assert [Fraction(value) for value in found.assignment[1].values] == read.at(point)
    # The other reader, which knows such chains alone, comes to the same function.
    values = np.array([float(box[i][0]) for i in range(width)])
    for weight, bias in read_relu_chain(str(file))[:-1]:
        values = np.maximum(weight @ values + bias, 0)
    weight, bias = read_relu_chain(str(file))[-1]
    assert [float(value) for value in read.at([Fraction(box[i][0]) for i in range(width)])] == list(
        weight @ values + bias
    )


def test_two_networks_and_one_that_is_equal(tmp_path: Path) -> None:
    relu = network(tmp_path / "r.onnx", ([[1.0]], [0.0]), ([[1.0]], [0.0]))
    double = network(tmp_path / "d.onnx", ([[2.0]], [0.0]), ([[1.0]], [0.0]))
    text = (
        "(vnnlib-version <2.1>)\n"
        "(declare-network f (declare-input A real [1, 1]) (declare-output B real [1,1]))\n"
        "(declare-network g {like} (declare-input C real [1,1]) (declare-output D real [1,1]))\n"
        "(assert (== A[0,0] C[0,0]))\n(assert (and (>= A[0, 0] -1.0) (<= A[0,0] 1.0)))\n(assert (> D[0,0] B[0,0]))\n"
    )
    assert asked(tmp_path, text.format(like="(equal-to f)"), f=relu).status is Satisfiability.UNSAT
    found = asked(tmp_path, text.format(like="(isomorphic-to f)"), f=relu, g=double)
    assert found.status is Satisfiability.SAT
    assert [each.name for each in found.assignment] == ["A", "B", "C", "D"]
    assert found.in_onnxruntime is True
    for given_ in ({}, {"f": relu}, {"f": relu, "g": double, "h": double}):
        with pytest.raises(fairdsl.SpecError, match="E0624"):
            asked(tmp_path, text.format(like=""), **given_)
    with pytest.raises(fairdsl.SpecError, match="E0624"):
        asked(tmp_path, text.format(like="(equal-to f)"), f=relu, g=double)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (DECLARED.replace("real", "float32"), "nothing is proved here about the arithmetic of `float32`"),
        (DECLARED + "(assert (<= (* X[0,0] X[0,0]) 1.0))", "product of variables"),
        (DECLARED + "(assert (<= X[0,7] 1.0))", "neither a number nor declared"),
        (DECLARED.replace("<2.0>", "<3.0>"), "not a command"),
        (DECLARED + "(assert (xor (<= X[0,0] 1.0)))", "not a formula"),
        (DECLARED.replace("[1,{m}]", "[1,5]"), "1 inputs and 1 outputs"),
    ],
)
def test_what_is_not_answered_is_a_mistake(tmp_path: Path, text: str, said: str) -> None:
    file = network(tmp_path / "n.onnx", ([[1.0]], [0.0]))
    with pytest.raises(fairdsl.SpecError) as caught:
        asked(tmp_path, text.format(n=1, m=1), f=file)
    (found,) = caught.value.diagnostics
    assert said in str(found)


def test_a_network_with_curves_is_a_mistake(tmp_path: Path) -> None:
    file = saved(tmp_path / "s.onnx", [helper.make_node("Tanh", ["X"], ["Y"])], [], 1, 1)
    with pytest.raises(fairdsl.SpecError) as caught:
        asked(tmp_path, DECLARED.format(n=1, m=1), f=file)
    assert "nonlinear units (tanh)" in " ".join(caught.value.diagnostics[0].notes)


def test_the_command_line_of_the_standard(tmp_path: Path) -> None:
    file = network(tmp_path / "n.onnx", ([[1.0], [-1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0]))
    query = tmp_path / "q.vnnlib"
    query.write_text(
        DECLARED.format(n=1, m=1) + "(assert (and (>= X[0,0] 0.5) (<= X[0,0] 0.5)))\n(assert (>= Y[0,0] 0.5))\n"
    )
    done = CliRunner().invoke(cli, ["verify", str(query), "--network", f"f={file}", "--timeout", "10"])
    assert done.exit_code == 0
    assert done.stdout == "sat\nX real [1,1]\n0.5\nY real [1,1]\n0.5\n"
    assert "the query holds in onnxruntime" in done.stderr
    query.write_text(query.read_text().replace("(>= Y[0,0] 0.5)", "(> Y[0,0] 0.5)"))
    done = CliRunner().invoke(cli, ["verify", str(query), "--network", f"f={file}"])
    assert done.stdout == "unsat\n"
    old = "(declare-const X_0 Real)\n(declare-const Y_0 Real)\n(assert (<= X_0 -1.0))\n(assert (<= Y_0 1.0))\n"
    query.write_text(old)
    done = CliRunner().invoke(cli, ["verify", str(query), "--network", f"f={file}"])
    assert done.stdout == "sat\n((X_0 -1.0)\n (Y_0 1.0))\n"
    assert CliRunner().invoke(cli, ["verify", str(query)]).exit_code == 2
    assert CliRunner().invoke(cli, ["--name"]).stdout == "fairdsl\n"


@pytest.mark.parametrize("name", SUPPORTED)
def test_capabilities_are_printed(name: str) -> None:
    done = CliRunner().invoke(cli, ["supports", f"--{name}"])
    assert done.exit_code == 0
    assert done.stdout.strip()
    assert CliRunner().invoke(cli, ["supports"]).exit_code == 2


@pytest.mark.parametrize("operator", OPERATORS)
def test_every_operator_that_is_named_is_read(tmp_path: Path, operator: str) -> None:
    """One network for each: what it computes at a point is what onnxruntime computes."""
    assert operator in operators_read()
    constants = [
        numpy_helper.from_array(np.array(values, dtype=kind), name)
        for name, values, kind in (
            ("M", [[1.0, -2.0], [0.5, 3.0]], np.float32),
            ("v", [[2.0, 4.0]], np.float32),
            ("lo", -1.0, np.float32),
            ("hi", 1.0, np.float32),
            ("shape", [1, 2], np.int64),
        )
    ]
    node = {
        "Gemm": helper.make_node("Gemm", ["X", "M"], ["Y"]),
        "MatMul": helper.make_node("MatMul", ["X", "M"], ["Y"]),
        "Clip": helper.make_node("Clip", ["X", "lo", "hi"], ["Y"]),
        "Concat": helper.make_node("Concat", ["X", "X"], ["Y"], axis=1),
        "Reshape": helper.make_node("Reshape", ["X", "shape"], ["Y"]),
        "LeakyRelu": helper.make_node("LeakyRelu", ["X"], ["Y"], alpha=0.25),
    }.get(operator)
    nodes = [node]
    if operator in ("Add", "Sub", "Mul", "Div"):
        nodes = [helper.make_node(operator, ["X", "v"], ["Y"])]
    elif operator == "Constant":
        nodes = [
            helper.make_node("Constant", [], ["c"], value=constants[1]),
            helper.make_node("Add", ["X", "c"], ["Y"]),
        ]
    elif node is None:
        nodes = [helper.make_node(operator, ["X"], ["Y"])]
    read = read_network(str(saved(tmp_path / "n.onnx", nodes, constants, 2, 4 if operator == "Concat" else 2)))
    point = [Fraction(3, 2), Fraction(-5, 4)]
    assert [float(value) for value in read.at(point)] == read.run([float(value) for value in point])
