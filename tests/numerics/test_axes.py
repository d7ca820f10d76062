"""Atoms of whole numbers: the values that speak for all of them are those next to a cut, wherever the cuts are."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor

from hypothesis import given
from hypothesis import strategies as st

from fairdsl.numerics.axes import _together


@given(
    low=st.integers(-30, 30),
    length=st.integers(1, 40),
    cuts=st.lists(st.fractions(-50, 50, max_denominator=6), max_size=12, unique=True),
)
def test_the_speakers_of_a_range_are_its_ends_and_what_is_next_to_a_cut(
    low: int, length: int, cuts: list[Fraction]
) -> None:
    values = range(low, low + length)
    near = {number for cut in cuts for number in (floor(cut) - 1, floor(cut), ceil(cut), ceil(cut) + 1)}
    naive = sorted({values[0], values[-1], *(value for value in values if value in near)})
    assert list(_together(values, 0, Fraction(1), sorted(cuts)).samples) == naive
