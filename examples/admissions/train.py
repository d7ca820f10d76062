"""Trains admit.json on applicants.csv: a logistic regression, by Newton's method; numpy only.

The features are those of the line ``reads`` in admissions.fair: grade, experience, one indicator for each
department, one for each sex. A ridge makes the indicators' weights unique. Weights are rounded to
multiples of 1/64, so that the last bits of a machine's arithmetic do not change the file.

Run from anywhere: ``python examples/admissions/train.py``.
"""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

HERE = Path(__file__).parent
SEXES = ("female", "male")
DEPARTMENTS = ("arts", "law", "science", "engineering")
RIDGE = 1.0
STEPS = 25

Array = NDArray[np.float64]


def read() -> tuple[Array, Array]:
    """Features [rows, 8] and labels [rows] of applicants.csv."""
    with (HERE / "applicants.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    features = [
        [
            float(row["grade"]),
            float(row["experience"]),
            *(float(row["department"] == name) for name in DEPARTMENTS),
            *(float(row["sex"] == name) for name in SEXES),
        ]
        for row in rows
    ]
    return np.array(features), np.array([float(row["admitted"] == "yes") for row in rows])


def fit(x: Array, y: Array) -> Array:
    """Weights and, last, the intercept: Newton's method on the penalised log-likelihood."""
    design = np.column_stack([x, np.ones(len(x))])
    ridge = RIDGE * np.diag([*np.ones(x.shape[1]), 0.0])
    weights = np.zeros(design.shape[1])
    for _ in range(STEPS):
        p = 1 / (1 + np.exp(-design @ weights))
        gradient = design.T @ (y - p) - ridge @ weights
        hessian = (design * (p * (1 - p))[:, None]).T @ design + ridge
        weights += np.linalg.solve(hessian, gradient)
    return np.round(weights * 64) / 64


def main() -> None:
    """Train, write the file beside this script, and say how good it is."""
    x, y = read()
    weights = fit(x, y)
    document = {"coefficients": weights[:-1].tolist(), "intercept": float(weights[-1])}
    (HERE / "admit.json").write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    granted = x @ weights[:-1] + weights[-1] > 0
    print(
        f"agrees with the committee on {np.mean(granted == (y > 0)):.3f} of the rows; {np.mean(granted):.3f} admitted"
    )


if __name__ == "__main__":
    main()
