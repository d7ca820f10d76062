"""`init` beside pipelines of scikit-learn: what it takes for texts, and whether the file decides as they predict."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest

import fairdsl

pytest.importorskip("skl2onnx")

from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

pytestmark = pytest.mark.sklearn


def test_names_have_the_blanks_by_which_a_model_knows_them(tmp_path: Path) -> None:
    """As the raw table of Adult has them, where a text without its blank is one that the encoder has never seen."""
    drawn = np.random.default_rng(5)
    sex, age = drawn.choice([" Female", " Male"], 200), drawn.integers(18, 60, 200)
    frame = pandas.DataFrame(
        {"sex": sex, "age": age, "income": np.where(age + 30 * (sex == " Male") > 55, " >50K", " <=50K")}
    )
    encoder = ColumnTransformer([("c", OneHotEncoder(handle_unknown="ignore"), ["sex"])], remainder="passthrough")
    estimator = make_pipeline(encoder, DecisionTreeClassifier(random_state=0)).fit(
        frame[["sex", "age"]], frame["income"]
    )
    drafted = fairdsl.init(frame, model=estimator, label="income", protected="sex", output=tmp_path / "o.fair")
    assert 'sex : category { " Female", " Male" }' in drafted.text
    assert 'positive when class = " >50K"' in drafted.text
    assert "agrees with the label on 100.0% of 200 rows" in (drafted.binding or "")
    rates = fairdsl.check(drafted.path, properties="rates_by_sex", timeout=20).table("groups")
    assert rates["value"][:2] == [(frame["income"][sex == one] == " >50K").mean() for one in (" Female", " Male")]


@pytest.mark.parametrize("imputed", [False, True])
def test_columns_that_a_model_takes_as_texts_are_categories_whatever_they_look_like(
    imputed: bool, tmp_path: Path
) -> None:
    drawn = np.random.default_rng(2)
    table: dict[str, Any] = {
        name: drawn.choice(each, 200) for name, each in {"paid": ["no", "yes"], "grade": ["01", "1", "10"]}.items()
    }
    table |= {"member": drawn.random(200) < 0.5, "code": drawn.integers(1, 4, 200).astype(float)}
    frame = pandas.DataFrame({**table, "sex": drawn.choice(["f", "m"], 200)})
    encoded = frame["paid"].eq("yes").astype(int) + frame["grade"].eq("10") + frame["member"] + frame["code"].eq(2.0)
    frame["good"] = (encoded + frame["sex"].eq("m") > 2).astype(int)
    columns = [name for name in frame if name != "good"]
    encoder: Any = OneHotEncoder(handle_unknown="ignore")
    encoder = make_pipeline(SimpleImputer(strategy="most_frequent"), encoder) if imputed else encoder
    table_of = ColumnTransformer([("c", encoder, columns)])
    estimator = make_pipeline(table_of, DecisionTreeClassifier(random_state=0)).fit(frame[columns], frame["good"])
    drafted = fairdsl.init(frame, model=estimator, label="good", protected="sex", output=tmp_path / "o.fair")
    for declared in (
        "paid : category { no, yes }",
        'grade : category { "01", "1", "10" }',
        "member : category { False, True }",
    ):
        assert declared in drafted.text
    assert "agrees with the label on 100.0% of 200 rows" in (drafted.binding or "")


def test_an_estimator_whose_file_decides_otherwise_leaves_nothing_behind(tmp_path: Path) -> None:
    """Files of single trees have lost where they send who lacks a number; single rows are said, more are an error."""
    drawn = np.random.default_rng(3)
    frame = pandas.DataFrame({"x": drawn.integers(0, 9, 400).astype(float), "g": drawn.integers(0, 2, 400)})
    frame["y"] = (frame["x"] + 2 * frame["g"] > 4).astype(int)
    for lacking, said in ((2, "; of 400 rows of `rows`, 2 are decided otherwise"), (100, None)):
        some = frame.assign(
            x=frame["x"].where(np.arange(400) >= lacking), y=frame["y"].where(np.arange(400) >= lacking, 0)
        )
        estimator = DecisionTreeClassifier(random_state=0).fit(some[["x", "g"]], some["y"])
        output = tmp_path / f"{lacking}.fair"
        if said is None:
            with pytest.raises(fairdsl.SpecError, match="100 are decided otherwise"):
                fairdsl.init(some, model=estimator, label="y", protected="g", output=output)
        else:
            drafted = fairdsl.init(some, model=estimator, label="y", protected="g", output=output)
            assert said in (drafted.binding or "")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["2.csv", "2.fair", "2.onnx"]
