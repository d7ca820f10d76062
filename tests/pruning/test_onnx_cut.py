"""Cut files: what the importer reads in them, what onnxruntime computes, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, numpy_helper

from fairdsl.diagnostics import DiagnosticError
from fairdsl.ir.declaration import DecisionClause, Highest, WhenClass, WhenProbability
from fairdsl.ir.expr import Relation
from fairdsl.ir.model import Model
from fairdsl.models.load import load_model
from fairdsl.models.running.runtime import Runtime
from fairdsl.numerics.evaluate import BatchEvaluator
from fairdsl.pruning.onnx_file import Written, write_onnx
from fairdsl.pruning.profile import Units
from tests.models.model_files import SPAN, declaration, domain, ml, network, node, saved

PEOPLE = domain("a", "b", "c")
PROBABLE = WhenProbability(outcome=1, relation=Relation.GE, threshold=Fraction(1, 2), span=SPAN)
POINTS = np.random.default_rng(7).integers(-10, 11, (300, 3)).astype(np.float64)


class Numbers:
    """Where weights come from; begun anew for every test, whatever the order of the tests."""

    random = np.random.default_rng()


@pytest.fixture(autouse=True)
def _begin_anew() -> None:
    Numbers.random = np.random.default_rng(5)


def weights(*shape: int) -> np.ndarray:
    """The float32 numbers of a layer."""
    return Numbers.random.normal(size=shape).astype(np.float32)


def loader(decision: DecisionClause | None = None) -> Callable[[str], Model]:
    return lambda path: load_model(declaration(path, decision), PEOPLE)


def cut(proto: onnx.ModelProto, folder: Path, units: Units, decision: DecisionClause | None = None) -> Written:
    source, load = saved(onnx.shape_inference.infer_shapes(proto), folder), loader(decision)
    return write_onnx(source, load(source), units, str(folder / "pruned.onnx"), load)


def gemms(**graph: Any) -> onnx.ModelProto:
    """Three inputs, five units, four units, one score."""
    return network(
        [
            node("Gemm", ["x", "w1", "b1"], ["z1"]),
            node("Relu", ["z1"], ["h1"]),
            node("Gemm", ["h1", "w2", "b2"], ["z2"], transB=1),
            node("Relu", ["z2"], ["h2"]),
            node("Gemm", ["h2", "w3", "b3"], ["y"], transB=1),
        ],
        {
            "w1": weights(3, 5),
            "b1": weights(5),
            "w2": weights(4, 5),
            "b2": weights(1, 4),
            "w3": weights(1, 4),
            "b3": weights(1),
        },
        **graph,
    )


def products(last: str = "Sigmoid") -> onnx.ModelProto:
    """As Keras and scikit-learn export: a matrix, a bias of its own, and an activation."""
    return network(
        [
            node("MatMul", ["x", "w1"], ["p1"]),
            node("Add", ["p1", "b1"], ["z1"]),
            node("Relu", ["z1"], ["h1"]),
            node("MatMul", ["h1", "w2"], ["p2"]),
            node("Add", ["b2", "p2"], ["z2"]),
            node(last, ["z2"], ["y"]),
        ],
        {"w1": weights(3, 5), "b1": weights(1, 5), "w2": weights(5, 1), "b2": weights(1)},
    )


def matches_onnxruntime(written: Written) -> None:
    """What the written file computes in float32 is what the pruned model computes exactly, but for rounding."""
    exact = BatchEvaluator(written.pruned).scores(POINTS)[0]
    runtime = Runtime(written.model.deployed)
    decided = BatchEvaluator(written.pruned).settled(POINTS).decisions
    clear = np.abs(exact[:, 0]) > 1e-3
    assert clear.sum() > 100
    assert runtime.decide_array(POINTS)[clear].tolist() == decided[clear].tolist()
    if written.model.deployed.readout.value == "score":
        np.testing.assert_allclose(runtime.scores_array(POINTS), exact, rtol=1e-4, atol=1e-4)


def test_a_chain_is_cut_to_exactly_the_pruned_model(tmp_path: Path) -> None:
    written = cut(gemms(), tmp_path, {0: (1, 4), 1: (0,)})
    assert written.model.layers == written.pruned.layers
    assert [layer.width for layer in written.model.layers] == [3, 3, 1]
    assert written.silenced == {}
    assert written.model.reading.bounded
    matches_onnxruntime(written)


def test_inputs_outputs_and_names_stay(tmp_path: Path) -> None:
    proto = onnx.shape_inference.infer_shapes(gemms(inputs={"x": ["people", 3]}))
    cut(proto, tmp_path, {0: (2,)})
    pruned = onnx.load(tmp_path / "pruned.onnx")
    onnx.checker.check_model(pruned, full_check=True)
    assert [value.SerializeToString() for value in pruned.graph.input] == [
        value.SerializeToString() for value in proto.graph.input
    ]
    assert [value.SerializeToString() for value in pruned.graph.output] == [
        value.SerializeToString() for value in proto.graph.output
    ]
    assert [(n.op_type, n.name, list(n.input)) for n in pruned.graph.node] == [
        (n.op_type, n.name, list(n.input)) for n in proto.graph.node
    ]
    assert {t.name: t.data_type for t in pruned.graph.initializer} == {
        t.name: t.data_type for t in proto.graph.initializer
    }


def test_the_file_says_what_it_is_and_is_the_same_every_time(tmp_path: Path) -> None:
    proto = gemms()
    proto.metadata_props.add(key="author", value="somebody")
    written = cut(proto, tmp_path, {0: (2, 3)})
    first = (tmp_path / "pruned.onnx").read_bytes()
    again = write_onnx(
        str(tmp_path / "model.onnx"),
        loader()(str(tmp_path / "model.onnx")),
        {0: (2, 3)},
        str(tmp_path / "pruned.onnx"),
        loader(),
    )
    assert (tmp_path / "pruned.onnx").read_bytes() == first
    assert again.model.sha256 == written.model.sha256
    said = {entry.key: entry.value for entry in onnx.load(tmp_path / "pruned.onnx").metadata_props}
    assert said == {
        "author": "somebody",
        "fairdsl.pruned_from_sha256": sha256((tmp_path / "model.onnx").read_bytes()).hexdigest(),
        "fairdsl.removed_units": "2 units of layer 1",
    }
    assert onnx.load(tmp_path / "pruned.onnx").producer_name == "fairdsl"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model.onnx", "pruned.onnx"]


def test_products_with_a_sigmoid_at_the_end(tmp_path: Path) -> None:
    written = cut(products(), tmp_path, {0: (0, 2, 3)}, PROBABLE)
    assert written.model.layers == written.pruned.layers
    matches_onnxruntime(written)


def test_two_classes_and_labels(tmp_path: Path) -> None:
    proto = network(
        [
            node("MatMul", ["x", "w1"], ["z1"]),
            node("Relu", ["z1"], ["h1"]),
            node("Gemm", ["h1", "w2", "b2"], ["z2"]),
            node("Softmax", ["z2"], ["p"], axis=1),
            node("ArgMax", ["p"], ["label"], axis=1, keepdims=0),
        ],
        {"w1": weights(3, 6), "w2": weights(6, 2), "b2": weights(2)},
        outputs={"label": TensorProto.INT64, "p": TensorProto.FLOAT},
    )
    for decision in (WhenClass.of(1, 1, SPAN), Highest(span=SPAN)):
        written = cut(proto, tmp_path, {0: (0, 5)}, decision)
        assert written.model.layers == written.pruned.layers
        matches_onnxruntime(written)


def test_constants_that_are_nodes_or_shared(tmp_path: Path) -> None:
    """The second layer reads the first one's matrix: each gets its own part of it."""
    square, bias = np.abs(weights(3, 3)), weights(3)
    proto = network(
        [
            onnx.helper.make_node("Constant", [], ["w"], value=numpy_helper.from_array(square)),
            node("Gemm", ["x", "w", "b"], ["z1"]),
            node("Relu", ["z1"], ["h1"]),
            node("Gemm", ["h1", "w", "b"], ["z2"]),
            node("Relu", ["z2"], ["h2"]),
            node("MatMul", ["h2", "last"], ["y"]),
        ],
        {"b": bias, "last": weights(3, 1)},
    )
    written = cut(proto, tmp_path, {0: (1,), 1: (0, 2)})
    assert written.model.layers == written.pruned.layers
    assert [layer.width for layer in written.model.layers] == [2, 1, 1]
    matches_onnxruntime(written)


