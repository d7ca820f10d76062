"""Grows recidivism.onnx on defendants.csv: a decision tree of depth 4, by Gini impurity; numpy and onnx only.

The features are those of the line ``reads`` in recidivism.fair: age (0, 1, 2), juvenile record, prior arrests, felony.
Neither race nor sex is among them. The tree is stored as scikit-learn's are: a leaf has the share of its rows that
were arrested again, and the class is the one with more.

Run from anywhere: ``python examples/recidivism/train.py``.
"""

from __future__ import annotations

import csv
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper

HERE = Path(__file__).parent
AGES = ("below_25", "from_25_to_45", "above_45")
FEATURES = ("age", "juvenile", "priors", "felony")
DEPTH = 4
#: Rows that a leaf has at least.
LEAF = 20

Table = NDArray[np.int64]


class Leaf(NamedTuple):
    """The rows in it, and those of them with the label."""

    rows: int
    labelled: int


class Fork(NamedTuple):
    """Where ``feature`` is at most ``most`` the first branch is taken."""

    feature: int
    most: int
    branches: tuple[Tree, Tree]


Tree = Leaf | Fork


def read() -> tuple[Table, Table]:
    """Features [rows, 4] and labels [rows] of defendants.csv."""
    with (HERE / "defendants.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    features = [
        [AGES.index(row["age"]), row["juvenile"] == "yes", int(row["priors"]), row["charge"] == "felony"]
        for row in rows
    ]
    return np.array(features, dtype=np.int64), np.array([row["rearrested"] == "yes" for row in rows], dtype=np.int64)


def impurity(y: Table) -> Fraction:
    """Gini impurity times the number of rows."""
    return Fraction(int(y.sum()) * int(len(y) - y.sum()), len(y)) if len(y) else Fraction(0)


def grow(x: Table, y: Table, depth: int = DEPTH) -> Tree:
    """The fork that leaves the least impurity, of several the first; in fractions, so that no machine differs."""
    leaf = Leaf(rows=len(y), labelled=int(y.sum()))
    best: tuple[Fraction, int, int] | None = None
    for feature in range(x.shape[1]) if depth else ():
        for most in np.unique(x[:, feature])[:-1].tolist():
            left = x[:, feature] <= most
            if min(left.sum(), (~left).sum()) >= LEAF:
                found = (impurity(y[left]) + impurity(y[~left]), feature, most)
                best = found if best is None else min(best, found)
    if best is None or best[0] >= impurity(y):
        return leaf
    _, feature, most = best
    left = x[:, feature] <= most
    return pruned(Fork(feature, most, (grow(x[left], y[left], depth - 1), grow(x[~left], y[~left], depth - 1))), leaf)


def detains(leaf: Leaf) -> bool:
    return 2 * leaf.labelled > leaf.rows


def pruned(fork: Fork, leaf: Leaf) -> Tree:
    """The leaf, where both branches are leaves that decide alike."""
    low, high = fork.branches
    if isinstance(low, Leaf) and isinstance(high, Leaf) and detains(low) == detains(high):
        return leaf
    return fork


def at(tree: Tree, person: list[int]) -> Leaf:
    """The leaf of a person."""
    while isinstance(tree, Fork):
        tree = tree.branches[person[tree.feature] > tree.most]
    return tree


def written(tree: Tree, indent: str = "") -> str:
    """The tree as text."""
    if isinstance(tree, Leaf):
        decision = "detain" if detains(tree) else "release"
        return f"{decision} ({tree.labelled} of {tree.rows} arrested again)\n"
    lines = ""
    for sign, branch in zip(("<=", ">"), tree.branches, strict=True):
        inner = written(branch, indent + "  ")
        lines += (
            f"{indent}{FEATURES[tree.feature]} {sign} {tree.most}: {'' if isinstance(branch, Leaf) else chr(10)}{inner}"
        )
    return lines


def export(tree: Tree) -> onnx.ModelProto:
    """The tree as ONNX, in float32: thresholds halfway between whole numbers."""
    nodes: list[tuple[int, str, float, int, int]] = []
    leaves: list[tuple[int, float]] = []

    def add(part: Tree) -> int:
        place = len(nodes)
        nodes.append((0, "LEAF", 0.0, 0, 0))
        if isinstance(part, Leaf):
            leaves.append((place, part.labelled / part.rows))
        else:
            low, high = (add(branch) for branch in part.branches)
            nodes[place] = (part.feature, "BRANCH_LEQ", part.most + 0.5, low, high)
        return place

    add(tree)
    features, modes, thresholds, lows, highs = (list(column) for column in zip(*nodes, strict=True))
    node = helper.make_node(
        "TreeEnsembleClassifier",
        ["x"],
        ["label", "probabilities"],
        domain="ai.onnx.ml",
        nodes_treeids=[0] * len(nodes),
        nodes_nodeids=list(range(len(nodes))),
        nodes_featureids=features,
        nodes_modes=modes,
        nodes_values=thresholds,
        nodes_truenodeids=lows,
        nodes_falsenodeids=highs,
        nodes_hitrates=[1.0] * len(nodes),
        nodes_missing_value_tracks_true=[0] * len(nodes),
        class_treeids=[0] * len(leaves),
        class_nodeids=[place for place, _ in leaves],
        class_ids=[0] * len(leaves),  # of two classes: the share of the second one
        class_weights=[share for _, share in leaves],
        classlabels_int64s=[0, 1],
        post_transform="NONE",
    )
    graph = helper.make_graph(
        [node],
        "recidivism",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", len(FEATURES)])],
        [
            helper.make_tensor_value_info("label", TensorProto.INT64, ["N"]),
            helper.make_tensor_value_info("probabilities", TensorProto.FLOAT, ["N", 2]),
        ],
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 3)]
    model = helper.make_model(graph, opset_imports=opsets, producer_name="")
    model.ir_version = 8
    onnx.checker.check_model(model, full_check=True)
    return model


def main() -> None:
    """Grow, write the file beside this script, and say what it is."""
    x, y = read()
    tree = grow(x, y)
    (HERE / "recidivism.onnx").write_bytes(export(tree).SerializeToString(deterministic=True))
    detained = np.array([detains(at(tree, person)) for person in x.tolist()])
    print(written(tree), end="")
    print(f"right about {np.mean(detained == y):.3f} of the rows; {np.mean(detained):.3f} detained")


if __name__ == "__main__":
    main()
