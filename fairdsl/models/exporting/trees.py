"""Nodes for boosters: the trees that their own files hold, and those of scikit-learn that ask for categories.

Thresholds become the float32 numbers that tell the same float32 features apart, and leaves are rounded to float32
once. Whether a category is one of a set is a column of its own behind the others, 0 or 1, which the trees test.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import chain, groupby
from typing import Any

import numpy as np

from fairdsl.ir.expr import Relation
from fairdsl.models.boosters import LIBRARIES, forest_of
from fairdsl.models.boosters.forest import Ending, Forest, Label, Leaf, Node, Split, UnreadBoosterError
from fairdsl.models.exporting.histograms import forest_of_histograms, has_categories
from fairdsl.models.exporting.nodes import Nodes
from fairdsl.models.exporting.refused import NotExportedError

_MODES = {Relation.LT: "BRANCH_LT", Relation.LE: "BRANCH_LEQ", Relation.GT: "BRANCH_GT", Relation.GE: "BRANCH_GTE"}
_NODES = tuple(f"nodes_{name}" for name in ("treeids", "nodeids", "featureids", "modes", "values", "truenodeids",
                                            "falsenodeids", "missing_value_tracks_true"))  # fmt: skip
_VOTES = tuple(f"target_{name}" for name in ("treeids", "nodeids", "ids", "weights"))
#: Set on a copy of XGBoost's estimators behind a step with a sparse matrix: what it does not store is missing to them.
ZEROS_ARE_MISSING = "_fairdsl_zeros_are_missing"
_MILLIONTH = 2.0**-20
#: A feature, some of its categories, and whether those who have none of the known ones are among them.
_Set = tuple[int, frozenset[Label], bool]


def is_booster(part: Any) -> bool:
    """Whether it is an estimator of a boosting library."""
    return _library(part) in LIBRARIES


def reads_sparse(part: Any) -> bool:
    """Whether what a sparse matrix does not store is missing to it, and not 0."""
    return _library(part) == "xgboost"


def _library(part: Any) -> str:
    return type(part).__module__.partition(".")[0]


def _forest(estimator: Any) -> Forest:
    from fairdsl.models.from_frameworks import writer_of

    if has_categories(estimator):
        return forest_of_histograms(estimator)
    write = writer_of(estimator)
    assert write is not None
    return forest_of(write(), _library(estimator))


def write_trees(scope: Any, operator: Any, container: Any) -> None:
    """The sums of the trees; of a classifier the class of the highest one, and what becomes of them."""
    estimator, name = operator.raw_operator, type(operator.raw_operator).__name__
    labels, nodes = getattr(estimator, "classes_", None), Nodes(scope, container)
    try:
        forest = _forest(estimator)
        if (labels is None) != (forest.ending is Ending.SCORE):
            raise UnreadBoosterError("its objective does not fit what the estimator predicts")
        laid = _Laid(forest, getattr(estimator, ZEROS_ARE_MISSING, False))
        attributes = laid.attributes()
        row = _row_with_sets(nodes, operator.inputs, forest, laid)
    except UnreadBoosterError as problem:
        raise NotExportedError(f"`{name}`: {problem}", None) from problem
    outputs = [output.full_name for output in operator.outputs]
    sums = nodes.add("TreeEnsembleRegressor", [row], outputs[0] if labels is None else None, **attributes)
    if labels is None:
        return
    if len(forest.base) == 1:
        sums = nodes.add("Concat", [nodes.add("Neg", [sums]), sums], axis=1)
    chosen_class(nodes, sums, np.asarray(labels), outputs[0])
    if forest.ending is Ending.SOFTMAX:
        nodes.add("Softmax", [sums], outputs[1], axis=1)
    else:
        nodes.add("Sigmoid", [sums], outputs[1])


def chosen_class(nodes: Nodes, sums: str, labels: Any, output: str) -> None:
    """The class of the highest number, the first in a tie."""
    place = nodes.add("ArgMax", [sums], axis=1, keepdims=0)
    chosen = nodes.add("ArrayFeatureExtractor", [nodes.stored(labels), place])
    nodes.add("Reshape", [chosen, nodes.stored(np.array([-1]))], output)


def _row_with_sets(nodes: Nodes, inputs: Any, forest: Forest, laid: _Laid) -> str:
    """All numbers side by side, and behind them the sets that nodes ask for. Raises UnreadBoosterError."""
    texts = [feature for feature in range(forest.width) if forest.is_text(feature)]
    alone = len(inputs) == forest.width  # else they are behind other steps, which make numbers of them
    if laid.sets and (forest.library == "XGBoost" or (texts and not alone)):
        raise UnreadBoosterError("it has categories of its own, behind other steps")
    names = {feature: inputs[feature].full_name for feature in texts if alone}
    numbers = [each.full_name for place, each in enumerate(inputs) if place not in names]
    row = nodes.row(numbers) if numbers else ""
    pieces = [row] if row else []
    for feature, found in groupby(laid.sets, key=lambda each: each[0]):
        sets = list(found)
        # Of a category by numbers a library's file lists those alone that are asked for.
        known = forest.categories.get(feature) or sorted({*chain(*(members for _, members, _ in sets))}, key=str)
        if feature in names:
            spread = nodes.add("OneHotEncoder", [names[feature]], cats_strings=list(known), zeros=1)
            hot = nodes.add("Reshape", [spread, nodes.stored(np.array([-1, len(known)]))])
        else:
            column = nodes.add("Gather", [row, nodes.stored(np.array([laid.places[feature]]))], axis=1)
            codes = nodes.stored(np.array(known, dtype=np.float32)[None, :])
            hot = nodes.cast(nodes.add("Equal", [column, codes]))
        wanted = [(members, float(others)) for _, members, others in sets]
        steps = np.array([[float(label in members) - others for members, others in wanted] for label in known])
        summed = nodes.add("MatMul", [hot, nodes.stored(steps.astype(np.float32))])
        start = np.array([[others for _, others in wanted]], dtype=np.float32)
        pieces.append(nodes.add("Add", [summed, nodes.stored(start)]))
    return pieces[0] if len(pieces) == 1 else nodes.add("Concat", pieces, axis=1)


class _Laid:
    """A forest as the attributes of a node of trees.

    ``places`` are the columns of features that are numbers; behind them comes one for each of ``sets``: a feature,
    some of its categories, and whether all others than those that it knows are among them.
    """

    def __init__(self, forest: Forest, zeros_are_missing: bool) -> None:
        """With ``zeros_are_missing`` whoever has 0 goes where whoever has nothing goes."""
        self.forest, self.zeros_are_missing = forest, zeros_are_missing
        numbers = [feature for feature in range(forest.width) if not forest.is_text(feature)]
        self.places = {feature: place for place, feature in enumerate(numbers)}
        asked = {found for tree in forest.trees for found in _sets(tree)}
        listed = sorted(asked, key=lambda each: (each[0], each[2], sorted(map(str, each[1]))))
        self.sets = {found: len(numbers) + place for place, found in enumerate(listed)}
        self.factor = float(forest.factor)
        if forest.average and forest.trees:
            self.factor *= len(forest.base) / len(forest.trees)
        self.nodes: dict[str, list[Any]] = {name: [] for name in _NODES}
        self.votes: dict[str, list[Any]] = {name: [] for name in _VOTES}

    def attributes(self) -> dict[str, Any]:
        """Those of the operator. Raises UnreadBoosterError where no node says it."""
        for tree, root in enumerate(self.forest.trees):
            self._lay(tree, root)
        base = [float(number * self.forest.factor) for number in self.forest.base]
        return {**self.nodes, **self.votes, "base_values": base, "n_targets": len(base), "post_transform": "NONE"}

    def _lay(self, tree: int, root: Node) -> None:
        waiting, count = [(root, 0)], 1
        while waiting:
            node, place = waiting.pop()
            if isinstance(node, Leaf):
                self._add(self.nodes, (tree, place, 0, "LEAF", 0.0, 0, 0, 0))
                for column, weight in node.votes:
                    self._add(self.votes, (tree, place, column, weight * self.factor))
                continue
            yes, no, mode = node.yes, node.no, _MODES[node.relation]
            if node.members is None:
                feature, limit = self.places[node.feature], self._limit(node)
            else:
                feature, limit = self.sets[node.feature, node.members, node.missing], 0.5
            if self.zeros_are_missing and node.relation.compares(Fraction(0), Fraction(limit)) != node.missing:
                # The test stays for whoever has another number than 0, and nobody else gets there.
                again = replace(node, missing=not node.missing)
                yes, no, mode, limit = node.yes if node.missing else node.no, again, "BRANCH_EQ", 0.0
            missing = int(node.missing or mode == "BRANCH_EQ")
            self._add(self.nodes, (tree, place, feature, mode, limit, count, count + 1, missing))
            waiting += [(yes, count), (no, count + 1)]
            count += 2

    def _limit(self, node: Split) -> float:
        """The threshold, as a float32 number.

        XGBoost's lie on numbers that it was trained on, and a file computes features in float32. So that rounding does
        not tell those apart whom the library does not, theirs are a millionth lower. Those of histograms may lie on
        such numbers as well, which scikit-learn compares in float64: both are rounded alike.
        """
        if self.forest.library == "scikit-learn":
            return float(np.float32(node.threshold))
        limit = _float32(node.relation, node.threshold)
        if self.forest.library != "XGBoost":
            return limit
        return float(np.float32(limit - _MILLIONTH * max(abs(limit), 1.0)))

    @staticmethod
    def _add(columns: dict[str, list[Any]], row: tuple[Any, ...]) -> None:
        for column, entry in zip(columns.values(), row, strict=True):
            column.append(entry)


def _sets(tree: Node) -> Iterator[_Set]:
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, Split):
            waiting += [node.yes, node.no]
            if node.members is not None:
                yield node.feature, node.members, node.missing


def _float32(relation: Relation, threshold: float) -> float:
    """The threshold that tells the same float32 numbers apart, as a float32 number."""
    with np.errstate(over="ignore"):
        near = np.float32(threshold)
    up = relation in (Relation.LT, Relation.GE)
    if (float(near) < threshold) if up else (float(near) > threshold):
        near = np.nextafter(near, np.float32("inf" if up else "-inf"))
    return float(near)
