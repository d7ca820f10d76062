"""Estimators of numpy alone, which write linear documents, and a spec and rows for them."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

SPEC = """\
domain Applicant {
  sex  : boolean
  age  : integer 0 .. 19
  debt : integer 0 .. 9
}
protected sex
label repaid : boolean column "paid back"
model approve : Applicant -> { reject, grant }
  from "approve.json"
  grant when score > 0
  favourable grant
property sex_never_decides {
  compare a, b : Applicant
  differ in sex
  require same decision
}
"""


class Linear:
    """Least squares of the classes, with a bias; six digits of each weight are kept."""

    def fit(self, features: NDArray[Any], classes: NDArray[Any]) -> None:
        inputs = np.column_stack([features.astype(np.float64), np.ones(len(features))])
        found, *_ = np.linalg.lstsq(inputs, 2.0 * classes - 1.0, rcond=None)
        self.weights = np.round(found, 6)

    def predict(self, features: NDArray[Any]) -> NDArray[np.int64]:
        scores = features.astype(np.float64) @ self.weights[:-1] + self.weights[-1]
        return (scores > 0).astype(np.int64)


class Worse(Linear):
    """Every one that is made looks more at the first feature than the one before."""

    made: ClassVar[int] = 0

    def __init__(self) -> None:
        type(self).made += 1
        self.excess = 0.1 * (type(self).made - 1)

    def fit(self, features: NDArray[Any], classes: NDArray[Any]) -> None:
        super().fit(features, classes)
        self.weights[0] = round(self.weights[0] + self.excess, 6)


class Constant(Linear):
    """The first one learns; those after it give everybody one outcome, which is perfectly fair."""

    made: ClassVar[int] = 0

    def __init__(self) -> None:
        type(self).made += 1
        self.constant = type(self).made > 1

    def fit(self, features: NDArray[Any], classes: NDArray[Any]) -> None:
        super().fit(features, classes)
        if self.constant:
            self.weights = np.array([0.0] * (len(self.weights) - 1) + [-1.0])


class Failing(Linear):
    """The first one learns; those after it raise an exception."""

    made: ClassVar[int] = 0
    problem: ClassVar[BaseException] = ValueError("no more")

    def __init__(self) -> None:
        type(self).made += 1
        self.broken = type(self).made > 1

    def fit(self, features: NDArray[Any], classes: NDArray[Any]) -> None:
        if self.broken:
            raise self.problem
        super().fit(features, classes)


class Reversed(Linear):
    """Predicts the opposite of what its file decides."""

    def predict(self, features: NDArray[Any]) -> NDArray[np.int64]:
        return 1 - super().predict(features)


def linear() -> Linear:
    return Linear()


def export(estimator: Linear, path: str) -> None:
    """The document, as the spec's model is read from."""
    *weights, intercept = estimator.weights.tolist()
    document = {"coefficients": weights, "intercept": intercept}
    Path(path).write_text(json.dumps(document), encoding="utf-8")


def people(count: int, seed: int = 0, bias: float = 6.0) -> NDArray[np.int64]:
    """Rows [count, 4] of sex, age, debt and whether it was paid back, which favours one sex by ``bias`` years."""
    random = np.random.default_rng(seed)
    rows = np.column_stack([random.integers(0, 2, count), random.integers(0, 20, count), random.integers(0, 10, count)])
    score = rows[:, 1] - rows[:, 2] + bias * rows[:, 0] + random.normal(0.0, 2.0, count)
    return np.column_stack([rows, score > 8]).astype(np.int64)


def write_case(folder: Path, rows: NDArray[np.int64], spec: str = SPEC) -> None:
    """``spec.fair`` and ``people.csv`` in the folder."""
    (folder / "spec.fair").write_text(spec, encoding="utf-8")
    with (folder / "people.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["sex", "age", "debt", "paid back"])
        writer.writerows(rows.tolist())
