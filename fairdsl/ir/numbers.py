"""Exact numbers written down: as floats and as decimals, rounded outward so that no bound is overstated."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from math import ceil, floor

from fairdsl.codec.numbers import Towards, above, below, json_number, nearest, ratio, read_ratio

__all__ = ["Towards", "above", "below", "json_number", "nearest", "ratio", "read_ratio", "shown", "span"]


#: The numbers that the rounding of another must not cross.
_LANDMARKS = (Fraction(0), Fraction(1))


def shown(
    value: Fraction,
    *,
    percent: bool = False,
    towards: Towards = Towards.NEAREST,
    landmarks: Iterable[Fraction] = _LANDMARKS,
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


def span(
    low: Fraction,
    high: Fraction,
    *,
    between: str = " .. ",
    percent: bool = False,
    landmarks: Iterable[Fraction] = _LANDMARKS,
) -> str:
    """Both ends of what a number is known to lie in, rounded outward, for they claim; a number that is known, once."""
    marks = tuple(landmarks)
    if low == high:
        return shown(low, percent=percent, landmarks=marks)
    least = shown(low, percent=percent, towards=Towards.DOWN, landmarks=marks)
    return f"{least}{between}{shown(high, percent=percent, towards=Towards.UP, landmarks=marks)}"


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
