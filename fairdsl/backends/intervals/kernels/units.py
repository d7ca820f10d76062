"""Hidden units: what they compute, their derivative's range, and sound linear bounds of them.

Leaky units: the chord above and a line through the origin below (CROWN, DeepPoly). Sigmoid and tanh:
chord and tangent where the curve bends one way, otherwise lines of the smaller end slope through the ends
(DeepPoly, Singh et al. 2019, section 4). Intercepts carry a margin for the library functions' rounding. All other
curves: :mod:`.smooth`.
"""

from __future__ import annotations

import math

from fairdsl.backends.intervals.kernels.smooth import slopes_between, smooth, sound_line
from fairdsl.numerics.kernels.compiled import part

__all__ = ["activate", "derivative_range", "line_above", "line_below"]

_SIGMOID, _TANH = 1, 2
_MARGIN = 1e-12


@part
def activate(z: float, slope: float, curve: int) -> float:
    """The unit's value."""
    if curve == 0:
        return z if z >= 0.0 else slope * z
    if curve == _SIGMOID:
        return 1.0 / (1.0 + math.exp(-z)) if z >= 0.0 else math.exp(z) / (1.0 + math.exp(z))
    return math.tanh(z) if curve == _TANH else smooth(z, curve)


@part
def _derivative(z: float, curve: int) -> float:
    value = activate(z, 0.0, curve)
    return value * (1.0 - value) if curve == _SIGMOID else 1.0 - value * value


@part
def derivative_range(low: float, high: float, slope: float, curve: int) -> tuple[float, float]:
    """The least and greatest derivative of an open unit on [low, high]."""
    if curve == 0:
        return min(slope, 1.0), max(slope, 1.0)
    if curve > _TANH:
        return slopes_between(low, high, curve)
    nearest = 0.0 if low <= 0.0 <= high else (low if low > 0.0 else high)
    ends = min(_derivative(low, curve), _derivative(high, curve))
    return max(0.0, ends - _MARGIN), _derivative(nearest, curve) + _MARGIN


@part
def line_below(low: float, high: float, slope: float, curve: int) -> tuple[float, float]:
    """Slope and intercept of a line below an open unit on [low, high]."""
    if curve == 0:
        return (1.0, 0.0) if high > -low else (slope, 0.0)
    if curve > _TANH:
        return sound_line(low, high, curve, -1.0)
    if low >= 0.0:
        return _chord(low, high, curve, -1.0)
    if high <= 0.0:
        return _tangent(low, high, curve, -1.0)
    k = min(_derivative(low, curve), _derivative(high, curve))
    return k, activate(low, 0.0, curve) - k * low - _MARGIN * (1.0 + abs(low))


@part
def line_above(low: float, high: float, slope: float, curve: int) -> tuple[float, float]:
    """Slope and intercept of a line above an open unit on [low, high]."""
    if curve == 0:
        chord = (high - slope * low) / (high - low)
        return chord, high * (1.0 - chord)
    if curve > _TANH:
        return sound_line(low, high, curve, 1.0)
    if low >= 0.0:
        return _tangent(low, high, curve, 1.0)
    if high <= 0.0:
        return _chord(low, high, curve, 1.0)
    k = min(_derivative(low, curve), _derivative(high, curve))
    return k, activate(high, 0.0, curve) - k * high + _MARGIN * (1.0 + abs(high))


@part
def _chord(low: float, high: float, curve: int, side: float) -> tuple[float, float]:
    """The line through both ends (level where they nearly meet), moved outward."""
    at_low = activate(low, 0.0, curve)
    at_high = activate(high, 0.0, curve)
    width = high - low
    if width < 1e-6:
        level = max(at_low, at_high) if side > 0.0 else min(at_low, at_high)
        return 0.0, level + side * _MARGIN
    k = (at_high - at_low) / width
    # The rounded slope is off by at most 1e-15 / width, over a distance of width.
    return k, at_low - k * low + side * _MARGIN * (1.0 + abs(low))


@part
def _tangent(low: float, high: float, curve: int, side: float) -> tuple[float, float]:
    """The tangent in the middle, moved outward."""
    middle = 0.5 * (low + high)
    k = _derivative(middle, curve)
    return k, activate(middle, 0.0, curve) - k * middle + side * _MARGIN * (1.0 + abs(low) + abs(high))
