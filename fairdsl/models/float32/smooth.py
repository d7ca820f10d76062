"""Smooth relatives of the ReLU, which no standard bounds either: what onnxruntime makes of them was measured.

All errors that were seen are below 2.5 units of 2^-24, times one more than the argument's magnitude; the tests measure
them again. The error of the argument adds what the greatest derivative makes of it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fairdsl.models.float32.call import Call, Handlers
from fairdsl.models.float32.directed import Ends
from fairdsl.models.float32.precision import OUTWARD
from fairdsl.models.float32.values import NoBoundError, Rounded, Value

Floats = NDArray[np.float64]

#: What the runtime is off by, times one more than the argument's magnitude.
SMOOTH_ERROR = 2.0**-21
#: The same of the functions of numpy and of the C library in float64.
_NEAR = 2.0**-46


@dataclass(frozen=True, slots=True)
class _Bend:
    """A function that rises from its ``valley`` on and falls before it (rises everywhere: None), and how steep it is.

    ``size``: how large it and what it is made of are beside its argument.
    """

    function: Callable[[Floats], Floats]
    slope: float
    valley: float | None = None
    size: float = 1.0

    def of(self, value: Rounded) -> Rounded:
        """What becomes of a tensor."""
        if value.dtype not in ("float32", "float64"):
            raise NoBoundError(f"what the runtime makes of it in {value.dtype} was not measured")
        low, high = self._enclosed(value)
        least, most = value.reach
        size = 1.0 + np.maximum(np.abs(least), np.abs(most))
        error = (self.slope * value.error + self.size * SMOOTH_ERROR * size) * OUTWARD
        return Rounded(low, high, np.where(np.isfinite(value.error), error, np.inf), value.dtype)

    def _enclosed(self, value: Rounded) -> Ends:
        ends = [self._near(value.low)] if value.low is value.high else [self._near(end) for end in value.ends]
        low = np.minimum.reduce([end[0] for end in ends])
        high = np.maximum.reduce([end[1] for end in ends])
        if self.valley is not None:
            inside = (value.low <= self.valley) & (value.high >= self.valley)
            low = np.where(inside, np.minimum(low, self._near(np.full(1, self.valley))[0]), low)
        return low, high

    def _near(self, values: Floats) -> Ends:
        found = self.function(values)
        slack = self.size * _NEAR * (1.0 + np.abs(values))
        return found - slack, found + slack


def _softplus(x: Floats) -> Floats:
    return np.asarray(np.logaddexp(0.0, x))


def _below(x: Floats, alpha: float) -> Floats:
    return np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0.0)))


def _error_function(x: Floats) -> Floats:
    return np.vectorize(math.erf, otypes=[np.float64])(x) if x.size else x


def _gated(x: Floats, gate: Floats) -> Floats:
    return np.where(gate == 0, 0.0, x * gate)


def _swish_of(x: Floats, alpha: float) -> Floats:
    return _gated(x, np.exp(-np.logaddexp(0.0, -alpha * x)))


def _gelu_of(x: Floats) -> Floats:
    return _gated(x, 0.5 * (1.0 + _error_function(x * math.sqrt(0.5))))


def _gelu_by_tanh(x: Floats) -> Floats:
    return _gated(x, 0.5 * (1.0 + np.tanh(0.7978845608028654 * (x + 0.044715 * x**3))))


def _hard_swish_of(x: Floats) -> Floats:
    return np.asarray(x * (np.clip(x + 3.0, 0.0, 6.0) / 6.0))


def _number(call: Call, name: str, default: float) -> float:
    return float(call.attribute(name, np.float32(default)))


def _of_elu(call: Call, alpha: float, gamma: float = 1.0) -> Rounded:
    if alpha < 0 or gamma < 0:
        raise NoBoundError("it falls below 0")
    steep = max(alpha, 1.0) * gamma
    return _Bend(lambda x: gamma * _below(x, alpha), steep, size=max(steep, gamma)).of(call.rounded(0))


def _elu(call: Call) -> list[Value]:
    return [_of_elu(call, _number(call, "alpha", 1.0))]


def _selu(call: Call) -> list[Value]:
    alpha, gamma = _number(call, "alpha", 1.67326319217681884765625), _number(call, "gamma", 1.05070102214813232421875)
    return [_of_elu(call, alpha, gamma)]


def _celu(call: Call) -> list[Value]:
    alpha = _number(call, "alpha", 1.0)
    if alpha <= 0:
        raise NoBoundError("it falls below 0")
    return [_Bend(lambda x: np.where(x > 0, x, alpha * np.expm1(np.minimum(x / alpha, 0.0))), 1.0).of(call.rounded(0))]


def _gelu(call: Call) -> list[Value]:
    approximate = call.attribute("approximate", "none") == "tanh"
    bend = _Bend(_gelu_by_tanh, 1.13, -0.7524614) if approximate else _Bend(_gelu_of, 1.13, -0.7517916)
    return [bend.of(call.rounded(0))]


def _swish(call: Call) -> list[Value]:
    alpha = _number(call, "alpha", 1.0)
    if alpha <= 0:
        raise NoBoundError("it falls above 0")
    return [_Bend(lambda x: _swish_of(x, alpha), 1.1, -1.2784645 / alpha).of(call.rounded(0))]


def _of(bend: _Bend) -> Callable[[Call], list[Value]]:
    return lambda call: [bend.of(call.rounded(0))]


HANDLERS: Handlers = {
    ("", "Softplus"): _of(_Bend(_softplus, 1.0)),
    ("", "Erf"): _of(_Bend(_error_function, 1.13)),
    ("", "HardSwish"): _of(_Bend(_hard_swish_of, 1.5, -1.5)),
    ("", "Elu"): _elu,
    ("", "Selu"): _selu,
    ("", "Celu"): _celu,
    ("", "Gelu"): _gelu,
    ("", "Swish"): _swish,
}
#: The operators.
SMOOTH = frozenset(name for _, name in HANDLERS)
