"""Every classifier and regressor of ai.onnx.ml: read as onnxruntime answers, labels and scores, ties too, or refused.

The full product of labels, rows or votes, base values, transformations and types. All numbers are dyadic and small, so
that float32 makes no error and a tie is a tie.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto

from fairdsl.diagnostics import DiagnosticError
from fairdsl.models.onnx_import import import_onnx
from tests.models.graph_values import differs, scores, session
from tests.models.model_files import ml, network, saved

TRANSFORMS = ("NONE", "LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO", "PROBIT")
TYPES = {
    TensorProto.FLOAT: np.float32,
    TensorProto.DOUBLE: np.float64,
    TensorProto.INT64: np.int64,
    TensorProto.INT32: np.int32,
}
LABELS: tuple[tuple[Any, ...], ...] = (
    (0, 1),
    (3, 5),
    (1, 0),
    ("no", "yes"),
    (4, 4),
    (0, 1, 2),
    (2, 2, 7),
    (2, 7, 2),
    ("a", "b", "c"),
    (9,),
)


@dataclass(frozen=True)
class Case:
    """A node over two numbers, its outputs with their types, and the type of its input."""

    node: Any
    outputs: dict[str, int]
    dtype: int = TensorProto.FLOAT


def both(labels: Sequence[Any]) -> dict[str, int]:
    return {
        "label": TensorProto.STRING if isinstance(labels[0], str) else TensorProto.INT64,
        "scores": TensorProto.FLOAT,
    }


def named(labels: Sequence[Any], whole: str) -> dict[str, Any]:
    return {"classlabels_strings" if isinstance(labels[0], str) else whole: list(labels)}


def linear_classifiers(labels: Any, count: int, given: bool, transform: str, multi: int, dtype: int) -> Case:
    rows = ([0.5, -0.25], [-0.5, 1.0], [0.25, 0.25])
    settings: dict[str, Any] = {"intercepts": [-0.25, 0.0, 0.25][:count]} if given else {}
    coefficients = [value for row in rows[:count] for value in row]
    settings |= {"coefficients": coefficients, "post_transform": transform, "multi_class": multi}
    node = ml("LinearClassifier", ["x"], ["label", "scores"], **settings, **named(labels, "classlabels_ints"))
    return Case(node, both(labels), dtype)


def linear_regressors(targets: int, transform: str, intercepts: int) -> Case:
    settings: dict[str, Any] = {"intercepts": [0.5, -0.25, 0.0][:intercepts]} if intercepts else {}
    coefficients = [0.5, -0.25, 1.0, 0.5, -0.5, 0.25][: 2 * targets]
    node = ml("LinearRegressor", ["x"], ["y"], coefficients=coefficients, targets=targets,
              post_transform=transform, **settings)  # fmt: skip
    return Case(node, {"y": TensorProto.FLOAT})


#: Two trees with a test each, as leaves (tree, node); the second tree is left out in some cases.
LEAVES = ((0, 1), (0, 2), (1, 1), (1, 2))
#: Votes: the leaf's position, the class, the weight.
VOTES: dict[str, list[tuple[int, int, float]]] = {
    "first": [(0, 0, 0.25), (1, 0, 0.5), (2, 0, 0.25), (3, 0, 0.0)],
    "first, also negative": [(0, 0, 0.25), (1, 0, -0.5), (2, 0, 0.5), (3, 0, -0.25)],
    "second": [(0, 1, 0.25), (1, 1, 0.5), (2, 1, 0.25), (3, 1, 0.0)],
    "second, also negative": [(0, 1, 0.25), (1, 1, -0.5), (2, 1, 0.5), (3, 1, -0.25)],
    "both": [(i, c, w) for c in (0, 1) for i, w in enumerate([0.25, 0.5, 0.25, 0.0] if c else [0.5, 0.25, 0.0, 0.5])],
    "both, also negative": [(i, c, w) for c in (0, 1) for i, w in enumerate([0.25, -0.25, -0.5, 0.25])],
    "second sometimes": [(0, 0, 0.25), (1, 1, 0.5), (2, 0, 0.25), (3, 1, 0.25)],
    "first sometimes": [(0, 1, 0.25), (1, 1, 0.5), (2, 0, 0.25), (3, 1, 0.25)],
    "twice": [(0, 0, 0.25), (0, 0, 0.5), (1, 0, 0.5), (2, 0, -0.25), (3, 0, 0.0), (2, 0, 0.25)],
    "one leaf without": [(0, 0, 0.25), (1, 0, 0.5), (2, 0, 0.75)],
    "all three": [(i, c, (i + c) / 8) for i in range(4) for c in range(3)],
    "third never": [(i, c, (i - c) / 8) for i in range(4) for c in range(2)],
    "first never": [(i, c, (i + 2 * c - 3) / 8) for i in range(4) for c in (1, 2)],
    "third sometimes": [(0, 0, 0.25), (0, 1, 0.0), (1, 0, 0.5), (1, 1, 0.5), (2, 2, 0.5), (3, 1, 0.25)],
}


def ensemble(votes: list[tuple[int, int, float]], prefix: str, order: Sequence[int] = range(6)) -> dict[str, Any]:
    """Two trees: ``x0 <= 0`` and ``x1 <= 1``; ``order`` is that of the listed nodes."""
    nodes = [
        (tree, node, "LEAF" if node else "BRANCH_LEQ", tree, float(tree), 1, 2) for tree in (0, 1) for node in range(3)
    ]
    names = ("treeids", "nodeids", "modes", "featureids", "values", "truenodeids", "falsenodeids")
    found: dict[str, Any] = {f"nodes_{name}": [nodes[i][k] for i in order] for k, name in enumerate(names)}
    found[f"{prefix}_treeids"] = [LEAVES[leaf][0] for leaf, _, _ in votes]
    found[f"{prefix}_nodeids"] = [LEAVES[leaf][1] for leaf, _, _ in votes]
    found[f"{prefix}_ids"] = [column for _, column, _ in votes]
    found[f"{prefix}_weights"] = [weight for _, _, weight in votes]
    return found


def tree_classifiers(labels: Any, voting: str, base: list[float], transform: str) -> Case:
    settings: dict[str, Any] = {"base_values": base} if base else {}
    attributes = {**ensemble(VOTES[voting], "class"), **settings, **named(labels, "classlabels_int64s")}
    node = ml("TreeEnsembleClassifier", ["x"], ["label", "scores"], post_transform=transform, **attributes)
    return Case(node, both(labels))


def tree_regressors(targets: int, voting: str, base: list[float], transform: str, aggregate: str) -> Case:
    settings: dict[str, Any] = {"base_values": base} if base else {}
    attributes = {
        **ensemble(VOTES[voting], "target"),
        **settings,
        "n_targets": targets,
        "aggregate_function": aggregate,
    }
    return Case(
        ml("TreeEnsembleRegressor", ["x"], ["y"], post_transform=transform, **attributes), {"y": TensorProto.FLOAT}
    )


def nodes_in_other_orders(order: list[int], dtype: int) -> Case:
    attributes = ensemble(VOTES["twice"], "target", order)
    return Case(ml("TreeEnsembleRegressor", ["x"], ["y"], **attributes, n_targets=1), {"y": TensorProto.FLOAT}, dtype)


def machines(labels: Any, transform: str, fitted: bool, coefficients: list[float], supported: bool) -> Case:
    count = len(labels)
    pairs = max(count * (count - 1) // 2, 1)
    settings: dict[str, Any] = {"prob_a": [-1.0] * pairs, "prob_b": [0.0] * pairs} if fitted else {}
    if supported:
        settings |= {"support_vectors": [1.0, 0.0, 0.0, 2.0, -1.0, 1.0], "vectors_per_class": [2, 1, 0][:count]}
    settings |= {"coefficients": coefficients * max(count - 1, 1), "rho": [-0.25] * pairs}
    node = ml("SVMClassifier", ["x"], ["label", "scores"], kernel_type="LINEAR", kernel_params=[0.0, 0.0, 0.0],
              post_transform=transform, **settings, **named(labels, "classlabels_ints"))  # fmt: skip
    return Case(node, both(labels))


def machine_regressors(transform: str, one_class: int, supported: bool) -> Case:
    settings: dict[str, Any] = {"coefficients": [0.5, -0.25], "n_supports": 0}
    if supported:
        settings = {"coefficients": [0.5, -0.25], "support_vectors": [1.0, 0.0, 0.0, 2.0], "n_supports": 2}
    node = ml("SVMRegressor", ["x"], ["y"], kernel_type="LINEAR", kernel_params=[0.0, 0.0, 0.0], rho=[0.125],
              post_transform=transform, one_class=one_class, **settings)  # fmt: skip
    return Case(node, {"y": TensorProto.FLOAT})


BASES = ([], [0.25], [0.25, -0.125], [0.25, 0.0, -0.125])
ORDERS = ([3, 4, 5, 0, 1, 2], [1, 0, 2, 3, 4, 5], [2, 1, 0, 5, 4, 3], [0, 3, 1, 4, 2, 5], [0, 2, 1, 3, 5, 4])
SIGNS = ([0.25, 0.5, 0.25], [0.25, -0.5, 0.25])
BOTH = (False, True)
#: What is built, and what of; the product of these is tested.
FAMILIES: dict[Callable[..., Case], tuple[Sequence[Any], ...]] = {
    linear_classifiers: (LABELS, (1, 2, 3), BOTH, TRANSFORMS, (0, 1), tuple(TYPES)),
    linear_regressors: ((1, 2, 3), TRANSFORMS, (0, 1, 2, 3)),
    tree_classifiers: (LABELS, tuple(VOTES), BASES, TRANSFORMS),
    tree_regressors: ((1, 2, 3), tuple(VOTES), BASES, TRANSFORMS, ("SUM", "AVERAGE", "MIN", "MAX")),
    nodes_in_other_orders: (ORDERS, tuple(TYPES)),
    machines: (LABELS, TRANSFORMS, BOTH, SIGNS, BOTH),
    machine_regressors: (TRANSFORMS, (0, 1), BOTH),
}
POINTS = [tuple(map(Fraction, row)) for row in ((0, 0), (1, 0), (0, 2), (2, 3), (-1, 1), (1, 2), (-2, -3), (3, 2))]


def held(case: Case, folder: Path) -> str | None:
    """What was wrong with the reading; `read` or `refused` or `cannot run` where nothing was."""
    model = network([case.node], inputs={"x": ["N", 2]}, outputs=case.outputs, dtype=case.dtype)
    path = saved(model, folder)
    try:
        graph = import_onnx(path)
    except DiagnosticError:
        return "refused"
    try:
        runtime = session(model.SerializeToString())
    except Exception:
        return "cannot run"
    names = [output.name for output in graph.outputs]
    for point in POINTS:
        given = runtime.run(names, {"x": np.array([[float(v) for v in point]], dtype=TYPES[case.dtype])})
        for output, array in zip(graph.outputs, given, strict=True):
            wrong = differs(output, scores(graph, output, point), array, exactly=True)
            if wrong:
                return f"{case.node} at {[float(v) for v in point]}: {wrong}"
    return "read"


def hold(cases: Sequence[Case], folder: Path) -> list[str]:
    found = [held(case, folder) or "" for case in cases]
    assert [item for item in found if item not in ("read", "refused", "cannot run")] == []
    return found


def pairwise(dimensions: Sequence[Sequence[Any]], rng: np.random.Generator) -> Iterator[tuple[Any, ...]]:
    """Some of the product, among them every value of a dimension with every value of another one."""
    every = list(product(*(range(len(values)) for values in dimensions)))
    seen: set[tuple[int, ...]] = set()
    for place in rng.permutation(len(every)):
        pairs = {(i, every[place][i], j, every[place][j]) for i, j in combinations(range(len(dimensions)), 2)}
        if not pairs <= seen:
            seen |= pairs
            yield tuple(values[k] for values, k in zip(dimensions, every[place], strict=True))


@pytest.mark.parametrize("family", FAMILIES)
def test_all_pairs_of_the_product(family: Callable[..., Case], tmp_path: Path) -> None:
    chosen = pairwise(FAMILIES[family], np.random.default_rng(3))
    assert "read" in hold([family(*choice) for choice in chosen], tmp_path)


@pytest.mark.parametrize("transform", TRANSFORMS)
def test_every_cell_of_the_table(transform: str, tmp_path: Path) -> None:
    """One and several sums, with every second column that the runtime adds."""
    cells = [
        linear_classifiers((0, 1), 1, True, transform, 0, TensorProto.FLOAT),
        linear_classifiers((0, 1, 2), 3, True, transform, 0, TensorProto.FLOAT),
        linear_regressors(1, transform, 1),
        tree_classifiers((0, 1), "first", [], transform),
        tree_classifiers((0, 1), "first, also negative", [], transform),
        tree_classifiers((3, 5), "both, also negative", [], transform),
        machines((0, 1), transform, False, SIGNS[1], True),
        machine_regressors(transform, 0, True),
    ]
    assert "read" in hold(cells, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_the_full_product(family: Callable[..., Case], tmp_path: Path) -> None:
    found = hold([family(*choice) for choice in product(*FAMILIES[family])], tmp_path)
    assert found.count("read") > max(len(found) // 20, 1)
