"""Operators of ai.onnx.ml as scikit-learn pipelines export them: scalers, linear models, class tables."""

from __future__ import annotations

from fractions import Fraction
from functools import reduce
from math import prod

import numpy as np

from fairdsl.models.basis import Affine, Dense, add, apply, take
from fairdsl.models.onnx_import.arithmetic import plus, times
from fairdsl.models.onnx_import.columns import in_order, keys_of
from fairdsl.models.onnx_import.labels import looked_up
from fairdsl.models.onnx_import.shaping import embedded
from fairdsl.models.onnx_import.values import (
    Constant,
    Handlers,
    Labelled,
    NodeCall,
    Probabilities,
    Unread,
    UnreadableError,
    Value,
    rearrange,
)
from fairdsl.models.onnx_import.written import Columns, above, classes, columns_of, floats, highest, written

_ML = "ai.onnx.ml"
#: By so much weights of a file may miss the sum of 1 that they represent.
_ROUNDED = 1e-4


def _scaler(call: NodeCall) -> Value:
    """``(x - offset) * scale``."""
    value = call.affine(0)
    offset, factor = floats(call, "offset"), floats(call, "scale")
    if offset.size:
        value = plus(call, value, Affine.constant(-offset))
    return times(value, factor) if factor.size else value


def _linear_sums(call: NodeCall, rows: int) -> Affine:
    value = call.affine(0)
    coefficients = floats(call, "coefficients")
    if rows == 0 or coefficients.size != rows * value.size:
        raise UnreadableError(
            f"it has {coefficients.size} coefficients for {rows} sums of {value.size} numbers each, and does not run",
            "a stack of decision functions is exported so: give `check` the estimator itself",
        )
    sums = apply(coefficients.reshape(rows, value.size), value, (1, rows), call.basis)
    intercepts = floats(call, "intercepts")
    if intercepts.size not in (0, rows):
        raise UnreadableError(f"it has {intercepts.size} intercepts for {rows} sums")
    return plus(call, sums, Affine.constant(intercepts[None, :])) if intercepts.size else sums


def _linear_regressor(call: NodeCall) -> Value:
    sums = _linear_sums(call, int(call.attribute("targets", 1)))
    return written(call, sums, columns_of(sums))


def linear_classifier(call: NodeCall) -> list[Value]:
    """Both outputs of a LinearClassifier: the label and the (transformed) scores.

    It has as many rows of coefficients as intercepts. With one row and two classes the label is the second class
    where the sum is positive.
    """
    labels = classes(call, "classlabels_ints")
    rows = floats(call, "intercepts").size
    if rows == 0:
        raise UnreadableError("it has no intercepts, and onnxruntime takes their number for that of its rows")
    if len(labels) < 2 or rows not in ((1, 2) if len(labels) == 2 else (len(labels),)):
        raise UnreadableError(f"it has {rows} rows of coefficients for {len(labels)} classes")
    sums = _linear_sums(call, rows)
    if rows == 1:
        return [above(call, sums, Fraction(0), labels), written(call, sums, Columns.SHARES)]
    return [highest(call, sums, labels), written(call, sums, Columns.SEVERAL)]


def _array_feature_extractor(call: NodeCall) -> Value:
    """Columns of the last axis; with a class as position, the class table of exporters."""
    positions = call.value(1)
    if isinstance(positions, Labelled):
        table = call.constant(0, "the table of classes")
        return looked_up(call, positions, table, -1, (1, 1), from_the_end=False)
    source = call.value(0)
    if isinstance(source, Constant) and isinstance(positions, Affine) and not source.text:
        rows = np.moveaxis(np.atleast_2d(source.numbers), -1, 0)
        found = embedded(call, rows, take(positions, np.arange(positions.size)), 0)
        return rearrange(found, lambda moved: np.moveaxis(moved, 0, -1))
    columns = np.array(call.constant(1, "the columns").integers, dtype=np.int64)
    return rearrange(call.value(0), lambda source: np.atleast_2d(source)[..., columns])


def _zip_map(call: NodeCall) -> Value:
    """Probabilities with their classes' names; onnxruntime gives the columns in the order of the names."""
    value = call.value(0)
    names = keys_of(call.node.attributes)
    if isinstance(value, Unread):
        return value
    if len(set(names)) != prod(value.shape) or len(names) != prod(value.shape):
        raise UnreadableError(f"it has {len(set(names))} names for {prod(value.shape)} columns")
    if isinstance(value, Affine) and _sums_to_one(call, value):
        value = Probabilities(value)
    return rearrange(value, lambda columns: columns.reshape(1, -1)[:, in_order(names)])


def _sums_to_one(call: NodeCall, value: Affine) -> bool:
    """Whether the columns are shares of 1 but for the rounding of weights: averages of probabilities."""
    columns = [take(value, np.array([place])) for place in range(value.size)]
    total = reduce(lambda left, right: add(left, right, call.basis), columns)
    factors = [part.matrix if isinstance(part, Dense) else part.scale[part.units >= 0] for part in total.parts.values()]
    off = sum(float(np.abs(numbers.astype(np.float64)).sum()) for numbers in factors)
    return abs(float(total.bias[0]) - 1) + off < _ROUNDED


HANDLERS: Handlers = {
    (_ML, "Scaler"): _scaler,
    (_ML, "LinearRegressor"): _linear_regressor,
    (_ML, "ArrayFeatureExtractor"): _array_feature_extractor,
    (_ML, "ZipMap"): _zip_map,
}
