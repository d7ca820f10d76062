"""The enclosure of the logit contains the true value, by another series than the one it uses."""

from __future__ import annotations

from decimal import Decimal, getcontext
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairdsl.models.logit import logit


def in_decimal(q: Fraction) -> Fraction:
    """Eighty digits of ln(q / (1 - q)), by the library's own logarithm."""
    getcontext().prec = 120
    odds = Decimal(q.numerator) / Decimal(q.denominator - q.numerator)
    return Fraction(odds.ln())


@given(st.fractions(0, 1, max_denominator=10**9).filter(lambda q: q not in (0, 1, Fraction(1, 2))))
def test_enclosure_contains_the_logarithm(q: Fraction) -> None:
    low, high = logit(q)
    error = Fraction(1, 10**100)
    assert low - error <= in_decimal(q) <= high + error
    assert 0 < high - low <= Fraction(1, 2**200)


@pytest.mark.parametrize("q", ["0.7", "0.999999999999", "0.000000000000000000000001", "2/3", "1/3", "4/7"])
def test_enclosure_of_thresholds(q: str) -> None:
    low, high = logit(Fraction(q))
    assert low < in_decimal(Fraction(q)) < high
    assert tuple(logit(1 - Fraction(q))) == (-high, -low)


def test_one_half_is_zero_and_certainties_have_no_logit() -> None:
    assert tuple(logit(Fraction(1, 2))) == (0, 0)
    for q in (0, 1, -1, 2):
        with pytest.raises(ValueError, match="strictly between"):
            logit(Fraction(q))
