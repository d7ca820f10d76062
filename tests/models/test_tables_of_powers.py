"""Powers and logarithms of whole numbers, read as tables: what scikit-learn predicted, and what is refused."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fairdsl.diagnostics import DiagnosticError, Reporter
from fairdsl.ir.declaration import WhenClass
from fairdsl.ir.domain import Attribute, Domain, Integer, Real
from fairdsl.ir.expr import TRUE
from fairdsl.ir.model import Model
from fairdsl.models.load import load_model
from fairdsl.models.running.runtime import Runtime
from fairdsl.numerics.evaluate import BatchEvaluator
from tests.models.model_files import SPAN, declaration, network, node, saved

FILES = Path(__file__).parent / "sklearn_files"
SEX, AGE, DEBT = (
    Attribute(name=name, type=Integer(low=low, high=high))
    for name, low, high in (("sex", 0, 1), ("age", 18, 60), ("debt", -9, 90))
)
PEOPLE = Domain(name="People", attributes=(SEX, AGE, DEBT), where=TRUE)


def people(count: int, seed: int) -> np.ndarray[Any, Any]:
    random = np.random.default_rng(seed)
    debt = (random.gamma(3, 12, count) - 9).clip(-9, 90).round()
    return np.stack([random.integers(0, 2, count), random.integers(18, 61, count), debt], axis=1)


def opened(path: Path, domain: Domain = PEOPLE, reporter: Reporter | None = None) -> Model:
    return load_model(declaration(str(path), WhenClass.of(1, 1, SPAN), format="onnx"), domain, reporter=reporter)


@pytest.mark.parametrize("name", sorted(path.stem for path in FILES.glob("*.onnx")))
def test_every_file_decides_as_the_framework_does(name: str) -> None:
    model = opened(FILES / f"{name}.onnx", reporter=Reporter())
    assert model.opaque is None
    decided = BatchEvaluator(model).settled(people(1000, 3)).decisions
    theirs = [int(label) for label in json.loads((FILES / "answers.json").read_text())[name]]
    assert decided.tolist() == theirs
    assert 0.1 < np.mean(theirs) < 0.9
    assert model.deployed is not None
    everybody = np.array(list(product(range(2), range(18, 61), range(-9, 91))), dtype=np.float64)
    mine = BatchEvaluator(model).settled(everybody).decisions
    assert np.array_equal(mine, Runtime(model.deployed).decide_array(everybody))


def test_numbers_with_a_fraction_have_no_table() -> None:
    debts = Attribute(name="debt", type=Real(low=Fraction(-9), high=Fraction(90)))
    people_with_fractions = Domain(name="People", attributes=(SEX, AGE, debts), where=TRUE)
    with pytest.raises(DiagnosticError) as refused:
        opened(FILES / "gaussian.onnx", people_with_fractions)
    (finding,) = refused.value.diagnostics
    assert finding.code == "E0504"
    assert "of one that has many values" in str(finding)
    plain = declaration(str(FILES / "gaussian.onnx"), WhenClass.of(1, 1, SPAN))
    asked = load_model(plain, people_with_fractions, reporter=Reporter())
    assert asked.opaque is not None, "it is queried as a black box then"


@pytest.mark.parametrize(
    ("nodes", "reason"),
    [
        ([node("ReduceSum", ["x"], ["s"]), node("Pow", ["s", "two"], ["y"])], "a power of several numbers"),
        ([node("Log", ["x"], ["l"]), node("ReduceSum", ["l"], ["y"])], "some people have none of"),
    ],
    ids=["of a sum", "of what is below 0"],
)
def test_what_is_no_table_of_numbers_is_refused(nodes: list[Any], reason: str, tmp_path: Path) -> None:
    path = saved(network(nodes, {"two": np.array([2.0], dtype=np.float32)}), tmp_path)
    with pytest.raises(DiagnosticError) as refused:
        load_model(declaration(path, format="onnx"), PEOPLE)
    assert reason in str(refused.value.diagnostics[0])


@pytest.mark.parametrize(
    "nodes",
    [
        [node("Mul", ["x", "x"], ["q"]), node("ReduceSum", ["q"], ["y"])],
        [node("Abs", ["x"], ["a"]), node("Pow", ["a", "third"], ["p"]), node("ReduceSum", ["p"], ["y"])],
        [
            node("Less", ["x", "third"], ["l"]), node("Cast", ["l"], ["c"], to=1), node("Pow", ["x", "two"], ["p"]),
            node("Mul", ["c", "p"], ["m"]), node("Sub", ["m", "x"], ["d"]), node("ReduceSum", ["d"], ["y"]),
        ],
    ],
    ids=["squares", "roots of sizes", "squares of those below"],
)  # fmt: skip
def test_scores_are_those_of_the_file(nodes: list[Any], tmp_path: Path) -> None:
    constants = {"two": np.array([2.0], dtype=np.float32), "third": np.array([0.3], dtype=np.float32)}
    model = load_model(declaration(saved(network(nodes, constants), tmp_path), format="onnx"), PEOPLE)
    rows = people(50, 7)
    third = float(np.float32(0.3))
    wanted = {2: rows**2, 3: np.abs(rows) ** third}.get(len(nodes), (rows < third) * rows**2 - rows).sum(axis=1)
    assert BatchEvaluator(model).settled(rows).scores[:, 0] == pytest.approx(wanted)
