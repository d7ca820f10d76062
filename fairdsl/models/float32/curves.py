"""Curved functions, which no standard bounds: what onnxruntime makes of them was measured.

The constants below are rounded up from the largest errors that were seen over all magnitudes of float32 numbers; the
tests measure them again. The error of the argument adds what the function makes of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from fairdsl.models.float32.call import Call, Handlers
from fairdsl.models.float32.directed import Ends
from fairdsl.models.float32.precision import OUTWARD, gamma
from fairdsl.models.float32.values import Logits, NoBoundError, Rounded, Value

Floats = NDArray[np.float64]

#: Of the logistic function, an absolute error (3.1 of 2^-24 measured): the runtime cuts its argument at about -18.
SIGMOID_ABSOLUTE = 2.0**-22
#: Of tanh, a relative error (5.5 of 2^-24 measured), and an absolute one for results that are hardly numbers.
TANH_RELATIVE, TANH_LEAST = 2.0**-21, 2.0**-130
#: Of exp in a softmax, a relative error (1.3 of 2^-24 measured).
EXP_RELATIVE = 2.0**-22
#: How far the highest score has to lead for a softmax to keep its order: two exponentials and two quotients.
SOFTMAX_GAP = 2.0**-20
#: Of this many units of 2^-53 numpy's functions are within.
_NEAR = 2.0**-48
#: Quotients of a softmax below this may be flushed or rounded off.
_VANISHING = 2.0**-120


def _sigmoid_of(x: Floats) -> Floats:
    tail = np.exp(-np.abs(x))
    return np.where(x >= 0, 1.0 / (1.0 + tail), tail / (1.0 + tail))


def _enclosed(value: Rounded, function: Callable[[Floats], Floats]) -> Ends:
    """The ends of an increasing function of the exact values, which lies in [-1, 1]."""
    low = function(value.low)
    high = low if value.low is value.high else function(value.high)
    return np.maximum(low - np.abs(low) * _NEAR, -1.0), np.minimum(high + np.abs(high) * _NEAR, 1.0)


def sigmoid_slip(dtype: str) -> float:
    """What the runtime's logistic function is off by."""
    if dtype not in ("float32", "float64"):
        raise NoBoundError(f"its logistic function in {dtype} was not measured")
    return SIGMOID_ABSOLUTE


def logistic(value: Rounded) -> Rounded:
    """``1 / (1 + exp(-x))``, whose slope is at most 1/4, and exp(-|x|)."""
    slip = sigmoid_slip(value.dtype)
    low, high = _enclosed(value, _sigmoid_of)
    least, most = value.reach
    nearest = np.where((least <= 0) & (most >= 0), 0.0, np.minimum(np.abs(least), np.abs(most)))
    slope = np.minimum(0.25, np.exp(-nearest) * (1 + _NEAR))
    carried = np.where(value.error == 0, 0.0, slope * value.error)
    error = np.where(np.isfinite(value.error), (carried + slip) * OUTWARD, np.inf)
    return Rounded(np.maximum(low, 0.0), high, error, value.dtype, logits=Logits(replace(value, logits=None), slip))


def _sigmoid(call: Call) -> list[Value]:
    return [logistic(call.rounded(0))]


def _tanh(call: Call) -> list[Value]:
    value = call.rounded(0)
    if value.dtype not in ("float32", "float64"):
        raise NoBoundError(f"its tanh in {value.dtype} was not measured")
    low, high = _enclosed(value, np.tanh)
    least, most = value.reach
    nearest = np.where((least <= 0) & (most >= 0), 0.0, np.minimum(np.abs(least), np.abs(most)))
    slope = np.minimum(1.0, 4 * np.exp(-2 * nearest) * (1 + _NEAR))
    carried = np.where(value.error == 0, 0.0, slope * value.error)
    size = np.minimum(np.maximum(np.abs(least), np.abs(most)), 1.0)  # |tanh x| <= min(|x|, 1)
    error = (carried + TANH_RELATIVE * size + TANH_LEAST) * OUTWARD
    return [Rounded(low, high, np.where(np.isfinite(value.error), error, np.inf), value.dtype)]


def softmax(value: Rounded, axis: int = -1) -> Rounded:
    """``exp(x_i - max) / sum``: each share is changed by a factor of at most exp(2 e) by errors e of the scores.

    ``axis`` counts the axes of one individual's tensor.
    """
    if value.dtype not in ("float32", "float64"):
        raise NoBoundError(f"its softmax in {value.dtype} was not measured")
    place = axis if axis < 0 else axis + 1
    count = value.low.shape[place]
    low, high = _shares(value, place)
    worst = value.error.max(axis=place, keepdims=True)
    spread = (value.high.max(axis=place, keepdims=True) - value.low + 2 * worst) * value.precision.roundoff
    relative = np.expm1(2 * worst + spread) + EXP_RELATIVE * 2.02 + gamma(count + 2, value.precision) * 1.01
    # Exponents that are far below the highest one do not matter: their shares vanish, and so do their errors.
    far = value.high + 2 * worst < value.low.max(axis=place, keepdims=True) - 100
    error = np.where(far, 0.0, high * relative * (1 + relative)) + _VANISHING
    error = np.where(far, error + high + np.exp(-100.0) * OUTWARD, error)
    error = np.where(np.isfinite(error), np.minimum(error * OUTWARD, 1 + EXP_RELATIVE * count), np.inf)
    error = np.where(np.isfinite(worst), error, np.inf)
    whole = count == value.size
    logits = Logits(replace(value, logits=None), SOFTMAX_GAP, joint=True) if whole else None
    return Rounded(low, high, error, value.dtype, logits=logits)


def _shares(value: Rounded, place: int) -> Ends:
    """The least and the greatest share: a score at one end, all others at the other."""
    own_low, own_high = (_share(own, other, place) for own, other in (value.ends, value.ends[::-1]))
    low, high = own_low * (1 - 2.0**-40) - 2.0**-1000, own_high * (1 + 2.0**-40) + 2.0**-1000
    low, high = np.where(np.isnan(low), 0.0, low), np.where(np.isnan(high), 1.0, high)
    return np.maximum(low, 0.0), np.minimum(high, 1.0)


def _share(own: Floats, other: Floats, place: int) -> Floats:
    """``exp(own_i) / (exp(own_i) + sum of exp(other_j) for j != i)``."""
    top = np.maximum(own, other).max(axis=place, keepdims=True)
    mine, theirs = np.exp(own - top), np.exp(other - top)
    rest = np.stack([np.delete(theirs, i, axis=place).sum(axis=place) for i in range(own.shape[place])], axis=place)
    return np.asarray(mine / (mine + rest), dtype=np.float64)


def _softmax(call: Call) -> list[Value]:
    value = call.rounded(0)
    axis = int(call.attribute("axis", -1 if call.node.opset >= 13 else 1))
    if call.node.opset < 13 and value.shape[axis] != int(np.prod(value.shape[axis:])):
        raise NoBoundError("it normalises over several axes")
    return [softmax(value, axis)]


HANDLERS: Handlers = {
    ("", "Sigmoid"): _sigmoid,
    ("", "Tanh"): _tanh,
    ("", "Softmax"): _softmax,
}
