"""Exact numbers as plain decimals, however long they are."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

from fairdsl.source.numbers import digits_of

#: Places of a decimal that is written out.
_PLACES = 40
#: Significant digits of a rounded one: more than a double has.
_DIGITS = 17
#: Files of one distribution have the same probabilities, each several times.
_KEPT = 1 << 12


@lru_cache(_KEPT)
def decimal_of(chance: Fraction) -> str:
    """A probability as a plain decimal: exactly where that takes few places, else rounded to the nearest."""
    places = exact_places(chance)
    if places is None:
        places = _DIGITS + max(_zeros(chance), _zeros(1 - chance))
    digits = digits_of(round(chance * 10**places)).rjust(places + 1, "0")
    whole, part = digits[: len(digits) - places], digits[len(digits) - places :].rstrip("0")
    return f"{whole}.{part}" if part else whole


@lru_cache(_KEPT)
def exact_places(chance: Fraction) -> int | None:
    """The decimal places of a terminating decimal that has few."""
    rest, places = chance.denominator, 0
    for prime in (2, 5):
        power = 0
        while rest % prime == 0 and power <= _PLACES:
            rest //= prime
            power += 1
        places = max(places, power)
    return places if rest == 1 and places <= _PLACES else None


def _zeros(number: Fraction) -> int:
    """Places between the point and the first digit that is not 0, or some more: a bit is .30103 digits."""
    return max(0, number.denominator.bit_length() - number.numerator.bit_length() + 1) * 30103 // 100000 + 1
