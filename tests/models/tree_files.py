"""Random decision trees, as plain nested tuples, as ONNX files, and walked down naively."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import onnx
from hypothesis import strategies as st
from onnx import TensorProto, helper

MODES = {
    "BRANCH_LEQ": lambda x, t: x <= t,
    "BRANCH_LT": lambda x, t: x < t,
    "BRANCH_GTE": lambda x, t: x >= t,
    "BRANCH_GT": lambda x, t: x > t,
    "BRANCH_EQ": lambda x, t: x == t,
    "BRANCH_NEQ": lambda x, t: x != t,
}


@dataclass(frozen=True)
class Leaf:
    """Votes by column."""

    votes: tuple[tuple[int, float], ...]


@dataclass(frozen=True)
class Branch:
    """``x[feature] MODE threshold``."""

    mode: str
    feature: int
    threshold: float
    yes: Tree
    no: Tree


Tree = Leaf | Branch

#: Sums of these are exact in float32, and so are a Scaler's products with powers of two.
WEIGHTS = st.integers(-12, 12).map(lambda value: value / 8)
POSITIVE = st.integers(0, 6).map(lambda value: value / 8)
THRESHOLDS = st.integers(-3, 11).map(lambda value: value / 2)


@st.composite
def trees(
    draw: st.DrawFn,
    columns: Sequence[int] = (0,),
    depth: int = 3,
    weights: st.SearchStrategy[float] = WEIGHTS,
    features: int = 3,
    modes: Sequence[str] = tuple(MODES),
) -> Tree:
    if depth == 0 or draw(st.integers(0, 4)) == 0:
        return Leaf(tuple((column, draw(weights)) for column in columns))
    mode, feature = draw(st.sampled_from(modes)), draw(st.integers(0, features - 1))
    threshold = draw(THRESHOLDS)
    below = trees(columns, depth - 1, weights, features, modes)
    return Branch(mode, feature, threshold, draw(below), draw(below))


def forests(**settings: Any) -> st.SearchStrategy[list[Tree]]:
    return st.lists(trees(**settings), min_size=1, max_size=4)


def walked(tree: Tree, row: Sequence[Fraction]) -> dict[int, Fraction]:
    """The votes of the leaf that a row reaches."""
    while isinstance(tree, Branch):
        tree = tree.yes if MODES[tree.mode](row[tree.feature], Fraction(tree.threshold)) else tree.no
    votes: dict[int, Fraction] = {}
    for column, weight in tree.votes:
        votes[column] = votes.get(column, Fraction(0)) + Fraction(weight)
    return votes


def sums(forest: Sequence[Tree], row: Sequence[Fraction], columns: int) -> list[Fraction]:
    total = [Fraction(0)] * columns
    for tree in forest:
        for column, vote in walked(tree, row).items():
            total[column] += vote
    return total


def ensemble(forest: Sequence[Tree], prefix: str) -> dict[str, list[Any]]:
    """The attributes that describe the nodes and votes; ``prefix`` is ``class`` or ``target``."""
    names = ("treeids", "nodeids", "modes", "featureids", "values", "truenodeids", "falsenodeids")
    nodes: dict[str, list[Any]] = {f"nodes_{name}": [] for name in names}
    votes: dict[str, list[Any]] = {f"{prefix}_{name}": [] for name in ("treeids", "nodeids", "ids", "weights")}
    for number, tree in enumerate(forest):
        pending, following = [(0, tree)], 1
        while pending:
            place, node = pending.pop(0)
            row = [number, place, "LEAF", 0, 0.0, 0, 0]
            if isinstance(node, Branch):
                row = [number, place, node.mode, node.feature, node.threshold, following, following + 1]
                pending += [(following, node.yes), (following + 1, node.no)]
                following += 2
            else:
                for column, weight in node.votes:
                    for name, value in zip(votes, (number, place, column, float(weight)), strict=True):
                        votes[name].append(value)
            for name, value in zip(nodes, row, strict=True):
                nodes[name].append(value)
    return {**nodes, **votes}


def regressor(forest: Sequence[Tree], source: str = "x", result: str = "y", **settings: Any) -> Any:
    settings.setdefault("n_targets", 1)
    attributes = {**ensemble(forest, "target"), **settings}
    return helper.make_node(
        "TreeEnsembleRegressor", [source], [result], name=f"trees_{result}", domain="ai.onnx.ml", **attributes
    )


def classifier(forest: Sequence[Tree], labels: Sequence[int] = (0, 1), source: str = "x", **settings: Any) -> Any:
    attributes = {**ensemble(forest, "class"), "classlabels_int64s": list(labels), **settings}
    return helper.make_node(
        "TreeEnsembleClassifier", [source], ["label", "scores"], name="trees", domain="ai.onnx.ml", **attributes
    )


def tree_file(
    nodes: Sequence[Any], outputs: Sequence[str] = ("label", "scores"), width: int = 3, dtype: int = TensorProto.FLOAT
) -> onnx.ModelProto:
    types = {"label": TensorProto.INT64}
    graph = helper.make_graph(
        list(nodes),
        "trees",
        [helper.make_tensor_value_info("x", dtype, ["N", width])],
        [helper.make_tensor_value_info(name, types.get(name, TensorProto.FLOAT), None) for name in outputs],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 3)])
    model.ir_version = 8
    return model


def everyone(width: int = 3, low: int = -1, high: int = 5) -> np.ndarray[Any, Any]:
    axes = [np.arange(low, high + 1)] * width
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, width).astype(np.float64)