def test_one_bias_for_all_units(tmp_path: Path) -> None:
    proto = products("Identity")
    proto.graph.initializer[1].CopyFrom(numpy_helper.from_array(np.array([0.5], np.float32), "b1"))
    written = cut(proto, tmp_path, {0: (0, 1)})
    assert written.model.layers == written.pruned.layers
    matches_onnxruntime(written)


def residual(bias: np.ndarray) -> onnx.ModelProto:
    """The first units are read by a product and by an addition that skips it."""
    return network(
        [
            node("Gemm", ["x", "w1", "b1"], ["z1"]),
            node("Relu", ["z1"], ["h1"]),
            node("Gemm", ["h1", "w2", "b2"], ["z2"]),
            node("Relu", ["z2"], ["h2"]),
            node("Add", ["h1", "h2"], ["h3"]),
            node("MatMul", ["h3", "w3"], ["y"]),
        ],
        {"w1": weights(3, 4), "b1": bias, "w2": weights(4, 4), "b2": weights(4), "w3": weights(4, 1)},
    )


@pytest.mark.parametrize("shape", [(4,), (1, 4), (1,)], ids=["vector", "row", "one number"])
def test_units_that_skip_a_layer_are_silenced(tmp_path: Path, shape: tuple[int, ...]) -> None:
    written = cut(residual(weights(*shape)), tmp_path, {0: (0, 3), 1: (2,)})
    assert written.silenced == {0: (0, 3), 1: (2,)}
    assert (np.asarray(written.model.layers[0].weight.floats)[[0, 3]] == 0).all()
    exact = BatchEvaluator(written.model).scores(POINTS)[0]
    np.testing.assert_allclose(exact, BatchEvaluator(written.pruned).scores(POINTS)[0], rtol=1e-12, atol=1e-12)
    matches_onnxruntime(written)


