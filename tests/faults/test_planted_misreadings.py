"""Every way in which the importer is made to misread a file is refused when the file is opened, before any proof."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import helper

from fairdsl.diagnostics import DiagnosticError
from fairdsl.ir.domain import Attribute, Domain, Integer
from fairdsl.ir.expr import TRUE
from fairdsl.ir.model import Model
from fairdsl.models.load import load_model
from fairdsl.models.onnx_import import walk
from tests.faults.planted import PLANTED, Planted, constant
from tests.models.model_files import declaration, network, saved


def people() -> Domain:
    kind = Integer(low=-10, high=10)
    return Domain(name="Applicant", attributes=tuple(Attribute(name=f"x{i}", type=kind) for i in range(3)), where=TRUE)


def opened(case: Planted, folder: Path) -> Model:
    width = len((case.people or people()).attributes)
    file = network(case.nodes, case.constants, inputs={"x": ["N", width]}, outputs=case.outputs, opset=case.opset)
    for entry in file.opset_import:
        entry.version = 3 if entry.domain == "ai.onnx.ml" and "TreeEnsemble" not in case.operator[1] else entry.version
    path = saved(file, folder)
    return load_model(declaration(path, case.decision, outcomes=case.outcomes), case.people or people())


@pytest.fixture(autouse=True)
def _nothing_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def plant(case: Planted, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the importer misread the operator."""
    table = walk.SEVERAL if case.operator in walk.SEVERAL else walk.HANDLERS
    handler = table[case.operator]
    monkeypatch.setitem(table, case.operator, lambda call: case.wrong(handler, call))  # type: ignore[arg-type]


@pytest.mark.parametrize("name", PLANTED)
def test_a_misreading_is_refused_before_any_proof(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    case = PLANTED[name]
    reading = opened(case, tmp_path).reading
    assert reading is not None, "the file itself is right"
    assert reading.individuals >= 9
    plant(case, monkeypatch)
    with pytest.raises(DiagnosticError) as caught:
        opened(case, tmp_path)
    (finding,) = caught.value.diagnostics
    assert finding.code == "E0519"
    # Of a label that is given wrongly at a tie, the node that makes the output.
    assert any(f"({operator})" in finding.notes[-1] for operator in (case.operator[1], case.nodes[-1].op_type))


def test_there_are_enough_of_them() -> None:
    assert len({case.operator for case in PLANTED.values()}) >= 20


def _off(matrix: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The square matrix with one weight exchanged."""
    changed = matrix.copy()
    if len(matrix) == matrix.shape[1]:
        changed[500, 500] += 1
    return changed


@pytest.mark.slow
def test_a_wide_network_is_held_against_its_file_in_seconds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """More than a million weights: where a radius of 5e-324 stands for 0, products take a hundred times longer."""
    draw, width = np.random.default_rng(7), 1024
    shapes = {"A": (3, width), "a": (width,), "B": (width, width), "b": (width,), "C": (width, 1)}
    weights = {name: (draw.normal(size=shape) / shape[0] ** 0.5).astype(np.float32) for name, shape in shapes.items()}
    nodes = [
        helper.make_node("Gemm", ["x", "A", "a"], ["p"]),
        helper.make_node("Relu", ["p"], ["q"]),
        helper.make_node("Gemm", ["q", "B", "b"], ["r"]),
        helper.make_node("Relu", ["r"], ["s"]),
        helper.make_node("MatMul", ["s", "C"], ["y"]),
    ]
    path = saved(network(nodes, weights, inputs={"x": ["N", 3]}, outputs=["y"]), tmp_path)
    start = time.process_time()
    reading = load_model(declaration(path), people()).reading
    assert reading is not None
    assert reading.bounded
    assert time.process_time() - start < 8
    handler = walk.HANDLERS["", "Gemm"]
    monkeypatch.setitem(walk.HANDLERS, ("", "Gemm"), lambda call: constant(1, _off)(handler, call))
    with pytest.raises(DiagnosticError) as caught:
        load_model(declaration(path), people())
    assert [finding.code for finding in caught.value.diagnostics] == ["E0519"]
