"""Writes hiring.onnx and hiring_decimal.onnx: the running example of Kim et al. (FairQuant), by hand.

Both networks have three inputs (test score, gender, years of experience), two ReLU units and one score;
a candidate is hired where the score is above 0. The first stores the weights as whole numbers,

    h1 = relu(20 test_score + 5 gender + 12 experience)
    h2 = relu(-2 test_score + 7 gender +  4 experience)
    score = h1 - 5 h2

the second stores them as the decimals 2.0, 0.5, 1.2, -0.2, 0.7, 0.4 and 0.2, -1.0, rounded to float32. On
paper the second score is the first one times 0.02. In the file it is not: where the first score is
exactly 0 (test score 1, gender 1, no experience) the second is a little above 0.

Run from anywhere: ``python examples/hiring/make_models.py``. The bytes are the same on every run.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

HERE = Path(__file__).parent

WHOLE = ([[20, 5, 12], [-2, 7, 4]], [[1, -5]])
DECIMAL = ([[2.0, 0.5, 1.2], [-0.2, 0.7, 0.4]], [[0.2, -1.0]])


def network(hidden: list[list[float]], output: list[list[float]]) -> onnx.ModelProto:
    """Two ReLU units without biases and a linear score."""
    weights = {"hidden.weight": hidden, "output.weight": output}
    graph = helper.make_graph(
        nodes=[
            helper.make_node("Gemm", ["x", "hidden.weight"], ["z"], name="hidden", transB=1),
            helper.make_node("Relu", ["z"], ["h"], name="relu"),
            helper.make_node("Gemm", ["h", "output.weight"], ["score"], name="output", transB=1),
        ],
        name="hiring",
        inputs=[helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 3])],
        outputs=[helper.make_tensor_value_info("score", TensorProto.FLOAT, ["N", 1])],
        initializer=[numpy_helper.from_array(np.array(rows, dtype=np.float32), name) for name, rows in weights.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], producer_name="")
    model.ir_version = 8
    onnx.checker.check_model(model, full_check=True)
    return model


def main() -> None:
    """Write both files beside this script."""
    for name, (hidden, output) in {"hiring": WHOLE, "hiring_decimal": DECIMAL}.items():
        (HERE / f"{name}.onnx").write_bytes(network(hidden, output).SerializeToString(deterministic=True))


if __name__ == "__main__":
    main()
