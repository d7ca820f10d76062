"""Whole audits of pipelines: a booster of a hundred trees over texts with empty cells, and models that are only run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fairdsl

pytestmark = [pytest.mark.slow, pytest.mark.sklearn, pytest.mark.filterwarnings("ignore")]
pytest.importorskip("skl2onnx")

JOBS, SEXES = ["", "clerk", "nurse", "teacher"], ["female", "male"]
DOMAIN = """
domain Person {
  job : category { clerk, nurse, teacher } or missing
  sex : category { female, male }
  age : integer 18 .. 80
  hours : integer 1 .. 60 or missing
}
protected sex
label right : category { "0", "1" } column "right" deserving "1"
model approve : Person -> { no, yes }
  from "model.onnx"
  yes when DECIDES
  favourable yes
distribution rows over Person, right
  empirical from "rows.csv"
distribution learned over Person
  learn bayesian_network from "rows.csv"
  set max_parents = 2
"""
PAIRS = """
property pairs {
  compare a, b : Person
  differ in sex
  require same decision
  measure fair_share within 2%
}
"""
GROUPS = """
property in_rows {
  across sex
  under rows
  measure parity_gap, equal_opportunity
}
property in_learned {
  across sex
  under learned
  measure parity_gap within 2%
}
"""


def table(count: int, *, lacking: float) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """A made-up table of the shape of Adult's: names and numbers, some of which are empty."""
    draw = np.random.default_rng(3)
    rows = np.empty((count, 4), dtype=object)
    job = draw.integers(1, 4, count) * (draw.random(count) >= lacking)
    sex, age = draw.integers(0, 2, count), draw.integers(18, 81, count)
    hours = draw.integers(1, 61, count).astype(np.float32)
    worth = hours + 9 * sex + 6 * (job == 2) - 0.2 * age
    rows[:, 0], rows[:, 1] = np.array(JOBS, dtype=object)[job], np.array(SEXES, dtype=object)[sex]
    rows[:, 2], rows[:, 3] = age.astype(np.float32), np.where(draw.random(count) < lacking, np.nan, hours)
    return rows, (worth + draw.normal(0, 6, count) > 28).astype(int)


def written(rows: np.ndarray[Any, Any], right: np.ndarray[Any, Any], folder: Path) -> None:
    cells = [["" if cell != cell else f"{cell:g}" if isinstance(cell, float) else cell for cell in row] for row in
             ([job, sex, float(age), float(hours)] for job, sex, age, hours in rows.tolist())]  # fmt: skip
    lines = [",".join([*row, str(label)]) for row, label in zip(cells, right.tolist(), strict=True)]
    (folder / "rows.csv").write_text("\n".join(["job,sex,age,hours,right", *lines]) + "\n")


def test_a_booster_over_texts_and_empty_cells_is_audited(tmp_path: Path) -> None:
    from skl2onnx import to_onnx
    from skl2onnx.common.data_types import FloatTensorType, StringTensorType
    from sklearn.compose import ColumnTransformer
    from sklearn.ensemble import GradientBoostingClassifier
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    rows, right = table(1500, lacking=0.1)
    numbers = make_pipeline(SimpleImputer(), StandardScaler())
    columns = ColumnTransformer([("t", OneHotEncoder(handle_unknown="ignore"), [0, 1]), ("n", numbers, [2, 3])])
    model = make_pipeline(columns, GradientBoostingClassifier(n_estimators=100, random_state=0)).fit(rows, right)
    kinds = {"job": StringTensorType, "sex": StringTensorType, "age": FloatTensorType, "hours": FloatTensorType}
    types = [(name, kind([None, 1])) for name, kind in kinds.items()]
    (tmp_path / "model.onnx").write_bytes(to_onnx(model, initial_types=types).SerializeToString())
    written(rows, right, tmp_path)
    (tmp_path / "audit.fair").write_text(DOMAIN.replace("DECIDES", "class = 1") + PAIRS + GROUPS)
    report = fairdsl.check(tmp_path / "audit.fair", timeout=240)
    pairs, in_rows, in_learned = report.properties
    assert [demand.judgement.value for demand in pairs.demands] == ["violated", "measured"]
    predicted = model.predict(rows)
    rates = [predicted[rows[:, 1] == sex].mean() for sex in SEXES]
    gap = in_rows.demands[0].value
    assert gap is not None
    assert float(gap.low) == pytest.approx(abs(rates[0] - rates[1]), abs=2e-3)
    assert all(demand.judgement.value == "measured" for demand in (*in_rows.demands, *in_learned.demands))
    assert fairdsl.search(tmp_path / "audit.fair", count=3).pairs


