"""Networks with sigmoid and tanh inside, as PyTorch and Keras export them: read exactly, run alike."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fairdsl.diagnostics import DiagnosticError
from fairdsl.ir.declaration import Highest, WhenClass, WhenProbability, WhenScore
from fairdsl.ir.expr import Relation
from fairdsl.ir.model import ByThreshold, Curve, Model
from fairdsl.models import load_model
from fairdsl.models.graph import OutputKind
from fairdsl.models.onnx_import import import_onnx
from fairdsl.models.running.runtime import Runtime
from fairdsl.models.schedule import lay_out
from fairdsl.numerics.exact import decision, enclosed_scores
from tests.models.model_files import SPAN, declaration, domain, network, node, saved
from tests.oracle import outcome

R = np.random.default_rng(8)
PEOPLE = domain("age", "income", "sex")


def weights(*shape: int) -> np.ndarray[Any, Any]:
    return (R.standard_normal(shape) / 2).astype(np.float32)


def perceptron(activation: str, *last: Any) -> Any:
    """``nn.Linear``, the activation, ``nn.Linear``, once more, and what comes last."""
    nodes = [
        node("Gemm", ["x", "w1", "b1"], ["z1"], transB=1),
        node(activation, ["z1"], ["h1"]),
        node("Gemm", ["h1", "w2", "b2"], ["z2"], transB=1),
        node(activation, ["z2"], ["h2"]),
        node("Gemm", ["h2", "w3", "b3"], ["z"], transB=1),
        *last,
    ]
    constants = {"w1": weights(6, 3), "b1": weights(6), "w2": weights(4, 6), "b2": weights(4), "w3": weights(1, 4)}
    return nodes, {**constants, "b3": weights(1)}


def when(relation: Relation, threshold: object) -> WhenScore:
    return WhenScore(outcome=1, relation=relation, threshold=Fraction(str(threshold)), span=SPAN)


def agrees(model: Model) -> None:
    points = [tuple(Fraction(int(v)) for v in row) for row in R.integers(-10, 11, (40, 3))]
    assert model.deployed is not None
    deployed = Runtime(model.deployed).decide(points)
    assert [decision(model, point) for point in points] == deployed
    if not isinstance(model.rule, ByThreshold) or model.rule.low == model.rule.high:
        assert [outcome(model, point) for point in points] == deployed


@pytest.mark.parametrize(("activation", "curve"), [("Sigmoid", Curve.SIGMOID), ("Tanh", Curve.TANH)])
def test_perceptrons(activation: str, curve: Curve, tmp_path: Path) -> None:
    nodes, constants = perceptron(activation, node("Identity", ["z"], ["y"]))
    model = load_model(declaration(saved(network(nodes, constants), tmp_path)), PEOPLE)
    assert [layer.curves for layer in model.layers] == [(curve,) * 6, (curve,) * 4, ()]
    assert not model.rational
    agrees(model)
    scores = enclosed_scores(model, (Fraction(3), Fraction(-2), Fraction(1)))
    assert model.deployed is not None
    assert float(scores.values[0]) == pytest.approx(
        float(Runtime(model.deployed).scores_array(np.array([[3.0, -2.0, 1.0]]))[0, 0]), rel=1e-4
    )


def test_a_sigmoid_at_the_output_is_still_folded(tmp_path: Path) -> None:
    nodes, constants = perceptron("Tanh", node("Sigmoid", ["z"], ["y"]))
    path = saved(network(nodes, constants), tmp_path)
    (output,) = import_onnx(path).outputs
    assert output.kind is OutputKind.SIGMOID
    clause = WhenProbability(outcome=1, relation=Relation.GE, threshold=Fraction(3, 5), span=SPAN)
    model = load_model(declaration(path, clause), PEOPLE)
    assert [bool(layer.curves) for layer in model.layers] == [True, True, False]
    agrees(model)


@pytest.mark.parametrize("width", [2, 3])
@pytest.mark.parametrize("written_out", [False, True])
def test_the_logarithm_of_a_softmax_decides_as_its_scores(width: int, written_out: bool, tmp_path: Path) -> None:
    last = [node("LogSoftmax", ["z"], ["y"], axis=1)]
    if written_out:
        last = [node("ReduceLogSumExp", ["z"], ["s"], axes=[1]), node("Sub", ["z", "s"], ["y"])]
    nodes = [node("Gemm", ["x", "w", "b"], ["h"]), node("Relu", ["h"], ["r"]), node("Gemm", ["r", "v"], ["z"]), *last]
    constants = {"w": weights(3, 4), "b": weights(4), "v": weights(4, width)}
    path = saved(network(nodes, constants, opset=13), tmp_path)
    (output,) = import_onnx(path).outputs
    assert output.kind is OutputKind.LOG_SOFTMAX
    model = load_model(declaration(path, Highest(span=SPAN), outcomes=("low", "mid", "high")[:width]), PEOPLE)
    assert model.rational
    assert model.logits is not None
    agrees(model)


def test_some_of_the_logarithms_of_a_softmax_are_not_read_as_all(tmp_path: Path) -> None:
    nodes = [node("LogSoftmax", ["x"], ["l"], axis=1), node("Gather", ["l", "i"], ["p"], axis=1)]
    nodes += [node("Exp", ["p"], ["y"])]
    with pytest.raises(DiagnosticError) as caught:
        import_onnx(saved(network(nodes, {"i": np.array([0, 1])}), tmp_path))
    assert "`Gather` cannot be read" in caught.value.diagnostics[0].title


def test_a_piecewise_linear_network_stays_rational(tmp_path: Path) -> None:
    nodes, constants = perceptron("HardSigmoid", node("Sigmoid", ["z"], ["y"]))
    model = load_model(declaration(saved(network(nodes, constants), tmp_path), when(Relation.GT, "0.5")), PEOPLE)
    assert model.rational
    agrees(model)


def test_residual_connections_mix_curved_and_linear_units(tmp_path: Path) -> None:
    nodes = [
        node("Gemm", ["x", "w", "b"], ["z"], transB=1),
        node("Tanh", ["z"], ["h"]),
        node("Add", ["h", "x"], ["r"]),
        node("Relu", ["r"], ["q"]),
        node("Concat", ["q", "h", "x"], ["c"], axis=1),
        node("Gemm", ["c", "v"], ["y"], transB=1),
    ]
    constants = {"w": weights(3, 3), "b": weights(3), "v": weights(1, 9)}
    model = load_model(declaration(saved(network(nodes, constants), tmp_path)), PEOPLE)
    first, second, last = model.layers
    assert first.curves == (Curve.TANH,) * 3 + (Curve.LEAKY,) * 3
    assert first.linear.tolist() == [False] * 3 + [True] * 3
    assert second.rational
    assert last.rational
    agrees(model)


def test_a_probability_that_is_used_twice_has_one_unit(tmp_path: Path) -> None:
    nodes = [
        node("Gemm", ["x", "w"], ["z"], transB=1),
        node("Sigmoid", ["z"], ["p"]),
        node("Sub", ["one", "p"], ["q"]),
        node("Mul", ["p", "two"], ["d"]),
        node("Sub", ["d", "q"], ["y"]),
    ]
    constants = {"w": weights(1, 3), "one": np.ones(1), "two": np.full(1, 2.0)}
    model = load_model(declaration(saved(network(nodes, constants), tmp_path), when(Relation.GE, "0.5")), PEOPLE)
    (hidden, last) = model.layers
    assert hidden.curves == (Curve.SIGMOID,)
    assert (last.weight.exact[0, 0], last.bias.exact[0]) == (3, -1)
    # 3 p - 1 >= 1/2 is p >= 1/2: a tie at 0 is granted, exactly
    assert decision(model, (Fraction(0),) * 3) == 1
    agrees(model)


def test_two_probabilities_are_compared_by_their_logits(tmp_path: Path) -> None:
    nodes = [
        node("Gemm", ["x", "w"], ["z"], transB=1),
        node("Sigmoid", ["z"], ["p"]),
        node("Gemm", ["x", "v"], ["k"], transB=1),
        node("Sigmoid", ["k"], ["q"]),
        node("Greater", ["p", "q"], ["y"]),
    ]
    from onnx import TensorProto

    constants = {"w": weights(1, 3), "v": weights(1, 3)}
    path = saved(network(nodes, constants, outputs={"y": TensorProto.BOOL}), tmp_path)
    model = load_model(declaration(path, WhenClass.of(1, 1, SPAN)), PEOPLE)
    assert model.rational


def test_curves_in_the_first_layer_survive_features(tmp_path: Path) -> None:
    from fairdsl.ir.feature import AttributeInput, Form

    nodes = [node("Tanh", ["x"], ["h"]), node("Gemm", ["h", "w"], ["y"], transB=1)]
    path = saved(network(nodes, {"w": weights(1, 3)}), tmp_path)
    half = Form(terms=((AttributeInput(0), Fraction(1, 2)), (AttributeInput(1), Fraction(1, 4))), constant=Fraction(1))
    reads = (half, Form.of(AttributeInput(2)), Form.of(AttributeInput(0)))
    model = load_model(declaration(path, reads=reads), PEOPLE)
    assert model.layers[0].curves == (Curve.TANH,) * 3
    agrees(model)


def test_a_softmax_inside_is_refused(tmp_path: Path) -> None:
    nodes = [node("Softmax", ["x"], ["p"], axis=1), node("Gemm", ["p", "w"], ["y"], transB=1)]
    with pytest.raises(DiagnosticError) as caught:
        import_onnx(saved(network(nodes, {"w": weights(1, 3)}), tmp_path), SPAN)
    (problem,) = caught.value.diagnostics
    assert problem.code == "E0504"
    assert problem.primary is not None
    assert "probabilities of a softmax" in problem.primary.text
    assert "read at the network's output only" in problem.help


def test_only_what_the_output_needs_is_laid_out(tmp_path: Path) -> None:
    nodes = [node("Gemm", ["x", "w"], ["z"], transB=1), node("Sigmoid", ["z"], ["y"])]
    graph = import_onnx(saved(network(nodes, {"w": weights(1, 3)}), tmp_path))
    assert len(lay_out(graph.basis.blocks, graph.outputs[0].scores)) == 1
