"""Tree ensembles of ai.onnx.ml: each leaf an indicator of the tests on the way to it, the votes its weights.

Meaning: the sum of the votes of the leaves that an individual reaches, one of every tree, in real arithmetic on the
stored numbers. How a class comes from it follows onnxruntime: of two classes all votes go to the first entry, and
the second class is chosen where the sum exceeds 1/2 if no vote is negative, and where it exceeds 0 otherwise; of
three and more the highest sum decides, the first one in a tie. What the specification leaves open and runtimes
read differently is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from fairdsl.ir.expr import Relation
from fairdsl.models import exact
from fairdsl.models.basis import Affine, Comparison, Indicators, TooLargeError, add, apply, scale, take
from fairdsl.models.onnx_import.arithmetic import negative, plus
from fairdsl.models.onnx_import.scikit import above, squashed
from fairdsl.models.onnx_import.values import (
    Handlers,
    Labelled,
    NodeCall,
    Probabilities,
    UnreadableError,
    Value,
)

__all__ = ["HANDLERS", "tree_classifier"]

_ML = "ai.onnx.ml"
_RELATIONS = {
    "BRANCH_LEQ": Relation.LE,
    "BRANCH_LT": Relation.LT,
    "BRANCH_GTE": Relation.GE,
    "BRANCH_GT": Relation.GT,
    "BRANCH_EQ": Relation.EQ,
    "BRANCH_NEQ": Relation.NE,
}
#: Tests on the ways to all leaves at most.
_MOST_LITERALS = 1 << 22
_HALF = Fraction(1, 2)

#: A node, by its tree and its number in it.
_Name = tuple[int, int]


@dataclass(frozen=True, slots=True)
class _Node:
    """A test with the nodes below it, or a leaf (no test)."""

    test: Comparison | None
    yes: _Name
    no: _Name


@dataclass(frozen=True, slots=True)
class _Votes:
    """Sums over trees: ``scores`` is [1, columns], or None where a column has no vote at all.

    ``always``: columns that some tree votes for whichever of its leaves is reached. ``negative``: whether some
    vote is negative. ``used``: columns with votes. ``trees``: their number.
    """

    scores: Affine
    always: frozenset[int]
    used: frozenset[int]
    negative: bool
    trees: int


def tree_classifier(call: NodeCall) -> list[Value]:
    """Both outputs of a TreeEnsembleClassifier: the label and the scores after their transformation."""
    labels = _listed(call, "classlabels_int64s") or _listed(call, "classlabels_strings")
    if len(labels) < 2:
        raise UnreadableError("it does not choose among two or more classes")
    votes = _votes(call, "class", len(labels))
    base = _numbers(call, "base_values")
    if len(labels) == 2:
        return _of_two(call, votes, base, tuple(labels))
    if base and len(base) != len(labels):
        raise UnreadableError(f"it has {len(base)} base values for {len(labels)} classes")
    if not base and len(votes.always) < len(labels):
        raise UnreadableError("some class may get no vote at all, and then the file does not say which class is chosen")
    scores = _with_base(call, votes.scores, base)
    plain = call.attribute("post_transform", "NONE") == "NONE" and not base and not votes.negative
    return [Labelled(scores, tuple(labels), (1,)), Probabilities(scores) if plain else squashed(call, scores)]


def _of_two(call: NodeCall, votes: _Votes, base: Sequence[Fraction], labels: tuple[int | str, ...]) -> list[Value]:
    """Two classes: the votes are for the first entry, and count for the second class."""
    if votes.used - {0}:
        raise UnreadableError(
            "it has two classes and votes for the second one, of which runtimes make different labels",
            "export one score, as scikit-learn's exporter does: all votes under class id 0",
        )
    if len(base) > 1:
        raise UnreadableError("it has one score and two base values, of which runtimes make different scores")
    score = _with_base(call, take(votes.scores, np.zeros((1, 1), dtype=np.int64)), base)
    label = above(call, score, Fraction(0) if votes.negative else _HALF, labels)
    transform = call.attribute("post_transform", "NONE")
    if transform not in ("NONE", "LOGISTIC"):
        raise UnreadableError(f"its single score goes through `post_transform` {transform}")
    mirrored = negative(score)
    if transform == "NONE" and not votes.negative:
        mirrored = plus(call, mirrored, Affine.constant(np.ones(1)))
    both = _pair(call, mirrored, score)
    return [label, Probabilities(both) if transform == "NONE" and not votes.negative else squashed(call, both)]


def _pair(call: NodeCall, first: Affine, second: Affine) -> Affine:
    """Two single numbers as one row."""
    columns = np.zeros((1, 2), dtype=np.int64)
    left, right = np.array([1.0, 0.0]), np.array([0.0, 1.0])
    return add(scale(take(first, columns), left), scale(take(second, columns), right), call.basis)


def _tree_regressor(call: NodeCall) -> Value:
    columns = int(call.attribute("n_targets", 1))
    if columns < 1:
        raise UnreadableError(f"it has {columns} targets")
    votes = _votes(call, "target", columns)
    base = _numbers(call, "base_values")
    if base and (len(base) != columns or len(votes.always) < columns):
        raise UnreadableError("its base values do not belong to targets that every individual gets a sum for")
    scores = votes.scores
    match call.attribute("aggregate_function", "SUM"):
        case "SUM":
            pass
        case "AVERAGE":
            share = np.full(columns, Fraction(1, votes.trees), dtype=object)
            scores = scale(scores, exact.from_rationals(share))
        case other:
            raise UnreadableError(f"it takes the {other} of its trees, and only sums and averages are sums of leaves")
    if columns == 1 and call.attribute("post_transform", "NONE") != "NONE":
        transform = call.attribute("post_transform", "NONE")
        raise UnreadableError(f"its single target goes through `post_transform` {transform}, which runtimes leave out")
    return squashed(call, _with_base(call, scores, base))


def _with_base(call: NodeCall, scores: Affine, base: Sequence[Fraction]) -> Affine:
    if not base:
        return scores
    return plus(call, scores, Affine.constant(exact.from_rationals(np.array([list(base)], dtype=object))))


def _votes(call: NodeCall, prefix: str, columns: int) -> _Votes:
    """The sums of the votes under ``class_`` or ``target_``, by column."""
    value = call.affine(0)
    nodes = _nodes(call, value.size)
    trees = list(_ways(nodes))
    place = {name: unit for unit, name in enumerate(name for tree in trees for name, _ in tree)}
    weights = _weights(call, prefix, columns, place)
    tests: dict[Comparison, int] = {}
    units = []
    for tree in trees:
        for _, way in tree:
            units.append(tuple((tests.setdefault(test, len(tests)), holds) for test, holds in way))
    sizes = np.cumsum([0, *(len(tree) for tree in trees)]).tolist()
    groups = tuple(tuple(range(start, end)) for start, end in pairwise(sizes))
    if not call.basis.early(value):
        raise UnreadableError(
            "its trees test numbers that units of a network compute",
            "export the trees over the attributes themselves, or over scaled or encoded ones",
        )
    leaves = call.basis.indicate(
        Indicators(call.node.operator, call.node.where, value, tuple(tests), tuple(units), groups)
    )
    matrix = np.full((columns, len(units)), Fraction(0), dtype=object)
    voted = np.zeros((columns, len(units)), dtype=np.bool_)
    for (column, unit), weight in weights.items():
        matrix[column, unit] = weight
        voted[column, unit] = True
    always = {c for c in range(columns) if any(voted[c, list(group)].all() for group in groups)}
    return _Votes(
        scores=apply(exact.from_rationals(matrix), leaves, (1, columns), call.basis),
        always=frozenset(always),
        used=frozenset(np.flatnonzero(voted.any(axis=1)).tolist()),
        negative=any(weight < 0 for weight in _numbers(call, f"{prefix}_weights")),
        trees=len(groups),
    )


def _weights(call: NodeCall, prefix: str, columns: int, place: Mapping[_Name, int]) -> dict[tuple[int, int], Fraction]:
    """The votes by column and leaf; several of one leaf for one column add up."""
    names = zip(_listed(call, f"{prefix}_treeids"), _listed(call, f"{prefix}_nodeids"), strict=True)
    found: dict[tuple[int, int], Fraction] = {}
    votes = zip(names, _listed(call, f"{prefix}_ids"), _numbers(call, f"{prefix}_weights"), strict=True)
    for name, column, weight in votes:
        if name not in place:
            raise UnreadableError(f"node {name[1]} of its tree {name[0]} votes, and is no leaf")
        if not 0 <= column < columns:
            raise UnreadableError(f"a leaf votes for entry {column} of {columns}")
        key = (int(column), place[name])
        found[key] = found.get(key, Fraction(0)) + weight
    return found


def _nodes(call: NodeCall, width: int) -> dict[_Name, _Node]:
    trees, numbers = _listed(call, "nodes_treeids"), _listed(call, "nodes_nodeids")
    columns = (
        _listed(call, "nodes_modes"),
        _listed(call, "nodes_featureids"),
        _numbers(call, "nodes_values"),
        _listed(call, "nodes_truenodeids"),
        _listed(call, "nodes_falsenodeids"),
    )
    found: dict[_Name, _Node] = {}
    for tree, number, mode, feature, value, yes, no in zip(trees, numbers, *columns, strict=True):
        if (tree, number) in found:
            raise UnreadableError(f"its tree {tree} has two nodes {number}")
        if mode != "LEAF" and mode not in _RELATIONS:
            raise UnreadableError(f"its trees branch by {mode}")
        if mode != "LEAF" and not 0 <= feature < width:
            raise UnreadableError(f"its trees test feature {feature} of {width}")
        test = None if mode == "LEAF" else Comparison(int(feature), _RELATIONS[mode], value)
        found[tree, number] = _Node(test, (tree, yes), (tree, no))
    return found


def _ways(nodes: Mapping[_Name, _Node]) -> Iterator[list[tuple[_Name, tuple[tuple[Comparison, bool], ...]]]]:
    """For every tree its leaves with the tests on the way to them, the true branch of a node first."""
    below = {name for node in nodes.values() if node.test is not None for name in (node.yes, node.no)}
    roots = [name for name in nodes if name not in below]
    if not roots or len(roots) != len({tree for tree, _ in nodes}) or not below <= nodes.keys():
        raise UnreadableError("its nodes do not make trees with one root each")
    reached, literals = 0, 0
    for root in roots:
        leaves = []
        stack: list[tuple[_Name, tuple[tuple[Comparison, bool], ...]]] = [(root, ())]
        while stack:
            name, way = stack.pop()
            node = nodes[name]
            reached += 1
            if reached > len(nodes):
                raise UnreadableError("its nodes do not make trees: some node is below two others")
            if node.test is None:
                leaves.append((name, way))
                literals += len(way)
                if literals > _MOST_LITERALS:
                    raise TooLargeError(f"more than {_MOST_LITERALS} tests on the ways to its leaves")
                continue
            stack.append((node.no, (*way, (node.test, False))))
            stack.append((node.yes, (*way, (node.test, True))))
        yield leaves
    if reached != len(nodes):
        raise UnreadableError("its nodes do not make trees: some node cannot be reached")


def _listed(call: NodeCall, attribute: str) -> list[Any]:
    return list(call.attribute(attribute, None) or [])


def _numbers(call: NodeCall, attribute: str) -> list[Fraction]:
    """Floats of the file, exactly; newer files may hold them as a tensor of doubles."""
    tensor = call.attribute(f"{attribute}_as_tensor", None)
    listed = call.attribute(attribute, None) if tensor is None else np.asarray(tensor).ravel().tolist()
    return [_finite(value) for value in listed or []]


def _finite(value: float) -> Fraction:
    if not np.isfinite(value):
        raise UnreadableError(f"it holds the number {value}")
    return Fraction(value)


HANDLERS: Handlers = {(_ML, "TreeEnsembleRegressor"): _tree_regressor}
