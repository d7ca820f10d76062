"""The exact share of a network of 10,000 neurons over a domain of 1,248 individuals.

    python benchmarks/wide_network.py [--seed 0] [--layers 10] [--width 1000] [--runs 3] [--tie]

The network is drawn from the seed (He initialisation, float32), reads the six attributes of the COMPAS data
as FairQuant's networks do, and is written to an ONNX file. Its last bias is minus the score of the median
individual, so that it decides both ways and one score is 0 up to the rounding of a float32. With ``--tie``
every unit of the last hidden layer is there twice, with opposite weights: all scores are 0 exactly, which no
bound on an error settles, so that every decision takes exact arithmetic.

Evaluation is what ``BatchEvaluator.settled`` takes on all individuals, with all that it prepares for the
network; the check is one whole ``fairdsl.check`` in this process: reading spec and network, evaluation, and
replays of witnesses in exact arithmetic and in float32. Imports come before. Every run starts afresh.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from fractions import Fraction
from itertools import pairwise, product
from pathlib import Path

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import helper, numpy_helper

import fairdsl
import fairdsl.models.running.runtime
import fairdsl.pipeline
from fairdsl.ir.exact_array import ExactArray
from fairdsl.ir.expr import Relation
from fairdsl.ir.feature import AttributeInput
from fairdsl.ir.model import ByThreshold, Layer, Model
from fairdsl.numerics.evaluate import BatchEvaluator

SPEC = """fair 1
audit "A wide network on a small domain"

domain Defendant {
  Two_yr_Recidivism : integer 0 .. 1
  Number_of_Priors  : integer 0 .. 38
  Age               : integer 0 .. 1
  Race              : integer 0 .. 1
  Female            : integer 0 .. 1
  Misdemeanor       : integer 0 .. 1
}

protected Race

model risk : Defendant -> { low, high }
  from "wide.onnx"
  high when score > 0
  favourable low

property race_decides {
  compare  a, b : Defendant
  differ   in Race
  measure  fair_share
}
"""
SIZES = (2, 39, 2, 2, 2, 2)
RACE = 3

Weights = list[tuple[NDArray[np.float32], NDArray[np.float32]]]


def individuals() -> NDArray[np.float64]:
    return np.array(list(product(*(range(size) for size in SIZES))), dtype=np.float64)


def draw(seed: int, layers: int, width: int, tie: bool) -> Weights:
    """Weights [out, in] and biases of a network that decides both ways, or of one that only ever ties."""
    rng = np.random.default_rng(seed)
    drawn: Weights = [
        (
            (rng.standard_normal((out, into)) * np.sqrt(2 / into)).astype(np.float32),
            (rng.standard_normal(out) * 0.1).astype(np.float32),
        )
        for into, out in pairwise((len(SIZES), *[width] * layers, 1))
    ]
    hidden = individuals()
    for weight, bias in drawn[:-1]:
        hidden = np.maximum(hidden @ weight.T.astype(np.float64) + bias, 0)
    weight, bias = drawn[-1]
    scores = np.sort((hidden @ weight.T.astype(np.float64)).ravel())
    drawn[-1] = weight, np.float32([-scores[len(scores) // 2]])
    if tie:
        half = width // 2
        (last, offset), (reading, _) = drawn[-2:]
        drawn[-2] = np.concatenate([last[:half], last[:half]]), np.concatenate([offset[:half], offset[:half]])
        drawn[-1] = np.concatenate([reading[:, :half], -reading[:, :half]], axis=1), np.zeros(1, dtype=np.float32)
    return drawn


def model_of(weights: Weights) -> Model:
    last = len(weights) - 1
    return Model(
        name="risk",
        outcomes=("low", "high"),
        inputs=tuple(AttributeInput(index) for index in range(len(SIZES))),
        layers=tuple(
            Layer(
                weight=ExactArray.from_floats(weight),
                bias=ExactArray.from_floats(bias),
                slope=ExactArray.from_floats(np.full(len(bias), float(index == last))),
            )
            for index, (weight, bias) in enumerate(weights)
        ),
        rule=ByThreshold(relation=Relation.GT, low=Fraction(0), high=Fraction(0), granted=1, otherwise=0),
    )


def save(weights: Weights, path: Path) -> None:
    nodes, constants, last = [], [], len(weights) - 1
    for index, (weight, bias) in enumerate(weights):
        constants += [numpy_helper.from_array(weight, f"w{index}"), numpy_helper.from_array(bias, f"b{index}")]
        reads, writes = "x" if index == 0 else f"h{index}", "y" if index == last else f"z{index}"
        nodes.append(helper.make_node("Gemm", [reads, f"w{index}", f"b{index}"], [writes], transB=1))
        if index != last:
            nodes.append(helper.make_node("Relu", [writes], [f"h{index + 1}"]))
    graph = helper.make_graph(
        nodes,
        "wide",
        [helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [None, weights[0][0].shape[1]])],
        [helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [None, 1])],
        constants,
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), path)


def evaluate(weights: Weights) -> str:
    model, everybody = model_of(weights), individuals()
    started = time.perf_counter()
    settled = BatchEvaluator(model).settled(everybody)
    seconds = time.perf_counter() - started
    # [individuals that differ in nothing but Race, the two values of Race]
    pairs = np.moveaxis(settled.decisions.reshape(SIZES), RACE, -1).reshape(-1, SIZES[RACE])
    fair = int((pairs[:, 0] == pairs[:, 1]).sum())
    left = settled.doubled + settled.exactly
    return (
        f"evaluation {seconds:6.3f} s  {len(everybody) - left:,} in float64, {settled.doubled:,} in twice the "
        f"precision, {settled.exactly:,} exactly; {settled.decisions.mean():.1%} high, fair share {fair}/{len(pairs)}"
    )


def check(weights: Weights) -> str:
    with tempfile.TemporaryDirectory() as folder:
        save(weights, Path(folder) / "wide.onnx")
        spec = Path(folder) / "wide.fair"
        spec.write_text(SPEC, encoding="utf-8")
        started = time.perf_counter()
        report = fairdsl.check(spec, timeout=600)
        seconds = time.perf_counter() - started
    (checked,) = report.properties
    (demand,) = checked.demands
    shares = demand.shares
    share = "no share" if shares is None else f"fair share {shares.certified}"
    return f"check      {seconds:6.3f} s  {demand.method}; {share}, {len(checked.witnesses)} witnesses"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--layers", type=int, default=10, help="hidden layers")
    parser.add_argument("--width", type=int, default=1000, help="neurons of each")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--tie", action="store_true", help="all scores are exactly 0")
    arguments = parser.parse_args()
    weights = draw(arguments.seed, arguments.layers, arguments.width, arguments.tie)
    for measure in (evaluate, check):
        for _ in range(arguments.runs):
            print(measure(weights), flush=True)


if __name__ == "__main__":
    main()
