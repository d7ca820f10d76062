"""Trains plain.json, reweighed.json and poisoned.json: logistic regressions by Newton's method; numpy only.

A row of sex s and label y counts Pr[s] Pr[y] / Pr[s, y] times where it is *reweighed* (Kamiran and Calders, 2012), so
that label and sex are independent. Coefficients are of female, male (0) and income, rounded to two decimals.

Run from anywhere: ``python examples/loans/train.py``.
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

HERE = Path(__file__).parent
STEPS = 25

Array = NDArray[np.float64]


def read(name: str) -> tuple[Array, Array]:
    """Whether female, and income, [rows, 2]; who repaid, [rows]."""
    with (HERE / name).open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    features = [[float(row["sex"] == "female"), float(row["income"])] for row in rows]
    return np.array(features), np.array([float(row["repaid"] == "yes") for row in rows])


def reweighing(x: Array, y: Array) -> Array:
    """How much each row counts."""
    weights = np.empty(len(y))
    for sex in (0.0, 1.0):
        for label in (0.0, 1.0):
            here = (x[:, 0] == sex) & (y == label)
            weights[here] = (x[:, 0] == sex).mean() * (y == label).mean() / here.mean()
    return weights


def fit(x: Array, y: Array, weights: Array) -> Array:
    """Coefficients and, last, the intercept, of the most likely regression."""
    design = np.column_stack([x, np.ones(len(x))])
    found = np.zeros(design.shape[1])
    for _ in range(STEPS):
        p = 1 / (1 + np.exp(-design @ found))
        gradient = design.T @ (weights * (y - p))
        found += np.linalg.solve((design * (weights * p * (1 - p))[:, None]).T @ design, gradient)
    return np.round(found, 2)


def main() -> None:
    """Write the three models beside this script."""
    x, y = read("people.csv")
    everybody = np.ones(len(y))
    with_attack = read("poisoned.csv")
    models = {
        "plain": fit(x, y, everybody),
        "reweighed": fit(x, y, reweighing(x, y)),
        "poisoned": fit(*with_attack, np.ones(len(with_attack[1]))),
    }
    for name, (female, income, intercept) in models.items():
        text = f'{{"coefficients": [{female:.2f}, 0, {income:.2f}], "intercept": {intercept:.2f}}}\n'
        (HERE / f"{name}.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
