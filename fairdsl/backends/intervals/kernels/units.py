"""Hidden units: what they compute, their derivative's range, and sound linear bounds of them.

Leaky units: the chord above and a line through the origin below (CROWN, DeepPoly). All others: :mod:`.smooth`.
"""

from __future__ import annotations

from fairdsl.backends.intervals.kernels.smooth import slopes_between, smooth, sound_lines
from fairdsl.numerics.kernels.compiled import part


@part
def activate(z: float, slope: float, curve: int) -> float:
    """The unit's value."""
    if curve == 0:
        return z if z >= 0.0 else slope * z
    return smooth(z, curve)


@part
def derivative_range(low: float, high: float, slope: float, curve: int) -> tuple[float, float]:
    """The least and greatest derivative of an open unit on [low, high]."""
    if curve == 0:
        return min(slope, 1.0), max(slope, 1.0)
    return slopes_between(low, high, curve)


@part
def slope_below(low: float, high: float, slope: float) -> float:
    """The slope of the line through the origin below an open leaky unit on [low, high]."""
    return 1.0 if high > -low else slope


@part
def lines_of(low: float, high: float, slope: float, curve: int) -> tuple[float, float, float, float]:
    """Slope and intercept of a line below an open unit on [low, high], and of one above it."""
    if curve == 0:
        chord = (high - slope * low) / (high - low)
        return slope_below(low, high, slope), 0.0, chord, high * (1.0 - chord)
    return sound_lines(low, high, curve)
