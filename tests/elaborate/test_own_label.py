"""A model that was trained with its label among its inputs."""

from __future__ import annotations

from pathlib import Path

import pytest

import fairdsl
from tests.models.model_files import network, node, saved

SPEC = """\
domain P { age : integer 18 .. 90 }
protected age
label repaid : boolean
model m : P -> { a, b }
  from "m.onnx"
  b when score > 0
  favourable b
distribution people over P, repaid
  empirical from "t.csv"
property p { across age  under people  measure parity_gap }
"""


@pytest.mark.parametrize(("wanted", "own"), [("repaid", True), ("wage", False)])
def test_it_is_said(wanted: str, own: bool, tmp_path: Path) -> None:
    inputs = {"age": ["N", 1], wanted: ["N", 1]}
    saved(network([node("Add", ["age", wanted], ["y"])], inputs=inputs), tmp_path, "m.onnx")
    (tmp_path / "s.fair").write_text(SPEC, encoding="utf-8")
    (tmp_path / "t.csv").write_text("age,repaid\n20,0\n30,1\n", encoding="utf-8")
    with pytest.raises(fairdsl.SpecError, match="E0509") as problem:
        fairdsl.check(tmp_path / "s.fair")
    assert ("it reads its own label `repaid`" in str(problem.value)) is own
