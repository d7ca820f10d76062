"""Files that read missing values, against onnxruntime itself: what is fed, decided, violated and counted.

The file's own labels are the definition. Trees send NaN where they were trained to, imputers fill in a number; what
computes with NaN is refused before anything runs.
"""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import fairdsl
from fairdsl.diagnostics import DiagnosticError
from fairdsl.elaborate import elaborate
from fairdsl.ir.problem import Problem
from fairdsl.semantics.front_end import front_end
from fairdsl.verdict import Unknown
from tests.agreement.engines import ENGINES, ask, disagreement
from tests.missing.test_missing_values import Case, Condition, Person, coded
from tests.oracle import outcome, scores

skl2onnx = pytest.importorskip("skl2onnx")
ort = pytest.importorskip("onnxruntime")

SPEC = """
domain Person {
  sex : category { f, m }
  debt : integer 0 .. 4 or missing
  age : integer 1 .. 4 or missing
}
protected sex, age
model approve : Person -> { no, yes }
  from "model.onnx"
  reads sex, debt, age
  yes when class = 1
property one {
  compare a, b : Person
  DIFFER
  require same decision
  measure fair_share
}
"""
EVERYBODY: list[Person] = [
    {"sex": sex, "debt": debt, "age": age}
    for sex, debt, age in product(("f", "m"), (0, 1, 2, 3, 4, None), (1, 2, 3, 4, None))
]
#: Files that were trained in the libraries, on people like these.
FILES = Path(__file__).parent / "files"
#: Nearer to its threshold a score may be rounded to the other side.
TIE = 1e-6
MODELS = ["tree", "forest", "gradient boosting", "imputed linear", "imputed tree", "imputed network"]


def estimator(kind: str, seed: int) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LogisticRegression
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.tree import DecisionTreeClassifier

    filled = SimpleImputer(strategy="median" if seed % 2 else "mean")
    match kind:
        case "tree":
            return DecisionTreeClassifier(max_depth=3, random_state=seed)
        case "forest":
            return RandomForestClassifier(3, max_depth=3, random_state=seed)
        case "gradient boosting":
            return HistGradientBoostingClassifier(max_iter=3, max_depth=3, min_samples_leaf=5, random_state=seed)
        case "imputed linear":
            return make_pipeline(filled, StandardScaler(), LogisticRegression())
        case "imputed tree":
            return make_pipeline(filled, DecisionTreeClassifier(max_depth=3, random_state=seed))
        case _:
            return make_pipeline(filled, StandardScaler(), MLPClassifier((3,), max_iter=30, random_state=seed))


def matrix(people: list[Person]) -> np.ndarray[Any, Any]:
    """What the deployed file would be given."""
    rows = [[float(p["sex"] == "m"), *(np.nan if p[n] is None else p[n] for n in ("debt", "age"))] for p in people]
    return np.array(rows, dtype=np.float32)


def exported(kind: str, seed: int, folder: Path) -> Any:
    """A trained model's file; the result is a session of it."""
    from skl2onnx.common.data_types import FloatTensorType

    draw = np.random.default_rng(seed)
    people = [EVERYBODY[place] for place in draw.integers(0, len(EVERYBODY), 150)]
    inputs = matrix(people)
    known = np.nan_to_num(inputs, nan=float(draw.integers(-2, 6)))
    wanted = known @ draw.normal(size=3) + draw.normal(size=len(people))
    model = estimator(kind, seed).fit(inputs, (wanted > np.median(wanted)).astype(int))
    options = {"zipmap": False} if hasattr(model, "predict_proba") else {}
    written = skl2onnx.to_onnx(
        model, initial_types=[("x", FloatTensorType([None, 3]))], options=options, target_opset=17
    )
    (folder / "model.onnx").write_bytes(written.SerializeToString())
    return ort.InferenceSession(written.SerializeToString())


def held(kind: str, seed: int, folder: Path) -> int:
    """How many engines answered about the model of a seed, all of them as its file decides."""
    label = exported(kind, seed, folder).run(["label"], {"x": matrix(EVERYBODY)})[0]
    random = Random(seed)
    differ = random.choice([("sex",), ("age",)])
    within = None
    spec_text = SPEC.replace("DIFFER", f"differ in {differ[0]}")
    (folder / "spec.fair").write_text(spec_text)
    decided = {id(person): bool(value) for person, value in zip(EVERYBODY, label, strict=True)}
    case = Case(spec_text, lambda p: decided[id(p)], Condition("", lambda _: True), differ, within, EVERYBODY)
    answered = 0
    for item in elaborate(front_end(str(folder / "spec.fair"))[0], {}).demands:
        problem = item.problem
        assert problem.model.opaque is None, "it is read"
        assert problem.model.reading is not None
        margins = [abs(scores(problem.model, coded(person, problem.domain))[0]) for person in EVERYBODY]
        if min(margins) < TIE:
            return 0  # rounding decides about somebody
        for person in EVERYBODY:
            read = problem.model.outcomes[outcome(problem.model, coded(person, problem.domain))]
            assert (read == "yes") == case.decides(person), (kind, seed, person)
        for engine in ENGINES:
            verdict = ask(engine, problem)
            if verdict is not None and not isinstance(verdict, Unknown):
                wrong = disagreement(problem, verdict, case.truth(problem.domain))
                assert wrong is None, f"{engine.name}: {wrong}, {kind} {seed}"
                answered += 1
    return answered


