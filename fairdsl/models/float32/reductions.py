"""Sums, averages and sums of exponentials along axes.

A sum of n numbers is rounded n - 1 times, in any order. What the runtime makes of ``exp`` was measured
(:mod:`fairdsl.models.float32.curves`); its logarithm is within a few units in the last place, and the constants here
are wider than that.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from fairdsl.models.float32.call import Call, Handler, Handlers
from fairdsl.models.float32.curves import EXP_RELATIVE
from fairdsl.models.float32.precision import OUTWARD, finite_error, gamma
from fairdsl.models.float32.values import NoBoundError, Rounded, Value

Floats = NDArray[np.float64]

#: What a logarithm is off by, absolutely and relative to its result.
LOG_ERROR = 2.0**-20
#: Of this share of a result numpy's functions are off, and sums in float64 of as many numbers as tensors have.
_NEAR = 2.0**-40


def _reduced(mean: bool) -> Handler:
    def handler(call: Call) -> list[Value]:
        value = call.value(0)
        axes, keeps = _axes(call), bool(call.attribute("keepdims", 1))
        if not isinstance(value, Rounded):
            return [np.asarray((value.mean if mean else value.sum)(axis=axes, keepdims=keeps), dtype=value.dtype)]
        if value.texts or value.precision.whole:
            raise NoBoundError("it sums up what are not numbers of a fraction")
        places = _behind(value, axes)
        count = int(np.prod([value.low.shape[axis] for axis in places]))
        low, high, size, carried = (
            part.sum(axis=places, keepdims=keeps) for part in (value.low, value.high, value.magnitude, value.error)
        )
        off = size * _NEAR
        size = (size + carried) * OUTWARD
        error = (carried + gamma(count + 1, value.precision) * size) * OUTWARD
        share = 1 / count if mean else 1.0
        ends = [end * share for end in (low - off, high + off, error * OUTWARD, size)]
        low, high, error, size = ends
        return [Rounded(low, high, finite_error(error, size, value.precision), value.dtype)]

    return handler


def _axes(call: Call) -> tuple[int, ...] | None:
    axes = call.whole_list("axes", 1)
    return tuple(axes) if axes else None


def _behind(value: Rounded, axes: tuple[int, ...] | None) -> tuple[int, ...]:
    """The axes of one individual's tensor behind that of the individuals."""
    rank = len(value.shape)
    return tuple(range(1, rank + 1)) if axes is None else tuple(axis % rank + 1 for axis in axes)


def _exp(call: Call) -> list[Value]:
    value = call.value(0)
    if not isinstance(value, Rounded):
        return [np.exp(value)]
    if value.dtype != "float32":
        raise NoBoundError(f"its exponential function in {value.dtype} was not measured")
    low, high = np.exp(value.low) * (1 - _NEAR), np.exp(value.high) * (1 + _NEAR)
    relative = np.expm1(value.error) + EXP_RELATIVE * (2 + np.expm1(value.error))
    error = np.where(np.isfinite(value.error), high * relative * OUTWARD + 2.0**-126, np.inf)
    return [Rounded(low, high, np.where(np.isfinite(high), error, np.inf), value.dtype)]


def _log(call: Call) -> list[Value]:
    value = call.value(0)
    if not isinstance(value, Rounded):
        return [np.log(value)]
    if value.dtype != "float32":
        raise NoBoundError(f"its logarithm in {value.dtype} was not measured")
    least, _ = value.reach
    if not (least > 0).all():
        raise NoBoundError("it takes the logarithm of a number that may be 0 or less")
    low, high = (np.log(end) for end in value.ends)
    size = np.maximum(np.abs(low), np.abs(high)) + 1
    steep = value.error / least  # the slope is greatest at the least number
    error = (steep + LOG_ERROR * (size + steep)) * OUTWARD
    off = size * _NEAR
    return [Rounded(low - off, high + off, np.where(np.isfinite(error), error, np.inf), value.dtype)]


def _log_sum(call: Call) -> list[Value]:
    value, axes, keeps = call.rounded(0), _axes(call), bool(call.attribute("keepdims", 1))
    if value.dtype != "float32":
        raise NoBoundError(f"its logarithm in {value.dtype} was not measured")
    places = _behind(value, axes)
    count = int(np.prod([value.low.shape[axis] for axis in places]))

    def along(part: Floats, function: Callable[..., Floats]) -> Floats:
        return np.asarray(function(part, axis=places, keepdims=keeps), dtype=np.float64)

    low, high = (along(end, _log_sum_exp) for end in value.ends)
    size = np.maximum(np.abs(low), np.abs(high)) + 1
    worst = along(value.error, np.max)
    spread = along(value.magnitude + value.error, np.max) * value.precision.roundoff * 2
    error = (worst + spread + gamma(count + 4, value.precision) + LOG_ERROR * size) * OUTWARD
    off = size * _NEAR
    return [Rounded(low - off, high + off, np.where(np.isfinite(error), error, np.inf), value.dtype)]


def _log_sum_exp(values: Floats, axis: tuple[int, ...], keepdims: bool) -> Floats:
    top = values.max(axis=axis, keepdims=True)
    found = top + np.log(np.exp(values - top).sum(axis=axis, keepdims=True))
    return np.asarray(found if keepdims else np.squeeze(found, axis=axis), dtype=np.float64)


HANDLERS: Handlers = {
    ("", "ReduceSum"): _reduced(mean=False),
    ("", "ReduceMean"): _reduced(mean=True),
    ("", "Exp"): _exp,
    ("", "Log"): _log,
    ("", "ReduceLogSumExp"): _log_sum,
}
