"""The committed example models are what their pages say (semantics.md, reference values)."""

from __future__ import annotations

import importlib.util
from fractions import Fraction
from itertools import product
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from model_files import declaration, domain

from fairdsl.ir.model import Model
from fairdsl.models import load_model
from fairdsl.models.running.runtime import Runtime
from fairdsl.numerics.exact import decision, exact_scores

EXAMPLES = Path(__file__).parents[2] / "examples"
CANDIDATE = domain("test_score", "gender", "experience")


def script(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def hiring(name: str) -> Model:
    return load_model(declaration(str(EXAMPLES / "hiring" / name)), CANDIDATE)


def unfair(decide: dict[tuple[int, int, int], int | None]) -> list[tuple[int, int]]:
    pairs = product(range(1, 6), range(6))
    return [(x1, x3) for x1, x3 in pairs if decide[x1, 0, x3] != decide[x1, 1, x3]]


def everybody() -> list[tuple[int, int, int]]:
    return list(product(range(1, 6), (0, 1), range(6)))


def test_hiring_is_fair_in_24_of_30() -> None:
    model = hiring("hiring.onnx")
    decisions = {p: decision(model, tuple(map(Fraction, p))) for p in everybody()}
    assert unfair(decisions) == [(1, 0), (1, 1), (1, 2), (1, 3), (2, 4), (2, 5)]
    assert exact_scores(model, (Fraction(1), Fraction(1), Fraction(0))) == (0,)
    assert model.deployed is not None
    floats = Runtime(model.deployed).decide_array(np.array(everybody(), dtype=np.float64))
    assert dict(zip(everybody(), floats.tolist(), strict=True)) == decisions


def test_hiring_in_decimals_has_a_numeric_gap() -> None:
    model = hiring("hiring_decimal.onnx")
    tie = (Fraction(1), Fraction(1), Fraction(0))
    assert float(exact_scores(model, tie)[0]) == pytest.approx(2.235e-8, rel=1e-3)
    decisions = {p: decision(model, tuple(map(Fraction, p))) for p in everybody()}
    assert unfair(decisions) == [(1, 1), (1, 2), (1, 3), (2, 4), (2, 5)]
    assert model.deployed is not None
    assert Runtime(model.deployed).decide([tie]) == [0]


def test_hiring_models_are_reproducible(tmp_path: Path) -> None:
    module = script(EXAMPLES / "hiring" / "make_models.py")
    for name, weights in (("hiring", module.WHOLE), ("hiring_decimal", module.DECIMAL)):
        content = module.network(*weights).SerializeToString(deterministic=True)
        assert content == (EXAMPLES / "hiring" / f"{name}.onnx").read_bytes()


def test_credit_model_reads_its_table() -> None:
    folder = EXAMPLES / "credit"
    rows = np.loadtxt(folder / "credit.csv", delimiter=",", skiprows=1)
    columns = (folder / "credit.csv").read_text(encoding="utf-8").splitlines()[0].split(",")
    model = load_model(declaration(str(folder / "credit.onnx")), domain(*columns[:-1]))
    assert model.deployed is not None
    decisions = Runtime(model.deployed).decide_array(rows[:, :-1])
    assert np.mean(decisions == rows[:, -1]) > 0.8
    for row in rows[:40]:
        assert (
            decision(model, tuple(Fraction(v) for v in row[:-1]))
            == Runtime(model.deployed).decide([tuple(Fraction(v) for v in row[:-1])])[0]
        )


def test_sex_decides_for_some_applicants_and_not_for_the_safe() -> None:
    folder = EXAMPLES / "credit"
    rows = np.loadtxt(folder / "credit.csv", delimiter=",", skiprows=1)[:, :-1]
    columns = [f"c{i}" for i in range(8)]
    model = load_model(declaration(str(folder / "credit.onnx")), domain(*columns))
    assert model.deployed is not None
    women, men = rows.copy(), rows.copy()
    women[:, 7], men[:, 7] = 0, 1
    runtime = Runtime(model.deployed)
    differs = runtime.decide_array(women) != runtime.decide_array(men)
    assert 0.01 < np.mean(differs) < 0.2
    safe = (rows[:, 0] == 4) & (rows[:, 3] == 5) & (rows[:, 1] <= 24) & (rows[:, 2] <= 2000)
    assert safe.any()
    assert not differs[safe].any()


def test_credit_table_is_reproducible() -> None:
    module = script(EXAMPLES / "credit" / "make_data.py")
    random = np.random.default_rng(module.SEED)
    rows = module.applicants(random)
    labels = module.repayment(rows, random)
    stored = np.loadtxt(EXAMPLES / "credit" / "credit.csv", delimiter=",", skiprows=1).astype(np.int64)
    assert np.array_equal(stored, np.column_stack([rows, labels]))


def test_lending_model_is_reproducible_and_its_rounding_bounded() -> None:
    folder = EXAMPLES / "lending"
    module = script(folder / "make_model.py")
    made, accuracy = module.network()
    assert made.SerializeToString(deterministic=True) == (folder / "lending.onnx").read_bytes()
    assert accuracy > 0.75
    model = load_model(declaration(str(folder / "lending.onnx")), domain(*module.COLUMNS))
    assert model.reading is not None
    assert model.reading.bounded


def test_sex_and_age_decide_about_some_loans() -> None:
    module = script(EXAMPLES / "lending" / "make_model.py")
    model = load_model(declaration(str(EXAMPLES / "lending" / "lending.onnx")), domain(*module.COLUMNS))
    assert model.deployed is not None
    runtime, people = Runtime(model.deployed), module.applicants(np.random.default_rng(1))
    granted = runtime.decide_array(people)
    assert 0.2 < np.mean(granted) < 0.8
    for column in (module.COLUMNS.index("sex"), module.COLUMNS.index("age_group")):
        others = people.copy()
        others[:, column] = 1 - others[:, column] % 2
        assert 0.005 < np.mean(runtime.decide_array(others) != granted) < 0.3
