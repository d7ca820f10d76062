"""Which features a file's output can depend on, whatever they are: through which numbers it computes with them.

Individuals who differ only in other features are computed alike, number by number, so the file cannot tell them apart.
A product with a stored 0 is 0 for every finite number, so a feature that is weighed with 0 everywhere does not count. A
feature whose influence cancels only in real arithmetic does: the runtime rounds it on each way.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from fairdsl.models.float32 import moving
from fairdsl.models.float32.call import ML, Call
from fairdsl.models.float32.smooth import SMOOTH
from fairdsl.models.float32.values import NoBoundError, Rounded, Value, aligned, constant
from fairdsl.models.onnx_import.file import RawGraph, RawNode

Floats = NDArray[np.float64]

#: Operators on each number of the first input alone; further inputs are stored.
_ELEMENTWISE = {
    ("", name)
    for name in ("Relu", "LeakyRelu", "PRelu", "Clip", "HardSigmoid", "Abs", "Neg", "Sigmoid", "Tanh", "Cast", *SMOOTH)
} | {(ML, name) for name in ("Scaler", "Binarizer", "LabelEncoder", "Imputer")}
#: Operators that combine the numbers at the same place of all inputs.
_TOGETHER = {
    ("", name)
    for name in ("Add", "Sub", "Sum", "Max", "Min", "Div", "Greater", "Less", "GreaterOrEqual", "LessOrEqual")
}
_MOVING = set(moving.HANDLERS) - {("", "Cast"), (ML, "Imputer")}


def features_read(
    raw: RawGraph, output: str, bounds: Mapping[str, Rounded], widths: Mapping[str, int]
) -> Mapping[str, NDArray[np.bool_]]:
    """Of each input's features, [width]: whether the output can depend on them.

    ``bounds`` are what is known of every tensor: a weight of 0 is nothing only where the runtime has finite numbers.
    """
    total = sum(widths.values())
    values: dict[str, Value] = dict(raw.constants)
    start = 0
    for item in raw.inputs:
        width = widths.get(item.name, 0)
        bound = bounds.get(item.name)
        if bound is not None and bound.size == width:
            touched = np.zeros((total, width))
            touched[start : start + width] = np.eye(width)
            values[item.name] = _traced(touched.reshape(total, *bound.shape))
        start += width
    for node in raw.nodes:
        _follow(node, values, bounds, total)
    found = values.get(output)
    reached = np.ones(total, dtype=np.bool_)
    if isinstance(found, Rounded):
        reached = found.error.reshape(len(found.error), -1).any(axis=1) & np.ones(total, dtype=np.bool_)
    parts = np.split(reached, np.cumsum([widths.get(item.name, 0) for item in raw.inputs])[:-1])
    return {item.name: part for item, part in zip(raw.inputs, parts, strict=True)}


def _traced(touched: Floats) -> Rounded:
    """A tensor [features, ...] whose errors say which features a number depends on."""
    nothing = np.zeros(touched.shape)
    return Rounded(nothing, nothing, (touched != 0).astype(np.float64))


def _follow(node: RawNode, values: dict[str, Value], bounds: Mapping[str, Rounded], total: int) -> None:
    """One node: by what it does where that is known here, else all its outputs depend on all that its inputs do."""
    if any(name and name not in values for name in node.inputs):
        return
    call = Call(node, [values[name] if name else None for name in node.inputs])
    if not any(isinstance(value, Rounded) for value in call.inputs):
        rule: Callable[..., Sequence[Value]] | None = _stored
    else:
        rule = _rule(node)
    found: Sequence[Value] = ()
    if rule is not None:
        try:
            found = rule(call, _finite(node, bounds))
        except (NoBoundError, LookupError, TypeError, ValueError):
            found = ()
    everything = _all_of(call, total)
    for place, name in enumerate(node.outputs):
        value = found[place] if place < len(found) else None
        if value is not None and not isinstance(value, Rounded):
            values[name] = value
        elif name in bounds:
            values[name] = _fitted(value, everything, (total, *bounds[name].shape))


def _fitted(value: Rounded | None, everything: Floats, shape: tuple[int, ...]) -> Rounded:
    """The tensor in its shape; one number stands for all of them."""
    touched = everything
    if value is not None:
        count, size = len(value.error), value.size
        if (count, size) in ((shape[0], int(np.prod(shape[1:]))), (1, int(np.prod(shape[1:])))):
            return _traced(np.broadcast_to(value.error.reshape(count, *shape[1:]), shape))
        if size == 1:
            touched = np.broadcast_to(value.error.reshape(count), shape[:1])
    return _traced(np.broadcast_to(touched.reshape(shape[0], *(1,) * (len(shape) - 1)), shape))


def _all_of(call: Call, total: int) -> Floats:
    touched = np.zeros(total, dtype=np.bool_)
    for value in call.inputs:
        if isinstance(value, Rounded):
            touched |= value.error.reshape(len(value.error), -1).any(axis=1)
    return touched.astype(np.float64)


def _finite(node: RawNode, bounds: Mapping[str, Rounded]) -> bool:
    """Whether all inputs are numbers at run time: only then is a product with 0 nothing."""
    known = [bounds.get(name) for name in node.inputs if name]
    return all(
        bound is not None and all(bool(np.isfinite(part).all()) for part in (bound.low, bound.high, bound.error))
        for bound in known
    )


def _rule(node: RawNode) -> Callable[..., Sequence[Value]] | None:
    key = (node.domain, node.operator)
    if key in _ELEMENTWISE:
        return _same
    if key in _TOGETHER:
        return _together
    if key in _MOVING:
        return _moved
    return _WEIGHED.get(key)


def _stored(call: Call, finite: bool) -> Sequence[Value]:
    """Of stored tensors alone: as the file computes it, or nothing that depends on a feature."""
    del finite
    from fairdsl.models.float32.walk import HANDLERS

    found = HANDLERS[call.node.domain, call.node.operator](call)
    return [_traced(np.zeros(value.low.shape)) if isinstance(value, Rounded) else value for value in found]


def _same(call: Call, finite: bool) -> Sequence[Value]:
    del finite
    value, *others = (_as_traced(value) for value in call.inputs if value is not None)
    if any(other.error.any() for other in others):
        raise NoBoundError("it computes with more than its first input")
    return [value]


def _together(call: Call, finite: bool) -> Sequence[Value]:
    del finite
    parts = aligned(*(_as_traced(call.value(position)) for position in range(len(call.inputs))))
    touched = parts[0].error
    for part in parts[1:]:
        touched = touched + part.error
    return [_traced(touched)]


def _moved(call: Call, finite: bool) -> Sequence[Value]:
    del finite
    if any(isinstance(value, Rounded) for value in call.inputs[1:]) and call.node.operator not in (
        "Concat",
        "FeatureVectorizer",
    ):
        raise NoBoundError("it looks up a place of the individual")
    return moving.HANDLERS[call.node.domain, call.node.operator](call)


def _as_traced(value: Value) -> Rounded:
    if isinstance(value, Rounded):
        return value
    if value.dtype == object:
        raise NoBoundError("it computes with text")
    return _traced(np.zeros((1, *value.shape)))


def _weights(value: Value, finite: bool) -> Floats:
    """1 where a stored weight counts."""
    if isinstance(value, Rounded) or not finite:
        return np.ones(value.shape)
    return np.asarray(constant(value).magnitude[0] != 0, dtype=np.float64)


def _mul(call: Call, finite: bool) -> Sequence[Value]:
    left, right = call.value(0), call.value(1)
    touched = []
    for value, other in ((left, right), (right, left)):
        one = _as_traced(value)
        weights = _weights(other, finite)
        one, by = aligned(one, replace(_traced(weights[None]), low=weights[None], high=weights[None]))
        touched.append(one.error * by.error)
    return [_traced(touched[0] + touched[1])]


def _matmul(call: Call, finite: bool) -> Sequence[Value]:
    left, right = call.value(0), call.value(1)
    return [_traced(_product(left, right, finite))]


def _product(left: Value, right: Value, finite: bool) -> Floats:
    one = _as_traced(left).error @ _weights(right, finite) if isinstance(left, Rounded) else 0.0
    two = _weights(left, finite) @ _as_traced(right).error if isinstance(right, Rounded) else 0.0
    if isinstance(right, Rounded) and len(right.shape) < 2:
        raise NoBoundError("it multiplies with a vector of the individual")
    return np.asarray(one + two, dtype=np.float64)


def _gemm(call: Call, finite: bool) -> Sequence[Value]:
    sides = []
    for position, name in ((0, "transA"), (1, "transB")):
        value = call.value(position)
        if call.attribute(name, 0):
            value = _traced(np.swapaxes(value.error, -1, -2)) if isinstance(value, Rounded) else value.T
        sides.append(value)
    touched = _product(sides[0], sides[1], finite)
    if call.optional(2) is not None:
        touched = touched + aligned(_traced(touched), _as_traced(call.value(2)))[1].error
    return [_traced(touched)]


def _linear(call: Call, finite: bool) -> Sequence[Value]:
    """Scores of a linear model: alike for all outputs, but by weight for each feature."""
    value = _as_traced(call.value(0))
    weights = call.numbers("coefficients").reshape(-1, value.size)
    used = (weights != 0).any(axis=0) if finite else np.ones(value.size, dtype=np.bool_)
    return _whole(call, value, used)


def _trees(call: Call, finite: bool) -> Sequence[Value]:
    """A forest reads the features that it tests."""
    del finite
    value = _as_traced(call.value(0))
    used = np.zeros(value.size, dtype=np.bool_)
    tests = zip(call.attribute("nodes_modes", []), call.attribute("nodes_featureids", []), strict=True)
    used[[feature for mode, feature in tests if mode != "LEAF"]] = True
    return _whole(call, value, used)


def _whole(call: Call, value: Rounded, used: NDArray[np.bool_]) -> Sequence[Value]:
    touched = np.asarray((value.error.reshape(len(value.error), -1) * used).any(axis=1))
    shape = (len(touched), 1, 1)
    return [_traced(touched.astype(np.float64).reshape(shape)) for _ in call.node.outputs]


_WEIGHED: dict[tuple[str, str], Callable[..., Sequence[Value]]] = {
    ("", "Mul"): _mul,
    ("", "MatMul"): _matmul,
    ("", "Gemm"): _gemm,
    (ML, "LinearClassifier"): _linear,
    (ML, "LinearRegressor"): _linear,
    (ML, "TreeEnsembleClassifier"): _trees,
    (ML, "TreeEnsembleRegressor"): _trees,
}
