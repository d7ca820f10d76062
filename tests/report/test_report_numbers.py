"""Numbers never claim more than is known."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairdsl.ir.domain import show_number
from fairdsl.ir.numbers import Towards, above, below, ratio, shown, span
from fairdsl.ir.question import metric_words
from fairdsl.repairing.wording import with_interval

F = Fraction

rationals = (
    st.fractions() | st.fractions(min_value=0, max_value=1) | st.floats(allow_nan=False, allow_infinity=False).map(F)
)


@given(rationals)
def test_floats_are_rounded_outward_and_tightly(value: F) -> None:
    low, high = below(value), above(value)
    assert low is not None
    assert high is not None
    assert F(low) <= value <= F(high)
    if F(float(value)) == value:
        assert low == high == value


def test_no_float_is_that_low_or_high() -> None:
    assert below(F(-(10**400))) is None
    assert above(F(10**400)) is None
    assert below(F(10**400)) == 1.7976931348623157e308
    assert str(above(F(0))) == "0.0"


@given(rationals, st.booleans())
def test_decimals_are_rounded_the_way_asked(value: F, percent: bool) -> None:
    def read(text: str) -> F:
        return F(text.rstrip("%")) / (100 if percent else 1)

    assert read(shown(value, percent=percent, towards=Towards.DOWN)) <= value
    assert read(shown(value, percent=percent, towards=Towards.UP)) >= value


def test_ends_that_claim_are_rounded_outward_and_a_number_that_is_known_is_said_once() -> None:
    low, high = F(59996, 10**7), F(131404, 10**6)
    assert span(low, high, between=" to ", percent=True) == "0.59% to 13.15%"
    assert span(low, low, percent=True) == shown(low, percent=True) == "0.60%"
    assert span(F(0), F(1, 10**6), percent=True) == "0% .. 0.01%"
    assert span(F(4001, 5000) + F(1, 10**6), F(1), percent=True, landmarks=(F(4, 5),)) == "80.02% .. 100%"
    assert with_interval(9999, 10000) == "99.99% [99.94%, 99.9998%]"  # one of them is another


@given(rationals, rationals)
def test_what_is_shown_lies_on_the_same_side_of_the_threshold(value: F, limit: F) -> None:
    written = F(shown(value, landmarks=(limit,)))
    assert (written > limit) == (value > limit)
    assert (written < limit) == (value < limit)


@pytest.mark.parametrize(
    ("value", "percent", "written"),
    [
        (F(4, 5), True, "80%"),
        (F(1, 3), True, "33.33%"),
        (F(1, 3), False, "0.3333"),
        (F(6132, 10000), False, "0.6132"),
        (F(1, 10**8), True, "0.000001%"),
        (F(-1, 2), False, "-0.5"),
        (F(12), False, "12"),
        (F(1, 3 * 10**20), False, f"1/{3 * 10**20}"),
    ],
)
def test_decimals(value: F, percent: bool, written: str) -> None:
    assert shown(value, percent=percent) == written


def test_close_to_a_threshold_more_places_are_shown() -> None:
    value = F(94999999, 10**8)
    assert shown(value, percent=True, landmarks=(F(95, 100),)) == "94.999999%"


def test_ratios_are_always_ratios() -> None:
    assert ratio(F(24, 30)) == "4/5"
    assert ratio(F(-3)) == "-3/1"


@pytest.mark.parametrize(
    "text", ["0.9", "0.1", "-0.05", "9.37", "0.00001", "3", "-12", "1/3", "22/7", "0.0009765625", "1/1000000000000"]
)
def test_numbers_are_shown_as_a_spec_writes_them(text: str) -> None:
    """0.9 is not a float64, and a decimal all the same."""
    assert show_number(F(text)) == text


@given(rationals)
def test_numbers_are_shown_exactly(value: F) -> None:
    assert F(show_number(value)) == value


def test_metrics_in_prose() -> None:
    assert metric_words("path_specific_gap") == "path-specific gap"
    assert metric_words("impact_ratio") == "impact ratio"
