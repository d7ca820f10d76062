"""Exact arithmetic on arrays: float64 while every result is exactly a float64, Fractions otherwise.

An *exact array* is either a float64 array whose elements are taken as the dyadic rationals they are, or
an object array of :class:`~fractions.Fraction`. Sums and products of float32 weights usually stay in
the first form; whether they do is tested with error-free transformations (Knuth's two-sum, Dekker's
two-product), never assumed.
"""

from __future__ import annotations

from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdsl.ir.exact_array import ExactArray, nearest_floats

#: A float64 array (exact by content) or an object array of Fractions.
Array = NDArray[Any]

_SPLITTER = 134217729.0  # 2**27 + 1, Veltkamp's constant for 53-bit significands
_TINY = 2.0**-900  # below this Dekker's error term may itself underflow


def is_float(values: Array) -> bool:
    """Whether the array is in the float64 form."""
    return values.dtype != object


def is_zero(values: Array) -> bool:
    """Whether every element is 0."""
    return not np.any(values)


def zeros(shape: tuple[int, ...]) -> Array:
    """Zeros, in the float64 form."""
    return np.zeros(shape, dtype=np.float64)


def to_fractions(values: Array) -> Array:
    """The same numbers as Fractions."""
    if not is_float(values):
        return values
    out = np.empty(values.shape, dtype=object)
    out.reshape(-1)[:] = [Fraction(v) for v in values.ravel().tolist()]
    return out


def from_rationals(values: Array) -> Array:
    """An exact array from an object array of ints and Fractions; float64 where that loses nothing.

    Raises OverflowError when an element is beyond the range of float64.
    """
    flat = values.ravel().tolist()
    floats, same = nearest_floats(flat)
    if same:
        return np.array(floats, dtype=np.float64).reshape(values.shape)
    out = np.empty(values.shape, dtype=object)
    out.reshape(-1)[:] = [number if type(number) is Fraction else Fraction(number) for number in flat]
    return out


def to_exact_array(values: Array) -> ExactArray:
    """The array as the intermediate representation stores it."""
    return ExactArray.from_floats(values) if is_float(values) else ExactArray.from_fractions(values)


def add(left: Array, right: Array) -> Array:
    """The exact elementwise sum, with numpy's broadcasting."""
    if is_float(left) and is_float(right):
        with np.errstate(all="ignore"):
            total = left + right
            shadow = total - left
            error = (left - (total - shadow)) + (right - shadow)
        if np.all(error == 0):  # an overflow makes the error NaN
            return np.asarray(total, dtype=np.float64)
    return from_rationals(np.asarray(to_fractions(left) + to_fractions(right), dtype=object))


def multiply(left: Array, right: Array) -> Array:
    """The exact elementwise product, with numpy's broadcasting."""
    if is_float(left) and is_float(right):
        with np.errstate(all="ignore"):
            product = np.asarray(left * right, dtype=np.float64)
        if _exact_product(left, right, product):
            return product
    elif is_float(left) and len({factor.denominator for factor in right.ravel().tolist()}) == 1:
        return _over_one_denominator(left, right)
    return from_rationals(np.asarray(to_fractions(left) * to_fractions(right), dtype=object))


def _over_one_denominator(floats: Array, factors: Array) -> Array:
    """The product with rationals that have one denominator, as averages are: products of scaled integers."""
    (whole, under), (factor, over) = integers(floats), integers(factors)
    product = np.asarray(whole * factor, dtype=object)
    denominator = under * over
    out = np.empty(product.shape, dtype=object)
    out.reshape(-1)[:] = [Fraction(number, denominator) for number in product.ravel().tolist()]
    return from_rationals(out)


def _exact_product(left: Array, right: Array, product: Array) -> bool:
    """Whether ``product`` is left * right without any rounding (Dekker's two-product)."""
    with np.errstate(all="ignore"):
        left_high, left_low = _split(left)
        right_high, right_low = _split(right)
        error = left_low * right_low - (
            ((product - left_high * right_high) - left_low * right_high) - left_high * right_low
        )
        vanishing = (np.abs(product) < _TINY) & (left != 0) & (right != 0)
    return bool(np.all(error == 0)) and not bool(np.any(vanishing))


def _split(values: Array) -> tuple[Array, Array]:
    """Veltkamp's split into two halves of at most 26 bits."""
    scaled = _SPLITTER * values
    high = scaled - (scaled - values)
    return high, values - high


def power_of_two(values: Array) -> bool:
    """Whether every element of a float64 array is plus or minus a power of two."""
    return is_float(values) and bool(np.all(np.abs(np.frexp(values)[0]) == 0.5))


def reciprocal(values: Array) -> Array:
    """``1 / values`` exactly; raises ZeroDivisionError where an element is 0."""
    if power_of_two(values):
        return 1.0 / values
    return from_rationals(np.asarray(Fraction(1) / to_fractions(values), dtype=object))


def integers(values: Array) -> tuple[Array, int]:
    """Python integers and one positive denominator with ``values == integers / denominator``."""
    if not is_float(values):
        flat = values.ravel().tolist()
        denominator = lcm(*(v.denominator for v in flat)) if flat else 1
        whole = np.empty(values.shape, dtype=object)
        whole.reshape(-1)[:] = [v.numerator * (denominator // v.denominator) for v in flat]
        return whole, denominator
    significand, exponent = np.frexp(values)
    mantissa = np.ldexp(significand, 53).astype(np.int64)
    exponent = exponent.astype(np.int64) - 53
    if not mantissa.any():
        return np.zeros(values.shape, dtype=object), 1
    lowest_bit = np.where(mantissa == 0, 1, mantissa & -mantissa)
    trailing = np.frexp(lowest_bit.astype(np.float64))[1].astype(np.int64) - 1
    mantissa >>= trailing
    exponent += trailing
    least = min(int(exponent[mantissa != 0].min()), 0)
    shift = np.where(mantissa == 0, 0, exponent - least)
    return mantissa.astype(object) << shift.astype(object), 1 << -least


def matmul(left: Array, right: Array) -> Array:
    """The exact product of a matrix [m, k] and a matrix [k, n] or vector [k]."""
    left_whole, left_denominator = integers(left)
    right_whole, right_denominator = integers(right)
    product = np.asarray(np.dot(left_whole, right_whole), dtype=object)
    denominator = left_denominator * right_denominator
    out = np.empty(product.shape, dtype=object)
    out.reshape(-1)[:] = [Fraction(v, denominator) for v in product.ravel().tolist()]
    return from_rationals(out)
