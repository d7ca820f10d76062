"""Products of floats with rationals, and the nearest floats of rationals, against Python's own fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fairdsl.ir.exact_array import ExactArray, nearest_floats
from fairdsl.models import exact

FLOATS = st.one_of(
    st.floats(-1e30, 1e30),
    st.floats(-4, 4),
    st.sampled_from([0.0, -0.0, 5e-324, 2.0**-1000]),
)
FACTORS = st.one_of(
    st.integers(1, 400).map(lambda trees: Fraction(1, trees)), st.fractions(max_denominator=9), st.just(Fraction(0))
)


@given(st.lists(FLOATS, max_size=8), FACTORS, st.booleans())
def test_products_are_exact(values: list[float], factor: Fraction, spread: bool) -> None:
    floats = np.array([values], dtype=np.float64)
    factors = np.array([[factor] * len(values)] if spread else [[factor]], dtype=object)
    found = exact.multiply(floats, factors)
    assert found.shape == floats.shape
    assert [Fraction(each) for each in found.ravel().tolist()] == [Fraction(value) * factor for value in values]
    assert found.dtype != object or any(Fraction(float(each)) != each for each in found.ravel().tolist())
    assert ExactArray.from_fractions(exact.to_fractions(found)) == exact.to_exact_array(found)


@given(st.lists(st.one_of(st.fractions(), st.integers(-(2**70), 2**70), FLOATS.map(Fraction)), max_size=6))
def test_nearest_floats(numbers: list[Fraction | int]) -> None:
    floats, same = nearest_floats(numbers)
    assert floats == [float(number) for number in numbers]
    assert same == all(Fraction(value) == number for value, number in zip(floats, numbers, strict=True))