@pytest.mark.parametrize("kind", MODELS)
def test_a_file_is_read_as_it_decides(kind: str, tmp_path: Path) -> None:
    assert held(kind, 3, tmp_path) > 0


@pytest.mark.slow
@pytest.mark.parametrize("kind", MODELS)
def test_many_files_are_read_as_they_decide(kind: str, tmp_path: Path) -> None:
    assert sum(held(kind, seed, tmp_path) for seed in range(170)) > 170


@pytest.mark.parametrize("name", ["xgboost.json", "lightgbm.txt"])
def test_boosters_send_nan_where_they_were_trained_to(name: str, tmp_path: Path) -> None:
    """``labels.json`` is what the libraries' own `predict` gave for everybody, NaN where something is missing."""
    (tmp_path / name).write_bytes((FILES / name).read_bytes())
    (tmp_path / "spec.fair").write_text(SPEC.replace("model.onnx", name).replace("DIFFER", "differ in sex"))
    problem = elaborate(front_end(str(tmp_path / "spec.fair"))[0], {}).demands[0].problem
    found = [outcome(problem.model, coded(person, problem.domain)) for person in EVERYBODY]
    assert found == json.loads((FILES / "labels.json").read_text())[name]


#: Trained on the categories 3, 7, 9 and 20, and on people who have none.
CODED = """
domain Person {
  code : CODES
  x : integer 0 .. 4
}
protected code
model approve : Person -> { no, yes }
  from "FILE"
  yes when class = 1
property one {
  compare a, b : Person
  differ in code
  require same decision
}
"""


def problem_of_codes(folder: Path, name: str, codes: str) -> Problem:
    (folder / name).write_bytes((FILES / name).read_bytes())
    (folder / "spec.fair").write_text(CODED.replace("FILE", name).replace("CODES", codes))
    return elaborate(front_end(str(folder / "spec.fair"))[0], {}).demands[0].problem


@pytest.mark.parametrize("name", ["xgboost_codes.json", "lightgbm_codes.txt"])
def test_categories_by_number_go_where_the_library_sends_them(name: str, tmp_path: Path) -> None:
    """Nobody's category is a number as well; ``labels.json`` has the people as they are drawn here."""
    codes: tuple[int | None, ...] = (None, 3, 7, 9, 20)
    problem = problem_of_codes(tmp_path, name, "category { c3 = 3, c7 = 7, c9 = 9, c20 = 20 } or missing")
    lacks = problem.domain.attributes[0].missing
    people = [(Fraction(lacks if code is None else code), Fraction(x)) for code in codes for x in range(5)]  # type: ignore[arg-type]
    found = [outcome(problem.model, person) for person in people]
    assert found == json.loads((FILES / "labels.json").read_text())[name]


@pytest.mark.parametrize(
    ("name", "codes", "reason"),
    [
        ("xgboost_codes.json", "integer 7 .. 9", "8 may be filled in"),
        ("xgboost_codes.json", "integer 3 .. 9000 or missing", "others may be filled in"),
        ("xgboost_codes.json", "real 3 .. 20", "cuts its fraction off"),
        ("lightgbm_codes.txt", "real 3 .. 20", "cuts its fraction off"),
    ],
)
def test_numbers_that_the_library_takes_for_other_categories(
    name: str, codes: str, reason: str, tmp_path: Path
) -> None:
    """XGBoost takes 8 for 9, and both cut fractions off."""
    with pytest.raises(DiagnosticError) as refused:
        problem_of_codes(tmp_path, name, codes)
    assert reason in str(refused.value.diagnostics[0].primary)


def test_a_file_that_computes_with_nan_is_refused(tmp_path: Path) -> None:
    from skl2onnx.common.data_types import FloatTensorType
    from sklearn.linear_model import LogisticRegression

    known = [person for person in EVERYBODY if None not in person.values()]
    fitted = LogisticRegression().fit(matrix(known), [person["age"] > 2 for person in known])  # type: ignore[operator]
    types = [("x", FloatTensorType([None, 3]))]
    written = skl2onnx.to_onnx(fitted, initial_types=types, options={"zipmap": False}, target_opset=17)
    (tmp_path / "model.onnx").write_bytes(written.SerializeToString())
    (tmp_path / "spec.fair").write_text(SPEC.replace("DIFFER", "differ in sex"))
    with pytest.raises((DiagnosticError, fairdsl.SpecError)) as refused:
        fairdsl.check(tmp_path / "spec.fair")
    assert "E0509" in str(refused.value)
