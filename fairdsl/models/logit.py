"""A rigorous rational enclosure of the logit ``ln(q / (1 - q))``, in integer arithmetic.

With ``x = q / (1 - q) = m * 2**k`` and 2/3 < m <= 4/3, ``ln x = ln m + k ln 2`` and
``ln m = 2 artanh((m - 1) / (m + 1))``, whose series has ratio at most 1/25. Every term is rounded down to
a fixed grid, so the sum of the rounded terms is a lower bound, and the number of terms plus the
remainder of the geometric series bounds what is missing.

For a rational q other than 1/2 the logit is transcendental (Lindemann), so that no rational score ever
equals it: an enclosure decides every comparison, if it is narrow enough.
"""

from __future__ import annotations

from fractions import Fraction

from fairdsl.ir.enclosure import Enclosure

_BITS = 200  # the enclosure is at most 2**-200 wide
_GRID = 320  # terms are rounded to multiples of 2**-320


def logit(q: Fraction) -> Enclosure:
    """Bounds [low, high] of ``ln(q / (1 - q))`` with 0 < q < 1, at most 2**-200 apart."""
    if not 0 < q < 1:
        raise ValueError("a probability strictly between 0 and 1 is needed")
    if q == Fraction(1, 2):
        return Enclosure(low=Fraction(0), high=Fraction(0))
    odds = q / (1 - q)
    exponent = odds.numerator.bit_length() - odds.denominator.bit_length()
    mantissa = odds / Fraction(2) ** exponent  # between 1/2 and 2
    if mantissa > Fraction(4, 3):
        mantissa, exponent = mantissa / 2, exponent + 1
    elif mantissa <= Fraction(2, 3):
        mantissa, exponent = mantissa * 2, exponent - 1
    low, high = _twice_artanh((mantissa - 1) / (mantissa + 1))
    two_low, two_high = _twice_artanh(Fraction(1, 3))
    if exponent >= 0:
        low, high = low + exponent * two_low, high + exponent * two_high
    else:
        low, high = low + exponent * two_high, high + exponent * two_low
    unit = 1 << (_GRID - _BITS - 2)
    low, high = low // unit, -(-high // unit)
    scale = 1 << (_BITS + 2)
    return Enclosure(low=Fraction(low, scale), high=Fraction(high, scale))


def apart(gap: Fraction) -> Enclosure:
    """Bounds of how far apart two logits are at least whose probabilities are ``gap`` apart, 0 <= gap < 1.

    Theorem. With d = x - y >= 0 and m = x + y, logistic(x) - logistic(y) = sinh(d/2) / (cosh(d/2) + cosh(m/2)), which
    is at most tanh(d/4), for m = 0. So a gap takes a distance of 4 artanh(gap), twice the logit of (1 + gap) / 2.
    """
    low, high = logit((1 + gap) / 2)
    return Enclosure(low=2 * low, high=2 * high)


def _twice_artanh(t: Fraction) -> tuple[int, int]:
    """Bounds of ``2 artanh(t)`` for abs(t) <= 1/3, in units of 2**-320."""
    if t < 0:
        low, high = _twice_artanh(-t)
        return -high, -low
    numerator, denominator = 2 * t.numerator << _GRID, t.denominator
    square_numerator, square_denominator = t.numerator**2, t.denominator**2
    total, terms, power = 0, 0, 1
    while True:
        term = numerator // (denominator * power)
        total, terms, power = total + term, terms + 1, power + 2
        if term == 0:
            break
        numerator, denominator = numerator * square_numerator, denominator * square_denominator
    # The last term is below one unit, and so are all that follow together: their ratio is at most 1/9.
    return total, total + terms + 1
