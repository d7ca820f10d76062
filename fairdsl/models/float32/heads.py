"""Linear models of ai.onnx.ml, and what is made of the scores of a model: probabilities, a second column.

As onnxruntime does it, which the tests hold against it: of one score and two labels the columns are ``1 - s`` and
``s``, or the logistic function of ``-s`` and ``s``; of one target alone no transformation is made.
"""

from __future__ import annotations

import numpy as np

from fairdsl.models.float32.arithmetic import less, negated
from fairdsl.models.float32.call import ML, Call, Handlers
from fairdsl.models.float32.choosing import above, flat, highest
from fairdsl.models.float32.curves import logistic, softmax
from fairdsl.models.float32.moving import side_by_side
from fairdsl.models.float32.products import linear_scores
from fairdsl.models.float32.values import NoBoundError, Rounded, Value, constant


def labels_of(call: Call, whole: str = "classlabels_ints") -> tuple[int | str, ...]:
    """The labels of a classifier."""
    return tuple(call.attribute(whole, None) or call.attribute("classlabels_strings", None) or ())


def transformed(scores: Rounded, transform: str) -> Rounded:
    """Two scores and more after the transformation."""
    match transform:
        case "NONE":
            return scores
        case "LOGISTIC":
            return logistic(scores)
        case "SOFTMAX":
            return softmax(scores)
    raise NoBoundError(f"its scores go through {transform}")


def two_columns(score: Rounded, transform: str, *, mirrored: bool) -> Rounded:
    """The two columns that stand for one score [1, 1]; ``mirrored``: -s beside s rather than 1 - s."""
    if transform == "LOGISTIC":
        return logistic(side_by_side([negated(score), score], 1))
    if transform not in ("NONE", "SOFTMAX"):
        raise NoBoundError(f"its score goes through {transform}")
    other = negated(score) if mirrored else less(constant(np.ones((1, 1), dtype=np.float32)), score)
    return side_by_side([other, score], 1)


def _linear_classifier(call: Call) -> list[Value]:
    labels, rows = labels_of(call), call.numbers("intercepts").size
    scores, transform = linear_scores(call, rows), call.attribute("post_transform", "NONE")
    if rows == 1 and len(labels) == 2:
        return [above(scores, labels), two_columns(scores, transform, mirrored=False)]
    if rows != len(labels) or rows < 2:
        raise NoBoundError(f"it has {rows} scores for {len(labels)} labels")
    return [highest(flat(scores), labels), transformed(scores, transform)]


def _linear_regressor(call: Call) -> list[Value]:
    targets = int(call.attribute("targets", 1))
    scores, transform = linear_scores(call, targets), call.attribute("post_transform", "NONE")
    if targets == 1 and transform == "PROBIT":
        raise NoBoundError("its score goes through PROBIT")
    return [scores if targets == 1 else transformed(scores, transform)]


HANDLERS: Handlers = {
    (ML, "LinearClassifier"): _linear_classifier,
    (ML, "LinearRegressor"): _linear_regressor,
}
