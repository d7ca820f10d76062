"""One-hot codes inside of a network, and tables whose rows a category picks: read exactly, run alike."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fairdsl.diagnostics import DiagnosticError
from fairdsl.ir.domain import Attribute, Domain, Integer
from fairdsl.ir.expr import TRUE
from fairdsl.ir.model import Model
from fairdsl.models.load import load_model
from fairdsl.models.running.runtime import Runtime
from fairdsl.numerics.exact import decision
from tests.models.model_files import SPAN, declaration, network, node, saved


def ints(*values: int) -> np.ndarray[Any, Any]:
    return np.array(values, dtype=np.int64)


TABLE = np.float32([[1, 2, -1], [0.5, -3, 2], [4, 0, -0.25], [-2, 1, 1]])
COLUMN = (node("Gather", ["x", "which"], ["j"], axis=1), node("Cast", ["j"], ["k"], to=7))
CODED = (*COLUMN, node("OneHot", ["k", "depth", "values"], ["e"]), node("Flatten", ["e"], ["r"]))
HOT = {"which": ints(1), "depth": ints(4), "values": np.float32([0.25, 2]), "v": np.float32([[1], [-2], [0.5], [3]])}
LOOKED = {"which": ints(1), "table": TABLE, "v": np.float32([[1], [-2], [0.5]])}
#: What makes r, with its constants, and the least code of the attribute.
CASES: dict[str, tuple[tuple[Any, ...], dict[str, Any], int]] = {
    "one_hot": (CODED, HOT, 0),
    "one_hot_of_codes_from_the_end": (CODED, HOT, -4),
    "one_hot_of_codes_beyond": (CODED, HOT, -7),
    "one_hot_in_front": (
        (*COLUMN, node("OneHot", ["k", "depth", "values"], ["e"], axis=1), node("Reshape", ["e", "flat"], ["r"])),
        {**HOT, "flat": ints(1, -1)},
        0,
    ),
    "one_hot_of_two": (
        (
            *(node("Gather", ["x", "both"], ["j"], axis=1), node("Cast", ["j"], ["k"], to=7)),
            *(node("OneHot", ["k", "depth", "values"], ["e"], axis=1), node("Flatten", ["e"], ["r"])),
        ),
        {**HOT, "both": ints(1, 2), "v": np.float32([[1], [-2], [0.5], [3], [2], [-1], [0.75], [-4]])},
        0,
    ),
    "compared_with_all_codes": (
        (*COLUMN, node("Equal", ["k", "codes"], ["t"]), node("Cast", ["t"], ["r"], to=1)),
        {**HOT, "codes": ints(0, 1, 2, 3)},
        0,
    ),
    "embedding": ((*COLUMN, node("Gather", ["table", "k"], ["e"]), node("Flatten", ["e"], ["r"])), LOOKED, 0),
    "gather_nd": (
        (
            *COLUMN,
            node("Unsqueeze", ["k", "last"], ["l"]),
            node("GatherND", ["table", "l"], ["e"]),
            node("Flatten", ["e"], ["r"]),
        ),
        {**LOOKED, "last": ints(2)},
        0,
    ),
    "gather_nd_of_places_in_the_file": (
        (node("GatherND", ["x", "lists"], ["g"]), node("Reshape", ["g", "flat"], ["r"])),
        {"lists": ints(0, 2, 0, 0, 0, 1).reshape(3, 2), "flat": ints(1, -1), "v": np.float32([[1], [-2], [0.5]])},
        0,
    ),
}


def opened(name: str, folder: Path, least: int | None = None) -> Model:
    nodes, constants, lowest = CASES[name]
    path = saved(network([*nodes, node("Gemm", ["r", "v"], ["y"])], constants, inputs={"x": [1, 3]}), folder)
    low = lowest if least is None else least
    kinds = (Integer(low=-5, high=5), Integer(low=low, high=3 if low >= -4 else 6), Integer(low=0, high=3))
    people = Domain(
        name="P", attributes=tuple(Attribute(name=f"x{i}", type=t) for i, t in enumerate(kinds)), where=TRUE
    )
    return load_model(declaration(path), people)


@pytest.mark.parametrize("name", CASES)
def test_readings_decide_as_the_file(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    model = opened(name, tmp_path)
    assert model.reading is not None
    assert model.reading.bounded == (name != "compared_with_all_codes")
    assert model.deployed is not None
    low, high = (-7, 6) if name == "one_hot_of_codes_beyond" else (CASES[name][2], 3)
    points = [(Fraction(a), Fraction(b), Fraction(c)) for a in (-2, 4) for b in range(low, high + 1) for c in (0, 3)]
    assert [decision(model, point) for point in points] == Runtime(model.deployed).decide(points)


def test_a_code_that_the_table_does_not_have_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DiagnosticError):
        opened("gather_nd", tmp_path, least=-1)


@pytest.mark.parametrize(
    ("nodes", "reason"),
    [
        (
            (node("Relu", ["x"], ["q"]), node("OneHot", ["q", "depth", "values"], ["r"])),
            "that units of a network compute",
        ),
        (
            (node("Cast", ["x"], ["k"], to=7), node("GatherND", ["table", "k"], ["r"])),
            "several numbers of the individual",
        ),
        ((node("GatherND", ["x", "one"], ["r"], batch_dims=1),), "batch_dims"),
    ],
)
def test_other_uses_are_refused(nodes: tuple[Any, ...], reason: str, tmp_path: Path) -> None:
    from fairdsl.models.onnx_import import import_onnx

    constants = {
        "depth": ints(4),
        "values": np.float32([0, 1]),
        "table": np.zeros((4, 4, 4), np.float32),
        "one": ints(0).reshape(1, 1),
    }
    path = saved(network([*nodes, node("Identity", ["r"], ["y"])], constants, inputs={"x": [1, 3]}), tmp_path)
    with pytest.raises(DiagnosticError) as caught:
        import_onnx(path, span=SPAN)
    assert reason in str(caught.value)
