"""Curved units to any precision, for one number.

The transcendental steps are ``exp`` and ``ln`` of :mod:`decimal`, whose results are correctly rounded (the module's
documentation and libmpdec's); everything else is integer arithmetic: ``erf`` is a series of positive terms times an
exponential, and pi Machin's formula.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import MAX_EMAX, MIN_EMIN, ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from functools import lru_cache
from math import ceil, isqrt

from fairdsl.ir.model import Curve
from fairdsl.numerics.curves import TANH_FACTOR, TANH_TERM

#: Binary digits beyond those asked for, so that the roundings on the way stay below half a unit.
_GUARD = 16
#: The same of sums of up to some thousand terms.
_LONG_GUARD = 40
_TWICE_FACTOR, _TERM = 2 * Fraction(TANH_FACTOR), Fraction(TANH_TERM)


def value_near(curve: Curve, numerator: int, denominator: int, bits: int) -> int:
    """An integer m such that ``m * 2**-bits`` is within ``2**-bits`` of the curve at a positive-denominator ratio."""
    return _VALUES[curve](numerator, denominator, bits)


def is_rectified(curve: Curve, numerator: int, denominator: int) -> bool:
    """Whether the curve is ``max(z, 0)`` at this ratio."""
    if curve is Curve.HARD_SWISH:
        return abs(numerator) >= 3 * denominator
    return (curve is Curve.ELU and numerator >= 0) or (curve is Curve.LOG1P and numerator <= 0)


def _tanh(numerator: int, denominator: int, bits: int) -> int:
    """``2 sigmoid(2 z) - 1``."""
    doubled = _sigmoid(2 * numerator, denominator, bits + 2)
    return (doubled - (1 << (bits + 1)) + 1) >> 1


def _sigmoid(numerator: int, denominator: int, bits: int) -> int:
    """By symmetry only exponentials of negative numbers are taken."""
    if numerator > 0:
        return (1 << bits) - _sigmoid(-numerator, denominator, bits)
    if -numerator >= denominator * (bits + 1):
        return 0  # sigmoid(z) < exp(z) <= exp(-bits - 1), less than a unit
    work = bits + _GUARD
    # sigmoid is 1/4-Lipschitz: a unit of 2**-work in the exponential is at most one in the result.
    exponential = _exp(numerator, denominator, work)
    found = (exponential << work) // ((1 << work) + exponential)
    return _rounded(found, _GUARD)


def _softplus(numerator: int, denominator: int, bits: int) -> int:
    """``z`` more than at ``-z``; of negative numbers the logarithm, which is 1-Lipschitz in the exponential."""
    if numerator > 0:
        below = _softplus(-numerator, denominator, bits + 2)
        return _rounded((numerator << (bits + 2)) // denominator + below, 2)
    if -numerator >= denominator * (bits + 1):
        return 0  # ln(1 + exp(z)) < exp(z)
    work = bits + _GUARD
    one = 1 << work
    context = _context(work)
    logarithm = context.ln(context.divide(Decimal(one + _exp(numerator, denominator, work)), Decimal(one)))
    above, below = logarithm.as_integer_ratio()
    return _rounded((above << work) // below, _GUARD)


def _elu(numerator: int, denominator: int, bits: int) -> int:
    if numerator >= 0:
        return (numerator << bits) // denominator
    if -numerator >= denominator * (bits + 1):
        return -1 << bits
    return _rounded(_exp(numerator, denominator, bits + _GUARD), _GUARD) - (1 << bits)


def _erf(numerator: int, denominator: int, bits: int) -> int:
    """``2 / sqrt(pi) exp(-z^2) (z + 2/3 z^3 + 4/15 z^5 + ...)``, each term ``2 z^2 / (2 k + 1)`` times the last.

    The sum grows to ``exp(z^2)``, so as many bits more are kept; from ``z^2 = bits + 1`` on the rest to 1 is below a
    unit.
    """
    if numerator < 0:
        return -_erf(-numerator, denominator, bits)
    square = numerator * numerator // (denominator * denominator)
    if square >= bits + 1:
        return 1 << bits
    work = bits + _LONG_GUARD + 2 * (square + 1)
    point = (numerator << work) // denominator
    twice = point * point >> (work - 1)
    term, total, odd = point, point, 3
    while term:
        term = (term * twice >> work) // odd
        total += term
        odd += 2
    fading = _exp(-point * point, 1 << (2 * work), 2 * work)
    scaled = ((total * fading >> work) << 1) // _root_of_pi(work)
    return _rounded(scaled, work - bits)


def _silu(numerator: int, denominator: int, bits: int) -> int:
    return _gated(numerator, denominator, bits, lambda digits: _sigmoid(numerator, denominator, digits))


def _gelu(numerator: int, denominator: int, bits: int) -> int:
    def gate(digits: int) -> int:
        return ((1 << digits) + _erf(numerator, denominator, digits)) >> 1

    return _gated(numerator, denominator, bits, gate)


def _gelu_tanh(numerator: int, denominator: int, bits: int) -> int:
    z = Fraction(numerator, denominator)
    inner = _TWICE_FACTOR * (z + _TERM * z**3)
    return _gated(numerator, denominator, bits, lambda digits: _sigmoid(inner.numerator, inner.denominator, digits))


def _hard_swish(numerator: int, denominator: int, bits: int) -> int:
    if abs(numerator) >= 3 * denominator:
        return (max(numerator, 0) << bits) // denominator
    return (numerator * (numerator + 3 * denominator) << bits) // (6 * denominator * denominator)


def _log1p(numerator: int, denominator: int, bits: int) -> int:
    """Of a quotient, rounded to as many digits more as its logarithm may have before the point."""
    if numerator <= 0:
        return 0
    total = numerator + denominator
    work = bits + total.bit_length() - denominator.bit_length() + _GUARD
    context = _context(work)
    above, below = context.ln(context.divide(Decimal(total), Decimal(denominator))).as_integer_ratio()
    return ((above << (bits + 1)) // below + 1) >> 1


def _gated(numerator: int, denominator: int, bits: int, gate: Callable[[int], int]) -> int:
    """The ratio times a gate, of which as many digits more are taken as the ratio has."""
    digits = bits + (abs(numerator) // denominator).bit_length() + 3
    return _rounded(numerator * gate(digits) // denominator, digits - bits)


def _rounded(value: int, places: int) -> int:
    return (value + (1 << (places - 1))) >> places


def _exp(numerator: int, denominator: int, work: int) -> int:
    """``2**work exp(z)`` of a negative number or 0, within three units."""
    argument = (numerator << work) // denominator
    context = _context(work)
    power = context.exp(context.divide(Decimal(argument), Decimal(1 << work)))
    above, below = power.as_integer_ratio()
    return (above << work) // below


def _context(work: int) -> Context:
    """Relative errors of 10**(1 - digits), of arguments up to the number of bits."""
    return Context(
        prec=ceil(work * 0.302) + 8, rounding=ROUND_HALF_EVEN, Emin=MIN_EMIN, Emax=MAX_EMAX, clamp=0, traps=[]
    )


@lru_cache(maxsize=16)
def _root_of_pi(work: int) -> int:
    """``2**work sqrt(pi)``, within two units."""
    guarded = 2 * work + _GUARD
    pi = 4 * (4 * _arctangent_of_inverse(5, guarded) - _arctangent_of_inverse(239, guarded))
    return isqrt(pi >> _GUARD)


def _arctangent_of_inverse(number: int, work: int) -> int:
    power, total, odd = (1 << work) // number, 0, 1
    while power:
        total += power // odd if odd % 4 == 1 else -(power // odd)
        power //= number * number
        odd += 2
    return total


_VALUES = {
    Curve.SIGMOID: _sigmoid,
    Curve.TANH: _tanh,
    Curve.SOFTPLUS: _softplus,
    Curve.ELU: _elu,
    Curve.ERF: _erf,
    Curve.SILU: _silu,
    Curve.GELU: _gelu,
    Curve.GELU_TANH: _gelu_tanh,
    Curve.HARD_SWISH: _hard_swish,
    Curve.LOG1P: _log1p,
}
