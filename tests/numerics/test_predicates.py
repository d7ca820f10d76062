"""Batched predicates give the exact answers of the definitions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairdsl.ir.expr import Who
from fairdsl.numerics.predicates import mask
from tests.builders import linear, member
from tests.oracle import true_for, values_of
from tests.strategies import domains, predicates


@given(st.data())
def test_mask_is_the_predicate_row_by_row(data) -> None:
    people = data.draw(domains())
    predicate = data.draw(predicates(people.attributes, (Who.A, Who.B)))
    row = st.tuples(*(st.sampled_from(values_of(attribute.type)) for attribute in people.attributes))
    pairs = data.draw(st.lists(st.tuples(row, row), min_size=1, max_size=8))
    for dtype in (np.float64, np.int64, object):
        columns = {
            who: np.array([[v if dtype is object else int(v) for v in pair[place]] for pair in pairs], dtype=dtype)
            for place, who in enumerate((Who.A, Who.B))
        }
        expected = [true_for(predicate, {Who.A: a, Who.B: b}) for a, b in pairs]
        assert mask(predicate, columns).tolist() == expected


@pytest.mark.parametrize(
    ("predicate", "value", "expected"),
    [
        # 2**53 * 3 + 1 is not a float64 and overflows nothing in int64.
        (linear({0: 3}, "=", 3 * 2**53), 2**53, True),
        (linear({0: 3}, ">", 3 * 2**53 - 1), 2**53, True),
        # Beyond int64: Python integers.
        (linear({0: 2**40}, "=", 2**93), 2**53, True),
        (linear({0: 2**40}, "<", 2**93), 2**53, False),
        (linear({0: Fraction(1, 10**30)}, ">", 0), 1, True),
    ],
)
def test_large_integers_are_exact(predicate, value: int, expected: bool) -> None:
    assert mask(predicate, {Who.EACH: np.array([[float(value)]])}).tolist() == [expected]


def test_reals_on_the_edge_are_settled_exactly() -> None:
    """0.1 as a float64 is greater than 1/10, and 3 * 0.1 in floats would not tell."""
    columns = {Who.EACH: np.array([[0.1], [0.25], [np.nextafter(0.1, 0)]])}
    assert mask(linear({0: 3}, ">", "3/10"), columns).tolist() == [True, True, False]
    assert mask(linear({0: 1}, "=", "1/4"), columns).tolist() == [False, True, False]


def test_a_rational_that_no_float_equals_is_no_member() -> None:
    columns = {Who.EACH: np.array([[0.1], [0.5]])}
    assert mask(member(0, Fraction(1, 10), Fraction(1, 2)), columns).tolist() == [False, True]


def test_no_rows() -> None:
    assert mask(linear({0: 1}, ">", 0), {Who.EACH: np.empty((0, 1))}).tolist() == []


def test_factors_that_vanish_as_floats_still_count() -> None:
    """``1e-400 x > 1e-150`` holds for x = 1e300; as a float the factor is 0."""
    rows = np.array([[1e300], [0.5]])  # the second one makes the column one of reals
    assert mask(linear({0: Fraction(1, 10**400)}, ">", Fraction(1, 10**150)), {Who.EACH: rows}).tolist() == [
        True,
        False,
    ]
