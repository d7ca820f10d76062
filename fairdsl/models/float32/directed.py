"""Float64 arithmetic with directed rounding: elementwise, and exact where the result is a float64 number.

The rounding error of a sum or a product is itself a float64 number, which a few more operations find (Knuth's
two-sum, Dekker's product); its sign says in which direction the neighbour lies that encloses the result.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
#: Lower and upper ends.
Ends = tuple[Floats, Floats]

#: Splits a float64 number into halves of 26 bits.
_SPLITTER = 2.0**27 + 1
#: Products of magnitudes between these neither overflow nor lose the bits of their error.
_LEAST, _LARGEST = 2.0**-900, 2.0**900


def total(left: Ends, right: Ends) -> Ends:
    """Encloses the sum of two intervals."""
    return _sum(left[0], right[0])[0], _sum(left[1], right[1])[1]


def difference(left: Ends, right: Ends) -> Ends:
    """Encloses the difference of two intervals."""
    return total(left, (-right[1], -right[0]))


def product(left: Ends, right: Ends) -> Ends:
    """Encloses the product of two intervals."""
    if left[0] is left[1] and right[0] is right[1]:
        return _product(left[0], right[0])
    ends = [_product(a, b) for a in left for b in right]
    low = np.minimum(np.minimum(ends[0][0], ends[1][0]), np.minimum(ends[2][0], ends[3][0]))
    return low, np.maximum(np.maximum(ends[0][1], ends[1][1]), np.maximum(ends[2][1], ends[3][1]))


def quotient(left: Ends, divisor: Floats) -> Ends:
    """Encloses an interval divided by numbers that are not zero."""
    ends = [_quotient(end, divisor) for end in left]
    return np.minimum(ends[0][0], ends[1][0]), np.maximum(ends[0][1], ends[1][1])


def outward(low: Floats, high: Floats, steps: int = 1) -> Ends:
    """The ends moved outward by some units in the last place."""
    for _ in range(steps):
        low, high = np.nextafter(low, -np.inf), np.nextafter(high, np.inf)
    return low, high


def _sum(a: Floats, b: Floats) -> Ends:
    with np.errstate(all="ignore"):
        near = a + b
        share = near - a
        error = (a - (near - share)) + (b - share)
    return _around(near, error)


def _product(a: Floats, b: Floats) -> Ends:
    with np.errstate(all="ignore"):
        near = a * b
        a_high, b_high = _upper_half(a), _upper_half(b)
        a_low, b_low = a - a_high, b - b_high
        error = ((a_high * b_high - near) + a_high * b_low + a_low * b_high) + a_low * b_low
        size = np.abs(near)
        safe = (size > _LEAST) & (size < _LARGEST) & (np.abs(a) < _LARGEST) & (np.abs(b) < _LARGEST)
        nothing = ((a == 0) & np.isfinite(b)) | ((b == 0) & np.isfinite(a))
    return _around(near, np.where(nothing, 0.0, np.where(safe, error, np.nan)))


def _quotient(a: Floats, b: Floats) -> Ends:
    with np.errstate(all="ignore"):
        near = a / b
        low, high = _product(near, b)
    return _around(near, np.where((low == a) & (high == a), 0.0, np.nan))


def _upper_half(a: Floats) -> Floats:
    big = _SPLITTER * a
    return big - (big - a)


def _around(near: Floats, error: Floats) -> Ends:
    """The number and its neighbour on the side of the error; both neighbours where the error is not known."""
    known = np.isfinite(error)
    low = np.where(known & (error >= 0), near, np.nextafter(near, -np.inf))
    high = np.where(known & (error <= 0), near, np.nextafter(near, np.inf))
    return np.where(np.isnan(low), -np.inf, low), np.where(np.isnan(high), np.inf, high)
