"""Curved units that are no sigmoids: what they compute, their derivative, and sound lines above and below them.

All of them bend upwards on one interval and downwards outside of it: softplus and ELU everywhere upwards, erf up to 0,
the gated ones between two points on either side of 0, ln(1 + max(z, 0)) up to its corner at 0. A line of any slope k is
moved until it is sound: on a piece that bends away the distance to the curve is least at its ends, on one that bends
towards the line a tangent stands for the curve. So nothing rests on where tangents touch, which bisection finds well
enough. Intercepts carry a margin for the library functions' rounding. The slope is that of the chord.
"""

from __future__ import annotations

import math

from fairdsl.numerics.kernels.compiled import part

__all__ = ["slopes_between", "smooth", "sound_line"]

_SOFTPLUS, _ELU, _ERF, _SILU, _GELU, _GELU_TANH, _HARD_SWISH, _LOG1P = 3, 4, 5, 6, 7, 8, 9, 10
_MARGIN = 1e-12
#: Below this width a chord says nothing: the tangent in the middle gives the slope.
_NARROW = 1e-6
_HALVINGS = 12
_BELL = 2.0 / math.sqrt(math.pi)
#: The constants of ``Curve.GELU_TANH``.
_FACTOR, _TERM = 0.7978845608028654, 0.044715


@part
def _logistic(z: float) -> float:
    return 1.0 / (1.0 + math.exp(-z)) if z >= 0.0 else math.exp(z) / (1.0 + math.exp(z))


@part
def smooth(z: float, curve: int) -> float:
    """The unit's value."""
    if curve == _SOFTPLUS:
        return max(z, 0.0) + math.log1p(math.exp(-abs(z)))
    if curve == _ELU:
        return z if z >= 0.0 else math.expm1(z)
    if curve == _ERF:
        return math.erf(z)
    if curve == _HARD_SWISH:
        return z * (min(max(z + 3.0, 0.0), 6.0) / 6.0)
    if curve == _LOG1P:
        return math.log1p(max(z, 0.0))
    gate = _gate(z, curve)
    return 0.0 if gate == 0.0 else z * gate


@part
def _gate(z: float, curve: int) -> float:
    if curve == _SILU:
        return _logistic(z)
    if curve == _GELU:
        return 0.5 * (1.0 + math.erf(z))
    return _logistic(2.0 * _FACTOR * (z + _TERM * z * z * z))


@part
def _steepness(z: float, curve: int) -> float:
    """The derivative; where it jumps, that of the piece which bends upwards, and of the logarithm that above 0."""
    if curve == _SOFTPLUS:
        return _logistic(z)
    if curve == _ELU:
        return 1.0 if z >= 0.0 else math.exp(z)
    if curve == _ERF:
        return _BELL * math.exp(-z * z)
    if curve == _HARD_SWISH:
        return (2.0 * z + 3.0) / 6.0 if abs(z) <= 3.0 else (1.0 if z > 0.0 else 0.0)
    if curve == _LOG1P:
        return 1.0 / (1.0 + z) if z >= 0.0 else 0.0
    if abs(z) > 40.0:
        return 1.0 if z > 0.0 else 0.0
    gate = _gate(z, curve)
    if curve == _GELU:
        return gate + 0.5 * _BELL * z * math.exp(-z * z)
    inner = 1.0 if curve == _SILU else 2.0 * _FACTOR * (1.0 + 3.0 * _TERM * z * z)
    return gate + z * gate * (1.0 - gate) * inner


@part
def _upwards(curve: int) -> tuple[float, float]:
    """Between which points the curve bends upwards."""
    if curve in (_ERF, _LOG1P):
        return -math.inf, 0.0
    if curve == _SILU:
        return -2.399357280515468, 2.399357280515468
    if curve == _GELU:
        return -1.0, 1.0
    if curve == _GELU_TANH:
        return -1.4185040087908285, 1.4185040087908285
    if curve == _HARD_SWISH:
        return -3.0, 3.0
    return -math.inf, math.inf


@part
def slopes_between(low: float, high: float, curve: int) -> tuple[float, float]:
    """The least and greatest derivative on [low, high]: at the ends, or where the bend turns."""
    at_low, at_high = _steepness(low, curve), _steepness(high, curve)
    least, most = min(at_low, at_high), max(at_low, at_high)
    start, end = _upwards(curve)
    if low < start < high:
        least = min(least, _steepness(start, curve))
    if low < end < high:
        most = max(most, _steepness(end, curve))
    return least - _MARGIN, most + _MARGIN


@part
def sound_line(low: float, high: float, curve: int, side: float) -> tuple[float, float]:
    """Slope and intercept of a line that is above the curve on [low, high] (``side`` 1) or below it (-1)."""
    at_low, at_high = smooth(low, curve), smooth(high, curve)
    width = high - low
    k = (at_high - at_low) / width if width > _NARROW else _steepness(0.5 * (low + high), curve)
    k = min(max(k, -0.5), 1.5)
    start, end = _upwards(curve)
    # ``side`` times the curve less k z, at most: at the ends of all pieces, and of tangents over those that bend so.
    worst = max(side * (at_low - k * low), side * (at_high - k * high))
    if low < start < high:
        worst = max(worst, side * (smooth(start, curve) - k * start))
    if low < end < high:
        worst = max(worst, side * (smooth(end, curve) - k * end))
    if side < 0.0:
        worst = max(worst, _by_tangent(max(low, start), min(high, end), curve, k, side))
    else:
        worst = max(worst, _by_tangent(low, min(high, start), curve, k, side))
        worst = max(worst, _by_tangent(max(low, end), high, curve, k, side))
    return k, side * (worst + _MARGIN * (1.0 + abs(low) + abs(high)))


@part
def _by_tangent(low: float, high: float, curve: int, k: float, side: float) -> float:
    """The most of ``side`` times a tangent less k z on a piece that bends towards it; nothing of an empty piece."""
    if not low < high:
        return -math.inf
    below, above = low, high
    for _ in range(_HALVINGS):
        middle = 0.5 * (below + above)
        # The derivative falls where the line is above, and rises where it is below.
        if side * (_steepness(middle, curve) - k) > 0.0:
            below = middle
        else:
            above = middle
    touch = 0.5 * (below + above)
    steep = _steepness(touch, curve)
    at_touch = smooth(touch, curve)
    at_low = at_touch + steep * (low - touch) - k * low
    at_high = at_touch + steep * (high - touch) - k * high
    return max(side * at_low, side * at_high)
