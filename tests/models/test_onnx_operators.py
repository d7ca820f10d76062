"""Every operator that is read, against onnxruntime; and the exactness of what is read (trap 11)."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest
from model_files import ml, naive, network, node, saved
from onnx import TensorProto

from fairdsl.models.graph import OutputKind
from fairdsl.models.onnx_import import import_onnx, operators_read
from fairdsl.models.schedule import lay_out

R = np.random.default_rng(5)


def weights(*shape: int) -> np.ndarray[Any, Any]:
    return np.round(R.normal(size=shape), 2).astype(np.float32)


def ints(*values: int) -> np.ndarray[Any, Any]:
    return np.array(values, dtype=np.int64)


W, B, V = weights(4, 3), weights(4), weights(1, 4)
RELU_HEAD = [node("Gemm", ["x", "w", "b"], ["z"], transB=1), node("Relu", ["z"], ["h"])]
HEAD = {"w": W, "b": B}


def after_relu(*nodes: Any) -> list[Any]:
    return [*RELU_HEAD, *nodes]


CASES: dict[str, tuple[list[Any], dict[str, Any]]] = {
    "gemm": ([node("Gemm", ["x", "w", "b"], ["y"], transB=1, alpha=0.5, beta=-2.0)], HEAD),
    "gemm_transposed_input": (
        [node("Transpose", ["x"], ["t"], perm=[1, 0]), node("Gemm", ["t", "w"], ["y"], transA=1)],
        {"w": weights(3, 2)},
    ),
    "gemm_left_constant": ([node("Gemm", ["w", "x"], ["y"], transB=1)], {"w": weights(2, 3)}),
    "matmul": (after_relu(node("MatMul", ["h", "v"], ["y"])), {**HEAD, "v": weights(4, 2)}),
    "matmul_vector": (after_relu(node("MatMul", ["h", "v"], ["y"])), {**HEAD, "v": weights(4)}),
    "matmul_left": (
        [node("Transpose", ["x"], ["t"]), node("MatMul", ["w", "t"], ["u"]), node("Transpose", ["u"], ["y"])],
        {"w": weights(2, 3)},
    ),
    "matmul_rows": (
        [
            node("Reshape", ["x", "s"], ["r"]),
            node("MatMul", ["r", "w"], ["m"]),
            node("Relu", ["m"], ["q"]),
            node("Flatten", ["q"], ["y"]),
        ],
        {"s": ints(1, 3, 1), "w": weights(1, 2)},
    ),
    "tanh": ([node("Gemm", ["x", "w", "b"], ["z"], transB=1), node("Tanh", ["z"], ["y"])], HEAD),
    "sigmoid_inside": (
        [
            node("Gemm", ["x", "w", "b"], ["z"], transB=1),
            node("Sigmoid", ["z"], ["p"]),
            node("Gemm", ["p", "v"], ["k"], transB=1),
            node("Tanh", ["k"], ["t"]),
            node("Concat", ["t", "x", "p"], ["c"], axis=1),
            node("Gemm", ["c", "u"], ["y"], transB=1),
        ],
        {**HEAD, "v": weights(5, 4), "u": weights(2, 12)},
    ),
    "complement_of_a_probability_and_more": (
        after_relu(node("Sigmoid", ["h"], ["p"]), node("Sub", ["one", "p"], ["q"]), node("Add", ["q", "h"], ["y"])),
        {**HEAD, "one": np.float32([1])},
    ),
    "deep": (
        after_relu(
            node("Gemm", ["h", "v"], ["k"], transB=1), node("Relu", ["k"], ["l"]), node("Gemm", ["l", "u"], ["y"])
        ),
        {**HEAD, "v": weights(5, 4), "u": weights(5, 1)},
    ),
    "no_activation_between": (
        [node("MatMul", ["x", "a"], ["p"]), node("Add", ["p", "c"], ["q"]), node("MatMul", ["q", "v"], ["y"])],
        {"a": weights(3, 4), "c": weights(4), "v": weights(4, 2)},
    ),
    "add_sub_constants": (
        [node("Add", ["c", "x"], ["p"]), node("Sub", ["p", "d"], ["q"]), node("Sub", ["e", "q"], ["y"])],
        {"c": weights(3), "d": weights(1, 3), "e": weights(1)},
    ),
    "mul_div_neg": (
        [node("Mul", ["x", "c"], ["p"]), node("Div", ["p", "d"], ["q"]), node("Neg", ["q"], ["y"])],
        {"c": weights(3), "d": np.float32([3, 7, 0.1])},
    ),
    "sum_along": ([node("ReduceSum", ["x", "axes"], ["y"], keepdims=1)], {"axes": np.int64([1])}),
    "average_along": ([node("ReduceMean", ["x"], ["y"], axes=[1])], {}),
    "sum_of_three": ([node("Sum", ["x", "c", "x"], ["y"])], {"c": weights(3)}),
    "residual": (
        after_relu(
            node("Gemm", ["h", "s"], ["k"]),
            node("Add", ["k", "x"], ["r"]),
            node("Relu", ["r"], ["q"]),
            node("Sub", ["q", "x"], ["y"]),
        ),
        {**HEAD, "s": weights(4, 3)},
    ),
    "concat_skip": (
        after_relu(
            node("Gemm", ["h", "s"], ["k"]),
            node("Relu", ["k"], ["l"]),
            node("Concat", ["x", "l", "h", "c"], ["j"], axis=1),
            node("Gemm", ["j", "u"], ["y"], transB=1),
        ),
        {**HEAD, "s": weights(4, 2), "u": weights(2, 10), "c": weights(1, 1)},
    ),
    "leaky": ([node("LeakyRelu", ["x"], ["y"], alpha=0.1)], {}),
    "leaky_steep": ([node("LeakyRelu", ["x"], ["y"], alpha=1.5)], {}),
    "leaky_negative": ([node("LeakyRelu", ["x"], ["y"], alpha=-0.5)], {}),
    "prelu": ([node("PRelu", ["x", "s"], ["y"])], {"s": np.float32([0.25, 0.5, 0.0])}),
    "prelu_mixed": ([node("PRelu", ["x", "s"], ["y"])], {"s": np.float32([0.25, 2.0, -1.0])}),
    "clip": ([node("Clip", ["x", "lo", "hi"], ["y"])], {"lo": np.float32(-1.5), "hi": np.float32(2.25)}),
    "clip_low": ([node("Clip", ["x", "lo"], ["y"])], {"lo": np.float32(-1.5)}),
    "clip_high": ([node("Clip", ["x", "", "hi"], ["y"])], {"hi": np.float32(2.25)}),
    "clip_none": ([node("Clip", ["x"], ["y"])], {}),
    "clip_crossed": ([node("Clip", ["x", "lo", "hi"], ["y"])], {"lo": np.float32(3), "hi": np.float32(1)}),
    "hard_sigmoid": ([node("HardSigmoid", ["x"], ["y"], alpha=0.25, beta=0.5)], {}),
    "abs": ([node("Abs", ["x"], ["y"])], {}),
    "max": ([node("Max", ["x", "c", "d"], ["y"])], {"c": weights(3), "d": weights(1)}),
    "min": ([node("Min", ["c", "x"], ["y"])], {"c": weights(3)}),
    "batch_normalization": (
        after_relu(node("BatchNormalization", ["h", "g", "o", "m", "v"], ["y"], epsilon=0.001)),
        {**HEAD, "g": weights(4), "o": weights(4), "m": weights(4), "v": np.abs(weights(4))},
    ),
    "slice_gather_split": (
        after_relu(
            node("Slice", ["h", "from", "to", "axes", "steps"], ["s"]),
            node("Gather", ["h", "which"], ["g"], axis=1),
            node("Split", ["h", "sizes"], ["p", "q"], axis=1),
            node("Concat", ["s", "q", "g", "p"], ["y"], axis=-1),
        ),
        {
            **HEAD,
            "from": ints(3),
            "to": ints(-9),
            "axes": ints(1),
            "steps": ints(-2),
            "which": ints(2, 0),
            "sizes": ints(1, 3),
        },
    ),
    "shapes": (
        after_relu(
            node("Unsqueeze", ["h", "axis"], ["u"]),
            node("Identity", ["u"], ["i"]),
            node("Squeeze", ["i", "axis"], ["q"]),
            node("Dropout", ["q"], ["d"]),
            node("Cast", ["d"], ["c"], to=TensorProto.DOUBLE),
            node("Cast", ["c"], ["f"], to=TensorProto.FLOAT),
            node("Reshape", ["f", "shape"], ["y"]),
        ),
        {**HEAD, "axis": ints(1), "shape": ints(0, -1)},
    ),
    "shape_arithmetic": (
        after_relu(
            node("Shape", ["h"], ["n"]),
            node("Gather", ["n", "zero"], ["rows"], axis=0),
            node("Mul", ["rows", "one"], ["rows1"]),
            node("Concat", ["rows1", "rest"], ["target"], axis=0),
            node("Reshape", ["h", "target"], ["y"]),
        ),
        {**HEAD, "zero": ints(0), "one": ints(1), "rest": ints(-1)},
    ),
    "expand": ([node("Expand", ["x", "s"], ["y"])], {"s": ints(1, 3)}),
    "constants": (
        [
            node("Constant", [], ["c"], value_floats=[0.1, 0.2, 0.3]),
            node("ConstantOfShape", ["s"], ["o"]),
            node("Add", ["c", "o"], ["k"]),
            node("Mul", ["x", "k"], ["y"]),
        ],
        {"s": ints(3)},
    ),
    "scaler": ([ml("Scaler", ["x"], ["y"], offset=[1.5, 2.0, -1.0], scale=[0.1, 0.3, 2.0])], {}),
    "linear_regressor": (
        [ml("LinearRegressor", ["x"], ["y"], coefficients=[0.5, -1.5, 2.0], intercepts=[0.25], targets=1)],
        {},
    ),
    "feature_extractor": ([ml("ArrayFeatureExtractor", ["x", "which"], ["y"])], {"which": ints(2, 0)}),
}


def run(path: str, rows: np.ndarray[Any, Any], output: str = "y") -> np.ndarray[Any, Any]:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    results = [np.asarray(session.run([output], {"x": row[None, :]})[0]).ravel() for row in rows]
    return np.array(results)


@pytest.mark.parametrize("name", CASES)
def test_operator_agrees_with_onnxruntime(name: str, tmp_path: Path) -> None:
    nodes, constants = CASES[name]
    path = saved(network(nodes, constants), tmp_path)
    graph = import_onnx(path)
    (output,) = graph.outputs
    assert output.kind is OutputKind.SCORE
    layers = lay_out(graph.basis.blocks, output.scores)
    assert layers[-1].linear.all()
    rows = R.integers(-8, 9, (12, 3)).astype(np.float32) / 4
    exact = np.array([[float(v) for v in naive(layers, [Fraction(float(x)) for x in row])] for row in rows])
    assert exact == pytest.approx(run(path, rows), rel=1e-5, abs=1e-5)


def test_every_operator_has_a_case() -> None:
    covered = {n.op_type for nodes, _ in CASES.values() for n in nodes}
    elsewhere = {"ArgMax", "Binarizer", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "LinearClassifier"}
    elsewhere |= {"LogSoftmax", "Softmax", "ZipMap"}
    elsewhere |= {"FeatureVectorizer", "Imputer", "LabelEncoder", "Normalizer", "OneHotEncoder"}  # test_onnx_trees
    elsewhere |= {"SVMClassifier", "SVMRegressor"}  # test_svm
    elsewhere |= {"Celu", "Elu", "Erf", "Gelu", "HardSwish", "Selu", "Softplus", "Swish"}  # test_onnx_smooth
    elsewhere |= {"GatherND", "OneHot"}  # test_onnx_lookups
    elsewhere |= {"ArgMin", "Equal", "Exp", "IsNaN", "Log", "Not", "ReduceLogSumExp", "Where"}  # test_chosen
    elsewhere |= {"Pow"}  # test_tables_of_powers
    elsewhere |= {"TreeEnsembleClassifier", "TreeEnsembleRegressor"}
    assert set(operators_read()) == covered | elsewhere


def test_weights_are_the_stored_float32(tmp_path: Path) -> None:
    """Trap 11: 0.1 as float32 is 13421773/134217728, not 1/10."""
    path = saved(network([node("Gemm", ["x", "w"], ["y"])], {"w": np.float32([[0.1], [2], [0.3]])}), tmp_path)
    (layer,) = lay_out(import_onnx(path).basis.blocks, import_onnx(path).outputs[0].scores)
    assert layer.weight.exact[0, 0] == Fraction(13421773, 134217728)


def test_attributes_that_are_left_out_are_float32_too(tmp_path: Path) -> None:
    """0.01 is not a float32 number: written out or left out, the file multiplies with the one next to it."""
    slopes = []
    for number, attributes in enumerate(({}, {"alpha": 0.01})):
        path = saved(network([node("LeakyRelu", ["x"], ["y"], **attributes)], {}), tmp_path, f"{number}.onnx")
        graph = import_onnx(path)
        slopes.append(lay_out(graph.basis.blocks, graph.outputs[0].scores)[0].slope.exact.tolist())
    assert slopes[0] == slopes[1]
    assert set(slopes[0]) == {Fraction(float(np.float32(0.01)))}


def test_folding_is_exact(tmp_path: Path) -> None:
    nodes = [
        node("Sub", ["x", "m"], ["c"]),
        node("Div", ["c", "s"], ["n"]),
        node("Gemm", ["n", "w", "b"], ["y"], transB=1),
    ]
    constants = {"m": np.float32([0.1, 1, 2]), "s": np.float32([3, 0.7, 1]), "w": W, "b": B}
    graph = import_onnx(saved(network(nodes, constants), tmp_path))
    (layer,) = lay_out(graph.basis.blocks, graph.outputs[0].scores)
    m, s = ([Fraction(float(v)) for v in constants[k]] for k in ("m", "s"))
    row = [Fraction(1, 3), Fraction(-2), Fraction(5)]
    expected = [
        sum(Fraction(float(w)) * (x - a) / d for w, x, a, d in zip(line, row, m, s, strict=True)) + Fraction(float(b))
        for line, b in zip(W, B, strict=True)
    ]
    assert naive([layer], row) == expected


def test_double_weights_stay_double(tmp_path: Path) -> None:
    weight = np.array([[0.1], [0.2], [0.3]])
    model = network([node("MatMul", ["x", "w"], ["y"])], {}, dtype=TensorProto.DOUBLE, outputs={"y": 11})
    from onnx import numpy_helper

    model.graph.initializer.append(numpy_helper.from_array(weight, "w"))
    graph = import_onnx(saved(model, tmp_path))
    (layer,) = lay_out(graph.basis.blocks, graph.outputs[0].scores)
    assert list(layer.weight.exact[0]) == [Fraction(0.1), Fraction(0.2), Fraction(0.3)]


def test_batch_normalization_is_noted(tmp_path: Path) -> None:
    nodes, constants = CASES["batch_normalization"]
    graph = import_onnx(saved(network(nodes, constants), tmp_path))
    assert graph.rounded == ("BatchNormalization_y",)
    unit = {**constants, "v": np.full(4, 4.0, dtype=np.float32)}
    nodes = after_relu(node("BatchNormalization", ["h", "g", "o", "m", "v"], ["y"], epsilon=0.0))
    assert import_onnx(saved(network(nodes, unit), tmp_path)).rounded == ()


def test_skipped_levels_ride_along_as_linear_units(tmp_path: Path) -> None:
    nodes, constants = CASES["residual"]
    graph = import_onnx(saved(network(nodes, constants), tmp_path))
    layers = lay_out(graph.basis.blocks, graph.outputs[0].scores)
    assert [layer.width for layer in layers] == [7, 6, 3]
    assert [int(layer.linear.sum()) for layer in layers] == [3, 3, 3]


@pytest.mark.parametrize("batch", [1, 2])
def test_fixed_batch_sizes_are_read_as_one_individual(batch: int, tmp_path: Path) -> None:
    nodes = [node("Gemm", ["x", "w", "b"], ["z"], transB=1), node("Reshape", ["z", "s"], ["y"])]
    model = network(nodes, {**HEAD, "s": ints(batch, 4)}, inputs={"x": [batch, 3]})
    graph = import_onnx(saved(model, tmp_path))
    assert (graph.width, graph.outputs[0].width) == (3, 4)


def test_large_networks_are_read_quickly(tmp_path: Path) -> None:
    import time

    constants, nodes, last = {}, [], "x"
    for i in range(4):
        constants[f"w{i}"] = R.normal(size=(600, 3 if i == 0 else 600)).astype(np.float32)
        constants[f"b{i}"] = R.normal(size=600).astype(np.float32)
        nodes += [node("Gemm", [last, f"w{i}", f"b{i}"], [f"z{i}"], transB=1), node("Relu", [f"z{i}"], [f"h{i}"])]
        last = f"h{i}"
    path = saved(network([*nodes, node("Identity", [last], ["y"])], constants), tmp_path)
    start = time.process_time()
    graph = import_onnx(path)
    layers = lay_out(graph.basis.blocks, graph.outputs[0].scores)
    assert time.process_time() - start < 5
    assert all(layer.weight.is_float for layer in layers)
