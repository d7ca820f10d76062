"""Smooth units: what they compute, their derivative's range, and sound lines above and below them.

All of them bend upwards on one interval and downwards outside of it: softplus and ELU everywhere upwards, sigmoid, tanh
and erf up to 0, the gated ones between two points on either side of 0, ln(1 + max(z, 0)) up to its corner at 0.

Where a unit's range lies in one piece, the chord is on the side that the curve bends to, and the tangent in the middle
on the other. The chord is the larger at both ends, so whatever its slope is the curve is on one side of it, and a
tangent of any point is sound: nothing rests on where it touches. Both are off by the square of the range's width.

Where the bend turns within the range, sigmoid and tanh have lines of the smaller end slope through the ends: the
derivative is nowhere smaller (DeepPoly, Singh et al. 2019, section 4). Of others the chord is moved until it is sound:
on a piece that bends away the distance to the curve is least at its ends, on one that bends towards the line a tangent
of nearly the chord's slope stands for the curve. Points where the bend turns are nearest floats, so a piece is longer
than it should be by 1e-15 at most, where the curve is as good as straight. Intercepts carry a margin for that, and for
the library functions' rounding.
"""

from __future__ import annotations

import math

from fairdsl.numerics.kernels.compiled import part

_SIGMOID, _TANH, _SOFTPLUS, _ELU, _ERF, _SILU, _GELU, _GELU_TANH, _HARD_SWISH, _LOG1P = range(1, 11)
_MARGIN = 1e-12
#: Below this width a chord says nothing: the tangent in the middle gives the slope.
_NARROW = 1e-6
#: To find where the tangent of a slope touches, to a 64th of the range.
_HALVINGS = 6
_BELL = 2.0 / math.sqrt(math.pi)
#: The constants of ``Curve.GELU_TANH``.
_FACTOR, _TERM = 0.7978845608028654, 0.044715


@part
def _logistic(z: float) -> float:
    return 1.0 / (1.0 + math.exp(-z)) if z >= 0.0 else math.exp(z) / (1.0 + math.exp(z))


@part
def smooth(z: float, curve: int) -> float:
    """The unit's value."""
    if curve == _SIGMOID:
        return _logistic(z)
    if curve == _TANH:
        return math.tanh(z)
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
    if curve == _SIGMOID:
        value = _logistic(z)
        return value * (1.0 - value)
    if curve == _TANH:
        value = math.tanh(z)
        return 1.0 - value * value
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
    if curve in (_SIGMOID, _TANH, _ERF, _LOG1P):
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
def sound_lines(low: float, high: float, curve: int) -> tuple[float, float, float, float]:
    """Slope and intercept of a line below the curve on [low, high], and of one above it."""
    at_low, at_high = smooth(low, curve), smooth(high, curve)
    middle, width = 0.5 * (low + high), high - low
    start, end = _upwards(curve)
    margin = _MARGIN * (1.0 + abs(low) + abs(high))
    upwards = start <= low and high <= end
    turns = not (upwards or high <= start or end <= low)
    if turns and curve <= _TANH:
        k = min(_steepness(low, curve), _steepness(high, curve))
        return k, at_low - k * low - margin, k, at_high - k * high + margin
    k = (at_high - at_low) / width if width > _NARROW else _steepness(middle, curve)
    k = min(max(k, -0.5), 1.5)
    lower, upper = min(at_low - k * low, at_high - k * high), max(at_low - k * low, at_high - k * high)
    if turns:
        lower, upper = _moved(low, high, curve, k, lower, upper)
        return k, lower - margin, k, upper + margin
    steep = _steepness(middle, curve)
    tangent = smooth(middle, curve) - steep * middle
    if upwards:
        return steep, tangent - margin, k, upper + margin
    return k, lower - margin, steep, tangent + margin


@part
def _moved(low: float, high: float, curve: int, k: float, lower: float, upper: float) -> tuple[float, float]:
    """The least and the greatest that the curve less k z may be, and is at the ends, beyond those of all pieces."""
    start, end = _upwards(curve)
    if low < start < high:
        at_start = smooth(start, curve) - k * start
        lower, upper = min(lower, at_start), max(upper, at_start)
    if low < end < high:
        at_end = smooth(end, curve) - k * end
        lower, upper = min(lower, at_end), max(upper, at_end)
    lower = min(lower, -_by_tangent(max(low, start), min(high, end), curve, k, -1.0))
    upper = max(upper, _by_tangent(low, min(high, start), curve, k, 1.0))
    return lower, max(upper, _by_tangent(max(low, end), high, curve, k, 1.0))


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
