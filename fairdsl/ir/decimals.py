"""Numbers of individuals written for people: decimals, which say so where they are not the number itself.

A number that has a short exact decimal, or is a short fraction, is written as it. Any other one, such as the float32
number nearest to 0.1 or a multiple of 2^-50, is written behind ``~`` as the shortest decimal that every float64 reader
takes for the same number; and every float32 reader, too. So whoever types it into the deployed file runs it on the very
individual that is meant. Numbers that this does not tell apart are written as the fractions that they are. JSON always
has those.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from math import frexp, ldexp

from fairdsl.ir.domain import Domain, Point, Real, show_number

#: Stands before a decimal that is not the number itself.
ROUNDED = "~"
#: The exponents of float32 numbers, as `frexp` has them; below the least one they have fewer bits.
_LEAST, _MOST = -125, 128
#: Fractions of no more characters stay; longer decimals are written with an exponent.
_FRACTION, _LONGEST = 8, 30


def decimal(value: Fraction) -> str:
    """``0.1`` for a tenth, ``~0.10000000149011612`` for the float32 number nearest to it, ``1/3`` for what no float is.

    The fraction stands where the number is too large or too small for a float64, and on a border between two float32
    numbers, which a decimal beside it would cross.
    """
    exact = show_number(value)
    if "/" not in exact or len(exact) <= _FRACTION:
        return exact
    try:
        nearest = float(value)
    except OverflowError:
        return exact
    if nearest == 0.0 or _on_a_border(nearest):
        return exact
    text = format(Decimal(repr(nearest)), "f")
    return ROUNDED + (text if len(text) <= _LONGEST else repr(nearest))


def _on_a_border(number: float) -> bool:
    """Whether the number is the middle of two neighbouring float32 numbers: 25 bits, of which the last is set."""
    exponent = max(frexp(number)[1], _LEAST)
    units = ldexp(number, 25 - exponent)
    return exponent <= _MOST and units.is_integer() and int(units) % 2 == 1


def decimals(values: Sequence[Fraction]) -> tuple[str, ...]:
    """Several numbers that are to be told apart: each as a decimal, those of the same decimal as fractions."""
    texts = [decimal(value) for value in values]
    meant: dict[str, set[Fraction]] = {}
    for text, value in zip(texts, values, strict=True):
        meant.setdefault(text, set()).add(value)
    return tuple(
        text if len(meant[text]) == 1 else show_number(value) for text, value in zip(texts, values, strict=True)
    )


def individuals(domain: Domain, *points: Point) -> tuple[dict[str, str], ...]:
    """Individuals in the spec's words, whose values can be told apart."""
    told: tuple[dict[str, str], ...] = tuple({} for _ in points)
    for index, attribute in enumerate(domain.attributes):
        values = [point[index] for point in points]
        real = isinstance(attribute.type, Real)
        texts = decimals(values) if real else [attribute.show(value) for value in values]
        for person, text in zip(told, texts, strict=True):
            person[attribute.name] = text
    return told
