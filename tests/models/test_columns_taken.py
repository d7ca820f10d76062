"""Which columns of a file's inputs lead anywhere: held against what onnxruntime computes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper

from fairdsl.models.onnx_import.taken import columns_taken
from tests.models.model_files import ml, network, node

RNG = np.random.default_rng(5)
INDEX = np.array([0, 2], dtype=np.int64)


def body() -> Any:
    """An ``If`` whose branches read x from outside."""
    out = [helper.make_tensor_value_info("z", TensorProto.FLOAT, None)]
    branch = helper.make_graph([helper.make_node("Identity", ["x"], ["z"])], "branch", [], out)
    return node("If", ["yes"], ["w"], then_branch=branch, else_branch=branch)


GATHERED = node("Gather", ["x", "index"], ["few"], axis=1)
SUMMED = node("ReduceSum", ["few"], ["y"], keepdims=1)
#: Nodes, and the columns of x that lead to y.
CASES = {
    "gathered": ([GATHERED, SUMMED], {0, 2}),
    "from the end": ([node("Gather", ["x", "index"], ["few"], axis=-1), SUMMED], {0, 2}),
    "extracted": ([ml("ArrayFeatureExtractor", ["x", "index"], ["few"]), SUMMED], {0, 2}),
    "how many there are": (
        [GATHERED, SUMMED, node("Shape", ["x"], ["s"]), node("Size", ["x"], ["n"])],
        {0, 2},
    ),
    "passed on": (
        [
            node("Identity", ["x"], ["same"]),
            node("Cast", ["same"], ["double"], to=TensorProto.DOUBLE),
            node("Gather", ["double", "index"], ["some"], axis=1),
            node("Cast", ["some"], ["few"], to=TensorProto.FLOAT),
            SUMMED,
        ],
        {0, 2},
    ),
    "twice": (
        [node("Gather", ["x", "index"], ["some"], axis=1), node("Gather", ["some", "last"], ["few"], axis=1), SUMMED],
        {2},
    ),
    "rows, not columns": ([node("Gather", ["x", "index"], ["few"], axis=0), SUMMED], {0, 1, 2}),
    "as an index of itself": (
        [
            node("Cast", ["x"], ["whole"], to=TensorProto.INT64),
            node("Gather", ["few", "whole"], ["y"], axis=1),
            GATHERED,
        ],
        {0, 1, 2},
    ),
    "computed positions": (
        [node("Add", ["index", "nought"], ["at"]), node("Gather", ["x", "at"], ["few"], axis=1), SUMMED],
        {0, 1, 2},
    ),
    "a table of positions": ([node("Gather", ["x", "square"], ["few"], axis=1), SUMMED], {0, 1, 2}),
    "inside of a branch": ([GATHERED, body(), node("Add", ["few", "w"], ["y"])], {0, 1, 2}),
    "an output itself": ([node("Identity", ["x"], ["y"])], {0, 1, 2}),
}
CONSTANTS = {
    "index": INDEX,
    "last": np.array([1], dtype=np.int64),
    "nought": np.array([0, 0], dtype=np.int64),
    "square": INDEX.reshape(1, 2),
    "yes": np.array(True),
}


@pytest.mark.parametrize("case", CASES)
def test_columns_that_lead_on(case: str) -> None:
    nodes, expected = CASES[case]
    model = network(nodes, CONSTANTS, inputs={"x": ["N", 3]})
    assert columns_taken(model.graph, {"x": 3})["x"] == expected


@pytest.mark.parametrize("case", ["gathered", "from the end", "extracted", "how many there are", "passed on", "twice"])
def test_the_runtime_does_not_see_the_others(case: str) -> None:
    nodes, expected = CASES[case]
    session = onnxruntime.InferenceSession(network(nodes, CONSTANTS).SerializeToString())
    rows = RNG.normal(size=(40, 3)).astype(np.float32)
    moved = rows.copy()
    dropped = sorted({0, 1, 2} - expected)
    moved[:, dropped] = RNG.normal(size=(40, len(dropped)))
    first, second = (session.run(["y"], {"x": each})[0] for each in (rows, moved))
    assert np.array_equal(first, second)


@pytest.mark.parametrize("damage", ["no attribute", "no index", "no output", "another domain", "cut short"])
def test_damaged_nodes_take_everything(damage: str) -> None:
    model = network([GATHERED, SUMMED, node("Constant", [], ["c"], value_int=1)], CONSTANTS)
    gather, constant = model.graph.node[0], model.graph.node[2]
    match damage:
        case "no attribute":
            del constant.attribute[:]
            del gather.attribute[:]
        case "no index":
            del gather.input[1]
        case "no output":
            del gather.output[:]
        case "another domain":
            gather.domain = "somebody.else"
        case _:
            model.graph.initializer[0].raw_data = b"1"
    assert columns_taken(model.graph, {"x": 3})["x"] == {0, 1, 2}


def test_long_chains_are_walked_once() -> None:
    chain = [node("Identity", [f"t{place}" if place else "x"], [f"t{place + 1}"]) for place in range(20_000)]
    last = node("Gather", ["t20000", "index"], ["y"], axis=1)
    assert columns_taken(network([*chain, last], CONSTANTS).graph, {"x": 3})["x"] == {0, 2}


def test_stored_beside_the_file_is_not_known(tmp_path: Path) -> None:
    model = network([GATHERED, SUMMED], CONSTANTS)
    onnx.save_model(model, tmp_path / "m.onnx", save_as_external_data=True, location="side", size_threshold=0)
    parsed = onnx.load(tmp_path / "m.onnx", load_external_data=False)
    assert columns_taken(parsed.graph, {"x": 3})["x"] == {0, 1, 2}
