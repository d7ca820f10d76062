"""Operators that bend (sums of leaky units), that curve, and that turn scores into classes."""

from __future__ import annotations

import numpy as np

from fairdsl.ir.model import Curve
from fairdsl.models import exact
from fairdsl.models.basis import Affine, add, scale, take
from fairdsl.models.exact import Array
from fairdsl.models.onnx_import.arithmetic import broadcast, broadcast_pair, negative, plus
from fairdsl.models.onnx_import.values import (
    Exponential,
    Handlers,
    Labelled,
    Logistic,
    NodeCall,
    Power,
    Softmaxed,
    UnreadableError,
    Value,
)


def _relu(call: NodeCall) -> Value:
    return call.basis.relu(call.affine(0))


def _leaky_relu(call: NodeCall) -> Value:
    value = call.affine(0)
    return _leaky(call, value, np.full(value.size, call.number("alpha", 0.01)))


def _prelu(call: NodeCall) -> Value:
    value = call.affine(0)
    slope = broadcast(Affine.constant(call.constant(1, "the slope").numbers), value.shape)
    return _leaky(call, value, slope.bias)


def _leaky(call: NodeCall, value: Affine, slope: Array) -> Affine:
    """``max(z, 0) + slope * min(z, 0)``; outside [0, 1] that is ``slope * z + (1 - slope) * relu(z)``."""
    if np.all((slope >= 0) & (slope <= 1)):
        return call.basis.bend(value, slope)
    rest = exact.add(np.ones(value.size), exact.multiply(slope, np.full(value.size, -1.0)))
    return add(scale(value, slope), scale(call.basis.relu(value), rest), call.basis)


def _clip(call: NodeCall) -> Value:
    return clip(call, call.affine(0), _limit(call, "min", 1), _limit(call, "max", 2))


def clip(call: NodeCall, value: Affine, low: Array | None, high: Array | None) -> Affine:
    """``min(max(z, low), high)``; where low > high ONNX gives high, and so does this."""
    if low is not None and high is not None:
        low = np.minimum(low, high)
        above_low = call.basis.relu(_shifted(call, value, low, -1.0))
        above_high = call.basis.relu(_shifted(call, value, high, -1.0))
        return _shifted(call, add(above_low, negative(above_high), call.basis), low, 1.0)
    if low is not None:
        return _shifted(call, call.basis.relu(_shifted(call, value, low, -1.0)), low, 1.0)
    if high is not None:
        below = call.basis.relu(negative(_shifted(call, value, high, -1.0)))
        return _shifted(call, negative(below), high, 1.0)
    return value


def _limit(call: NodeCall, attribute: str, position: int) -> Array | None:
    if call.optional(position) is not None:
        limit = call.constant(position, f"the `{attribute}`").numbers.reshape(-1)
    elif attribute in call.node.attributes:
        limit = np.array([float(call.node.attributes[attribute])])
    else:
        return None
    infinite = abs(float(limit[0])) >= 3.4e38  # exporters write "no limit" as the largest float32
    return None if infinite else limit


def _shifted(call: NodeCall, value: Affine, by: Array, sign: float) -> Affine:
    return plus(call, value, Affine.constant(exact.multiply(by, np.array([sign]))))


def _hard_sigmoid(call: NodeCall) -> Value:
    value = call.affine(0)
    alpha, beta = call.number("alpha", 0.2), call.number("beta", 0.5)
    inner = scale(value, np.full(value.size, float(alpha)))
    inner = _shifted(call, inner, np.array([float(beta)]), 1.0)
    return clip(call, inner, np.zeros(1), np.ones(1))


def _abs(call: NodeCall) -> Value:
    value = call.affine(0)
    positive = call.basis.relu(value)
    return add(scale(positive, np.full(value.size, 2.0)), negative(value), call.basis)


def _max(call: NodeCall) -> Value:
    largest = call.affine(0)
    for position in range(1, len(call.inputs)):
        largest = larger(call, *broadcast_pair(largest, call.affine(position)))
    return largest


def larger(call: NodeCall, left: Affine, right: Affine) -> Affine:
    """The larger one of two values of the same shape, element by element."""
    return add(left, call.basis.relu(add(right, negative(left), call.basis)), call.basis)


def _min(call: NodeCall) -> Value:
    least = call.affine(0)
    for position in range(1, len(call.inputs)):
        least, other = broadcast_pair(least, call.affine(position))
        difference = add(least, negative(other), call.basis)
        least = add(least, negative(call.basis.relu(difference)), call.basis)
    return least


def _sigmoid(call: NodeCall) -> Value:
    return Logistic.of(call.affine(0), call.basis)


def _tanh(call: NodeCall) -> Value:
    return call.basis.squash(call.affine(0), Curve.TANH)


def _softmax(call: NodeCall) -> Value:
    return softmax(call, _normalised(call))


def _log_softmax(call: NodeCall) -> Value:
    value = _normalised(call)
    return Exponential(Power.LOG_SHARE, value, value.shape)


def _normalised(call: NodeCall) -> Affine:
    """The scores, which have to be all that a softmax is over."""
    value = call.affine(0)
    axis = call.attribute("axis", -1 if call.node.opset >= 13 else 1)
    length = value.shape[axis] if value.shape else 1
    if length != value.size:
        raise UnreadableError("it normalises along an axis that does not hold all the scores")
    return value


def softmax(call: NodeCall, value: Affine) -> Value:
    """Softmax; over two scores each probability is the logistic of a difference."""
    return logistic_pair(call, value) if value.size == 2 else Softmaxed(value)


def logistic_pair(call: NodeCall, value: Affine) -> Logistic:
    """The two probabilities of a softmax over two scores."""
    swapped = take(value, np.array([1, 0]).reshape(value.shape))
    return Logistic.of(add(value, negative(swapped), call.basis), call.basis)


def ranking(call: NodeCall) -> Affine:
    """Scores in the order of the numbers: sigmoid and softmax are increasing, so those behind them have the same."""
    match call.value(0):
        case Logistic(logits=scores) | Softmaxed(scores) | Exponential(Power.LOG_SHARE, scores):
            return scores
        case _:
            return call.affine(0)


def place_of_highest(call: NodeCall, scores: Affine) -> Labelled:
    """The place of the highest of the scores, in the tensor that ArgMax and ArgMin give."""
    axis = call.attribute("axis", 0)
    if call.attribute("select_last_index", 0):
        raise UnreadableError("it gives ties to the last place (`select_last_index`)")
    if not scores.shape or scores.shape[axis] != scores.size or scores.size < 2:
        raise UnreadableError("it does not choose among two or more numbers of one individual")
    shape = list(scores.shape)
    if call.attribute("keepdims", 1):
        shape[axis] = 1
    else:
        del shape[axis]
    return Labelled(scores, tuple(range(scores.size)), tuple(shape))


def _argmax(call: NodeCall) -> Value:
    return place_of_highest(call, ranking(call))


HANDLERS: Handlers = {
    ("", "Relu"): _relu,
    ("", "LeakyRelu"): _leaky_relu,
    ("", "PRelu"): _prelu,
    ("", "Clip"): _clip,
    ("", "HardSigmoid"): _hard_sigmoid,
    ("", "Abs"): _abs,
    ("", "Max"): _max,
    ("", "Min"): _min,
    ("", "Sigmoid"): _sigmoid,
    ("", "Tanh"): _tanh,
    ("", "Softmax"): _softmax,
    ("", "LogSoftmax"): _log_softmax,
    ("", "ArgMax"): _argmax,
}
