"""Trains credit.onnx on credit.csv: 8 inputs, two layers of ReLU units, one score; numpy and onnx only.

The network reads the raw numbers of the file. Its first two nodes, Sub and Div, normalise them; the
score is above 0 where the network expects repayment. Weights are rounded to multiples of 1/1024 before
they are stored, so that the last bits of a machine's arithmetic do not change the file.

Run from anywhere: ``python examples/credit/train.py``.
"""

from __future__ import annotations

import csv
import itertools
from pathlib import Path

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

HERE = Path(__file__).parent
SEED = 7
HIDDEN = (12, 6)
STEPS = 800
RATE = 0.01
DECAY = 0.002

#: What is subtracted from and divided into each column: round numbers near its mean and spread.
CENTRE = (2, 36, 4500, 1, 8, 2, 38, 0)
SPREAD = (1, 20, 4000, 2, 7, 1, 11, 1)

Array = NDArray[np.float64]


def read() -> tuple[Array, Array]:
    """Attributes [rows, 8] and labels [rows] of credit.csv."""
    with (HERE / "credit.csv").open(encoding="utf-8", newline="") as file:
        rows = np.array(list(csv.reader(file))[1:], dtype=np.float64)
    return rows[:, :-1], rows[:, -1]


def forward(weights: list[Array], x: Array) -> list[Array]:
    """The activations of every layer; the last are the scores."""
    values = [x]
    for layer in range(0, len(weights), 2):
        z = values[-1] @ weights[layer].T + weights[layer + 1]
        values.append(z if layer == len(weights) - 2 else np.maximum(z, 0))
    return values


def gradients(weights: list[Array], x: Array, y: Array) -> list[Array]:
    """Of the mean logistic loss, by backpropagation."""
    values = forward(weights, x)
    back = (1 / (1 + np.exp(-values[-1])) - y[:, None]) / len(y)
    out: list[Array] = []
    for layer in range(len(weights) - 2, -1, -2):
        before = values[layer // 2]
        out = [back.T @ before + DECAY * weights[layer], back.sum(axis=0), *out]
        back = (back @ weights[layer]) * (before > 0)
    return out


def train(x: Array, y: Array) -> list[Array]:
    """Adam on the whole table, from a seed; weights [out, in] and biases in turn."""
    random = np.random.default_rng(SEED)
    sizes = (x.shape[1], *HIDDEN, 1)
    weights: list[Array] = []
    for fan_in, fan_out in itertools.pairwise(sizes):
        weights += [random.normal(0, np.sqrt(2 / fan_in), (fan_out, fan_in)), np.zeros(fan_out)]
    first = [np.zeros_like(w) for w in weights]
    second = [np.zeros_like(w) for w in weights]
    for step in range(1, STEPS + 1):
        for i, gradient in enumerate(gradients(weights, x, y)):
            first[i] = 0.9 * first[i] + 0.1 * gradient
            second[i] = 0.999 * second[i] + 0.001 * gradient**2
            slope = (first[i] / (1 - 0.9**step)) / (np.sqrt(second[i] / (1 - 0.999**step)) + 1e-8)
            weights[i] = weights[i] - RATE * slope
    return [np.round(w * 1024) / 1024 for w in weights]


def export(weights: list[Array]) -> onnx.ModelProto:
    """The network as ONNX, in float32."""
    constants = {"centre": np.array(CENTRE), "spread": np.array(SPREAD)}
    nodes = [
        helper.make_node("Sub", ["x", "centre"], ["centred"], name="centre_inputs"),
        helper.make_node("Div", ["centred", "spread"], ["h0"], name="scale_inputs"),
    ]
    last = len(weights) // 2
    for layer in range(1, last + 1):
        constants[f"weight{layer}"], constants[f"bias{layer}"] = weights[2 * layer - 2 : 2 * layer]
        result = "score" if layer == last else f"z{layer}"
        inputs = [f"h{layer - 1}", f"weight{layer}", f"bias{layer}"]
        nodes.append(helper.make_node("Gemm", inputs, [result], name=f"layer{layer}", transB=1))
        if layer < last:
            nodes.append(helper.make_node("Relu", [result], [f"h{layer}"], name=f"relu{layer}"))
    graph = helper.make_graph(
        nodes,
        "credit",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", len(CENTRE)])],
        [helper.make_tensor_value_info("score", TensorProto.FLOAT, ["N", 1])],
        [numpy_helper.from_array(values.astype(np.float32), name) for name, values in constants.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], producer_name="")
    model.ir_version = 8
    onnx.checker.check_model(model, full_check=True)
    return model


def main() -> None:
    """Train, write the file beside this script, and say how good it is."""
    x, y = read()
    normalised = (x - np.array(CENTRE)) / np.array(SPREAD)
    weights = train(normalised, y)
    (HERE / "credit.onnx").write_bytes(export(weights).SerializeToString(deterministic=True))
    score = forward(weights, normalised)[-1][:, 0]
    accuracy = float(np.mean((score > 0) == (y > 0)))
    print(f"accuracy on the training table {accuracy:.3f}; {np.mean(score > 0):.3f} granted")


if __name__ == "__main__":
    main()
