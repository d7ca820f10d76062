"""scikit-learn's histogram boosting with categories of its own, of which skl2onnx writes the codes as if they grew.

Its trees ask whether a category is one of a set; who lacks it, or has one that was not trained on, goes where the node
sends what is missing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from fairdsl.ir.expr import Relation
from fairdsl.models.boosters.forest import Ending, Forest, Label, Leaf, Node, Split, UnreadBoosterError

#: By the loss that it was trained with; others make exponentials of their sums.
_ENDINGS = {"log_loss": Ending.LOGISTIC, "squared_error": Ending.SCORE, "absolute_error": Ending.SCORE,
            "quantile": Ending.SCORE}  # fmt: skip


def has_categories(part: Any) -> bool:
    """Whether it is a fitted booster of histograms some of whose columns are categories."""
    return type(part).__name__.startswith("HistGradientBoosting") and getattr(part, "is_categorical_", None) is not None


def forest_of_histograms(estimator: Any) -> Forest:
    """Its trees over the columns as it is given them. Raises UnreadBoosterError."""
    if estimator.loss not in _ENDINGS:
        raise UnreadBoosterError(f"its loss is `{estimator.loss}`, and {', '.join(sorted(_ENDINGS))} are read")
    read = estimator._preprocessor._transformer_to_input_indices
    encoder = estimator._preprocessor.named_transformers_["encoder"]
    columns = [*read["encoder"], *read["numerical"]]
    categories = {
        column: tuple(map(_label, values)) for column, values in zip(read["encoder"], encoder.categories_, strict=True)
    }
    rounds = estimator._predictors
    trees = [_tree(predictor, 0, place, columns, categories) for each in rounds for place, predictor in enumerate(each)]
    base = np.asarray(estimator._baseline_prediction, dtype=np.float64).ravel().tolist()
    ending = _ENDINGS[estimator.loss]
    return Forest(
        library="scikit-learn",
        width=len(columns),
        names=(),
        trees=trees,
        base=tuple(map(Fraction, base)),
        ending=Ending.SOFTMAX if ending is Ending.LOGISTIC and len(base) > 1 else ending,
        categories={column: tuple(each for each in known if each is not None) for column, known in categories.items()},
    )


def _label(value: Any) -> Label | None:
    """A category; None of an empty cell, which is no category."""
    if value is None or value != value:
        return None
    if isinstance(value, str):
        return value
    if int(value) != value:
        raise UnreadBoosterError(f"it has the category {value}, and texts and whole numbers are written")
    return int(value)


def _tree(
    predictor: Any, place: int, column: int, columns: Sequence[int], categories: Mapping[int, tuple[Label | None, ...]]
) -> Node:
    node = predictor.nodes[place]
    if node["is_leaf"]:
        return Leaf(((column, float(node["value"])),))
    yes, no = (_tree(predictor, int(node[side]), column, columns, categories) for side in ("left", "right"))
    feature, missing = columns[int(node["feature_idx"])], bool(node["missing_go_to_left"])
    if not node["is_categorical"]:
        return Split(feature, Relation.LE, float(node["num_threshold"]), None, yes, no, missing)
    bits = predictor.raw_left_cat_bitsets[int(node["bitset_idx"])]
    members = frozenset(
        label
        for code, label in enumerate(categories[feature])
        if label is not None and (int(bits[code // 32]) >> code % 32) & 1
    )
    return Split(feature, Relation.GT, 0.5, members, yes, no, missing)