def test_branches_side_by_side(tmp_path: Path) -> None:
    """Two rows of units in one layer: the second one's units come after the first one's."""
    proto = network(
        [
            node("Gemm", ["x", "w1", "b1"], ["z1"]),
            node("MatMul", ["x", "w2"], ["z2"]),
            node("Relu", ["z1"], ["h1"]),
            node("Relu", ["z2"], ["h2"]),
            node("MatMul", ["h1", "w3"], ["y1"]),
            node("MatMul", ["h2", "w4"], ["y2"]),
            node("Add", ["y1", "y2"], ["y"]),
        ],
        {"w1": weights(3, 4), "b1": weights(4), "w2": weights(3, 3), "w3": weights(4, 1), "w4": weights(3, 1)},
    )
    written = cut(proto, tmp_path, {0: (1, 4, 5)})
    assert written.model.layers == written.pruned.layers
    assert written.silenced == {}
    matches_onnxruntime(written)
    whole_branch = cut(proto, tmp_path, {0: (4, 5, 6)})
    assert whole_branch.silenced == {0: (4, 5, 6)}
    matches_onnxruntime(whole_branch)


def test_a_standardising_front_stays(tmp_path: Path) -> None:
    """Subtractions and divisions before the first product are folded into the model's weights, and stay nodes."""
    proto = network(
        [
            node("Sub", ["x", "mean"], ["centred"]),
            node("Div", ["centred", "scale"], ["scaled"]),
            node("Gemm", ["scaled", "w1", "b1"], ["z1"]),
            node("Relu", ["z1"], ["h1"]),
            node("Gemm", ["h1", "w2", "b2"], ["y"]),
        ],
        {
            "mean": weights(3),
            "scale": np.array([2, 3, 7]),
            "w1": weights(3, 4),
            "b1": weights(4),
            "w2": weights(4, 1),
            "b2": weights(1),
        },
    )
    proto.graph.initializer[1].CopyFrom(numpy_helper.from_array(np.array([2, 3, 7], np.float32), "scale"))
    written = cut(proto, tmp_path, {0: (0, 2)})
    assert written.model.layers == written.pruned.layers
    matches_onnxruntime(written)


def test_weights_in_a_side_file_move_into_the_file(tmp_path: Path) -> None:
    elsewhere = tmp_path / "original"
    elsewhere.mkdir()
    source = str(elsewhere / "model.onnx")
    proto = onnx.shape_inference.infer_shapes(gemms())
    onnx.save(proto, source, save_as_external_data=True, location="model.data", size_threshold=0)
    assert (elsewhere / "model.data").is_file()
    written = write_onnx(source, loader()(source), {0: (0, 2)}, str(tmp_path / "pruned.onnx"), loader())
    assert written.model.layers == written.pruned.layers
    assert sorted(path.name for path in tmp_path.iterdir()) == ["original", "pruned.onnx"]
    matches_onnxruntime(written)


def test_old_files_that_list_their_weights_among_the_inputs(tmp_path: Path) -> None:
    proto = onnx.shape_inference.infer_shapes(gemms(opset=8))
    proto.ir_version = 3
    for item in proto.graph.initializer:
        proto.graph.input.append(onnx.helper.make_tensor_value_info(item.name, item.data_type, list(item.dims)))
    written = cut(proto, tmp_path, {0: (0,), 1: (3,)})
    assert written.model.layers == written.pruned.layers
    onnx.checker.check_model(onnx.load(tmp_path / "pruned.onnx"), full_check=True)
    matches_onnxruntime(written)


