"""What scikit-learn predicts by name is what the audit decides, in whatever order and however it is exported."""

from __future__ import annotations

from fractions import Fraction
from math import log
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("skl2onnx")

from skl2onnx import to_onnx
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from fairdsl.elaborate import load_models
from fairdsl.ir.model import Model
from fairdsl.models.running.runtime import Runtime
from fairdsl.numerics.exact import decision, exact_scores
from fairdsl.semantics import front_end

pytestmark = pytest.mark.sklearn

PEOPLE = np.array([(age, income) for age in range(12) for income in range(6)], dtype=np.float64)
#: What the score of a rule by class is, of the probability of that class (docs/semantics.md).
SCORES = {
    "logistic": lambda p: 2 * log(p / (1 - p)),
    "boosting": lambda p: log(p / (1 - p)),
    "forest": lambda p: p - 0.5,
}
ESTIMATORS = {
    "boosting": lambda: GradientBoostingClassifier(n_estimators=5, max_depth=2, random_state=0),
    "logistic": lambda: LogisticRegression(),
    "tree": lambda: DecisionTreeClassifier(max_depth=3, random_state=0),
    "forest": lambda: RandomForestClassifier(n_estimators=3, max_depth=3, random_state=0),
    "svm": lambda: SVC(kernel="linear"),
}


def exported(folder: Path, name: str, labels: tuple[Any, Any], zipmap: bool) -> Any:
    """A fitted estimator, written to a file; the second label is that of the older and richer."""
    right = np.array(labels)[(PEOPLE[:, 0] + 2 * PEOPLE[:, 1] > 11).astype(int)]
    estimator = ESTIMATORS[name]().fit(PEOPLE, right)
    options = {} if name == "svm" else {id(estimator): {"zipmap": zipmap}}
    written = to_onnx(estimator, PEOPLE[:1].astype(np.float32), options=options, target_opset=15)
    (folder / "m.onnx").write_bytes(written.SerializeToString())
    return estimator


def opened(folder: Path, outcomes: tuple[str, str], rule: str) -> Model:
    (folder / "audit.fair").write_text(
        "domain Person { age : integer 0 .. 11 income : integer 0 .. 5 }\n"
        f'model m : Person -> {{ {", ".join(outcomes)} }} from "m.onnx"\n  {rule}\n',
        encoding="utf-8",
    )
    return load_models(front_end(str(folder / "audit.fair"))[0], {})[0]["m"]


def decided(folder: Path, outcomes: tuple[str, str], rule: str) -> list[str]:
    """The outcome of everybody."""
    model = opened(folder, outcomes, rule)
    points = [tuple(Fraction(value) for value in person) for person in PEOPLE]
    assert model.deployed is not None
    files = Runtime(model.deployed).decide(points)
    exact = [decision(model, point) for point in points]
    assert np.mean([a == b for a, b in zip(files, exact, strict=True)]) > 0.95  # votes of a forest tie
    return [model.outcomes[place] for place in files]


@pytest.mark.parametrize("zipmap", [False, True])
@pytest.mark.parametrize("name", ESTIMATORS)
def test_names_that_scikit_learn_sorts(name: str, zipmap: bool, tmp_path: Path) -> None:
    estimator = exported(tmp_path, name, ("denied", "approved"), zipmap)
    predicted = estimator.predict(PEOPLE.astype(np.float32)).tolist()
    assert len({*predicted}) == 2
    for outcomes in (("denied", "approved"), ("approved", "denied")):
        for rule in ("", 'approved when class = "approved"', 'denied when class = "denied"'):
            assert decided(tmp_path, outcomes, rule) == predicted, (outcomes, rule)
        if name != "svm":
            shares = estimator.predict_proba(PEOPLE.astype(np.float32))[:, 0]  # of `approved`, the first by name
            found = decided(tmp_path, outcomes, "approved when probability >= 65%")
            clear = np.abs(shares - 0.65) > 1e-5
            expected = np.where(shares >= 0.65, "approved", "denied")
            assert (np.array(found) == expected)[clear].all()


@pytest.mark.parametrize("name", SCORES)
def test_the_score_of_a_class_is_what_the_page_says(name: str, tmp_path: Path) -> None:
    estimator = exported(tmp_path, name, (0, 1), zipmap=False)
    model = opened(tmp_path, ("denied", "approved"), "approved when class = 1")
    for person in PEOPLE[::7]:
        (probability,) = estimator.predict_proba(person.astype(np.float32)[None])[:, 1]
        (score,) = exact_scores(model, tuple(Fraction(value) for value in person))
        assert float(score) == pytest.approx(SCORES[name](probability), rel=1e-3, abs=1e-5)


@pytest.mark.parametrize("labels", [(0, 1), (2, 1), (-1, 1)])
def test_numbers_are_values(labels: tuple[int, int], tmp_path: Path) -> None:
    """German credit data calls good risks 1 and bad ones 2."""
    estimator = exported(tmp_path, "logistic", labels, zipmap=True)
    predicted = estimator.predict(PEOPLE.astype(np.float32)).tolist()
    for outcomes in (("denied", "approved"), ("approved", "denied")):
        for label in labels:
            expected = ["approved" if each == label else "denied" for each in predicted]
            assert decided(tmp_path, outcomes, f"approved when class = {label}") == expected
            assert decided(tmp_path, outcomes, f"approved when probability(class = {label}) > 0.5") == expected
