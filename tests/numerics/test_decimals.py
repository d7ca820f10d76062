"""What is printed for a number: read back it is the number, or one that every float reader takes for it."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fairdsl.ir.decimals import ROUNDED, decimal, decimals

SINGLES = st.floats(width=32, allow_nan=False, allow_infinity=False).map(Fraction)
DOUBLES = st.floats(allow_nan=False, allow_infinity=False).map(Fraction)
#: Middles of two neighbouring float32 numbers: a decimal beside one is rounded to another float32 than the number.
BORDERS = st.tuples(st.integers(2**23, 2**24 - 2), st.integers(-60, 60)).map(
    lambda drawn: Fraction(2 * drawn[0] + 1, 2) * Fraction(2) ** drawn[1]
)
NUMBERS = st.one_of(SINGLES, DOUBLES, BORDERS, st.fractions(), st.decimals(-1000, 1000, places=9).map(Fraction))


def rounded(value: Fraction, digits: int) -> Fraction | None:
    """The nearest binary number of so many digits, a half to the even one; None beside the range of float32."""
    if value == 0:
        return Fraction(0)
    size, exponent = abs(value), 0
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    exponent -= size < Fraction(2) ** exponent
    if not -126 <= exponent <= 127:
        return None
    step = Fraction(2) ** (exponent - digits + 1)
    return round(value / step) * step


@given(NUMBERS)
def test_what_is_read_back_is_the_number_or_is_taken_for_it(value: Fraction) -> None:
    text = decimal(value)
    if not text.startswith(ROUNDED):
        assert Fraction(text) == value
        return
    again = Fraction(Decimal(text.removeprefix(ROUNDED)))
    assert again != value
    assert float(again) == float(value)
    for digits in (24, 53):
        assert rounded(again, digits) == rounded(value, digits)


@given(DOUBLES)
def test_no_shorter_decimal_is_taken_for_it(value: Fraction) -> None:
    text = decimal(value)
    if text.startswith(ROUNDED):
        digits = len(Decimal(text.removeprefix(ROUNDED)).as_tuple().digits)
        shorter = f"{float(value):.{max(digits - 2, 0)}e}"
        assert digits <= 17
        assert digits == 1 or float(shorter) != float(value)


@given(st.lists(NUMBERS, min_size=2, max_size=5), st.integers(1, 60))
def test_numbers_that_differ_are_told_apart(values: list[Fraction], places: int) -> None:
    values += [values[0] + Fraction(1, 3 * 2**places), values[0] + Fraction(1, 10**places)]
    texts = decimals(values)
    assert len(set(zip(texts, values, strict=True))) == len(set(texts)) == len(set(values))


def test_some_numbers() -> None:
    single = Fraction(float(np.float32(0.1)))
    assert decimal(Fraction(1, 10)) == "0.1"
    assert decimal(single) == "~0.10000000149011612"
    assert decimals([Fraction(1, 10), Fraction(0.1)]) == ("0.1", "~0.1")
    assert decimals([Fraction(1, 3), Fraction(1 / 3)]) == ("1/3", "~0.3333333333333333")
    long = Fraction(1, 3) + Fraction(1, 10**30)
    assert decimals([long, Fraction(1 / 3)]) == (str(long), "6004799503160661/18014398509481984")
    assert decimal(Fraction(7, 2)) == "3.5"
