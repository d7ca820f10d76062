"""Enclosures of the normal law: against published values, error functions, and each other."""

from __future__ import annotations

from fractions import Fraction
from math import erfc, sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairdsl.backends.rates.linear.remainder import cdf, root
from fairdsl.ir.enclosure import Enclosure

F = Fraction

#: Phi(z) to the digits given (tables of the error function: Phi(z) = erfc(-z / sqrt(2)) / 2).
PUBLISHED = {
    "0": "0.5",
    "1": "0.841344746068542948585232545632",
    "2": "0.977249868051820792799717362833",
    "-3": "0.001349898031630094526651814767",
    "-1.96": "0.024997895148220435",
}


@pytest.mark.parametrize(("z", "value"), PUBLISHED.items())
def test_published_values(z: str, value: str) -> None:
    low, high = cdf(F(z))
    digits = F(1, 10 ** (len(value) - value.index(".") - 1)) if "." in value else F(0)
    assert low - digits <= F(value) <= high + digits


@given(st.fractions(-40, 40, max_denominator=10**9))
def test_narrow_and_near_the_error_function(z: Fraction) -> None:
    low, high = cdf(z)
    assert 0 <= low <= high <= 1
    assert high - low <= F(1, 2**110)
    expected = erfc(-float(z) / sqrt(2)) / 2
    assert abs(float(low) - expected) <= 1e-14 * expected + 1e-16


@given(st.fractions(-20, 20, max_denominator=10**6), st.fractions(0, 5, max_denominator=10**6))
def test_increasing_and_symmetric(z: Fraction, step: Fraction) -> None:
    assert cdf(z).low <= cdf(z + step).high
    low, high = cdf(z)
    assert cdf(-z) == Enclosure(low=1 - high, high=1 - low)


@given(st.fractions(F(1, 10**30), 10**30))
def test_roots(square: Fraction) -> None:
    low, high = root(square)
    assert low * low <= square <= high * high
    assert high - low <= low * F(1, 2**119)
    assert root(square * square) == Enclosure.exactly(square)
