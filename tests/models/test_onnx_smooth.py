"""Networks with smooth relatives of the ReLU, as operators and written out: read exactly, run alike, enclosed."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fairdsl
from fairdsl.diagnostics import DiagnosticError
from fairdsl.ir.model import Curve
from fairdsl.models.load import load_model
from fairdsl.models.onnx_import import import_onnx
from fairdsl.models.schedule import lay_out
from fairdsl.verdict import Shares
from tests.models.model_files import SPAN, declaration, domain, naive, network, node, saved
from tests.models.test_onnx_operators import run

PEOPLE = domain("age", "income", "sex")


def one(number: float) -> np.ndarray[Any, Any]:
    return np.float32([number])


HALF, UNIT = {"half": one(0.5)}, {"one": one(1)}
#: What makes r of z, with its constants, and the curves that come of it.
CASES: dict[str, tuple[list[Any], dict[str, Any], set[Curve]]] = {
    "softplus": ([node("Softplus", ["z"], ["r"])], {}, {Curve.SOFTPLUS}),
    "elu": ([node("Elu", ["z"], ["r"])], {}, {Curve.ELU}),
    "elu_below": ([node("Elu", ["z"], ["r"], alpha=0.3)], {}, {Curve.ELU, Curve.LEAKY}),
    "elu_above": ([node("Elu", ["z"], ["r"], alpha=2.5)], {}, {Curve.ELU, Curve.LEAKY}),
    "selu": ([node("Selu", ["z"], ["r"])], {}, {Curve.ELU, Curve.LEAKY}),
    "selu_of_its_own": ([node("Selu", ["z"], ["r"], alpha=1.25, gamma=0.5)], {}, {Curve.ELU, Curve.LEAKY}),
    "celu": ([node("Celu", ["z"], ["r"], alpha=0.3)], {}, {Curve.ELU}),
    "erf": ([node("Erf", ["z"], ["r"])], {}, {Curve.ERF}),
    "gelu": ([node("Gelu", ["z"], ["r"])], {}, {Curve.GELU}),
    "gelu_by_tanh": ([node("Gelu", ["z"], ["r"], approximate="tanh")], {}, {Curve.GELU_TANH}),
    "swish": ([node("Swish", ["z"], ["r"], alpha=1.75)], {}, {Curve.SILU}),
    "hard_swish": ([node("HardSwish", ["z"], ["r"])], {}, {Curve.HARD_SWISH}),
    "silu_written_out": ([node("Sigmoid", ["z"], ["s"]), node("Mul", ["z", "s"], ["r"])], {}, {Curve.SILU}),
    "silu_the_other_way": ([node("Sigmoid", ["z"], ["s"]), node("Mul", ["s", "z"], ["r"])], {}, {Curve.SILU}),
    "swish_written_out": (
        [node("Mul", ["z", "c"], ["k"]), node("Sigmoid", ["k"], ["s"]), node("Mul", ["z", "s"], ["r"])],
        {"c": np.float32([1.75, -0.5, 3, 1])},
        {Curve.SILU},
    ),
    "gelu_written_out": (
        [
            node("Div", ["z", "root"], ["t"]),
            node("Erf", ["t"], ["e"]),
            node("Add", ["e", "one"], ["g"]),
            node("Mul", ["z", "g"], ["m"]),
            node("Mul", ["m", "half"], ["r"]),
        ],
        {"root": one(2**0.5), **UNIT, **HALF},
        {Curve.GELU},
    ),
    "gelu_halved_before": (
        [
            node("Mul", ["z", "half"], ["h"]),
            node("Mul", ["z", "root"], ["t"]),
            node("Erf", ["t"], ["e"]),
            node("Add", ["one", "e"], ["g"]),
            node("Mul", ["h", "g"], ["r"]),
        ],
        {"root": one(0.5**0.5), **UNIT, **HALF},
        {Curve.GELU},
    ),
    "gate_of_tanh": (
        [node("Tanh", ["z"], ["t"]), node("Sub", ["t", "half"], ["g"]), node("Mul", ["g", "z"], ["r"])],
        HALF,
        {Curve.SILU, Curve.LEAKY},  # the number itself rides along
    ),
}


def file_of(nodes: list[Any], constants: dict[str, Any], folder: Path) -> str:
    first, last = node("Gemm", ["x", "w", "b"], ["z"], transB=1), node("Gemm", ["r", "v", "a"], ["y"])
    draw, shapes = np.random.default_rng(0), {"w": (4, 3), "b": (4,), "v": (4, 1), "a": (1,)}
    weights = {name: np.round(draw.standard_normal(shape), 2).astype(np.float32) for name, shape in shapes.items()}
    held = weights | constants
    return saved(network([first, *nodes, last], held, opset=24), folder)


@pytest.mark.parametrize("name", CASES)
def test_readings_agree_with_onnxruntime(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    nodes, constants, curves = CASES[name]
    path = file_of(nodes, constants, tmp_path)
    graph = import_onnx(path)
    layers = lay_out(graph.basis.blocks, graph.outputs[0].scores)
    assert {*layers[0].curves} == curves
    assert not layers[-1].curves
    assert bool(graph.rounded) == (name in ("gelu", "gelu_by_tanh"))
    rows = np.random.default_rng(2).integers(-8, 9, (8, 3)).astype(np.float32) / 4
    exact = np.array([[float(v) for v in naive(layers, [Fraction(float(x)) for x in row])] for row in rows])
    assert exact == pytest.approx(run(path, rows), rel=1e-5, abs=1e-5)
    reading = load_model(declaration(path), PEOPLE).reading
    assert reading is not None
    assert (reading.individuals, reading.bounded) == (2048, True)


@pytest.mark.parametrize(
    ("nodes", "reason"),
    [
        # Gates of other numbers, and of a number that is shifted, are no SiLU.
        ([node("Sigmoid", ["z"], ["s"]), node("Mul", ["x4", "s"], ["r"])], "both depend on the individual"),
        ([node("Relu", ["z"], ["q"]), node("Sigmoid", ["z"], ["s"]), node("Mul", ["q", "s"], ["r"])], "both depend"),
        (
            [node("Add", ["z", "c"], ["q"]), node("Sigmoid", ["q"], ["s"]), node("Mul", ["z", "s"], ["r"])],
            "both depend",
        ),
        (
            [
                node("Sigmoid", ["z"], ["s"]),
                node("Gather", ["s", "turned"], ["t"], axis=1),
                node("Mul", ["z", "t"], ["r"]),
            ],
            "both depend",
        ),
        ([node("Celu", ["z"], ["r"], alpha=-1.0)], "`alpha` is not above 0"),
        ([node("LayerNormalization", ["z", "c"], ["r"])], "operator `LayerNormalization`"),
    ],
)
def test_what_is_no_gate_is_refused(nodes: list[Any], reason: str, tmp_path: Path) -> None:
    constants = {"c": np.float32([0.5, 0.25, 1, 2]), "turned": np.array([1, 0, 3, 2], dtype=np.int64)}
    held = [node("Concat", ["x", "x"], ["xx"], axis=1), node("Slice", ["xx", "from", "to", "axes"], ["x4"])]
    numbers = {name: np.array([value], dtype=np.int64) for name, value in (("from", 0), ("to", 4), ("axes", 1))}
    with pytest.raises(DiagnosticError) as caught:
        import_onnx(file_of([*held, *nodes], {**constants, **numbers}, tmp_path), span=SPAN)
    assert reason in str(caught.value)


SPEC = """
domain Person {
  sex : category { female, male }
  age : integer 18 .. 60
  income : integer 0 .. 40
}
protected sex
model approve : Person -> { reject, grant }
  from "model.onnx"
  reads (age - 18) / 20, income / 10, sex
  grant when score > 0
property same {
  compare a, b : Person
  differ in sex
  require same decision
  measure fair_share
}
"""


@pytest.mark.parametrize("name", ["softplus", "elu_above", "gelu_written_out", "silu_written_out", "hard_swish"])
def test_shares_are_those_of_everybody(name: str, tmp_path: Path) -> None:
    """The refinement, which encloses units between lines, against all 3,526 people one by one."""
    nodes, constants, _ = CASES[name]
    path = file_of(nodes, constants, tmp_path)
    found = []
    for backend in ("enumerate", "intervals"):
        report = fairdsl.check(SPEC, models={"approve": path}, backend=backend, timeout=60)
        shares = report.properties[0].demands[1].verdict
        assert isinstance(shares, Shares)
        found.append((shares.certified, shares.falsified, shares.undecided))
    assert found[0] == found[1]
    assert found[0][2] == 0 < found[0][1]
