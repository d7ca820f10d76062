"""The node and vote lists of a tree ensemble of ai.onnx.ml as arrays.

Files list nodes by the number of their tree and their number in it. All lists are read at once: a forest has hundreds
of thousands of nodes.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from fairdsl.ir.expr import Relation
from fairdsl.ir.tree_shape import TreeShape
from fairdsl.models import exact
from fairdsl.models.basis import TREE_RELATIONS, Affine, TooLargeError, Trees
from fairdsl.models.binding.absent import with_directions, within_reach
from fairdsl.models.onnx_import.values import NodeCall, UnreadableError

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]

_RELATIONS = {
    "BRANCH_LEQ": Relation.LE,
    "BRANCH_LT": Relation.LT,
    "BRANCH_GTE": Relation.GE,
    "BRANCH_GT": Relation.GT,
    "BRANCH_EQ": Relation.EQ,
    "BRANCH_NEQ": Relation.NE,
}
_LEAF, _UNKNOWN = len(TREE_RELATIONS), -1
_MODES = {mode: TREE_RELATIONS.index(relation) for mode, relation in _RELATIONS.items()} | {"LEAF": _LEAF}
#: Nodes of all trees at most.
_MOST_NODES = 1 << 23


@dataclass(frozen=True, slots=True, eq=False)
class _Names:
    """Where the node of a tree and number lies in the lists; trees and numbers are any integers.

    ``sizes`` are the nodes of each tree, where the nodes of every tree are numbered from 0 as they are listed, as most
    files do; then ``keys`` are the trees' starts.
    """

    trees: IntArray
    numbers: IntArray
    keys: IntArray
    places: IntArray
    sizes: IntArray | None = None

    @classmethod
    def of(cls, trees: IntArray, numbers: IntArray) -> _Names:
        starts = np.concatenate([[0], np.flatnonzero(np.diff(trees)) + 1])
        listed, sizes = trees[starts], np.diff(starts, append=len(trees))
        every = np.arange(len(trees))
        if (np.diff(listed) > 0).all() and np.array_equal(numbers, every - np.repeat(starts, sizes)):
            return cls(listed, numbers, starts, every, sizes)
        distinct_trees, tree = np.unique(trees, return_inverse=True)
        distinct_numbers, number = np.unique(numbers, return_inverse=True)
        keys = tree.reshape(-1) * len(distinct_numbers) + number.reshape(-1)
        places = np.argsort(keys, kind="stable")
        return cls(distinct_trees, distinct_numbers, keys[places], places)

    @property
    def twice(self) -> IntArray:
        """The places of nodes that have the name of another one."""
        again = np.flatnonzero(np.diff(self.keys) == 0) if self.sizes is None else np.zeros(0, dtype=np.int64)
        return self.places[again]

    def find(self, trees: IntArray, numbers: IntArray) -> IntArray:
        """The places of nodes in the lists, -1 of those that are not there."""
        tree, known = _among(self.trees, trees)
        if self.sizes is not None:
            there = known & (numbers >= 0) & (numbers < self.sizes[tree])
            return np.where(there, self.keys[tree] + numbers, -1)
        number, found = _among(self.numbers, numbers)
        place, there = _among(self.keys, tree * len(self.numbers) + number)
        return np.where(known & found & there, self.places[place], -1)


def _among(ascending: IntArray, values: IntArray) -> tuple[IntArray, NDArray[np.bool_]]:
    """Where values stand in a list that ascends, and whether they do; the list is not empty."""
    if int(ascending[-1]) - int(ascending[0]) == len(ascending) - 1:
        place = np.clip(values, ascending[0], ascending[-1]) - ascending[0]
        return place, np.asarray(ascending[place] == values, dtype=np.bool_)
    place = np.minimum(np.searchsorted(ascending, values), len(ascending) - 1)
    return place, np.asarray(ascending[place] == values, dtype=np.bool_)


@dataclass(frozen=True, slots=True, eq=False)
class ReadTrees:
    """Trees, and how their nodes are called in the file."""

    trees: Trees
    names: _Names
    #: The number of the leaf that the node at a place of the lists is, -1 of other nodes.
    leaf: IntArray


def read_trees(call: NodeCall, features: Affine) -> ReadTrees:
    """The trees of a node that tests ``features``; raises UnreadableError for what are none."""
    trees, numbers = call.node.integers("nodes_treeids"), call.node.integers("nodes_nodeids")
    modes = [_MODES.get(mode, _UNKNOWN) for mode in call.attribute("nodes_modes", None) or []]
    mode = np.array(modes, dtype=np.int8)
    feature, threshold = call.node.integers("nodes_featureids"), _thresholds(call)
    children = [call.node.integers(f"nodes_{side}nodeids") for side in ("true", "false")]
    lengths = [len(trees), len(numbers), len(mode), len(feature), len(threshold), *map(len, children)]
    if len(set(lengths)) > 1:
        raise ValueError("lists of different lengths")
    if not 0 < len(trees) <= _MOST_NODES:
        raise TooLargeError(f"it has {len(trees)} nodes")
    names = _Names.of(trees, numbers)
    _check_nodes(call, names, (trees, numbers), mode, feature, features.size)
    inner = mode != _LEAF
    roots = np.concatenate([[0], np.flatnonzero(np.diff(trees)) + 1])
    yes, no = (np.where(inner, names.find(trees, side), np.arange(len(trees))) for side in children)
    _check_shape(names, roots, yes[inner], no[inner])
    shape, order = TreeShape.in_order(roots, yes, no)
    if shape.nodes != len(trees):
        raise UnreadableError("its nodes do not make trees: some node cannot be reached")
    leaf = np.empty(len(order), dtype=np.int64)
    leaf[order] = shape.leaf
    node = call.node
    listed = call.attribute("nodes_missing_value_tracks_true", None) or [0] * len(mode)
    follows = np.array(listed, dtype=np.bool_) | (mode == _MODES["BRANCH_NEQ"])
    if len(follows) != len(mode):
        raise ValueError("lists of different lengths")
    mode = np.where(inner, mode, 0)
    try:
        features, feature = with_directions(call.basis, features, feature, mode, threshold, follows)
    except ValueError as problem:
        raise UnreadableError(f"it has {problem}") from problem
    read = Trees(node.operator, node.where, features, shape, feature[order], mode[order], threshold[order])
    return ReadTrees(read, names, leaf)


def _check_nodes(
    call: NodeCall,
    names: _Names,
    listed: tuple[IntArray, IntArray],
    mode: NDArray[np.int8],
    feature: IntArray,
    width: int,
) -> None:
    for place in names.twice[:1].tolist():
        raise UnreadableError(f"its tree {listed[0][place]} has two nodes {listed[1][place]}")
    unknown = np.flatnonzero(mode == _UNKNOWN)
    if unknown.size:
        raise UnreadableError(f"its trees branch by {call.attribute('nodes_modes', [])[unknown[0]]}")
    outside = np.flatnonzero((mode != _LEAF) & ((feature < 0) | (feature >= width)))
    if outside.size:
        raise UnreadableError(f"its trees test feature {feature[outside[0]]} of {width}")


def _check_shape(names: _Names, roots: IntArray, yes: IntArray, no: IntArray) -> None:
    if len(roots) != len(names.trees):
        raise UnreadableError("its nodes are not listed tree by tree")
    below = np.concatenate([yes, no])
    if (below < 0).any():
        raise UnreadableError("its nodes do not make trees: some branch ends nowhere")
    parents = np.bincount(below, minlength=len(names.places))
    if parents[roots].any():
        raise UnreadableError("some tree is not listed from its root on, which is where onnxruntime starts")
    if (parents > 1).any():
        raise UnreadableError("its nodes do not make trees: some node is below two others")


def read_votes(
    call: NodeCall, prefix: str, columns: int, read: ReadTrees
) -> tuple[exact.Array, NDArray[np.bool_], FloatArray]:
    """The votes under ``class_`` or ``target_``: sums [columns, leaves], who votes at all, and the votes as listed.

    Several votes of a leaf for a column add up; of a single column the first one counts.
    """
    trees, numbers = call.node.integers(f"{prefix}_treeids"), call.node.integers(f"{prefix}_nodeids")
    column, weight = call.node.integers(f"{prefix}_ids"), finite(call, f"{prefix}_weights")
    if len({len(listed) for listed in (trees, numbers, column, weight)}) > 1:
        raise ValueError("lists of different lengths")
    place = read.names.find(trees, numbers)
    leaf = np.where(place < 0, -1, read.leaf[place])
    for wrong in np.flatnonzero(leaf < 0)[:1].tolist():
        raise UnreadableError(f"node {numbers[wrong]} of its tree {trees[wrong]} votes, and is not a leaf")
    for wrong in np.flatnonzero((column < 0) | (column >= columns))[:1].tolist():
        raise UnreadableError(f"a leaf votes for entry {column[wrong]} of {columns}")
    leaves = read.trees.width
    keys, first, counts = np.unique(column * leaves + leaf, return_index=True, return_counts=True)
    sums: exact.Array = np.zeros(columns * leaves)
    sums[keys] = weight[first]
    voted = np.zeros(columns * leaves, dtype=np.bool_)
    voted[keys] = True
    if columns > 1 and (counts > 1).any():
        sums = _added(sums, keys[counts > 1], column * leaves + leaf, weight)
    return sums.reshape(columns, leaves), voted.reshape(columns, leaves), weight


def _added(sums: exact.Array, several: IntArray, keys: IntArray, weight: FloatArray) -> exact.Array:
    """The sums with the entries of ``several`` added up exactly."""
    totals = dict.fromkeys(several.tolist(), Fraction(0))
    for place in np.flatnonzero(np.isin(keys, several)).tolist():
        totals[int(keys[place])] += Fraction(weight[place])
    added = exact.from_rationals(np.array(list(totals.values()), dtype=object))
    sums = sums if exact.is_float(added) else exact.to_fractions(sums)
    sums[list(totals)] = added
    return sums


def _thresholds(call: NodeCall) -> FloatArray:
    """What nodes compare with."""
    try:
        return within_reach(_floats(call, "nodes_values"))
    except ValueError as problem:
        raise UnreadableError(f"it {problem}") from problem


def _floats(call: NodeCall, attribute: str) -> FloatArray:
    """Floats of the file, exactly; newer files may hold them as a tensor of doubles."""
    tensor = call.attribute(f"{attribute}_as_tensor", None)
    listed = call.attribute(attribute, None) or [] if tensor is None else np.asarray(tensor).ravel()
    return np.array(listed, dtype=np.float64)


def finite(call: NodeCall, attribute: str) -> FloatArray:
    """Floats of the file, exactly."""
    found = _floats(call, attribute)
    for value in found[~np.isfinite(found)][:1].tolist():
        raise UnreadableError(f"it holds the number {value}")
    return found
