"""Which files compute their layers as they are read, so that their float32 rounding can be bounded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from model_files import declaration, domain, network, node, saved
from onnx import TensorProto

from fairdsl.models import load_model
from fairdsl.models.onnx_import import import_onnx

R = np.random.default_rng(3)
W, B, V, C = (R.normal(size=shape).astype(np.float32) for shape in ((4, 3), (4,), (4, 1), (1,)))
SLOPE = np.float32([0.5, 0.5, 0.5, 0.5])
STORED = {"w": W, "b": B, "v": V, "c": C, "wt": W.T.copy(), "s": SLOPE, "two": np.float32([2.0])}

FIRST = [node("Gemm", ["x", "w", "b"], ["z"], transB=1), node("Relu", ["z"], ["h"])]
LAST = [node("MatMul", ["h", "v"], ["m"]), node("Add", ["m", "c"], ["y"])]

PLAIN: dict[str, list[Any]] = {
    "gemm and matmul": [*FIRST, *LAST],
    "bias in front": [*FIRST, LAST[0], node("Add", ["c", "m"], ["y"])],
    "no bias": [node("MatMul", ["x", "wt"], ["z"]), FIRST[1], node("Gemm", ["h", "v"], ["y"])],
    "leaky": [FIRST[0], node("LeakyRelu", ["z"], ["h"], alpha=0.25), *LAST],
    "flattened": [node("Flatten", ["x"], ["f"]), node("Gemm", ["f", "w", "b"], ["z"], transB=1), FIRST[1], *LAST],
    "linear": [node("Gemm", ["x", "w", "b"], ["y"], transB=1)],
}
OTHERS: dict[str, list[Any]] = {
    "scaled": [node("Gemm", ["x", "w", "b"], ["z"], transB=1, alpha=0.5), FIRST[1], *LAST],
    "normalised": [node("Div", ["x", "two"], ["n"]), node("Gemm", ["n", "w"], ["z"], transB=1), FIRST[1], *LAST],
    "two products": [*FIRST, node("MatMul", ["h", "v"], ["m"]), node("MatMul", ["m", "two2"], ["y"])],
    "two biases": [FIRST[0], node("Add", ["z", "b"], ["q"]), node("Relu", ["q"], ["h"]), *LAST],
    "bias before the product": [node("Add", ["x", "two"], ["q"]), node("MatMul", ["q", "wt"], ["y"])],
    "two activations": [*FIRST, node("Relu", ["h"], ["g"]), node("MatMul", ["g", "v"], ["y"])],
    "residual": [*FIRST, node("Add", ["h", "z"], ["r"]), node("MatMul", ["r", "v"], ["y"])],
    "doubled": [*FIRST, LAST[0], node("Add", ["m", "m"], ["y"])],
    "ends in an activation": [FIRST[0], node("Relu", ["z"], ["y"])],
    "steep": [FIRST[0], node("LeakyRelu", ["z"], ["h"], alpha=2.0), *LAST],
    "curved": [FIRST[0], node("Tanh", ["z"], ["h"]), *LAST],
    "stored product": [node("Mul", ["wt", "two"], ["w2"]), node("MatMul", ["x", "w2"], ["y"])],
}


def plain(nodes: list[Any], folder: Path, **changes: Any) -> bool:
    stored = STORED | {"two2": np.float32([[2.0]])}
    return import_onnx(saved(network(nodes, stored, **changes), folder)).plain


@pytest.mark.parametrize("name", PLAIN)
def test_a_chain_of_layers_is_plain(name: str, tmp_path: Path) -> None:
    assert plain(PLAIN[name], tmp_path)


@pytest.mark.parametrize("name", OTHERS)
def test_what_is_folded_is_not(name: str, tmp_path: Path) -> None:
    assert not plain(OTHERS[name], tmp_path)


def test_float64_and_several_inputs_are_not(tmp_path: Path) -> None:
    double = {name: array.astype(np.float64) for name, array in STORED.items()}
    outputs = {"y": TensorProto.DOUBLE}
    path = saved(network(PLAIN["linear"], double, dtype=TensorProto.DOUBLE, outputs=outputs), tmp_path)
    assert not import_onnx(path).plain
    two = [node("Concat", ["x", "y0"], ["f"], axis=1), node("Gemm", ["f", "w", "b"], ["y"], transB=1)]
    assert not plain(two, tmp_path, inputs={"x": ["N", 2], "y0": ["N", 1]})


def test_the_weights_of_a_plain_file_are_the_stored_ones(tmp_path: Path) -> None:
    model = load_model(declaration(saved(network(PLAIN["gemm and matmul"], STORED), tmp_path)), domain("p", "q", "r"))
    assert model.deployed is not None
    assert model.deployed.plain
    assert np.array_equal(model.layers[0].weight.floats, W)
    assert np.array_equal(model.layers[0].bias.floats, B)
    assert np.array_equal(model.layers[1].weight.floats, V.T)
    assert np.array_equal(model.layers[1].bias.floats, C)
