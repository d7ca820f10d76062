"""Numbers that depend on a class that was chosen, and functions that files write out by exp: against onnxruntime."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto

from fairdsl.diagnostics import DiagnosticError
from fairdsl.ir.declaration import WhenProbability, WhenScore
from fairdsl.ir.expr import Relation
from fairdsl.ir.model import Model
from fairdsl.models.load import load_model
from fairdsl.models.running.runtime import Runtime
from fairdsl.numerics.evaluate import BatchEvaluator
from tests.models.model_files import SPAN, declaration, domain, network, node, saved

PEOPLE = domain("a", "b", "c")
EVERYBODY = np.array([[a, b, c] for a in range(-10, 11) for b in range(-3, 4) for c in (-2, 0, 5)], dtype=np.float64)
SCORE = WhenScore(outcome=1, relation=Relation.GT, threshold=Fraction(1, 2), span=SPAN)


def load(nodes: list[Any], constants: dict[str, Any], folder: Path, clause: Any = SCORE) -> Model:
    return load_model(declaration(saved(network(nodes, constants), folder), clause, format="onnx"), PEOPLE)


def same(model: Model) -> None:
    """It is read, and decides as the file about everybody; ties included where nothing is rounded."""
    assert model.opaque is None
    assert model.deployed is not None
    decided = BatchEvaluator(model).settled(EVERYBODY).decisions
    assert decided.tolist() == Runtime(model.deployed).decide_array(EVERYBODY).tolist()
    assert 0 < decided.sum() < len(decided)


FIRST = node("Slice", ["x", "zero", "one", "one"], ["first"])
COUNTS = {"zero": np.int64([0]), "one": np.int64([1])}


@pytest.mark.parametrize("clipped", [False, True])
def test_the_nearest_mark(clipped: bool, tmp_path: Path) -> None:
    """Ties between marks go to the first of them in the file, wherever it lies."""
    marks = np.float32([[3, -4, -1, 8, 4]])
    nodes = [
        FIRST,
        node("Clip", ["first", "low", "high"], ["cut"]) if clipped else node("Identity", ["first"], ["cut"]),
        node("Sub", ["cut", "marks"], ["apart"]),
        node("Abs", ["apart"], ["distance"]),
        node("ArgMin", ["distance"], ["place"], axis=1, keepdims=0),
        node("Gather", ["table", "place"], ["y"]),
    ]
    constants = {"marks": marks, "table": np.float32([0.25, 0.75, -1.5, 2, 0.5])} | COUNTS
    model = load(nodes, constants | {"low": np.float32(-4), "high": np.float32(8)}, tmp_path)
    same(model)
    assert len(model.layers) == 1, "what lies between the ends of all marks is not cut"


def test_votes_of_comparisons_pick_stored_numbers(tmp_path: Path) -> None:
    nodes = [
        node("MatMul", ["x", "w"], ["scores"]),
        node("ArgMax", ["scores"], ["mine"], axis=1, keepdims=1),
        node("Equal", ["mine", "classes"], ["is"]),
        node("Where", ["is", "good", "bad"], ["voted"]),
        node("Greater", ["x", "limits"], ["high"]),
        node("Not", ["high"], ["low"]),
        node("Cast", ["low"], ["lows"], to=TensorProto.FLOAT),
        node("MatMul", ["lows", "v"], ["other"]),
        node("Add", ["voted", "other"], ["sum"]),
        node("MatMul", ["sum", "u"], ["y"]),
    ]
    constants = {
        "w": np.float32([[1, -1], [2, 0.5], [0, 1]]),
        "classes": np.int64([[0, 1]]),
        "good": np.float32([[1, 2]]),
        "bad": np.float32([[-0.5, 0.25]]),
        "limits": np.float32([[2, 0, -1]]),
        "v": np.float32([[0.5, 0], [0.25, 1], [0, -1]]),
        "u": np.float32([[1], [-0.5]]),
    }
    same(load(nodes, constants, tmp_path))


def test_bins_of_a_number(tmp_path: Path) -> None:
    """The first border that the number lies below; the last bin has none."""
    nodes = [
        FIRST,
        node("Less", ["first", "borders"], ["below"]),
        node("Cast", ["below"], ["ones"], to=TensorProto.FLOAT),
        node("Concat", ["ones", "always"], ["row"], axis=1),
        node("ArgMax", ["row"], ["bin"], axis=1, keepdims=1),
        node("Cast", ["bin"], ["number"], to=TensorProto.FLOAT),
        node("Mul", ["number", "half"], ["y"]),
    ]
    constants = {"borders": np.float32([[-3, 0, 7]]), "always": np.float32([[1]]), "half": np.float32([[0.3]])}
    same(load(nodes, constants | COUNTS, tmp_path))


def test_a_table_that_is_looked_up(tmp_path: Path) -> None:
    """An embedding: the code has to be a place of the table, or the file fails."""
    table = np.float32([[i % 5 - 1.75, 0.5 * i - 5] for i in range(21)])
    nodes = [
        FIRST,
        node("Add", ["first", "ten"], ["code"]),
        node("Cast", ["code"], ["place"], to=TensorProto.INT64),
        node("Gather", ["table", "place"], ["found"]),
        node("Flatten", ["found"], ["row"]),
        node("MatMul", ["row", "w"], ["y"]),
    ]
    constants = {"ten": np.float32([[10]]), "w": np.float32([[1], [0.125]])} | COUNTS
    same(load(nodes, constants | {"table": table}, tmp_path))
    with pytest.raises(DiagnosticError) as caught:
        load(nodes, constants | {"table": table[:20]}, tmp_path)
    (finding,) = caught.value.diagnostics
    assert (finding.code, "20 may be filled in" in str(finding.primary)) == ("E0504", True)


WRITTEN: dict[str, tuple[list[Any], float]] = {
    "a logistic function": (
        [
            node("Exp", ["h"], ["e"]),
            node("Add", ["unit", "e"], ["more"]),
            node("Div", ["unit", "more"], ["y"]),
        ],
        0.4,
    ),
    "the shares of exponentials": (
        [
            node("Concat", ["zeros", "h"], ["both"], axis=1),
            node("Exp", ["both"], ["e"]),
            node("ReduceSum", ["e", "axes"], ["sum"], keepdims=1),
            node("Div", ["e", "sum"], ["shares"]),
            node("Slice", ["shares", "one", "two", "one"], ["y"]),
        ],
        0.6,
    ),
    "scores less the logarithm of their sum": (
        [
            node("Concat", ["zeros", "h"], ["both"], axis=1),
            node("ReduceLogSumExp", ["both"], ["log"], axes=[1], keepdims=1),
            node("Sub", ["both", "log"], ["less"]),
            node("Exp", ["less"], ["shares"]),
            node("Slice", ["shares", "one", "two", "one"], ["y"]),
        ],
        0.6,
    ),
}


@pytest.mark.parametrize("name", WRITTEN)
def test_functions_that_are_written_out(name: str, tmp_path: Path) -> None:
    nodes, threshold = WRITTEN[name]
    nodes = [
        node("Log", ["big"], ["log_of_big"]),
        node("MatMul", ["x", "w"], ["s"]),
        node("Sub", ["s", "log_of_big"], ["h"]),
        node("IsNaN", ["s"], ["missing"]),
        node("Cast", ["missing"], ["none"], to=TensorProto.FLOAT),
        node("MatMul", ["none", "w1"], ["zeros"]),
        *nodes,
    ]
    constants = {"w": np.float32([[0.5], [-1], [0.25]]), "w1": np.float32([[3]]), "big": np.float32([[1.7]])}
    constants |= {"unit": np.float32([[1]]), "two": np.int64([2]), "axes": np.int64([1])} | COUNTS
    clause = WhenProbability(outcome=1, relation=Relation.GT, threshold=Fraction(str(threshold)), span=SPAN)
    same(load(nodes, constants, tmp_path, clause))
