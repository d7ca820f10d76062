"""Pipelines in memory as people write them on a DataFrame: pandas' empty cells, boosters, indicators, searches.

The file of each decides as its `predict` does. Boosters are trained where their library is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import onnxruntime
import pytest

import fairdsl
from fairdsl.models.exporting import NotExportedError
from fairdsl.models.from_estimators import onnx_of

pd: Any = pytest.importorskip("pandas")
pytest.importorskip("skl2onnx")
pytestmark = [pytest.mark.sklearn, pytest.mark.filterwarnings("ignore")]


def people(count: int, seed: int) -> Any:
    """Jobs and hours of some are not known; debts always are."""
    draw = np.random.default_rng(seed)
    job = np.array(["clerk", "nurse", "teacher", None], dtype=object)[draw.integers(0, 4, count)]
    hours, debt = draw.integers(1, 61, count).astype(float), draw.integers(0, 90, count)
    worth = hours + 12 * (job == "nurse") - 0.2 * debt + draw.normal(0, 5, count)
    hours[draw.random(count) < 0.15] = np.nan
    sex = np.array(["female", "male"], dtype=object)[draw.integers(0, 2, count)]
    return pd.DataFrame({"job": job, "sex": sex, "hours": hours, "debt": debt}), (worth > 25).astype(int)


def columns(numbers: Any = None, texts: Any = None, **settings: Any) -> Any:
    from sklearn.compose import ColumnTransformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    numbers = numbers or make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
    texts = texts or make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder(handle_unknown="ignore"))
    return ColumnTransformer([("numbers", numbers, ["hours", "debt"]), ("texts", texts, ["job", "sex"])], **settings)


def pipelines() -> dict[str, Callable[[], Any]]:
    from sklearn.compose import make_column_transformer
    from sklearn.ensemble import (
        HistGradientBoostingClassifier,
        RandomForestClassifier,
        StackingClassifier,
        VotingClassifier,
    )
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LogisticRegression, RidgeClassifier
    from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import (
        FunctionTransformer,
        KBinsDiscretizer,
        OneHotEncoder,
        OrdinalEncoder,
        QuantileTransformer,
        StandardScaler,
    )
    from sklearn.svm import LinearSVC

    logistic, few = LogisticRegression(max_iter=500), {"n_estimators": 4, "max_depth": 4, "random_state": 0}
    imputer = SimpleImputer(strategy="median")
    # Of scaled numbers a threshold lies on some, about whom the file's rounding decides.
    forest = make_pipeline(columns(imputer), RandomForestClassifier(**few))
    bins = KBinsDiscretizer(4, quantile_method="averaged_inverted_cdf")
    histograms = {"max_iter": 12, "max_leaf_nodes": 6, "random_state": 0}
    decisions = [
        ("a", make_pipeline(StandardScaler(), LinearSVC(random_state=0))),
        ("b", make_pipeline(StandardScaler(), RidgeClassifier())),
        ("c", RandomForestClassifier(**few)),
    ]
    return {
        "most frequent texts": lambda: make_pipeline(columns(), logistic),
        "a text of its own": lambda: make_pipeline(
            columns(texts=make_pipeline(SimpleImputer(strategy="constant", fill_value="none"), OneHotEncoder())),
            logistic,
        ),
        "a category of those without": lambda: make_pipeline(
            columns(texts=OneHotEncoder(handle_unknown="ignore")), logistic
        ),
        "a machine without probabilities": lambda: make_pipeline(columns(), LinearSVC(random_state=0)),
        "indicators": lambda: make_pipeline(
            columns(make_pipeline(SimpleImputer(add_indicator=True), StandardScaler())), logistic
        ),
        "logarithms": lambda: make_pipeline(
            columns(make_pipeline(SimpleImputer(), FunctionTransformer(np.log1p), StandardScaler())), logistic
        ),
        "quantiles": lambda: make_pipeline(
            columns(make_pipeline(SimpleImputer(), QuantileTransformer(n_quantiles=20))), logistic
        ),
        "a search": lambda: GridSearchCV(forest, {"randomforestclassifier__max_depth": [3, 4]}, cv=2),
        "a random search": lambda: RandomizedSearchCV(
            forest, {"randomforestclassifier__max_depth": [3, 4]}, n_iter=1, cv=2, random_state=0
        ),
        "bins in a sparse matrix": lambda: make_pipeline(columns(make_pipeline(SimpleImputer(), bins)), logistic),
        "a stack of decision functions": lambda: make_pipeline(
            columns(imputer, sparse_threshold=0), StackingClassifier(decisions, cv=2, passthrough=True)
        ),
        "categories of boosting": lambda: HistGradientBoostingClassifier(
            categorical_features=["job", "sex"], **histograms
        ),
        "codes of boosting": lambda: make_pipeline(
            make_column_transformer(
                (make_pipeline(SimpleImputer(strategy="most_frequent"), OrdinalEncoder()), [True, True, False, False]),
                remainder="passthrough",
            ),
            HistGradientBoostingClassifier(categorical_features=[0, 1], **histograms),
        ),
        "votes of pipelines": lambda: VotingClassifier(
            [("a", make_pipeline(columns(), logistic)), ("b", forest)], voting="soft"
        ),
    }


NAMES = ["most frequent texts", "a text of its own", "a category of those without", "a machine without probabilities",
         "indicators", "logarithms", "quantiles", "a search", "a random search", "bins in a sparse matrix",
         "a stack of decision functions", "categories of boosting", "codes of boosting",
         "votes of pipelines"]  # fmt: skip


def decided(content: bytes, frame: Any) -> Any:
    session = onnxruntime.InferenceSession(content)
    given = {
        item.name: (frame[[item.name]].fillna("").to_numpy(object) if "string" in item.type
                    else frame[[item.name]].to_numpy(np.float32))
        for item in session.get_inputs()
    }  # fmt: skip
    return session.run(None, given)


SPEC = """
domain Person {
  job : category { clerk, nurse, teacher } or missing
  sex : category { female, male }
  hours : integer 1 .. 60 or missing
  debt : integer 0 .. 89
}
protected sex
model approve : Person -> { no, yes }
  from "approve.onnx"
  yes when class = 1
  favourable yes
