"""Rates of models that nobody bounds, over few people: everybody is decided."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper, save

import fairdsl
from fairdsl.verdict import Arithmetic, Judgement, Value

SPEC = """\
domain P {
  sex  : category { f, m }
  age  : integer 30 .. 60
  jobs : integer 0 .. 3
  debt : integer 0 .. 4
}
protected sex
model m : P -> { no, yes }
  from {source}
  yes when score > 0
  favourable yes
distribution people over P
  sex : table { f : 0.25, m : 0.75 }
  jobs : table { 0 : 0.1, 1 : 0.2, 2 : 0.3, 3 : 0.4 }
  age : uniform(30, 60)
  debt : uniform(0, 4)
property rates { across sex under people measure acceptance_rate, parity_gap }
property old { across sex under people among age >= 50 require parity_gap <= 40% }
"""
JOBS = (0.1, 0.2, 0.3, 0.4)


def saved(folder: Path) -> str:
    """Two sigmoids, whose scores only intervals enclose."""
    constants = {
        "w": np.array([[1.2, 0.0], [0.08, -0.05], [0.3, 0.0], [-0.2, 0.4]], dtype=np.float32),
        "b": np.array([-3.2, 0.3], dtype=np.float32),
        "v": np.array([[1.0], [0.5]], dtype=np.float32),
        "c": np.array([-0.8], dtype=np.float32),
    }
    nodes = [
        helper.make_node("Gemm", ["x", "w", "b"], ["z"]),
        helper.make_node("Sigmoid", ["z"], ["h"]),
        helper.make_node("Gemm", ["h", "v", "c"], ["y"]),
    ]
    graph = helper.make_graph(
        nodes,
        "curved",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [None, 4])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [None, 1])],
        [numpy_helper.from_array(values, name) for name, values in constants.items()],
    )
    path = folder / "m.onnx"
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return str(path)


@pytest.fixture
def path(tmp_path: Path) -> str:
    return saved(tmp_path)


@pytest.mark.parametrize("word", ["", "black_box "])
def test_everybody_is_decided(path: str, word: str, tmp_path: Path) -> None:
    spec = tmp_path / "spec.fair"
    spec.write_text(SPEC.replace("{source}", f'{word}"{path}"'), encoding="utf-8")
    report = fairdsl.check(spec, jobs=1)
    people = np.array(list(product(range(2), range(30, 61), range(4), range(5))), dtype=np.float32)
    (scores,) = onnxruntime.InferenceSession(path).run(None, {"x": people})
    mass = np.array(JOBS)[people[:, 2].astype(int)]

    def rate(sex: int, *, least: int = 30) -> float:
        among = (people[:, 0] == sex) & (people[:, 1] >= least)
        return float(mass[among & (scores[:, 0] > 0)].sum() / mass[among].sum())

    rates, old = report.properties
    found = rates.demands[1].verdict
    assert isinstance(found, Value)
    assert found.exact
    assert 0.0 < rate(0) < rate(1) < 1.0
    assert float(found.low) == pytest.approx(rate(1) - rate(0), abs=1e-6)
    assert [float(each.low) for each in found.rates] == pytest.approx([rate(0), rate(1)], abs=1e-6)
    gap = abs(rate(1, least=50) - rate(0, least=50))
    assert old.judgement is (Judgement.HOLDS if gap <= 0.4 else Judgement.VIOLATED)
    assert (found.evidence.basis.arithmetic is Arithmetic.ANSWERS) is bool(word)


def test_too_many_people_are_refused_with_their_number(path: str, tmp_path: Path) -> None:
    spec = tmp_path / "spec.fair"
    spec.write_text(
        SPEC.replace("{source}", f'"{path}"')
        .replace("0 .. 4\n}", "0 .. 500000\n}")
        .replace("uniform(0, 4)", "uniform(0, 500000)")
    )
    report = fairdsl.check(spec, jobs=1)
    demand = report.properties[0].demands[0]
    assert demand.judgement is Judgement.REFUSED
    said = " ".join((*demand.refusals[0].notes, *demand.refusals[0].details, demand.refusals[0].why or ""))
    assert "people to decide; the limit is 2^22" in said
