"""Curved units in float64, for many numbers at once, with a bound on the error.

It rests on numpy's ``exp``, ``expm1``, ``log1p`` and ``tanh`` and on the C library's ``erf``. No standard bounds their
error: the vector library behind the former (SVML) promises 4 units in the last place, glibc 1 of ``erf``, and here 8
units or 16 u relative to the result are allowed, u = 2**-53. With ``E = exp(-z) (1 + a)``, abs(a) <= 16 u, the computed
``1 / (1 + E)`` is off by a factor within ``1 + 18 u``, and where ``exp`` overflows or vanishes by less than 2**-1000.
A product with z adds a rounding, and 3 u relative to the argument of the logistic function, which is 0.3 times that of
the result; where ``1 + erf(z)`` cancels, it is off by 16 u in absolute terms. So whatever grows with z is off by at
most ``24 u (1 + abs(z))``.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from fairdsl.ir.model import Curve

FloatArray = NDArray[np.float64]

#: Bounds the error of :func:`bend`, relative to the result or, where the curve grows, to ``1 + abs(z)``.
CURVE_ERROR = 24 * 2.0**-53
#: At least the greatest derivative of each curve, in magnitude: how much an error of the argument can grow.
SLOPE = {
    Curve.LEAKY: Fraction(1),
    Curve.SIGMOID: Fraction(1, 4),
    Curve.TANH: Fraction(1),
    Curve.SOFTPLUS: Fraction(1),
    Curve.ELU: Fraction(1),
    Curve.ERF: Fraction(113, 100),  # 2 / sqrt(pi) = 1.12838
    Curve.SILU: Fraction(11, 10),  # 1.09984, at 2.3994
    Curve.GELU: Fraction(113, 100),  # 1.12890, at 1
    Curve.GELU_TANH: Fraction(113, 100),  # 1.12899, at 1.4185
    Curve.HARD_SWISH: Fraction(3, 2),  # at 3
    Curve.LOG1P: Fraction(1),  # above 0
}
#: The same as floats, by the curve's number.
STEEPNESS = np.array([float(SLOPE[curve]) for curve in Curve])
#: The two constants of ``Curve.GELU_TANH``.
TANH_FACTOR, TANH_TERM = 0.7978845608028654, 0.044715
#: Curves that grow with their argument, by the curve's number: at most to ``1 + abs(z)``. The others stay in [-1, 1].
_GROWS = np.array([curve not in (Curve.SIGMOID, Curve.TANH, Curve.ERF) for curve in Curve])


def growing(codes: NDArray[np.int8]) -> NDArray[np.bool_]:
    """Which of these units are curved, and grow with their argument."""
    found: NDArray[np.bool_] = _GROWS[codes] & (codes != Curve.LEAKY)
    return found


def largest_output(codes: NDArray[np.int8], totals: FloatArray) -> FloatArray:
    """How large the outputs of units can be whose arguments are at most ``totals`` in magnitude."""
    return np.where(codes == Curve.LEAKY, totals, np.where(_GROWS[codes], 1.0 + totals, 1.0))


def bend(values: FloatArray, curve: Curve) -> FloatArray:
    """The curve of every value, within ``CURVE_ERROR``."""
    with np.errstate(over="ignore", invalid="ignore"):
        match curve:
            case Curve.LEAKY:
                raise ValueError("leaky units have slopes of their own")
            case Curve.SIGMOID:
                return _logistic(values)
            case Curve.TANH:
                return np.tanh(values)
            case Curve.SOFTPLUS:
                return np.asarray(np.maximum(values, 0.0) + np.log1p(np.exp(-np.abs(values))))
            case Curve.ELU:
                return np.where(values > 0, values, np.expm1(np.minimum(values, 0.0)))
            case Curve.ERF:
                return _erf(values)
            case Curve.SILU:
                return _gated(values, _logistic(values))
            case Curve.GELU:
                return _gated(values, 0.5 * (1.0 + _erf(values)))
            case Curve.GELU_TANH:
                return _gated(values, _logistic(2 * TANH_FACTOR * (values + TANH_TERM * values**3)))
            case Curve.HARD_SWISH:
                return np.asarray(values * (np.clip(values + 3.0, 0.0, 6.0) / 6.0))
            case Curve.LOG1P:
                return np.asarray(np.log1p(np.maximum(values, 0.0)))


def derivative(values: FloatArray, curve: Curve) -> FloatArray:
    """The derivative of the curve at every value, for gradients: nothing bounds its error."""
    with np.errstate(over="ignore", invalid="ignore"):
        match curve:
            case Curve.LEAKY:
                raise ValueError("leaky units have slopes of their own")
            case Curve.SIGMOID:
                share = _logistic(values)
                return share * (1 - share)
            case Curve.TANH:
                return np.asarray(1 - np.tanh(values) ** 2)
            case Curve.SOFTPLUS:
                return _logistic(values)
            case Curve.ELU:
                return np.asarray(np.exp(np.minimum(values, 0.0)))
            case Curve.ERF:
                return _bell(values)
            case Curve.SILU:
                share = _logistic(values)
                return share + _gated(values, share * (1 - share))
            case Curve.GELU:
                return 0.5 * (1.0 + _erf(values)) + 0.5 * values * _bell(values)
            case Curve.GELU_TANH:
                near = np.clip(values, -30.0, 30.0)
                share = _logistic(2 * TANH_FACTOR * (near + TANH_TERM * near**3))
                return share + near * share * (1 - share) * 2 * TANH_FACTOR * (1 + 3 * TANH_TERM * near**2)
            case Curve.HARD_SWISH:
                return np.where(np.abs(values) < 3, (2 * values + 3) / 6, np.where(values > 0, 1.0, 0.0))
            case Curve.LOG1P:
                return np.where(values >= 0, 1 / (1 + np.maximum(values, 0.0)), 0.0)


def _logistic(values: FloatArray) -> FloatArray:
    return np.asarray(1.0 / (1.0 + np.exp(-values)))


def _gated(values: FloatArray, gates: FloatArray) -> FloatArray:
    """The product, which is 0 where the gate vanishes, at infinity as well."""
    return np.where(gates == 0, 0.0, values * gates)


def _erf(values: FloatArray) -> FloatArray:
    found = np.fromiter(map(math.erf, values.ravel().tolist()), dtype=np.float64, count=values.size)
    return found.reshape(values.shape)


def _bell(values: FloatArray) -> FloatArray:
    """The derivative of erf, ``2 exp(-z^2) / sqrt(pi)``."""
    return np.asarray(2 / math.sqrt(math.pi) * np.exp(-np.square(np.clip(values, -40.0, 40.0))))
