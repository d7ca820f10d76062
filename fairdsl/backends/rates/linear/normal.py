"""The standard normal law in exact arithmetic: enclosures of Phi(z) that a proof may rest on.

``Phi(z) = 1/2 + phi(z) (z + z^3/3 + z^5/(3*5) + z^7/(3*5*7) + ...)`` for z >= 0 (integration by parts of the density
phi; every term is positive). All steps are on integers, in units of 2**-bits, and rounded down for a lower bound and up
for an upper one. The series is as large as 1/phi(z), so there are as many bits more than 128 as z^2, which is more than
``-log2 phi(z)``. Once the ratio z^2/(2n + 1) of a term to the one before is below 1/4, all that follows a term is less
than a third of it. The one transcendental step, exp(-z^2/2), is ``exp`` of :mod:`decimal`, which is correctly rounded
(the module's documentation and libmpdec's); with so many digits its error is less than a unit. ``Phi(-z)`` is
``1 - Phi(z)``, and beyond 16 standard deviations the tail lies between 0 and ``phi(z) / z < 2**-128``.
"""

from __future__ import annotations

from decimal import MAX_EMAX, MIN_EMIN, ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from functools import lru_cache
from math import isqrt

__all__ = ["cdf", "root"]

_BITS = 128
#: Fifty decimals, cut off.
_PI = Fraction(314159265358979323846264338327950288419716939937510, 10**50)
_PI_ABOVE = _PI + Fraction(1, 10**50)
_FAR = 16
_HALF = Fraction(1, 2)


def root(square: Fraction) -> tuple[Fraction, Fraction]:
    """An enclosure of the square root of a positive number, within a relative 2**-120; exact for squares."""
    product = square.numerator * square.denominator
    shift = max(0, 130 - product.bit_length() // 2)
    scaled = product << (2 * shift)
    whole = isqrt(scaled)
    below = Fraction(whole, square.denominator << shift)
    return below, below if whole * whole == scaled else Fraction(whole + 1, square.denominator << shift)


@lru_cache(maxsize=1 << 16)
def cdf(z: Fraction) -> tuple[Fraction, Fraction]:
    """An enclosure of Phi(z), of a width of at most 2**-110."""
    if not z:
        return _HALF, _HALF
    if z < 0:
        low, high = cdf(-z)
        return 1 - high, 1 - low
    if z >= _FAR:
        return 1 - Fraction(1, 1 << _BITS), Fraction(1)
    bits = _BITS + int(z * z) + 1
    # Phi is increasing: a lower bound at z rounded down, an upper one at z rounded up.
    floor, rest = divmod(z.numerator << bits, z.denominator)
    below = _half_mass(floor, bits, up=False)
    above = _half_mass(floor + 1 if rest else floor, bits, up=True)
    return _HALF + Fraction(below, 1 << bits), min(Fraction(1), _HALF + Fraction(above, 1 << bits))


def _half_mass(z: int, bits: int, *, up: bool) -> int:
    """The mass between 0 and ``z * 2**-bits``, in units of 2**-bits, rounded down or up."""
    return _shifted(_density(z, bits, up=up) * _series(z, bits, up=up), bits, up)


def _series(z: int, bits: int, *, up: bool) -> int:
    square = _shifted(z * z, bits, up)
    term, total, odd = z, z, 1
    while term > 1:
        odd += 2
        term = _divided(_shifted(term * square, bits, up), odd, up)
        total += term
        if up and term <= 1 and odd << bits <= 4 * square:
            term = 2  # rounding up keeps a term at 1: go on until the terms fall fast enough
    # A lower bound may leave out what follows; an upper one covers it by less than a third of the last term.
    return total + 1 if up else total


def _density(z: int, bits: int, *, up: bool) -> int:
    """phi(z) = exp(-z^2/2) / sqrt(2 pi)."""
    # The exponential's slope is at most 1: an argument rounded by a unit changes it by no more.
    square = _shifted(z * z, bits, not up)
    digits = Context(
        prec=bits * 302 // 1000 + 12, rounding=ROUND_HALF_EVEN, Emin=MIN_EMIN, Emax=MAX_EMAX, clamp=0, traps=[]
    )
    power = digits.exp(digits.divide(Decimal(-square), Decimal(2 << bits)))
    numerator, denominator = power.as_integer_ratio()
    exponential = (numerator << bits) // denominator + (2 if up else -1)
    divisor = root(2 * _PI)[0] if up else root(2 * _PI_ABOVE)[1]
    return max(0, _divided(exponential * divisor.denominator, divisor.numerator, up))


def _shifted(a: int, bits: int, up: bool) -> int:
    return -(-a >> bits) if up else a >> bits


def _divided(a: int, b: int, up: bool) -> int:
    return -(-a // b) if up else a // b
