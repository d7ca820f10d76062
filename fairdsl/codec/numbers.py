"""Exact numbers in documents: as JSON numbers, rounded outward where they are bounds, and as ``p/q``."""

from __future__ import annotations

import re
from enum import Enum
from fractions import Fraction
from math import inf, nextafter
from sys import float_info

from fairdsl.source.numbers import digits_of, read_number

#: How :func:`ratio` writes a number.
RATIO = re.compile(r"-?[0-9]+/[1-9][0-9]*")


class Towards(Enum):
    """Which way a number is rounded. In an annotation of a field, ``Annotated[Fraction, Towards.DOWN]``."""

    DOWN = "down"
    NEAREST = "nearest"
    UP = "up"


#: Every whole number up to it is a float, in every language.
_WHOLE = 2**53


def nearest(value: Fraction) -> float:
    """The nearest finite float."""
    try:
        return float(value)
    except OverflowError:
        return float_info.max if value > 0 else -float_info.max


def below(value: Fraction) -> float | None:
    """The greatest float that is not above the number; None where none is that low."""
    candidate = nearest(value)
    over, under = candidate.as_integer_ratio()
    if over * value.denominator <= value.numerator * under:  # by fractions it takes ten times as long
        return candidate
    lower = nextafter(candidate, -inf)
    return None if lower == -inf else lower


def above(value: Fraction) -> float | None:
    """The least float that is not below the number; None where none is that high."""
    mirrored = below(-value)
    # Adding zero turns -0.0 into 0.0.
    return None if mirrored is None else -mirrored + 0.0


def rounded(value: Fraction, towards: Towards) -> int | float | None:
    """The number as JSON has it: whole numbers as such, others as a float that is rounded as asked for."""
    if value.denominator == 1 and abs(value) <= _WHOLE:
        return int(value)
    match towards:
        case Towards.DOWN:
            return below(value)
        case Towards.UP:
            return above(value)
        case Towards.NEAREST:
            return nearest(value)


def ratio(value: Fraction) -> str:
    """``p/q``, also for whole numbers, with all digits."""
    return f"{_digits(value.numerator)}/{_digits(value.denominator)}"


def read_ratio(text: str) -> Fraction:
    """The number that :func:`ratio` wrote; ``text`` is of that form. ValueError for more digits than are read."""
    return read_number(text, longest=_LONGEST)


#: More digits than any sum has; reading them takes time that grows with their square.
_LONGEST = 200_000


def _digits(number: int) -> str:
    return digits_of(number) if number >= 0 else f"-{digits_of(-number)}"


def json_number(value: Fraction) -> int | float | str:
    """A number that JSON can hold exactly, else ``p/q``."""
    if value.denominator == 1 and abs(value) <= _WHOLE:
        return int(value)
    candidate = nearest(value)
    return candidate if Fraction(candidate) == value else ratio(value)
