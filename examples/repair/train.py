"""Trains income.onnx, the model in use: the tree of estimators.py on all rows of census.csv (``fairdsl[sklearn]``).

Run from anywhere: ``python examples/repair/train.py``.
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
from estimators import tree

HERE = Path(__file__).parent


def main() -> None:
    from skl2onnx import convert_sklearn
    from skl2onnx.common.data_types import FloatTensorType

    with (HERE / "census.csv").open(encoding="utf-8", newline="") as file:
        people = list(csv.DictReader(file))
    labels = np.array([person.pop("income") == "high" for person in people], dtype=np.int64)
    rows = np.array([list(person.values()) for person in people], dtype=np.float32)
    model = convert_sklearn(
        tree().fit(rows, labels),
        "income",
        [("features", FloatTensorType([None, rows.shape[1]]))],
        target_opset={"": 18, "ai.onnx.ml": 3},
        options={"zipmap": False},
    )
    (HERE / "income.onnx").write_bytes(model.SerializeToString())


if __name__ == "__main__":
    main()
