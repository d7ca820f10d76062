"""The inner loops of everything, on contiguous vectors, so that they become vector instructions."""

from __future__ import annotations

from fairdsl.backends.intervals.kernels.layout import Floats
from fairdsl.numerics.kernels.compiled import part


@part
def add_multiple(target: Floats, source: Floats, factor: float, count: int) -> None:
    """``target += factor * source``."""
    for i in range(count):
        target[i] += factor * source[i]


@part
def add_interval(middles: Floats, radii: Floats, weights: Floats, middle: float, radius: float, count: int) -> None:
    """Add ``weights`` times the interval of this middle and radius."""
    for i in range(count):
        middles[i] += middle * weights[i]
        radii[i] += radius * abs(weights[i])


@part
def add_magnitudes(target: Floats, source: Floats, factor: float, count: int) -> None:
    """``target += factor * abs(source)``."""
    for i in range(count):
        target[i] += factor * abs(source[i])


@part
def copy_into(target, source) -> None:  # type: ignore[no-untyped-def]
    """Copy a vector into another of at least its length (a slice assignment would allocate)."""
    for i in range(len(source)):
        target[i] = source[i]
