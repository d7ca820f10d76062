"""A class whose label is mapped, and mapped again: two classes with one label are one class, at ties as well."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto

from fairdsl.diagnostics import DiagnosticError
from fairdsl.models.graph import OutputKind
from fairdsl.models.onnx_import import import_onnx
from tests.models.graph_values import differs, scores, session
from tests.models.model_files import ml, network, node, saved

Random = np.random.Generator
TYPES = {
    "bool": TensorProto.BOOL,
    "uint8": TensorProto.UINT8,
    "int8": TensorProto.INT8,
    "int32": TensorProto.INT32,
    "int64": TensorProto.INT64,
    "float16": TensorProto.FLOAT16,
    "float32": TensorProto.FLOAT,
    "float64": TensorProto.DOUBLE,
    "string": TensorProto.STRING,
}
#: Three scores that tie often: the two inputs, and a constant.
SCORES = [node("MatMul", ["x", "w"], ["m"]), node("Add", ["m", "b"], ["s"])]
WEIGHTS = {"w": np.float32([[1, 0, 0], [0, 1, 0]]), "b": np.float32([0, 0, 1])}
POINTS = [(Fraction(a), Fraction(b)) for a in (0, 1, 2) for b in (0, 1, 2)]
VALUES = (0, 1, 2, 3, 5, -1, 255, 256, 257, 65536, 2**31, 2**32, 2**24, 2**24 + 1, 2**53)
TEXTS = ("0", "1", "2", "05", "5", "-1", "no", "", "1.5", " 7", "256", "3000000000")
Step = tuple[Any, str, dict[str, Any]]


def any_of(rng: Random, values: tuple[Any, ...]) -> Any:
    return values[int(rng.integers(len(values)))]


def first(rng: Random) -> Step:
    """A node that chooses among three classes."""
    if rng.random() < 0.4:
        chooses = "ArgMin" if rng.random() < 0.5 else "ArgMax"
        return node(chooses, ["s"], ["l0"], axis=1, keepdims=int(rng.integers(0, 2))), "int64", {}
    text = rng.random() < 0.4
    labels = [any_of(rng, TEXTS if text else VALUES) for _ in range(3)]
    names = {"classlabels_strings" if text else "classlabels_ints": labels}
    if rng.random() < 0.5:
        names = {"classlabels_strings" if text else "classlabels_int64s": labels}
        leaf = {"nodes_treeids": [0], "nodes_nodeids": [0], "nodes_modes": ["LEAF"], "nodes_featureids": [0]}
        leaf |= {"nodes_truenodeids": [0], "nodes_falsenodeids": [0], "nodes_values": [0.0]}
        return _classifier("TreeEnsembleClassifier", names, **_stumps(leaf)), "string" if text else "int64", {}
    eye = [1.0, 0.0, 0.0, 1.0, 0.0, 0.0]
    return _classifier("LinearClassifier", names, coefficients=eye, intercepts=[0.0, 0.0, 1.0]), _kind(text), {}


def _kind(text: bool) -> str:
    return "string" if text else "int64"


def _classifier(operator: str, names: dict[str, Any], **attributes: Any) -> Any:
    return ml(operator, ["x"], ["l0", "unused"], **names, **attributes)


def _stumps(leaf: dict[str, list[Any]]) -> dict[str, Any]:
    """Trees ``x0 <= 0``, ``x1 <= 1``, and a leaf, whose votes make a sum for each class."""
    found: dict[str, list[Any]] = {name: [] for name in leaf}
    for tree, threshold in ((0, 0.0), (1, 1.0)):
        rows = ("BRANCH_LEQ", tree, threshold), ("LEAF", 0, 0.0), ("LEAF", 0, 0.0)
        for number, (mode, feature, value) in enumerate(rows):
            values = (tree, number, mode, feature, 1, 2, value)
            for name, item in zip(leaf, values, strict=True):
                found[name].append(item)
    for name, values in leaf.items():
        found[name].append(2 if name == "nodes_treeids" else values[0])
    votes = [
        (0, 1, 0, 0.0),
        (0, 2, 0, 1.0),
        (1, 1, 1, 0.0),
        (1, 2, 1, 1.0),
        (2, 0, 2, 1.0),
        (2, 0, 0, 0.5),
        (2, 0, 1, 0.5),
    ]
    names = ("class_treeids", "class_nodeids", "class_ids", "class_weights")
    return {**found, **{name: [vote[i] for vote in votes] for i, name in enumerate(names)}}


def step(rng: Random, source: str, result: str, dtype: str) -> Step:
    """A node that maps a label of type ``dtype``, the type that it gives, and its constants."""
    kind = rng.random()
    if kind < 0.45 or dtype not in ("int64", "float32", "string"):
        to = any_of(rng, tuple(TYPES))
        return node("Cast", [source], [result], to=TYPES[to]), to, {}
    if kind < 0.6 and dtype == "int64":
        table = rng.integers(0, 4, int(rng.integers(2, 7)))
        if rng.random() < 0.5:
            return node("Gather", [f"{result}_table", source], [result]), "int64", {f"{result}_table": table}
        return ml("ArrayFeatureExtractor", [f"{result}_table", source], [result]), "int64", {f"{result}_table": table}
    if kind < 0.7:
        return node("Identity", [source], [result]), dtype, {}
    return _encoder(rng, source, result, dtype)


def _encoder(rng: Random, source: str, result: str, dtype: str) -> Step:
    pool = TEXTS if dtype == "string" else VALUES[:9]
    keys = [pool[i] for i in rng.permutation(len(pool))[: int(rng.integers(1, len(pool)))]]
    to = any_of(rng, ("int64", "float32", "string"))
    values = [any_of(rng, TEXTS if to == "string" else VALUES[:5]) for _ in keys]
    names = {"int64": ("int64s", "int64"), "float32": ("floats", "float"), "string": ("strings", "string")}
    typed = {"int64": int, "float32": float, "string": str}
    attributes: dict[str, Any] = {
        f"keys_{names[dtype][0]}": [typed[dtype](key) for key in keys],
        f"values_{names[to][0]}": [typed[to](value) for value in values],
    }
    if rng.random() < 0.5:
        attributes[f"default_{names[to][1]}"] = typed[to](values[0])
    return ml("LabelEncoder", [source], [result], **attributes), to, {}


def held(seed: int, folder: Path) -> str:
    """Read and run a chain of maps; what came out."""
    rng = np.random.default_rng(seed)
    start, dtype, constants = first(rng)
    nodes, name = [*SCORES, start], "l0"
    for number in range(1, int(rng.integers(2, 5))):
        made, dtype, more = step(rng, name, f"l{number}", dtype)
        nodes.append(made)
        constants |= more
        name = f"l{number}"
    model = network(nodes, {**WEIGHTS, **constants}, inputs={"x": ["N", 2]}, outputs={name: TYPES[dtype]}, opset=17)
    model.opset_import[1].version = 2
    try:
        graph = import_onnx(saved(model, folder))
    except DiagnosticError as refusal:
        return refusal.diagnostics[0].code
    (output,) = graph.outputs
    assert output.kind is OutputKind.LABEL
    try:
        runtime = session(model.SerializeToString())
    except Exception:
        return "cannot run"
    for point in POINTS:
        (given,) = runtime.run([name], {"x": np.float32([point])})
        assert differs(output, scores(graph, output, point), given, exactly=True) is None, f"seed {seed} at {point}"
    return "merged" if len(output.labels) < 3 else "read"


def test_labels_are_followed_through_their_maps(tmp_path: Path) -> None:
    found = [held(seed, tmp_path) for seed in range(250)]
    assert all(found.count(outcome) > 10 for outcome in ("read", "merged", "E0504"))


@pytest.mark.slow
def test_labels_are_followed_through_many_more_maps(tmp_path: Path) -> None:
    for seed in range(150, 6000):
        held(seed, tmp_path)