distribution rows over Person
  empirical from "rows.csv"
property parity { across sex under rows measure parity_gap }
"""


def audited(model: Any, frame: Any, *, read: bool = True) -> None:
    """Deciding about every row as `predict` does, and read exactly where that is said: nothing is warned of then."""
    report = fairdsl.check(SPEC, models={"approve": model}, data={"rows": frame})
    assert ("W0707" in {finding.code for finding in report.diagnostics}) != read
    assert {finding.code for finding in report.diagnostics} <= {"W0707", "W0701"}
    said = model.predict(frame)
    rates = [np.mean(said[frame["sex"] == sex]) for sex in ("female", "male")]
    found = report.properties[0].demands[0].value
    assert found is not None
    assert found.exact is not None
    assert float(found.exact) == pytest.approx(abs(rates[0] - rates[1]))


EVERYDAY = ("most frequent texts", "indicators", "a search", "categories of boosting")


@pytest.mark.parametrize(
    "name", [name if name in EVERYDAY else pytest.param(name, marks=pytest.mark.slow) for name in NAMES]
)
def test_a_pipeline_on_a_frame_decides_as_its_predict(name: str) -> None:
    assert list(pipelines()) == NAMES
    known, target = people(500, 1)
    model = pipelines()[name]().fit(known, target)
    before = repr(model)
    asked, _ = people(10_000, 2)
    labels, shares = decided(onnx_of(model, "approve", by_name=True), asked)
    assert (labels == model.predict(asked)).all()
    assert np.allclose(shares, model.predict_proba(asked), atol=1e-5)
    assert 0.1 < labels.mean() < 0.9
    assert repr(model) == before, "a copy is changed, and not the model"
    if name != "votes of pipelines":
        audited(model, asked.head(2000))


def boosters() -> dict[str, Callable[[], Any]]:
    few: dict[str, Any] = {"n_estimators": 12, "max_depth": 4}

    def made(library: str, kind: str, **settings: Any) -> Callable[[], Any]:
        return lambda: getattr(pytest.importorskip(library), kind)(**{**few, **settings})

    quiet = {"verbose": -1, "min_child_samples": 5}
    return {
        "XGBoost": made("xgboost", "XGBClassifier"),
        "XGBoost, dart": made("xgboost", "XGBClassifier", booster="dart", rate_drop=0.3),
        "LightGBM": made("lightgbm", "LGBMClassifier", **quiet),
        "LightGBM, forest": made(
            "lightgbm", "LGBMClassifier", boosting_type="rf", bagging_freq=1, bagging_fraction=0.6, **quiet
        ),
        "CatBoost": made("catboost", "CatBoostClassifier", verbose=0, allow_writing_files=False),
    }


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("name", ["XGBoost", "XGBoost, dart", "LightGBM", "LightGBM, forest", "CatBoost"])
def test_a_booster_behind_encoders_decides_as_its_predict(name: str, sparse: bool) -> None:
    """What a sparse matrix does not store is missing to XGBoost, and 0 to the others."""
    from sklearn.pipeline import make_pipeline

    known, target = people(500, 1)
    model = make_pipeline(columns(sparse_threshold=float(sparse)), boosters()[name]())
    model.fit(known, target)
    asked, _ = people(10_000, 2)
    labels, shares = decided(onnx_of(model, "approve", by_name=True), asked)
    assert (labels == model.predict(asked)).all()
    assert np.allclose(shares, model.predict_proba(asked), atol=1e-5)
    audited(model, asked.head(2000))


def test_three_classes_by_name_and_regressions_of_boosters() -> None:
    from sklearn.pipeline import make_pipeline

    lightgbm: Any = pytest.importorskip("lightgbm")
    known, _ = people(500, 1)
    worth = known["hours"].fillna(30) - 0.2 * known["debt"]
    grades = np.array(["low", "middle", "top"])[np.digitize(worth, [10, 30])]
    asked, _ = people(10_000, 2)
    few = {"n_estimators": 6, "num_leaves": 6, "verbose": -1}
    for model, target in ((lightgbm.LGBMClassifier(**few), grades), (lightgbm.LGBMRegressor(**few), worth)):
        pipeline = make_pipeline(columns(), model).fit(known, target)
        first = decided(onnx_of(pipeline, "approve", by_name=True), asked)[0]
        predicted = pipeline.predict(asked)
        if target is grades:
            assert (first == predicted).all()
        else:
            assert np.allclose(np.ravel(first), predicted, atol=1e-4)


@pytest.mark.slow
def test_codes_that_lightgbm_takes_for_categories() -> None:
    """Behind encoders its categories are numbers, and its trees ask for sets of them."""
    from sklearn.compose import make_column_transformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OrdinalEncoder

    lightgbm: Any = pytest.importorskip("lightgbm")
    sets = {"categorical_feature": [0, 1], "min_child_samples": 5, "min_data_per_group": 5, "cat_smooth": 1}
    codes = make_pipeline(SimpleImputer(strategy="most_frequent"), OrdinalEncoder())
    encoded = make_column_transformer((codes, ["job", "sex"]), remainder="passthrough")
    known, target = people(500, 1)
    model = make_pipeline(encoded, lightgbm.LGBMClassifier(n_estimators=12, num_leaves=6, verbose=-1, **sets))
    asked, _ = people(10_000, 2)
    labels, shares = decided(onnx_of(model.fit(known, target), "approve", by_name=True), asked)
    assert (labels == model.predict(asked)).all()
    assert np.allclose(shares, model.predict_proba(asked), atol=1e-5)


def test_what_a_file_would_not_say_is_refused_with_what_to_do() -> None:
    from sklearn.compose import TransformedTargetRegressor
    from sklearn.ensemble import BaggingClassifier, StackingClassifier
    from sklearn.experimental import enable_iterative_imputer  # noqa: F401  # it opens the next import
    from sklearn.impute import IterativeImputer, KNNImputer, SimpleImputer
    from sklearn.linear_model import LinearRegression, LogisticRegression
    from sklearn.model_selection import FixedThresholdClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer, QuantileTransformer, SplineTransformer
    from sklearn.svm import SVC, LinearSVC

    known, target = people(300, 1)

    def of(numbers: Any = None, texts: Any = None, model: Any = None) -> Any:
        numbers = numbers and make_pipeline(SimpleImputer(), numbers)
        return make_pipeline(columns(numbers, texts), model or LogisticRegression())

    curved = StackingClassifier([("a", BaggingClassifier(SVC(), 2))], stack_method="decision_function", cv=2)
    labels = StackingClassifier([("a", LinearSVC())], stack_method="predict", cv=2)
    for model, said, remedy in (
        (FixedThresholdClassifier(of(), threshold=0.37), "threshold", ">= 0.37"),
        (
            TransformedTargetRegressor(of(model=LinearRegression()), func=np.log1p, inverse_func=np.expm1),
            "its target",
            "`regressor_`",
        ),
        (of(QuantileTransformer(n_quantiles=9, output_distribution="normal")), "normal numbers", "uniform"),
        (of(FunctionTransformer(lambda x: x / 2)), "function of its own", "np.log1p"),
        (of(SplineTransformer()), "does not write `SplineTransformer`", "None"),
        (of(IterativeImputer()), "does not write `IterativeImputer`", "None"),
        (make_pipeline(columns(KNNImputer()), LogisticRegression()), "other numbers in a file", "SimpleImputer"),
        (of(model=curved), "decision function of `BaggingClassifier`", "CalibratedClassifierCV"),
        (of(model=labels), "given labels by `LinearSVC`", "stack_method='auto'"),
    ):
        with pytest.raises(NotExportedError, match=said) as refused:
            onnx_of(model.fit(known, target), "approve", by_name=True)
        assert remedy in str(refused.value.help_text)


def test_a_draft_keeps_the_gaps_that_the_pipeline_reads(tmp_path: Any) -> None:
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    known, target = people(500, 1)
    model = make_pipeline(columns(), LogisticRegression()).fit(known, target)
    frame = known.assign(repaid=target)
    drafted = fairdsl.init(frame, model=model, label="repaid", output=tmp_path / "draft.fair")
    assert "hours : integer 0 .. 60 or missing" in " ".join(drafted.text.split())
    assert drafted.left_out == ()
    assert not fairdsl.check(drafted.path, models={"decide": model}, properties="rates_by_sex").diagnostics
    found = fairdsl.search(drafted.path, property="same_decision", models={"decide": model}, count=1, timeout=20)
    assert len(found.pairs) == 1
