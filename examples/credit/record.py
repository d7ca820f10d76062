"""Writes recorded.csv: 200 applicants of credit.csv and what credit.onnx, as it is deployed, decided about them.

This is what a bank's log has, and it knows nothing of the audit: `credit.fair` is held against it (`agrees with`).

Run from anywhere: ``python examples/credit/record.py``.
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import onnxruntime

HERE = Path(__file__).parent
ROWS = 200


def main() -> None:
    with (HERE / "credit.csv").open(encoding="utf-8", newline="") as file:
        header, *rows = list(csv.reader(file))[: ROWS + 1]
    session = onnxruntime.InferenceSession(str(HERE / "credit.onnx"), providers=["CPUExecutionProvider"])
    applicants = np.array([row[:-1] for row in rows], dtype=np.float32)
    (scores,) = session.run(None, {session.get_inputs()[0].name: applicants})
    with (HERE / "recorded.csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow([*header[:-1], "decision"])
        for row, score in zip(rows, scores[:, 0], strict=True):
            table.writerow([*row[:-1], "grant" if score > 0 else "reject"])


if __name__ == "__main__":
    main()