def test_double_precision_stays(tmp_path: Path) -> None:
    nodes = [node("MatMul", ["x", "w1"], ["z"]), node("Relu", ["z"], ["h"]), node("MatMul", ["h", "w2"], ["y"])]
    proto = network(nodes, outputs={"y": TensorProto.DOUBLE}, dtype=TensorProto.DOUBLE)
    for name, shape in (("w1", (3, 4)), ("w2", (4, 1))):
        values = Numbers.random.normal(size=shape)
        proto.graph.initializer.append(numpy_helper.from_array(values, name))
    written = cut(proto, tmp_path, {0: (2,)})
    assert written.model.layers == written.pruned.layers
    assert {item.data_type for item in onnx.load(tmp_path / "pruned.onnx").graph.initializer} == {TensorProto.DOUBLE}
    matches_onnxruntime(written)


def test_nothing_to_remove_keeps_the_network(tmp_path: Path) -> None:
    written = cut(gemms(), tmp_path, {})
    assert written.model.layers == loader()(str(tmp_path / "model.onnx")).layers


def refused(proto: onnx.ModelProto, folder: Path, units: Units) -> None:
    with pytest.raises(DiagnosticError) as caught:
        cut(proto, folder, units)
    assert [finding.code for finding in caught.value.diagnostics] == ["E0560"]
    assert sorted(path.name for path in folder.iterdir()) == ["model.onnx"]


def test_scaled_units_are_refused(tmp_path: Path) -> None:
    proto = network(
        [
            node("MatMul", ["x", "w1"], ["p1"]),
            node("Mul", ["p1", "s"], ["z1"]),
            node("Relu", ["z1"], ["h1"]),
            node("MatMul", ["h1", "w2"], ["y"]),
        ],
        {"w1": weights(3, 4), "s": weights(4), "w2": weights(4, 1)},
    )
    refused(proto, tmp_path, {0: (0,)})


def test_clipped_units_are_refused(tmp_path: Path) -> None:
    proto = network(
        [
            node("MatMul", ["x", "w1"], ["z1"]),
            node("Clip", ["z1", "low", "high"], ["h1"]),
            node("MatMul", ["h1", "w2"], ["y"]),
        ],
        {"w1": weights(3, 4), "low": np.float32(0), "high": np.float32(6), "w2": weights(4, 1)},
    )
    refused(proto, tmp_path, {0: (0,)})


def test_a_cut_in_the_wrong_place_is_noticed(tmp_path: Path) -> None:
    """Whatever the reading of the graph says, the file has to import as the pruned model."""
    source = saved(gemms(), tmp_path)
    model = loader()(source)
    swapped = replace(model, layers=(_swapped(model.layers[0]), *model.layers[1:]))
    with pytest.raises(DiagnosticError) as caught:
        write_onnx(source, swapped, {0: (0,)}, str(tmp_path / "pruned.onnx"), loader())
    assert "does not read as" in caught.value.diagnostics[0].notes[0]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model.onnx"]


def _swapped(layer: Any) -> Any:
    from fairdsl.ir.exact_array import ExactArray

    order = [1, 0, 2, 3, 4]
    parts = (layer.weight.floats[order], layer.bias.floats[order])
    weight, bias = (ExactArray.from_floats(part) for part in parts)
    return replace(layer, weight=weight, bias=bias)


def test_the_original_is_never_overwritten(tmp_path: Path) -> None:
    source = saved(gemms(), tmp_path)
    before = Path(source).read_bytes()
    with pytest.raises(DiagnosticError, match="E0560"):
        write_onnx(source, loader()(source), {0: (0,)}, source, loader())
    assert Path(source).read_bytes() == before


def test_a_classifier_with_string_labels(tmp_path: Path) -> None:
    """As scikit-learn's perceptrons are exported: casts, products, and a label made of two probabilities."""
    proto = network(
        [
            node("Cast", ["x"], ["cast"], to=TensorProto.FLOAT),
            node("MatMul", ["cast", "w1"], ["p1"]),
            node("Add", ["p1", "b1"], ["z1"]),
            node("Relu", ["z1"], ["h1"]),
            node("MatMul", ["h1", "w2"], ["p2"]),
            node("Add", ["p2", "b2"], ["z2"]),
            node("Sigmoid", ["z2"], ["yes"]),
            node("Sub", ["one", "yes"], ["no"]),
            node("Concat", ["no", "yes"], ["p"], axis=1),
            node("ArgMax", ["p"], ["place"], axis=1, keepdims=0),
            ml("ArrayFeatureExtractor", ["classes", "place"], ["row"]),
            node("Reshape", ["row", "flat"], ["label"]),
        ],
        {
            "w1": weights(3, 5),
            "b1": weights(1, 5),
            "w2": weights(5, 1),
            "b2": weights(1, 1),
            "one": np.float32(1),
            "classes": np.array([0, 1]),
            "flat": np.array([-1]),
        },
        outputs={"label": TensorProto.INT64, "p": TensorProto.FLOAT},
    )
    written = cut(proto, tmp_path, {0: (1, 3)}, WhenClass.of(1, 1, SPAN))
    assert written.model.layers == written.pruned.layers
    matches_onnxruntime(written)
