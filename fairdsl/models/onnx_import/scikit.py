"""Operators of ai.onnx.ml as scikit-learn pipelines export them: scalers, linear models, class tables."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from fairdsl.models import exact
from fairdsl.models.basis import Affine, apply, scale, take
from fairdsl.models.onnx_import.activations import softmax
from fairdsl.models.onnx_import.arithmetic import plus, times
from fairdsl.models.onnx_import.shaping import relabel
from fairdsl.models.onnx_import.values import (
    Handlers,
    Labelled,
    Logistic,
    NodeCall,
    UnreadableError,
    Value,
    rearrange,
)

__all__ = ["HANDLERS", "above", "linear_classifier", "squashed"]

_ML = "ai.onnx.ml"


def _floats(call: NodeCall, attribute: str) -> exact.Array:
    """A float attribute as a vector (protobuf hands float32 over as float64, exactly)."""
    listed = call.attribute(attribute, None)
    return np.array([] if listed is None else listed, dtype=np.float64)


def _scaler(call: NodeCall) -> Value:
    """``(x - offset) * scale``."""
    value = call.affine(0)
    offset, factor = _floats(call, "offset"), _floats(call, "scale")
    if offset.size:
        value = plus(call, value, Affine.constant(-offset))
    return times(value, factor) if factor.size else value


def _linear_scores(call: NodeCall, rows: int) -> Affine:
    value = call.affine(0)
    coefficients = _floats(call, "coefficients")
    if rows == 0 or coefficients.size != rows * value.size:
        raise UnreadableError(f"it has {coefficients.size} coefficients for {value.size} numbers")
    scores = apply(coefficients.reshape(rows, value.size), value, (1, rows), call.basis)
    intercepts = _floats(call, "intercepts")
    return plus(call, scores, Affine.constant(intercepts[None, :])) if intercepts.size else scores


def squashed(call: NodeCall, scores: Affine) -> Value:
    """The scores after the node's `post_transform`."""
    transform = call.attribute("post_transform", "NONE")
    if transform == "NONE":
        return scores
    if transform == "LOGISTIC":
        return Logistic.of(scores, call.basis)
    if transform == "SOFTMAX":
        return softmax(call, scores)
    raise UnreadableError(f"its scores go through `post_transform` {transform}")


def _linear_regressor(call: NodeCall) -> Value:
    return squashed(call, _linear_scores(call, int(call.attribute("targets", 1))))


def linear_classifier(call: NodeCall) -> list[Value]:
    """Both outputs of a LinearClassifier: the label and the (transformed) scores.

    With one row of coefficients and two classes the label is the second class where the score is
    positive, and the file's score output gets a second column.
    """
    labels = call.attribute("classlabels_ints", None) or call.attribute("classlabels_strings", None) or []
    intercepts = _floats(call, "intercepts")
    rows = intercepts.size or max(_floats(call, "coefficients").size // max(call.affine(0).size, 1), 1)
    scores = _linear_scores(call, rows)
    if rows == 1 and len(labels) == 2:
        if call.attribute("post_transform", "NONE") == "SOFTMAX":
            raise UnreadableError("it takes the softmax of a single score")
        both = scale(take(scores, np.zeros((1, 2), dtype=np.int64)), np.array([-1.0, 1.0]))
        return [above(call, scores, Fraction(0), tuple(labels)), squashed(call, both)]
    if rows != len(labels) or rows < 2:
        raise UnreadableError(f"it has {rows} rows of coefficients for {len(labels)} classes")
    return [Labelled(scores, tuple(labels), (1,)), squashed(call, scores)]


def above(call: NodeCall, score: Affine, threshold: Fraction, labels: tuple[int | str, ...]) -> Labelled:
    """The second class where the single score exceeds the threshold, else the first."""
    shifted = plus(call, score, Affine.constant(exact.from_rationals(np.array([-threshold], dtype=object))))
    pair = take(shifted, np.zeros((1, 2), dtype=np.int64))
    return Labelled(scale(pair, np.array([0.0, 1.0])), labels, (1,))


def _array_feature_extractor(call: NodeCall) -> Value:
    """Columns of the last axis; with a class as position, the class table of exporters."""
    positions = call.value(1)
    if isinstance(positions, Labelled):
        chosen = relabel(positions, call.constant(0, "the table of classes"))
        return Labelled(chosen.scores, chosen.labels, (1, 1), chosen.ties_last)
    columns = np.array(call.constant(1, "the columns").integers, dtype=np.int64)
    return rearrange(call.value(0), lambda source: np.atleast_2d(source)[..., columns])


def _zip_map(call: NodeCall) -> Value:
    """Probabilities with their classes' names; the numbers stay as they are."""
    return call.value(0)


HANDLERS: Handlers = {
    (_ML, "Scaler"): _scaler,
    (_ML, "LinearRegressor"): _linear_regressor,
    (_ML, "ArrayFeatureExtractor"): _array_feature_extractor,
    (_ML, "ZipMap"): _zip_map,
}
