"""`prune`, `guarantee` and `repair` of models whose people may lack values, against onnxruntime on everybody."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fairdsl
from tests.models.model_files import ml, network, node, saved

ort = pytest.importorskip("onnxruntime")

SPEC = """
domain Person {
  sex : integer 0 .. 1 or missing
  debt : integer 0 .. 4 or missing
}
label right : category { no, yes } column "right"
model approve : Person -> { no, yes }
  from "model.onnx"
  yes when score > 0
  favourable yes
property one {
  compare a, b : Person
  differ in sex
  require same decision
}
"""
EVERYBODY = np.array(list(product([0, 1, np.nan], [0, 1, 2, 3, 4, np.nan])), dtype=np.float32)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A network behind an imputer; its third unit is active where sex is 1 and debt 4, 1 in 18 of those drawn."""
    monkeypatch.chdir(tmp_path)
    nodes = [
        ml("Imputer", ["x"], ["f"], imputed_value_floats=[0.25, 1.5], replaced_value_float=float("nan")),
        node("Gemm", ["f", "w", "b"], ["z"]), node("Relu", ["z"], ["h"]), node("Gemm", ["h", "v", "c"], ["y"]),
    ]  # fmt: skip
    constants: dict[str, Any] = {
        "w": np.array([[2, -1, 2], [-1, 2, 1]]), "b": np.array([1, -2, -5.5]), "v": np.array([[2], [-1], [3]]),
        "c": np.array([-0.4]),
    }  # fmt: skip
    constants = {name: array.astype(np.float32) for name, array in constants.items()}
    saved(network(nodes, constants, inputs={"x": ["N", 2]}), tmp_path)
    (tmp_path / "spec.fair").write_text(SPEC)
    cells = [["" if np.isnan(cell) else str(int(cell)) for cell in row] for row in EVERYBODY]
    lines = [",".join([*row, "yes" if place % 3 else "no"]) for place, row in enumerate(cells)]
    (tmp_path / "rows.csv").write_text("\n".join(["sex,debt,right", *lines]) + "\n")
    return tmp_path


def scores(path: str, people: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return np.asarray(ort.InferenceSession(path).run(None, {"x": people})[0]).reshape(-1)


def test_a_guarantee_asks_about_those_who_lack_the_protected_value() -> None:
    fairdsl.guarantee("spec.fair", rows="rows.csv", output="fair.onnx")
    votes = scores("model.onnx", EVERYBODY).reshape(3, -1) > 0
    assert votes.any(axis=0).tolist() != votes.all(axis=0).tolist(), "the model is unfair"
    majority = votes.sum(axis=0) >= 2
    assert (scores("fair.onnx", EVERYBODY) > 0).reshape(3, -1).tolist() == [majority.tolist()] * 3
    checked = fairdsl.check("spec.fair", models={"approve": "fair.onnx"})
    assert checked.exit_code.value == 0


def test_units_are_profiled_on_those_who_lack_values() -> None:
    pruned = fairdsl.prune("spec.fair", output="less.onnx", tolerance=0.1, points=2000)
    assert pruned.removed == 1
    active = EVERYBODY.tolist().index([1.0, 4.0])
    same = (scores("model.onnx", EVERYBODY) > 0) == (scores("less.onnx", EVERYBODY) > 0)
    assert np.delete(same, active).all()


@pytest.mark.slow
def test_a_repair_tells_of_trees_whose_file_has_lost_where_missing_values_go(folder: Path) -> None:
    pytest.importorskip("skl2onnx")
    tree = pytest.importorskip("sklearn.tree")
    draw = np.random.default_rng(0)
    lines = []
    for _ in range(600):
        debt = "" if draw.random() < 0.4 else str(draw.integers(0, 5))
        lines.append(f"{draw.integers(0, 2)},{debt},{'yes' if debt in ('', '0', '1') else 'no'}")
    (folder / "train.csv").write_text("\n".join(["sex,debt,right", *lines]) + "\n")
    (folder / "spec.fair").write_text(SPEC.replace("yes when score > 0", "yes when class = 1"))
    with pytest.raises(fairdsl.SpecError) as refused:
        fairdsl.repair("spec.fair", train="train.csv", estimator=tree.DecisionTreeClassifier, output="out", rounds=1)
    (finding,) = refused.value.diagnostics
    assert finding.code == "E0591"
    assert "all of which lack a value" in finding.notes[0]
    assert "SimpleImputer" in (finding.help or "")


@pytest.mark.parametrize("kind", ["integer 18 .. 20", "real 0 .. 20"])
@pytest.mark.parametrize("within", ["", "within 1 in age"])
def test_no_number_that_is_written_down_is_a_missing_value(folder: Path, kind: str, within: str) -> None:
    spec = folder / "written.fair"
    spec.write_text(
        f"domain P {{ sex : category {{ f, m }}  age : {kind} or missing }} protected sex "
        "model m : P -> { no, yes } yes when age is missing and sex = f "
        f"property p {{ compare a, b : P  differ in sex  {within}  require same decision }}"
    )
    for age in range(21, 70):
        with pytest.raises(ValueError, match=f"`{age}` is not a value of a.age"):
            fairdsl.replay_pair(spec, a={"sex": "f", "age": age}, b={"sex": "m"})
    ages = (18, 19, 20, "missing", "")
    replayed = [fairdsl.replay_pair(spec, a={"sex": "f", "age": age}, b={"sex": "m"}) for age in ages]
    broken = [age for age, found in zip(ages, replayed, strict=True) if found.demands[0].broken]
    assert broken == ["missing", ""]


def test_the_bins_of_what_may_be_missing_are_named_as_conditions(folder: Path) -> None:
    spec = folder / "bins.fair"
    spec.write_text(
        "domain P { age : integer 0 .. 9 or missing bins at 5 } protected age "
        "model m : P -> { no, yes } yes when age is missing favourable yes "
        'distribution d over P empirical from "rows.csv" '
        "property p { across age under d privileged age >= 6 measure disparate_impact }"
    )
    helps = [finding.help for finding in fairdsl.lint(spec) if finding.code == "E0403"]
    assert helps == ["write one of `age < 5`, `age >= 5`, `age is missing`"]
