"""Sigmoid and tanh: to any precision for one number, and in float64 for many with a bound on the error.

The one transcendental step of the former is ``exp`` of :mod:`decimal`, whose result is correctly rounded
(the module's documentation and libmpdec's); everything else is integer arithmetic.

The latter rests on numpy's ``exp`` and ``tanh``. No standard bounds their error: the vector library behind
them (SVML) promises 4 units in the last place, and here twice that is allowed, 8 units or 16 u relative to
the result, u = 2**-53. With ``E = exp(-z) (1 + a)``, abs(a) <= 16 u, the computed ``1 / (1 + E)`` is off by
a factor within ``1 + 18 u``, and where ``exp`` overflows or vanishes by less than 2**-1000.
"""

from __future__ import annotations

from decimal import MAX_EMAX, MIN_EMIN, ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from math import ceil

import numpy as np
from numpy.typing import NDArray

from fairdsl.ir.model import Curve

__all__ = ["CURVE_ERROR", "SLOPE", "bend", "value_near"]

FloatArray = NDArray[np.float64]

#: Bounds the relative error of :func:`bend` (18 u by the analysis above; results are at most 1).
CURVE_ERROR = 24 * 2.0**-53
#: The greatest derivative of each curve: how much an error of the argument can grow.
SLOPE = {Curve.LEAKY: Fraction(1), Curve.SIGMOID: Fraction(1, 4), Curve.TANH: Fraction(1)}
#: Binary digits beyond those asked for, so that the roundings on the way stay below half a unit.
_GUARD = 16


def bend(values: FloatArray, curve: Curve) -> FloatArray:
    """The curve of every value, within ``CURVE_ERROR`` times the result."""
    if curve is Curve.TANH:
        return np.tanh(values)
    with np.errstate(over="ignore"):
        found: FloatArray = 1.0 / (1.0 + np.exp(-values))
    return found


def value_near(curve: Curve, numerator: int, denominator: int, bits: int) -> int:
    """An integer m such that ``m * 2**-bits`` is within ``2**-bits`` of the curve at a positive-denominator ratio."""
    if curve is Curve.TANH:  # tanh(z) = 2 sigmoid(2 z) - 1
        doubled = _sigmoid(2 * numerator, denominator, bits + 2)
        return (doubled - (1 << (bits + 1)) + 1) >> 1
    return _sigmoid(numerator, denominator, bits)


def _sigmoid(numerator: int, denominator: int, bits: int) -> int:
    """Within one unit of ``2**bits * sigmoid(z)``; by symmetry only exponentials of negative numbers are taken."""
    if numerator > 0:
        return (1 << bits) - _sigmoid(-numerator, denominator, bits)
    if -numerator >= denominator * (bits + 1):
        return 0  # sigmoid(z) < exp(z) <= exp(-bits - 1), less than a unit
    work = bits + _GUARD
    # sigmoid is 1/4-Lipschitz: a unit of 2**-work in the argument is a quarter of one in the result.
    argument = (numerator << work) // denominator
    # Relative errors of 10**(1 - digits) in the quotient and the exponential; the argument is at most bits + 1.
    context = Context(
        prec=ceil(work * 0.302) + 8, rounding=ROUND_HALF_EVEN, Emin=MIN_EMIN, Emax=MAX_EMAX, clamp=0, traps=[]
    )
    power = context.exp(context.divide(Decimal(argument), Decimal(1 << work)))
    above, below = power.as_integer_ratio()
    exponential = (above << work) // below
    found = (exponential << work) // ((1 << work) + exponential)
    return (found + (1 << (_GUARD - 1))) >> _GUARD