def only_run() -> dict[str, tuple[str, Callable[[], Any]]]:
    from sklearn import calibration, ensemble, gaussian_process, linear_model, neighbors, preprocessing, tree
    from sklearn.pipeline import make_pipeline

    few = {"n_estimators": 5, "max_depth": 4, "random_state": 0}
    forest = ensemble.RandomForestClassifier
    stump = tree.DecisionTreeClassifier(max_depth=3, random_state=0)
    deep = ensemble.AdaBoostRegressor(tree.DecisionTreeRegressor(max_depth=6), n_estimators=5, random_state=0)
    process = gaussian_process.GaussianProcessRegressor(gaussian_process.kernels.RBF(25.0), alpha=1.0, optimizer=None)
    of_two = [("a", linear_model.LogisticRegression()), ("b", stump)]
    return {
        "AdaBoost of a regression": ("score >= 0.5", lambda: deep),
        "isotonic steps of forests": (
            "class = 1", lambda: calibration.CalibratedClassifierCV(forest(**few), method="isotonic", cv=2)
        ),
        "a forest over other models": ("class = 1", lambda: ensemble.StackingClassifier(of_two, forest(**few), cv=2)),
        "neighbours": ("class = 1", lambda: neighbors.KNeighborsClassifier(5)),
        "a process": ("score >= 0.5", lambda: process),
        "products": (
            "class = 1", lambda: make_pipeline(
                preprocessing.StandardScaler(), preprocessing.PolynomialFeatures(2), linear_model.LogisticRegression()
            )
        ),
        "quantiles": (
            "class = 1", lambda: make_pipeline(
                preprocessing.QuantileTransformer(n_quantiles=10), linear_model.LogisticRegression()
            )
        ),
        "a rate by exp": ("score >= 0.5", lambda: make_pipeline(
            preprocessing.StandardScaler(), linear_model.PoissonRegressor())),
    }  # fmt: skip


def said(path: Path, people: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """What the file itself says, which is what is audited: exporters decide otherwise about a few."""
    from onnxruntime import InferenceSession

    session = InferenceSession(path)
    return np.asarray(session.run(None, {session.get_inputs()[0].name: people})[0]).reshape(-1)


ONLY_RUN = ["AdaBoost of a regression", "isotonic steps of forests", "a forest over other models", "neighbours",
            "a process", "products", "quantiles", "a rate by exp"]  # fmt: skip


@pytest.mark.parametrize("name", ONLY_RUN)
def test_what_is_only_run_is_searched_estimated_and_counted(name: str, tmp_path: Path) -> None:
    from skl2onnx import to_onnx

    assert list(only_run()) == ONLY_RUN
    decides, make = only_run()[name]
    rows, right = table(1500, lacking=0.0)
    codes = rows.copy()
    codes[:, 0], codes[:, 1] = (
        [names.index(cell) for cell in rows[:, place]] for place, names in ((0, JOBS), (1, SEXES))
    )
    known = codes.astype(np.float32)
    model = make().fit(known[:400], right[:400])
    (tmp_path / "model.onnx").write_bytes(to_onnx(model, known[:1]).SerializeToString())
    written(rows, right, tmp_path)
    questions = PAIRS.replace("2%", "10%") + GROUPS[: GROUPS.index("property in_learned")]
    coded = "{ clerk = 1, nurse = 2, teacher = 3 }"
    domain = DOMAIN.replace(" or missing", "").replace("{ clerk, nurse, teacher }", coded)
    (tmp_path / "audit.fair").write_text(domain.replace("DECIDES", decides) + questions)
    report = fairdsl.check(tmp_path / "audit.fair", timeout=240)
    assert "W0707" in {finding.code for finding in report.diagnostics}, "the reason is said"
    pairs, in_rows = report.properties
    assert [demand.judgement.value for demand in pairs.demands] == ["violated", "measured"]
    predicted = said(tmp_path / "model.onnx", known) >= 0.5
    rates = [predicted[rows[:, 1] == sex].mean() for sex in SEXES]
    gap = in_rows.demands[0].value
    assert gap is not None
    assert float(gap.low) == pytest.approx(abs(rates[0] - rates[1]), abs=1e-9)
    assert fairdsl.search(tmp_path / "audit.fair", count=3).pairs
