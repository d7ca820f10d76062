"""Writes lending.onnx: 10 inputs, two layers of ReLU units, one score; numpy and onnx only.

Applicants and their repayment are invented from a seed, a network is trained on them, and what normalises the
inputs is folded into the weights of the first layer before these are rounded. So the file computes nothing
but its layers, which is what a bound on its float32 rounding needs. Weights are rounded to multiples of
powers of two, so that the last bits of a machine's arithmetic do not change the file.

Run from anywhere: ``python examples/lending/make_model.py``.
"""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

HERE = Path(__file__).parent
SEED = 11
ROWS = 4000
HIDDEN = (8, 4)
STEPS = 600
RATE = 0.01
DECAY = 0.01

COLUMNS = (
    "purpose",
    "amount",
    "term",
    "income",
    "debt",
    "employment_years",
    "dependants",
    "housing",
    "age_group",
    "sex",
)
#: What is subtracted from and divides each column: round numbers near its mean and spread.
CENTRE = (1, 120, 36, 40, 20, 8, 1, 1, 1, 0)
SPREAD = (1, 100, 16, 25, 20, 8, 1, 1, 1, 1)

Array = NDArray[np.float64]


def applicants(random: np.random.Generator) -> Array:
    """Invented people, one column each in the order of COLUMNS."""
    age_group = random.choice(3, ROWS, p=(0.2, 0.6, 0.2))
    income = np.clip(np.round(random.gamma(3.0, 14.0, ROWS)), 0, 200)
    return np.column_stack(
        [
            random.integers(0, 4, ROWS),
            np.clip(np.round(random.lognormal(4.4, 0.8, ROWS)), 1, 500),
            6 * random.integers(1, 15, ROWS),
            income,
            np.clip(np.round(income * random.beta(1.5, 3.0, ROWS)), 0, 150),
            np.clip(np.round(random.gamma(1.5, 4.0 + 3.0 * age_group)), 0, 40),
            np.minimum(random.poisson(1.2, ROWS), 6),
            random.integers(0, 3, ROWS),
            age_group,
            random.integers(0, 2, ROWS),
        ]
    ).astype(np.float64)


def repayment(rows: Array, random: np.random.Generator) -> Array:
    """1 where the applicant repaid: a law of means, and a little of sex and age, as after earlier decisions."""
    purpose, amount, term, income, debt, employment, dependants, housing, age_group, sex = rows.T
    logit = (
        0.6
        - 0.010 * amount
        - 0.010 * term
        + 0.050 * income
        - 0.060 * debt
        + 0.040 * np.minimum(employment, 15)
        - 0.20 * dependants
        + 0.30 * housing
        - 0.15 * purpose
        + 0.25 * np.where(age_group == 1, 1.0, 0.0)
        + 0.35 * sex * (income < 40)
    )
    return (random.random(ROWS) < 1 / (1 + np.exp(-1.5 * logit))).astype(np.float64)


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


def train(x: Array, y: Array, random: np.random.Generator) -> list[Array]:
    """Adam on all rows; weights [out, in] and biases in turn."""
    weights: list[Array] = []
    for fan_in, fan_out in itertools.pairwise((x.shape[1], *HIDDEN, 1)):
        weights += [random.normal(0, np.sqrt(2 / fan_in), (fan_out, fan_in)), np.zeros(fan_out)]
    first = [np.zeros_like(w) for w in weights]
    second = [np.zeros_like(w) for w in weights]
    for step in range(1, STEPS + 1):
        for i, gradient in enumerate(gradients(weights, x, y)):
            first[i] = 0.9 * first[i] + 0.1 * gradient
            second[i] = 0.999 * second[i] + 0.001 * gradient**2
            slope = (first[i] / (1 - 0.9**step)) / (np.sqrt(second[i] / (1 - 0.999**step)) + 1e-8)
            weights[i] = weights[i] - RATE * slope
    return weights


def folded(weights: list[Array]) -> list[Array]:
    """The same network of raw numbers, rounded to what float32 holds exactly."""
    weight, bias, *others = weights
    weight = weight / np.array(SPREAD)
    bias = bias - weight @ np.array(CENTRE)
    return [np.round(weight * 2**16) / 2**16, *(np.round(w * 1024) / 1024 for w in (bias, *others))]


def export(weights: list[Array]) -> onnx.ModelProto:
    """The network as ONNX, in float32."""
    nodes, constants = [], {}
    last = len(weights) // 2
    for layer in range(1, last + 1):
        constants[f"weight{layer}"], constants[f"bias{layer}"] = weights[2 * layer - 2 : 2 * layer]
        result = "score" if layer == last else f"z{layer}"
        inputs = ["x" if layer == 1 else f"h{layer - 1}", f"weight{layer}", f"bias{layer}"]
        nodes.append(helper.make_node("Gemm", inputs, [result], name=f"layer{layer}", transB=1))
        if layer < last:
            nodes.append(helper.make_node("Relu", [result], [f"h{layer}"], name=f"relu{layer}"))
    graph = helper.make_graph(
        nodes,
        "lending",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", len(COLUMNS)])],
        [helper.make_tensor_value_info("score", TensorProto.FLOAT, ["N", 1])],
        [numpy_helper.from_array(values.astype(np.float32), name) for name, values in constants.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], producer_name="")
    model.ir_version = 8
    onnx.checker.check_model(model, full_check=True)
    return model


def network() -> tuple[onnx.ModelProto, float]:
    """The trained network, and its accuracy on the people that it was trained on."""
    random = np.random.default_rng(SEED)
    rows = applicants(random)
    repaid = repayment(rows, random)
    weights = folded(train((rows - np.array(CENTRE)) / np.array(SPREAD), repaid, random))
    score = forward(weights, rows)[-1][:, 0]
    return export(weights), float(np.mean((score > 0) == (repaid > 0)))


def main() -> None:
    """Train, write the file beside this script, and say how good it is."""
    model, accuracy = network()
    (HERE / "lending.onnx").write_bytes(model.SerializeToString(deterministic=True))
    print(f"accuracy on the training table {accuracy:.3f}")


if __name__ == "__main__":
    main()
