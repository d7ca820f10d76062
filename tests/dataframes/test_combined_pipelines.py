"""Pipelines on a DataFrame that are made of several models, or of steps that skl2onnx writes otherwise or not at all.

Votes, stacks and calibrations around pipelines of columns, encoders with seldom categories, targets of all kinds: each
file decides about 10,000 rows as `predict` does, and is read exactly where that is said.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fairdsl.models.from_estimators import onnx_of
from tests.dataframes.test_pipelines_given import audited, columns, decided, pd, people

pytest.importorskip("skl2onnx")
pytestmark = [pytest.mark.sklearn, pytest.mark.filterwarnings("ignore")]


def in_words(target: Any) -> Any:
    return np.where(target > 0, "good risk", "bad risk")


def as_truth(target: Any) -> Any:
    return target > 0


def kinds() -> dict[str, tuple[Callable[[], Any], Callable[[Any], Any] | None, bool]]:
    """Each pipeline, what its target is made by, and whether its file is read exactly."""
    from sklearn import ensemble, linear_model, naive_bayes, neural_network, preprocessing, svm, tree
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.compose import make_column_selector, make_column_transformer
    from sklearn.impute import MissingIndicator, SimpleImputer
    from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline

    seed: dict[str, Any] = {"random_state": 0}
    few = {"n_estimators": 4, "max_depth": 4, **seed}
    logistic, machine = linear_model.LogisticRegression(max_iter=500), svm.LinearSVC(**seed)
    one_hot, ordinal = preprocessing.OneHotEncoder, preprocessing.OrdinalEncoder
    plain = SimpleImputer(strategy="median")

    def filled(encoder: Any) -> Any:
        return make_pipeline(SimpleImputer(strategy="most_frequent"), encoder)

    def of(model: Any, numbers: Any = None, texts: Any = None) -> Any:
        return make_pipeline(columns(numbers, texts, sparse_threshold=0), model)

    def seldom(**settings: Any) -> Any:
        return one_hot(handle_unknown="infrequent_if_exist", **settings)

    def risen(model: Any, numbers: Any = None) -> Any:
        return CalibratedClassifierCV(of(model, numbers), method="isotonic", cv=2)

    forest = ensemble.RandomForestClassifier(**few)
    boosted = ensemble.GradientBoostingClassifier(n_estimators=6, **seed)
    histograms = ensemble.HistGradientBoostingClassifier(max_iter=6, **seed)
    three = [("a", of(logistic)), ("b", of(tree.DecisionTreeClassifier(max_depth=4), plain)), ("c", of(machine))]
    numbers = make_column_selector(dtype_include=np.number)
    return {
        "isotonic steps of a linear machine": (lambda: risen(machine), None, True),
        "hard votes of pipelines": (lambda: ensemble.VotingClassifier(three, weights=[1, 2, 1]), None, False),
        "a stack of pipelines": (lambda: ensemble.StackingClassifier(three, cv=2), in_words, True),
        "seldom categories": (lambda: of(logistic, texts=seldom(min_frequency=0.3)), as_truth, True),
        "codes of those without": (lambda: of(histograms, plain, ordinal(encoded_missing_value=-1)), None, True),
        # ---- slow from here on
        "isotonic steps of logistic regression": (lambda: risen(logistic), None, True),
        "isotonic steps of a forest": (lambda: risen(forest, plain), None, True),
        "isotonic steps of boosting": (lambda: risen(boosted, plain), None, True),
        "isotonic steps of histograms": (lambda: risen(histograms, plain), None, True),
        "isotonic steps of AdaBoost": (
            lambda: risen(ensemble.AdaBoostClassifier(n_estimators=4, **seed), plain), None, True
        ),
        "isotonic steps of a network": (
            lambda: risen(neural_network.MLPClassifier((4,), max_iter=200, **seed)), None, True
        ),
        "sigmoids of a pipeline": (lambda: CalibratedClassifierCV(of(logistic), cv=2), in_words, True),
        "sigmoids of a machine": (lambda: of(CalibratedClassifierCV(machine, cv=2)), as_truth, True),
        "sigmoids of a kernel machine": (lambda: of(CalibratedClassifierCV(svm.SVC(), cv=2)), None, False),
        "hard votes behind columns": (lambda: of(ensemble.VotingClassifier(
            [("a", logistic), ("b", forest), ("c", machine)], voting="hard")), in_words, False),
        "a stack behind columns": (lambda: of(ensemble.StackingClassifier(
            [("a", logistic), ("b", machine)], passthrough=True, cv=2)), None, True),
        "seldom categories without the first": (
            lambda: of(logistic, texts=filled(seldom(max_categories=2, drop="first"))), None, True
        ),
        "one column of two": (lambda: of(logistic, texts=filled(one_hot(drop="if_binary"))), None, True),
        "codes of seldom ones": (lambda: of(forest, plain, ordinal(
            min_frequency=0.3, encoded_missing_value=-1)), None, True),
        "no code for those without": (lambda: of(histograms, plain, ordinal()), None, False),
        "indicators beside": (lambda: of(
            logistic, FeatureUnion([("filled", plain), ("lacking", MissingIndicator())])), None, True),
        "DataFrames on the way": (
            lambda: of(logistic, texts=filled(one_hot(sparse_output=False))).set_output(transform="pandas"), None, True
        ),
        "columns by their types": (lambda: make_pipeline(make_column_transformer(
            (make_pipeline(plain, preprocessing.StandardScaler()), numbers),
            (filled(one_hot()), make_column_selector(dtype_exclude=np.number))), logistic), None, True),
        "pipelines within pipelines": (lambda: Pipeline(
            [("first", Pipeline([("columns", columns())])), ("last", Pipeline([("model", logistic)]))]), None, True),
        "means of the target": (
            lambda: of(logistic, texts=filled(preprocessing.TargetEncoder(**seed))), None, True
        ),
        "classes with weights": (
            lambda: of(linear_model.LogisticRegression(class_weight="balanced")), in_words, True
        ),
        "naive Bayes of codes": (lambda: of(
            naive_bayes.CategoricalNB(min_categories=9),
            make_pipeline(plain, preprocessing.KBinsDiscretizer(4, encode="ordinal")), filled(ordinal())), None, True),
        "bins on their edges": (
            lambda: of(logistic, make_pipeline(plain, preprocessing.KBinsDiscretizer(5))), None, True
        ),
        "naive Bayes of yes or no": (lambda: of(naive_bayes.BernoulliNB()), None, True),
        "products": (lambda: of(
            logistic, make_pipeline(plain, preprocessing.MinMaxScaler(), preprocessing.PolynomialFeatures(2))),
            None, False),
        "exponentials": (lambda: of(logistic, make_pipeline(
            plain, preprocessing.MinMaxScaler(), preprocessing.FunctionTransformer(np.expm1))), None, False),
        "logarithms to base ten": (lambda: of(logistic, make_pipeline(
            plain, preprocessing.FunctionTransformer(np.abs), preprocessing.MinMaxScaler((1, 9)),
            preprocessing.FunctionTransformer(np.log10))), None, True),
    }  # fmt: skip


NAMES = [
    "isotonic steps of a linear machine", "hard votes of pipelines", "a stack of pipelines", "seldom categories",
    "codes of those without", "isotonic steps of logistic regression", "isotonic steps of a forest",
    "isotonic steps of boosting", "isotonic steps of histograms", "isotonic steps of AdaBoost",
    "isotonic steps of a network",
    "sigmoids of a pipeline", "sigmoids of a machine", "sigmoids of a kernel machine", "hard votes behind columns",
    "a stack behind columns", "seldom categories without the first", "one column of two", "codes of seldom ones",
    "no code for those without", "indicators beside", "DataFrames on the way", "columns by their types",
    "pipelines within pipelines",
    "means of the target", "classes with weights", "naive Bayes of codes", "bins on their edges",
    "naive Bayes of yes or no", "products", "exponentials", "logarithms to base ten",
]  # fmt: skip
EVERYDAY = 5


@pytest.mark.parametrize(
    "name",
    [name if place < EVERYDAY else pytest.param(name, marks=pytest.mark.slow) for place, name in enumerate(NAMES)],
)
def test_each_decides_as_its_predict(name: str) -> None:
    assert list(kinds()) == NAMES
    make, changed, read = kinds()[name]
    known, target = people(500, 1)
    model = make().fit(known, target if changed is None else changed(target))
    asked, _ = people(10_000, 2)
    labels, shares = decided(onnx_of(model, "approve", by_name=True), asked)
    predicted = model.predict(asked)
    if hasattr(model, "predict_proba"):
        own = model.predict_proba(asked)
        near = np.abs(own[:, 1] - 0.5) < 1e-5
        assert (labels == predicted)[~near].all()
        assert np.allclose(shares, own, atol=2e-4)
    else:
        assert (labels == predicted).all()
    assert 0.05 < (predicted == model.classes_[1]).mean() < 0.95
    if changed is None:
        audited(model, asked.head(2000), read=read)


@pytest.mark.slow
def test_calibrated_and_stacked_classes_are_exported_as_they_are() -> None:
    """Of three classes each has a calibrator, and shares are divided by their sum."""
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.ensemble import RandomForestClassifier, StackingClassifier
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.svm import LinearSVC

    known, _ = people(500, 1)
    worth = known["hours"].fillna(30) - 0.2 * known["debt"]
    grades = np.array(["low", "middle", "top"])[np.digitize(worth, [10, 30])]
    asked, _ = people(10_000, 2)
    forest = RandomForestClassifier(n_estimators=4, max_depth=4, random_state=0)
    for last in (
        CalibratedClassifierCV(forest, method="isotonic", cv=2),
        CalibratedClassifierCV(LinearSVC(random_state=0), cv=2),
        StackingClassifier([("a", LogisticRegression()), ("b", forest)], cv=2),
    ):
        model = make_pipeline(columns(SimpleImputer()), last).fit(known, grades)
        labels, shares = decided(onnx_of(model, "grade", by_name=True), asked)
        own = np.sort(model.predict_proba(asked), axis=1)
        clear = own[:, -1] - own[:, -2] > 1e-4
        assert (labels == model.predict(asked))[clear].all()
        assert np.allclose(np.sort(shares, axis=1)[clear], own[clear], atol=1e-3)


def test_names_with_spaces_and_a_target_of_two_words(tmp_path: Any) -> None:
    import fairdsl

    known, target = people(400, 1)
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    frame = known.rename(columns={"hours": "hours per week"}).assign(**{"credit risk": in_words(target)})
    from sklearn.compose import make_column_transformer
    from sklearn.impute import SimpleImputer

    table = make_column_transformer((SimpleImputer(), ["hours per week", "debt"]))
    model = make_pipeline(table, LogisticRegression()).fit(frame.drop(columns="credit risk"), frame["credit risk"])
    drafted = fairdsl.init(frame, model=model, label="credit risk", output=tmp_path / "draft.fair")
    report = fairdsl.check(drafted.path, models={"decide": model}, properties="rates_by_sex")
    assert not report.diagnostics
    said = pd.Series(model.predict(frame) == "good risk")
    rates = [said[(frame["sex"] == sex).to_numpy()].mean() for sex in ("female", "male")]
    gaps = [demand.value for demand in report.properties[0].demands if demand.value is not None]
    assert any(gap.exact is not None and float(gap.exact) == pytest.approx(abs(rates[0] - rates[1])) for gap in gaps)
