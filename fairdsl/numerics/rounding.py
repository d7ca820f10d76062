"""Rationals between floats: directed conversion, and the power of two that constants are multiples of."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from fairdsl.ir.exact_array import ExactArray

FloatArray = NDArray[np.float64]

#: The least positive float64.
_LEAST = 2.0**-1074


def float_below(value: Fraction) -> float:
    """The greatest float64 that is at most ``value``."""
    nearest = _nearest(value)
    return nearest if (math.isinf(nearest) and nearest < 0) or _at_most(nearest, value) else _step(nearest, -1)


def float_above(value: Fraction) -> float:
    """The least float64 that is at least ``value``."""
    return -float_below(-value)


def kept(nearest: float, value: Fraction | int) -> float:
    """The nearest float of a number, but of a number that is not zero never zero: then the least one of its sign."""
    if nearest or not value:
        return nearest
    return _LEAST if value > 0 else -_LEAST


def nearest_floats(array: ExactArray) -> FloatArray:
    """The nearest floats of an array, of which none is zero unless the number is."""
    if array.fractions is None or array.floats.all():
        return array.floats
    listed = zip(array.floats.ravel().tolist(), array.fractions.ravel().tolist(), strict=True)
    return np.array([kept(near, value) for near, value in listed], dtype=np.float64).reshape(array.shape)


def _nearest(value: Fraction) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _at_most(number: float, value: Fraction) -> bool:
    return not math.isinf(number) and Fraction(number) <= value


def _step(number: float, direction: int) -> float:
    return math.nextafter(number, math.inf * direction)


def quantum_exponent(array: ExactArray) -> int | None:
    """The least e >= 0 with every element a multiple of 2**-e; None where an element is not a float."""
    if not array.is_float:
        return None
    present = array.floats[array.floats != 0]
    if not present.size:
        return 0
    mantissas, exponents = np.frexp(present)
    # mantissa * 2**53 is an integer; its trailing zeros raise the power of two that divides the element.
    whole = np.abs(np.ldexp(mantissas, 53)).astype(np.int64)
    trailing = np.log2((whole & -whole).astype(np.float64)).astype(np.int64)
    return max(0, int((53 - exponents.astype(np.int64) - trailing).max()))
