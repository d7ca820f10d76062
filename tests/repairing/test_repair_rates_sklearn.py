"""Repair of rates of scikit-learn's estimators: a threshold for each group, in files that are read exactly."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("sklearn")
pytest.importorskip("skl2onnx")

import fairdsl
from fairdsl.backends.contract import Budget
from fairdsl.diagnostics import Reporter
from fairdsl.models.running.runtime import Runtime
from fairdsl.numerics.evaluate import BatchEvaluator
from fairdsl.repairing import RepairedRates
from fairdsl.repairing.estimators import factory_of, fitted
from fairdsl.repairing.exporting import exported
from fairdsl.repairing.parts import Part
from fairdsl.repairing.rates import rate_subject_of, thresholds
from fairdsl.repairing.rates.thresholds import thresholds_of
from fairdsl.semantics import front_end
from tests.repairing.learners import people, write_case
from tests.repairing.test_repair_rates import BY_RATES

pytestmark = pytest.mark.sklearn

SPEC = BY_RATES.replace("approve.json", "approve.onnx").replace("grant when score > 0", "grant when class = 1")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def logistic() -> Any:
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), LogisticRegression())


def forest() -> Any:
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(n_estimators=4, max_depth=4)


def machine() -> Any:
    from sklearn.svm import LinearSVC

    return LinearSVC()


def repaired(spec: str, estimator: Any, **options: Any) -> RepairedRates:
    write_case(Path(), people(500), spec)
    given = {"train": "people.csv", "estimator": estimator, "output": "out", "max_accuracy_loss": 0.3, **options}
    found = fairdsl.repair("spec.fair", recipe="thresholds", **given)
    assert isinstance(found, RepairedRates)
    return found


ONE_HOT = SPEC.replace('from "approve.onnx"', 'from "approve.onnx"\n  reads one_hot(sex), age, debt')
TWO = SPEC.replace("  debt :", '  young : boolean column "sex"\n  debt :').replace(
    "protected sex", "protected sex, young"
)
#: How the spec's model is read and asked about, who learns, and how many groups there are.
CASES = {
    "a column": (SPEC, logistic, 2),
    "indicators": (ONE_HOT, forest, 2),
    "one column of scores": (SPEC, machine, 2),
    "the other way round": (SPEC.replace("grant when", "reject when"), logistic, 2),
    "texts": (SPEC.replace("class = 1", 'class = "good"'), logistic, 2),
    "codes": (SPEC.replace("{ f, m }", "{ x = 7, f = 0, m = 1 }"), logistic, 3),
    "bins": (SPEC.replace("sex\n", "age\n").replace("0 .. 19", "0 .. 19 bins at 5, 12"), forest, 3),
    "intersections": (TWO.replace("across sex", "across sex, young"), logistic, 4),
}


@pytest.mark.parametrize("name", CASES)
def test_groups_have_thresholds_of_their_own(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files with given thresholds decide as the estimator's scores and these, and are read exactly."""
    text, estimator, groups = CASES[name]
    write_case(Path(), people(150), text)
    spec, _ = front_end("spec.fair")
    about = rate_subject_of(spec, spec.properties[0], "people.csv")
    rows, _ = about.rows("people.csv")
    factory = factory_of(estimator)
    learnt = fitted(factory, about, rows, 0)
    written = exported(factory, learnt, about, Path("approve.onnx"), rows, raw_scores=True)
    limits = np.linspace(-0.9, 0.4, groups).astype(np.float32)
    monkeypatch.setattr(thresholds, "best_thresholds", lambda *_: limits)
    demands = about.asked(written.model)
    found = thresholds_of(about, written.model, demands, Part(rows, np.arange(len(rows))), 0, Budget.of(30))
    Path("new.onnx").write_bytes(found.content)
    heard = Reporter()
    model = about.load("new.onnx", heard)
    assert model.opaque is None
    assert not heard.has_errors
    # By hand: the score of the favourable class, and the group of each row.
    features = about.features(rows.values)
    scores = (
        learnt.decision_function(features)
        if hasattr(learnt, "decision_function")
        else learnt.predict_proba(features)[:, 1]
    )
    if name in ("the other way round", "texts"):  # `good` comes before `reject`
        scores = -scores
    sex, age = rows.values.floats[:, 0].astype(int), rows.values.floats[:, 1]
    group = {"bins": np.digitize(age, [5, 12]), "intersections": 3 * sex}.get(name, sex)
    favoured = scores > limits[group]
    clear = np.abs(scores - limits[group]) > 1e-5
    decided = Runtime(model.deployed).decide_array(rows.values.floats) if model.deployed else None
    assert decided is not None
    assert np.array_equal((decided == 1)[clear], favoured[clear])
    assert np.array_equal(BatchEvaluator(model).settled(rows.values).decisions[clear], decided[clear])
    assert [float(each.above) for each in found.thresholds] == limits.tolist()
    assert len({each.group for each in found.thresholds}) == groups


def test_the_file_decides_by_the_scores_of_the_estimator() -> None:
    made: list[Any] = []

    def kept() -> Any:
        made.append(logistic())
        return made[-1]

    found = repaired(SPEC, kept)
    limits = {dict(each.group)["sex"]: float(each.above) for each in found.best.thresholds}
    about = rate_subject_of(*(lambda spec: (spec, spec.properties[0]))(front_end("spec.fair")[0]), "people.csv")
    rows, _ = about.rows("people.csv")
    scores = made[0].decision_function(about.features(rows.values))
    above = scores > np.where(rows.values.floats[:, 0] == 1, limits["m"], limits["f"])
    model = about.load("out/approve.onnx")
    assert model.deployed is not None
    decided = Runtime(model.deployed).decide_array(rows.values.floats)
    assert np.array_equal(decided == 1, above)
    # The most accurate one that meets what is asked of the rows to choose by.
    assert found.candidates[1].numbers[0].judgement.value == "holds"
    told = Path("out/report.txt").read_text(encoding="utf-8")
    assert "decides all of 100 rows as the estimator's scores and these thresholds say" in told


@pytest.mark.parametrize(
    ("spec", "detail"),
    [
        (
            SPEC.replace("grant when class = 1", "grant when probability >= 50%"),
            "does not decide by `OUTCOME when class",
        ),
        (SPEC.replace('from "approve.onnx"', 'from "approve.onnx"\n  reads age, debt'), "the file does not read `sex`"),
        (
            SPEC.replace("}\nprotected sex", "  derived young = age < 9\n}\nprotected young").replace(
                "across sex", "across young"
            ),
            "`young` is derived from other columns",
        ),
    ],
)
def test_files_without_a_threshold_for_each_group(spec: str, detail: str) -> None:
    found = repaired(spec.replace("80%", "100%"), logistic)
    assert detail in found.candidates[1].detail
    assert not found.improved
