"""Right readings are confirmed: every operator's own case, and random networks of many layers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from model_files import SPAN, declaration, domain, network, node, saved
from test_onnx_operators import CASES

from fairdsl.ir.declaration import Highest
from fairdsl.models import load_model
from fairdsl.models.onnx_import import import_onnx

PEOPLE = domain("age", "income", "sex")


def confirmed(path: str) -> tuple[int, bool]:
    width = import_onnx(path).outputs[0].width
    rule = Highest(span=SPAN) if width > 1 else None
    outcomes = tuple(f"class_{i}" for i in range(max(width, 2)))
    reading = load_model(declaration(path, rule, outcomes=outcomes), PEOPLE).reading
    assert reading is not None
    return reading.individuals, reading.bounded


@pytest.mark.parametrize("name", CASES)
def test_right_readings_are_confirmed(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    nodes, constants = CASES[name]
    assert confirmed(saved(network(nodes, constants), tmp_path)) == (2048, True)


@pytest.mark.parametrize("depth", [2, 6])
def test_deep_networks_are_confirmed(depth: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    random, nodes, constants, last, width = np.random.default_rng(depth), [], {}, "x", 3
    for layer in range(depth):
        constants[f"w{layer}"] = random.normal(size=(width, 24)) / np.sqrt(width)
        constants[f"b{layer}"] = random.normal(size=24)
        nodes += [
            node("Gemm", [last, f"w{layer}", f"b{layer}"], [f"z{layer}"]),
            node("Relu", [f"z{layer}"], [f"h{layer}"]),
        ]
        last, width = f"h{layer}", 24
    constants["v"] = random.normal(size=(24, 1))
    assert confirmed(saved(network([*nodes, node("Gemm", [last, "v"], ["y"])], constants), tmp_path)) == (2048, True)


def test_a_small_misreading_of_a_deep_network_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One part in a thousand, far inside of what a proved bound over many layers leaves possible."""
    from fairdsl.models.onnx_import import walk

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    random, nodes, last, width = np.random.default_rng(7), [], "x", 3
    constants: dict[str, Any] = {}
    for layer in range(24):
        constants[f"w{layer}"] = random.normal(size=(width, 16)) * np.sqrt(2 / width)
        nodes += [
            node("Gemm", [last, f"w{layer}"], [f"z{layer}"]),
            node("LeakyRelu", [f"z{layer}"], [f"h{layer}"], alpha=0.3),
        ]
        last, width = f"h{layer}", 16
    constants["v"] = random.normal(size=(16, 1))
    path = saved(network([*nodes, node("Gemm", [last, "v"], ["y"])], constants), tmp_path)
    assert confirmed(path)[0] == 2048
    right = walk.HANDLERS["", "LeakyRelu"]

    def wrong(call: Any) -> Any:
        from dataclasses import replace

        return right(replace(call, node=replace(call.node, attributes={"alpha": 0.3003})))

    monkeypatch.setitem(walk.HANDLERS, ("", "LeakyRelu"), wrong)
    with pytest.raises(Exception, match="E0519"):
        confirmed(path)
