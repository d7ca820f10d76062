"""Fisher's exact test against its definition: the outcomes that are no likelier, counted as whole numbers."""

from __future__ import annotations

from fractions import Fraction
from math import comb, sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairdsl.numerics.fisher import Selected, fisher_p, standard_deviations


def by_definition(one: Selected, other: Selected) -> Fraction:
    people, hits = one.people + other.people, one.hits + other.hits
    ways = {
        k: comb(one.people, k) * comb(other.people, hits - k)
        for k in range(max(0, hits - other.people), min(hits, one.people) + 1)
    }
    return Fraction(sum(way for way in ways.values() if way <= ways[one.hits]), comb(people, hits))


@st.composite
def selected(draw: st.DrawFn) -> Selected:
    people = draw(st.integers(1, 300))
    return Selected(draw(st.integers(0, people)), people)


@given(selected(), selected())
def test_the_p_value_is_that_of_the_definition(one: Selected, other: Selected) -> None:
    assert fisher_p(one, other) == pytest.approx(float(by_definition(one, other)), rel=1e-6, abs=1e-12)
    assert fisher_p(one, other) == pytest.approx(fisher_p(other, one), rel=1e-6, abs=1e-12)


@given(selected(), selected())
def test_standard_deviations_squared_are_the_chi_square_of_the_table(one: Selected, other: Selected) -> None:
    found = standard_deviations(one, other)
    people, hits = one.people + other.people, one.hits + other.hits
    if hits in (0, people):
        assert found == 0
        return
    cross = one.hits * (other.people - other.hits) - other.hits * (one.people - one.hits)
    chi = Fraction(people * cross**2, hits * (people - hits) * one.people * other.people)
    assert abs(found) == pytest.approx(sqrt(chi), rel=1e-9, abs=1e-9)
    assert (found > 0) is (Fraction(one.hits, one.people) < Fraction(other.hits, other.people)) or abs(found) < 1e-9


def test_many_people_take_no_time() -> None:
    assert fisher_p(Selected(250_000, 500_000), Selected(251_000, 500_000)) == pytest.approx(0.0457, abs=2e-4)
