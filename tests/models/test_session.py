"""Files that nobody has read run in a process that can be killed, and answer as they do in this one."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from fairdsl.clock import Deadline, until
from fairdsl.models.running.session import session_beside, session_here


def looped(path: Path, rounds: int) -> str:
    """A file that adds its input so often, in a loop."""
    body = helper.make_graph(
        [
            helper.make_node("Identity", ["going"], ["goes"]),
            helper.make_node("Add", ["sum", "x"], ["next"]),
        ],
        "body",
        [
            helper.make_tensor_value_info("round", TensorProto.INT64, []),
            helper.make_tensor_value_info("going", TensorProto.BOOL, []),
            helper.make_tensor_value_info("sum", TensorProto.FLOAT, None),
        ],
        [
            helper.make_tensor_value_info("goes", TensorProto.BOOL, []),
            helper.make_tensor_value_info("next", TensorProto.FLOAT, None),
        ],
    )
    graph = helper.make_graph(
        [helper.make_node("Loop", ["rounds", "", "x"], ["y"], body=body)],
        "looped",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 1])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", 1])],
        [helper.make_tensor("rounds", TensorProto.INT64, [], [rounds])],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path.read_bytes()


def test_both_answer_alike(tmp_path: Path) -> None:
    model = looped(tmp_path / "few.onnx", 6)
    here, beside = session_here(model, 1), session_beside(model, 1)
    fed = {"x": np.array([[1.0], [0.1]], dtype=np.float32)}
    assert here.run(["y"], fed)[0].tolist() == beside.run(["y"], fed)[0].tolist() == [[7.0], pytest.approx([0.7])]
    for one, other in ((here.get_inputs(), beside.get_inputs()), (here.get_outputs(), beside.get_outputs())):
        assert [(i.name, i.type, list(i.shape)) for i in one] == [(i.name, i.type, list(i.shape)) for i in other]


def test_one_that_never_ends_is_killed_and_the_others_go_on(tmp_path: Path) -> None:
    few = session_beside(looped(tmp_path / "few.onnx", 6), 1)
    endless = session_beside(looped(tmp_path / "endless.onnx", 10**12), 1)
    fed = {"x": np.ones((1, 1), dtype=np.float32)}
    began = time.monotonic()
    with until(Deadline(began + 0.1)) as scope:
        endless.run(["y"], fed)
    assert scope.passed
    assert time.monotonic() - began < 10
    assert few.run(["y"], fed)[0].tolist() == [[7.0]]


def test_what_onnxruntime_says_is_passed_on(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="protobuf"):
        session_beside(b"nothing", 1)
    few = session_beside(looped(tmp_path / "few.onnx", 6), 1)
    with pytest.raises(RuntimeError, match="rank"):
        few.run(["y"], {"x": np.ones(3, dtype=np.float32)})
