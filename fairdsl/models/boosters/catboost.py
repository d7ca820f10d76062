"""CatBoost's own models as JSON: oblivious trees, which ask one thing on each level, and trees of other shapes.

A test is ``x > border`` of the float32 next to x, of a category whether it is a certain one (its hash is stored, and
beside it its text). Of an oblivious tree the first test is the lowest bit of the leaf's number.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
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

_ENDINGS = {
    "Logloss": Ending.LOGISTIC,
    "CrossEntropy": Ending.LOGISTIC,
    "MultiClass": Ending.SOFTMAX,
    "MultiClassOneVsAll": Ending.LOGISTIC,
    "RMSE": Ending.SCORE,
    "MAE": Ending.SCORE,
    "Quantile": Ending.SCORE,
    "Huber": Ending.SCORE,
    "MAPE": Ending.SCORE,
}
_DEEPEST = 16


def read_catboost(document: Mapping[str, Any]) -> Forest:
    """The forest of the document. Raises UnreadBoosterError, and what damaged documents raise."""
    info = document["model_info"]
    loss = info.get("params", {}).get("loss_function", {}).get("type", "")
    if loss not in _ENDINGS:
        raise UnreadBoosterError(f"its loss is `{loss or 'not said'}`, and {', '.join(sorted(_ENDINGS))} are read")
    if document.get("ctr_data"):
        raise UnreadBoosterError(
            "it computes statistics of categories (CTR); train with `one_hot_max_size=255`, which compares categories "
            "one by one, or encode them in steps before it"
        )
    factor, base = document["scale_and_bias"]
    features = _Features(document["features_info"])
    columns = len(base)
    trees = [_oblivious(tree, columns, features) for tree in document.get("oblivious_trees") or ()]
    trees += [_free(tree, features, 0) for tree in document.get("trees") or ()]
    ending = _ENDINGS[loss]
    return Forest(
        library="CatBoost",
        width=features.width,
        names=features.names,
        trees=trees,
        base=tuple(Fraction(float(number)) / Fraction(float(factor)) for number in base),
        ending=ending,
        categories=features.categories,
        labels=tuple(info.get("class_params", {}).get("class_names", ())) if ending is not Ending.SCORE else (),
        factor=Fraction(float(factor)),
    )


class _Features:
    """The features in the order of the columns that the library was given."""

    def __init__(self, info: Mapping[str, Any]) -> None:
        for kind in ("text_features", "embedding_features"):
            if info.get(kind):
                raise UnreadBoosterError(f"it has `{kind}`")
        numbers, categories = info.get("float_features") or [], info.get("categorical_features") or []
        self.width = len(numbers) + len(categories)
        self.missing = {
            int(item["feature_index"]): item.get("nan_value_treatment", "AsIs") == "AsTrue" for item in numbers
        }
        self.number = {int(item["feature_index"]): int(item["flat_feature_index"]) for item in numbers}
        self.category = {int(item["feature_index"]): int(item["flat_feature_index"]) for item in categories}
        named = {int(item["flat_feature_index"]): _name(item) for item in [*numbers, *categories]}
        names = tuple(named[place] for place in range(self.width))
        self.names = names if all(names) and not all(name == str(place) for place, name in enumerate(names)) else ()
        self.text_of = {int(entry["hash"]): str(entry["value"]) for entry in info.get("cat_features_hash") or ()}
        texts: tuple[Label, ...] = tuple(self.text_of.values())
        if categories and (not texts or not self.names):
            raise UnreadBoosterError(
                "it does not hold the texts of its categories; save it with `pool=`, and name the columns"
            )
        self.categories = dict.fromkeys(self.category.values(), texts)

    def split(self, written: Mapping[str, Any], yes: Node, no: Node) -> Split:
        """The test of a number or a category."""
        match written["split_type"]:
            case "FloatFeature":
                number = int(written["float_feature_index"])
                test = of_nearest_float32(Relation.GT, np.float32(written["border"]))
                return Split(self.number[number], *test, None, yes, no, self.missing[number])
            case "OneHotFeature":
                feature = self.category[int(written["cat_feature_index"])]
                code = int(written["value"])
                text = self.text_of.get(code, self.text_of.get(code % 2**32))
                if text is None:
                    raise UnreadBoosterError("it compares a category whose text it does not hold; save it with `pool=`")
                return Split(feature, Relation.GT, 0.5, frozenset({text}), yes, no)
            case other:
                raise UnreadBoosterError(f"it has tests of the kind `{other}`")


def _name(item: Mapping[str, Any]) -> str:
    return str(item.get("feature_name") or item.get("feature_id") or "")


def _oblivious(tree: Mapping[str, Any], columns: int, features: _Features) -> Node:
    splits, values = tree.get("splits") or [], tree["leaf_values"]
    if len(splits) > _DEEPEST or len(values) != columns << len(splits):
        raise UnreadBoosterError(f"a tree of {len(splits)} levels has {len(values)} numbers in its leaves")
    nodes: list[Node] = [_leaf(values[place : place + columns]) for place in range(0, len(values), columns)]
    for written in splits:  # the lowest bit tells neighbours apart
        nodes = [features.split(written, nodes[place + 1], nodes[place]) for place in range(0, len(nodes), 2)]
    return nodes[0]


def _free(tree: Mapping[str, Any], features: _Features, depth: int) -> Node:
    if depth > 64:
        raise UnreadBoosterError("a tree is too deep")
    if "split" not in tree:
        values = tree["value"]
        return _leaf(values if isinstance(values, list) else [values])
    left, right = (_free(tree[side], features, depth + 1) for side in ("left", "right"))
    return features.split(tree["split"], right, left)


def _leaf(values: Sequence[float]) -> Leaf:
    return Leaf(tuple((column, float(value)) for column, value in enumerate(values)))
