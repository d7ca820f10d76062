"""`check` with what Python has: a spec's text, tables, estimators, sessions, functions."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import onnxruntime
import pytest

import fairdsl
from fairdsl.models.from_estimators import onnx_of

pytest.importorskip("sklearn")

from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

pytestmark = pytest.mark.sklearn

SPEC = """
domain Person { sex : category { female, male }  income : real 0 .. 100 }
protected sex
label repaid : boolean deserving yes
model approve : Person -> { reject, grant }
  from "approve.onnx"
  grant when class = 1
  favourable grant
distribution test over Person, repaid
  empirical from "test.csv"
property blind { compare a, b : Person  differ in sex  require same decision }
property parity { across sex under test measure parity_gap }
"""


def people(rows: int = 200) -> dict[str, np.ndarray[Any, Any]]:
    drawn = np.random.default_rng(0)
    sex, income = drawn.integers(0, 2, rows), np.round(drawn.random(rows) * 100, 1)
    return {"sex": sex, "income": income, "repaid": income + 10 * sex + drawn.normal(0, 5, rows) > 55}


TABLE = people()
X = np.column_stack([TABLE["sex"], TABLE["income"]])


@pytest.fixture(scope="module")
def estimator() -> Any:
    return make_pipeline(StandardScaler(), LogisticRegression()).fit(X, TABLE["repaid"].astype(int))


def judged(report: fairdsl.Report) -> dict[str, str]:
    return {item.name: item.judgement.value for item in report.properties}


def test_an_estimator_is_proved_about_and_rows_are_counted(estimator: Any) -> None:
    report = fairdsl.check(SPEC, models={"approve": estimator}, data={"test": TABLE})
    assert judged(report) == {"blind": "violated", "parity": "measured"}
    said = estimator.predict(X)
    rates = [np.mean(said[TABLE["sex"] == sex]) for sex in (0, 1)]
    assert float(report.properties[1].demands[0].value.exact) == pytest.approx(abs(rates[0] - rates[1]))  # type: ignore[union-attr, arg-type]
    pairs = report.table("pairs")
    assert pairs["individual"][:2] == ["a", "b"]
    assert pairs["sex"][0] != pairs["sex"][1]
    assert pairs["income"][0] == pairs["income"][1]


def test_bytes_sessions_and_functions_are_models(estimator: Any) -> None:
    content = onnx_of(estimator, "approve")
    session = onnxruntime.InferenceSession(content)
    given: list[Any] = [content, session, lambda given: (given["income"] > 50).astype(int)]
    found = [
        judged(fairdsl.check(SPEC, models={"approve": each}, data={"test": TABLE}, effort=20_000)) for each in given
    ]
    assert [each["blind"] for each in found] == ["violated", "violated", "unknown"]


def test_columns_are_bound_by_name_and_predict_is_held_against_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(TABLE)
    turned = LogisticRegression().fit(frame[["income", "sex"]], TABLE["repaid"].astype(int))
    report = fairdsl.check(SPEC, models={"approve": turned}, data={"test": frame})
    assert judged(report)["blind"] == "violated"
    assert [finding.code for finding in report.diagnostics] == []
    unused = f"{SPEC}condition rich = income > 50\n"
    found = fairdsl.check(unused, models={"approve": turned}, data={"test": frame}).diagnostics
    assert [finding.code for finding in found] == ["W0801"]  # of a spec that was read more than once
    predict = LogisticRegression.predict
    one = np.arange(len(frame)) == 7
    monkeypatch.setattr(LogisticRegression, "predict", lambda self, given: predict(self, given) ^ one)
    (finding,) = fairdsl.check(SPEC, models={"approve": turned}, data={"test": frame}).diagnostics
    assert finding.code == "W0709"
    assert "of 200 rows of `test`, 1 are decided otherwise" in finding.notes
    monkeypatch.setattr(LogisticRegression, "predict", lambda self, given: 1 - predict(self, given))
    with pytest.raises(fairdsl.SpecError, match="E0683"):
        fairdsl.check(SPEC, models={"approve": turned}, data={"test": frame})


def test_holding_an_estimator_against_its_file_ends_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(TABLE)
    named = LogisticRegression().fit(frame[["income", "sex"]], TABLE["repaid"].astype(int))
    predict = LogisticRegression.predict
    monkeypatch.setattr(LogisticRegression, "predict", lambda self, given: time.sleep(0.6) or 1 - predict(self, given))
    with pytest.raises(fairdsl.SpecError, match="E0625"):  # and not that it decides otherwise, which takes longer
        fairdsl.check(SPEC, models={"approve": named}, data={"test": frame}, timeout=0.5)


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "a number": ({"models": {"approve": 3}}, "E0682: `models['approve']` cannot be used"),
    "no mapping": ({"models": LogisticRegression()}, "write `models={NAME: ...}`"),
    "not fitted": ({"models": {"approve": LogisticRegression()}}, "call its `fit` first"),
    "another model": ({"models": {"aprove": b""}}, "did you mean `approve`?"),
    "another table": ({"data": {"tests": TABLE}}, "did you mean `test`?"),
    "no table": ({"data": {"test": 3}}, "E0680: `data['test']` cannot be read as a table"),
    "a column less": ({"data": {"test": {"income": [1], "repaid": [True]}}}, "the data has no column `sex`"),
    "a value": ({"data": {"test": {"sex": ["x"], "income": [1], "repaid": [True]}}}, "E0532"),
}


@pytest.mark.parametrize(("given", "said"), WRONG.values(), ids=WRONG)
def test_what_cannot_be_used_is_said(given: dict[str, Any], said: str, estimator: Any) -> None:
    with pytest.raises(fairdsl.SpecError) as problem:
        fairdsl.check(SPEC, **({"models": {"approve": estimator}, "data": {"test": TABLE}} | given))
    assert said in str(problem.value)


def test_a_spec_is_a_path_or_a_text() -> None:
    with pytest.raises(fairdsl.SpecError, match="E0682"):
        fairdsl.check(3)  # type: ignore[arg-type]
    with pytest.raises(fairdsl.SpecError, match="E0210"):
        fairdsl.check("nowhere.fair")
    with pytest.raises(fairdsl.SpecError, match="E0105") as problem:
        fairdsl.check("domain D {\n  a : boolean\n}\nproprety p {}\n")
    assert problem.value.diagnostics[0].primary is not None
