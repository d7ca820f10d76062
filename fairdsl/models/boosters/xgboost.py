"""XGBoost's own models: JSON, or the same document in binary (UBJ).

A test is ``x < threshold`` of the float32 next to x, of a category "none of these": both lead to the left. Thresholds
and leaves are float32 numbers, written in as many digits as tell them apart; `base_score` is a probability where the
objective is logistic, of which the library takes the float32 logit. Of `binary:logitraw` it is the sum itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from fairdsl.ir.expr import Relation
from fairdsl.models.boosters.forest import (
    Ending,
    Forest,
    Label,
    Leaf,
    Node,
    Split,
    UnreadBoosterError,
    of_nearest_float32,
)
from fairdsl.models.graph import MISSING
from fairdsl.source.json_text import read_json

#: What becomes of the sums, by the objective; `None`: nothing that a threshold of the sum does not say.
_ENDINGS = {
    "binary:logistic": Ending.LOGISTIC,
    "reg:logistic": Ending.LOGISTIC,
    "binary:logitraw": Ending.SCORE,
    "multi:softprob": Ending.SOFTMAX,
    "multi:softmax": Ending.SOFTMAX,
    "reg:squarederror": Ending.SCORE,
    "reg:linear": Ending.SCORE,
    "reg:absoluteerror": Ending.SCORE,
    "reg:pseudohubererror": Ending.SCORE,
    "reg:quantileerror": Ending.SCORE,
    "rank:pairwise": Ending.SCORE,
    "rank:ndcg": Ending.SCORE,
    "rank:map": Ending.SCORE,
}
#: Nearer to 0 or 1 than this, some versions of the library take another base score than the file says.
_NEAREST = np.float32(1e-6)
#: Before this version the library took the base score of `binary:logitraw` for a probability.
_RAW_SINCE = (1, 4)


def read_xgboost(document: Mapping[str, Any]) -> Forest:
    """The forest of the document. Raises UnreadBoosterError, and what damaged documents raise."""
    learner = document["learner"]
    objective = learner["objective"]["name"]
    if objective not in _ENDINGS:
        raise UnreadBoosterError(f"its objective is `{objective}`, and {', '.join(sorted(_ENDINGS))} are read")
    booster, weights = learner["gradient_booster"], None
    if booster["name"] == "dart":
        booster, weights = booster["gbtree"], [float(weight) for weight in booster["weight_drop"]]
    if booster["name"] != "gbtree":
        raise UnreadBoosterError(f"its booster is `{booster['name']}`, and trees are read (gbtree, dart)")
    model, parameters = booster["model"], learner["learner_model_param"]
    if int(parameters.get("num_target", "1")) > 1:
        raise UnreadBoosterError("it has several targets")
    columns = max(int(parameters.get("num_class", "0")), 1)
    width = int(parameters["num_feature"])
    _check_all_trees(learner, _rounds(model, columns))
    if objective == "binary:logitraw" and tuple(document.get("version", ())) < _RAW_SINCE:
        raise UnreadBoosterError(
            "versions before 1.4 take the base score of `binary:logitraw` for a probability, later ones for the sum "
            "itself; save it again with the version that predicts"
        )
    categories = _categories(model.get("cats"), width)
    trees = []
    for place, (tree, column) in enumerate(zip(model["trees"], model["tree_info"], strict=True)):
        weight = 1.0 if weights is None else weights[place]
        trees.append(_tree(tree, int(column), np.float32(weight), categories))
    return Forest(
        library="XGBoost",
        width=width,
        names=tuple(learner.get("feature_names") or ()),
        trees=trees,
        base=_base(parameters["base_score"], columns, objective),
        ending=_ENDINGS[objective],
        categories=categories,
        strict=True,
    )


def _rounds(model: Mapping[str, Any], columns: int) -> int:
    """How often it was boosted: each round adds `num_parallel_tree` trees to each column."""
    borders = model.get("iteration_indptr")
    if borders:
        return len(borders) - 1
    parallel = max(int(model.get("gbtree_model_param", {}).get("num_parallel_tree", "1")), 1)
    return len(model["trees"]) // (columns * parallel)


def _check_all_trees(learner: Mapping[str, Any], rounds: int) -> None:
    best = learner.get("attributes", {}).get("best_iteration")
    if best is not None and int(best) + 1 < rounds:
        raise UnreadBoosterError(
            f"training stopped early: scikit-learn's predict takes {int(best) + 1} of its {rounds} rounds, "
            f"and the library's own takes all; save `booster[:{int(best) + 1}]`"
        )


def _base(written: str, columns: int, objective: str) -> tuple[Fraction, ...]:
    listed = read_json(written)
    scores = [np.float32(score) for score in (listed if isinstance(listed, list) else [listed])]
    scores = scores * columns if len(scores) == 1 else scores
    if len(scores) != columns:
        raise UnreadBoosterError(f"it has {len(scores)} base scores for {columns} sums")
    if objective in ("binary:logistic", "reg:logistic"):
        one = np.float32(1)
        if not all(_NEAREST <= score <= one - _NEAREST for score in scores):
            raise UnreadBoosterError(f"its base score is not a probability between {_NEAREST} and 1 - {_NEAREST}")
        scores = [-np.log(one / score - one) for score in scores]
    return tuple(Fraction(float(score)) for score in scores)


def _categories(written: Mapping[str, Any] | None, width: int) -> dict[int, tuple[Label, ...]]:
    """The categories of features by their codes, where the file holds what the library was given."""
    if not written or not written.get("enc"):
        return {}
    found: dict[int, tuple[Label, ...]] = {}
    for feature, entry in enumerate(written["enc"][:width]):
        values, offsets = entry.get("values") or [], entry.get("offsets")
        if not values:
            continue
        if offsets:
            content = bytes(int(value) % 256 for value in values)
            pairs = pairwise(offsets)
            found[feature] = tuple(content[start:end].decode("utf-8") for start, end in pairs)
        else:
            found[feature] = tuple(int(value) for value in values)
    return found


def _tree(tree: Mapping[str, Any], column: int, weight: np.float32, categories: Mapping[int, Sequence[Label]]) -> Node:
    if int(tree["tree_param"].get("size_leaf_vector", "1")) > 1:
        raise UnreadBoosterError("its leaves hold several numbers each (`multi_strategy`)")
    left, right, kinds = tree["left_children"], tree["right_children"], tree.get("split_type")
    sets, to_the_left = _sets(tree), tree["default_left"]
    built: dict[int, Node] = {}
    for node in _leaves_first(left, right):
        if left[node] < 0:
            built[node] = Leaf(((column, float(np.float32(tree["split_conditions"][node]) * weight)),))
            continue
        feature, first, second = int(tree["split_indices"][node]), built[left[node]], built[right[node]]
        if kinds and int(kinds[node]) == 1:
            names = categories.get(feature)
            codes = sets[node]
            members = frozenset(codes if names is None else [names[code] for code in codes if code < len(names)])
            if not to_the_left[node]:
                members |= {MISSING}
            built[node] = Split(feature, Relation.GT, 0.5, members, second, first)
        else:
            test = of_nearest_float32(Relation.LT, np.float32(tree["split_conditions"][node]))
            built[node] = Split(feature, *test, None, first, second, bool(to_the_left[node]))
    return built[0]


def _sets(tree: Mapping[str, Any]) -> dict[int, list[int]]:
    """The categories that lead to the right, by the node."""
    keys = ("categories_nodes", "categories_segments", "categories_sizes")
    nodes, starts, sizes = (tree.get(key) or [] for key in keys)
    listed = tree.get("categories") or []
    return {
        int(node): [int(code) for code in listed[start : start + size]]
        for node, start, size in zip(nodes, starts, sizes, strict=True)
    }


def _leaves_first(left: Sequence[int], right: Sequence[int]) -> list[int]:
    """The nodes below the root, each after those below it. Raises UnreadBoosterError where they are not a tree."""
    order, waiting = [], [0]
    while waiting:
        node = waiting.pop()
        order.append(node)
        if len(order) > len(left):
            raise UnreadBoosterError("its nodes are not a tree")
        if left[node] >= 0:
            waiting += [int(left[node]), int(right[node])]
    return order[::-1]
