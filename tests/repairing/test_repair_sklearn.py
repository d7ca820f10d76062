"""Repairs of scikit-learn's estimators, exported by skl2onnx."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnxruntime import InferenceSession

pytest.importorskip("sklearn")
pytest.importorskip("skl2onnx")

import fairdsl
from fairdsl.ir.question import Quantity
from fairdsl.repairing import Repaired
from fairdsl.repairing.result import Compared
from fairdsl.repairing.subject import subject_of
from fairdsl.semantics import front_end
from tests.oracle import truth
from tests.repairing.learners import SPEC, people, write_case

pytestmark = pytest.mark.sklearn

CLASS = SPEC.replace("approve.json", "approve.onnx").replace("grant when score > 0", "grant when class = 1")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_case(tmp_path, people(1000, bias=1.0), CLASS)
    return tmp_path


def tree() -> Any:
    from sklearn.tree import DecisionTreeClassifier

    return DecisionTreeClassifier(max_depth=7)


def pipeline() -> Any:
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), LogisticRegression())


def repaired(estimator: Any, output: str = "out", **options: Any) -> Repaired:
    return fairdsl.repair("spec.fair", train="people.csv", estimator=estimator, output=output, **options)


def true_rate(path: str) -> Fraction:
    asked = subject_of(front_end("spec.fair")[0], "spec.fair", None)
    return 1 - truth(asked.problem(asked.load(path), Quantity.DISCRIMINATION_RATE)).fair_share


def test_a_tree_is_repaired_and_proved_fair() -> None:
    found = repaired(tree, seed=2)
    first, best = found.rates
    assert first.exact
    assert first.low > Fraction(1, 20)
    assert found.reduction is not None
    assert found.reduction >= Fraction(95, 100)
    assert true_rate("out/approve.onnx") == best.high
    before, after = found.candidates[0].measured, found.best.measured
    assert before is not None
    assert after is not None
    assert before.rows.correct - after.rows.correct <= Fraction(5, 1000) * before.rows.rows
    assert found.best.differing == 0
    assert found.report is not None
    judgement = found.report.properties[0].judgement.value
    assert judgement == ("holds" if best.high == 0 else "violated")


def test_an_estimator_whose_file_is_not_read_is_a_black_box(folder: Path) -> None:
    """Nearest neighbours: rows and rates are those of the file's answers."""
    from sklearn.neighbors import KNeighborsClassifier

    write_case(folder, people(150, bias=1.0), CLASS.replace("from ", "from black_box "))
    found = repaired(lambda: KNeighborsClassifier(3), recipe="flipped-copies", rounds=1, within=Fraction(1, 10))
    assert [candidate.measured is not None for candidate in found.candidates] == [True, True]
    asked = subject_of(front_end("spec.fair")[0], "spec.fair", None)
    rows, _ = asked.rows("people.csv")
    session = InferenceSession("out/approve.onnx")
    (read,) = (item.name for item in session.get_inputs())
    decided = [int(session.run(None, {read: row[None].astype(np.float32)})[0][0]) for row in rows.values.floats]
    model = asked.load("out/approve.onnx")
    assert Compared.of(asked, model, model, rows).after.correct == int((np.array(decided) == rows.outcomes).sum())
    assert found.report is not None
    assert found.report.properties[0].judgement.value in {"violated", "holds", "unknown"}


def test_the_same_seed_gives_the_same_files() -> None:
    for output in ("one", "two"):
        repaired(tree, output, recipe="pairs", rounds=2)
    for path in sorted(Path("one").iterdir()):
        assert path.read_bytes() == (Path("two") / path.name).read_bytes(), path.name


@pytest.mark.parametrize("decision", ["grant when class = 1", "grant when probability >= 0.5", "reject when class = 1"])
def test_classes_mean_what_the_spec_says(decision: str) -> None:
    write_case(Path(), people(400), CLASS.replace("grant when class = 1", decision))
    found = repaired(pipeline, rounds=1, recipe="flipped-copies", max_accuracy_loss=0.2)
    first = found.candidates[0].measured
    assert first is not None
    assert first.rows.correct > Fraction(7, 10) * first.rows.rows
    assert found.rates[1].high == true_rate("out/approve.onnx")


def test_a_file_that_is_no_onnx_is_refused(folder: Path) -> None:
    write_case(folder, people(400), SPEC)
    with pytest.raises(fairdsl.SpecError) as caught:
        repaired(pipeline)
    assert caught.value.diagnostics[0].code == "E0591"
    assert "ONNX files" in caught.value.diagnostics[0].notes[0]


def test_what_skl2onnx_does_not_convert_is_told() -> None:
    from sklearn.neighbors import KernelDensity

    class Odd(KernelDensity):  # type: ignore[misc]
        def fit(self, features: Any, classes: Any) -> Any:
            return super().fit(features)

        def predict(self, features: Any) -> Any:
            return (features[:, 1] > 9).astype(int)

    with pytest.raises(fairdsl.SpecError) as caught:
        repaired(Odd)
    assert caught.value.diagnostics[0].code == "E0591"
    assert caught.value.diagnostics[0].notes[0].startswith("skl2onnx: ")


def test_a_model_that_is_only_run_is_repaired_by_its_answers() -> None:
    """`from black_box`: the rates are those of the file, run on everybody alone."""
    from itertools import product

    import numpy as np
    import onnxruntime

    text = Path("spec.fair").read_text()
    Path("spec.fair").write_text(text.replace('from "approve.onnx"', 'from black_box "approve.onnx"'))
    found = repaired(tree, seed=2)
    best = found.rates[1]
    run = onnxruntime.InferenceSession("out/approve.onnx")
    unfair = 0
    for age, debt in product(range(20), range(10)):
        two = [run.run(None, {"X": np.array([[sex, age, debt]], dtype=np.float32)})[0].tolist() for sex in (0, 1)]
        unfair += two[0] != two[1]
    assert best.exact
    assert best.low == Fraction(unfair, 200) < found.rates[0].low
    assert found.compared.after.unfair <= found.compared.before.unfair


@pytest.mark.filterwarnings("error")
def test_names_of_columns_reach_the_estimator() -> None:
    pandas = pytest.importorskip("pandas")
    from sklearn.compose import ColumnTransformer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    made: list[Any] = []

    def by_name() -> Any:
        columns = ColumnTransformer([("scaled", StandardScaler(), ["debt", "age"])], remainder="passthrough")
        made.append(make_pipeline(columns, LogisticRegression()))
        return made[-1]

    frame = pandas.read_csv("people.csv")
    found = fairdsl.repair("spec.fair", train=frame, estimator=by_name, output="named", rounds=1)
    assert {tuple(each.feature_names_in_) for each in made} == {("sex", "age", "debt")}
    assert isinstance(found, Repaired)
    assert found.report is not None
    assert InferenceSession("named/approve.onnx").get_inputs()
