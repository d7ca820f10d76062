"""Exact numbers written down: as floats and as decimals, rounded outward so that no bound is overstated."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from fractions import Fraction
from math import ceil, floor, inf, nextafter
from sys import float_info

__all__ = ["Towards", "above", "below", "json_number", "nearest", "ratio", "read_ratio", "shown"]


class Towards(Enum):
    """Which way a number is rounded."""

    DOWN = "down"
    NEAREST = "nearest"
    UP = "up"


_LARGEST = Fraction(float_info.max)


def nearest(value: Fraction) -> float:
    """The nearest finite float."""
    return float(max(-_LARGEST, min(value, _LARGEST)))


def below(value: Fraction) -> float | None:
    """The greatest float that is not above the number; None where none is that low."""
    if value < -_LARGEST:
        return None
    candidate = nearest(value)
    return candidate if Fraction(candidate) <= value else nextafter(candidate, -inf)


def above(value: Fraction) -> float | None:
    """The least float that is not below the number; None where none is that high."""
    mirrored = below(-value)
    # Adding zero turns -0.0 into 0.0.
    return None if mirrored is None else -mirrored + 0.0


def ratio(value: Fraction) -> str:
    """``p/q``, also for whole numbers, with all digits."""
    return f"{_digits(value.numerator)}/{_digits(value.denominator)}"


def read_ratio(text: str) -> Fraction:
    """The number that :func:`ratio` wrote; ``text`` is of that form. Raises ValueError for a million digits."""
    if len(text) > _LONGEST:
        raise ValueError("too many digits")
    numerator, _, denominator = text.partition("/")
    return Fraction(_whole(numerator), _whole(denominator))


#: Python converts numbers of no more than 4300 digits at once; a sum over the tables of a law may have more.
_AT_ONCE = 4000
#: More digits than any sum has; reading them takes time that grows with their square.
_LONGEST = 1_000_000


def _digits(number: int) -> str:
    if -(10**_AT_ONCE) < number < 10**_AT_ONCE:
        return str(number)
    rest, parts = abs(number), []
    while rest:
        rest, part = divmod(rest, 10**_AT_ONCE)
        parts.append(f"{part:0{_AT_ONCE}d}" if rest else str(part))
    return ("-" if number < 0 else "") + "".join(reversed(parts))


def _whole(text: str) -> int:
    sign, digits = (-1, text[1:]) if text.startswith("-") else (1, text)
    found = 0
    for start in range(0, len(digits), _AT_ONCE):
        part = digits[start : start + _AT_ONCE]
        found = found * 10 ** len(part) + int(part)
    return sign * found


def json_number(value: Fraction) -> int | float | str:
    """A number that JSON can hold exactly, else ``p/q``."""
    if value.denominator == 1 and abs(value) <= 2**53:
        return int(value)
    candidate = nearest(value)
    return candidate if Fraction(candidate) == value else ratio(value)


def shown(
    value: Fraction,
    *,
    percent: bool = False,
    towards: Towards = Towards.NEAREST,
    landmarks: Iterable[Fraction] = (Fraction(0), Fraction(1)),
) -> str:
    """A decimal with four places (two in percent), and more where fewer would hide something.

    What is written stands on the same side of every landmark as the number itself: a share of one in a
    billion is not ``0%``, and 0.79999 is not ``0.8`` where 0.8 is the threshold.
    """
    marks = tuple(landmarks)
    scale, sign, places = (100, "%", 2) if percent else (1, "", 4)
    for digits in range(places, places + 12):
        rounded = _rounded(value * scale, digits, towards)
        if all(_side(rounded / scale, mark) == _side(value, mark) for mark in marks):
            return _decimal(rounded, digits, exact=rounded == value * scale) + sign
    return ratio(value)


def _side(value: Fraction, mark: Fraction) -> int:
    return (value > mark) - (value < mark)


def _rounded(value: Fraction, digits: int, towards: Towards) -> Fraction:
    power = 10**digits
    match towards:
        case Towards.DOWN:
            return Fraction(floor(value * power), power)
        case Towards.UP:
            return Fraction(ceil(value * power), power)
        case Towards.NEAREST:
            return Fraction(round(value * power), power)


def _decimal(value: Fraction, digits: int, *, exact: bool) -> str:
    """A number with at most ``digits`` places; trailing zeros only where the number was rounded."""
    units = abs(round(value * 10**digits))
    whole, places = divmod(units, 10**digits)
    text = f"{whole}.{places:0{digits}d}"
    if exact:
        text = text.rstrip("0").rstrip(".")
    return f"-{text}" if value < 0 else text
