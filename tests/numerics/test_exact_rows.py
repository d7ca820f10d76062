"""Rows of exact numbers: sorted, compared and decided as rationals are, however near to each other."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairdsl.ir.exact_rows import Column, ExactRows, Scaled, fractions_of
from fairdsl.ir.expr import Who
from fairdsl.ir.model import Model
from fairdsl.numerics.evaluate import BatchEvaluator, points_of
from fairdsl.numerics.exact import UNDECIDED
from fairdsl.numerics.leaves import Leaves
from fairdsl.numerics.predicates import mask
from tests.kernel_strategies import kernel_models
from tests.oracle import outcome, true_for
from tests.strategies import domains, models, predicates
from tests.tree_strategies import tree_models

#: Half numbers, what lies beside them where no float does, thirds, decimals, and numbers of other sizes.
NUMBERS = st.one_of(
    st.builds(
        lambda halves, units, power: Fraction(halves, 2) + units * Fraction(10) ** power,
        st.integers(-4, 8),
        st.integers(-1, 1),
        st.sampled_from([-30, -18, -17, -1, -2]),
    ),
    st.builds(Fraction, st.integers(-9, 9), st.sampled_from([1, 3, 7, 10])),
    st.sampled_from([Fraction(10) ** 25, Fraction(-1, 10**40), Fraction(2) ** 70, Fraction(1, 2**60)]),
)


@st.composite
def exact_rows(draw: st.DrawFn, width: int) -> ExactRows:
    count = draw(st.integers(1, 6))
    columns: list[Column] = []
    for _ in range(width):
        if draw(st.integers(0, 2)) == 0:
            columns.append(np.array(draw(st.lists(st.integers(-4, 8), min_size=count, max_size=count))) / 4)
        else:
            columns.append(Scaled.of_fractions(draw(st.lists(NUMBERS, min_size=count, max_size=count))))
    return ExactRows.of_columns(columns, count)


@given(st.lists(NUMBERS, min_size=1, max_size=8))
def test_a_column_is_its_numbers_and_its_floats_the_nearest(values: list[Fraction]) -> None:
    column = Scaled.of_fractions(values)
    assert column.fractions == values
    assert column.floats.tolist() == [float(value) for value in values]


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=8))
def test_floats_are_scaled_exactly(values: list[float]) -> None:
    assert Scaled.of_floats(np.array(values)).fractions == [Fraction(value) for value in values]


@given(st.data())
def test_distinct_rows_and_rows_put_together(data: st.DataObject) -> None:
    parts = [data.draw(exact_rows(3)) for _ in range(data.draw(st.integers(1, 3)))]
    rows = ExactRows.joined([*parts, parts[0]])
    listed = [point for part in (*parts, parts[0]) for point in part.points()]
    assert rows.points() == listed
    distinct, where = rows.distinct()
    assert distinct.points() == sorted(set(listed))
    assert [distinct.points()[place] for place in where.tolist()] == listed
    kept = data.draw(st.lists(st.integers(0, len(listed) - 1)))
    assert rows.at(np.array(kept, dtype=np.intp)).points() == [listed[row] for row in kept]
    assert rows.keep([2, 0]).points() == [(z, x) for x, _, z in listed]
    assert rows.replaced([1], 0.5).points() == [(x, Fraction(1, 2), z) for x, _, z in listed]
    assert fractions_of(rows.column(1)) == [y for _, y, _ in listed]


@given(st.data())
def test_predicates_hold_as_they_do_of_rationals(data: st.DataObject) -> None:
    domain = data.draw(domains())
    width = len(domain.attributes)
    predicate = data.draw(predicates(domain.attributes, (Who.A, Who.B)))
    a = data.draw(exact_rows(width))
    b = a.at(np.array(data.draw(st.permutations(range(len(a)))), dtype=np.intp))
    expected = [true_for(predicate, {Who.A: x, Who.B: y}) for x, y in zip(a.points(), b.points(), strict=True)]
    assert mask(predicate, {Who.A: a, Who.B: b}).tolist() == expected


def assert_decided(model: Model, rows: ExactRows) -> None:
    """Scores within their errors are not asked for again: what they are for is the decisions."""
    found = BatchEvaluator(model).settled(rows).decisions.tolist()
    for point, decision in zip(points_of(rows), found, strict=True):
        assert decision in (outcome(model, point), UNDECIDED)
        assert decision != UNDECIDED or not model.rational


@given(st.data())
def test_networks_decide_rows_exactly(data: st.DataObject) -> None:
    domain = data.draw(domains())
    model = data.draw(models(domain, False, (0, 2, 5)))
    assert_decided(model, data.draw(exact_rows(len(domain.attributes))))


@given(st.data())
def test_trees_decide_rows_exactly(data: st.DataObject) -> None:
    domain = data.draw(domains())
    model = data.draw(tree_models(domain, False))
    rows = data.draw(exact_rows(len(domain.attributes)))
    leaves = Leaves.of(model)
    assert leaves.reached(rows).tolist() == [leaves.reached_exactly(point) for point in rows.points()]
    assert_decided(model, rows)


@given(st.data())
def test_bounds_of_kernel_machines_hold_for_rows(data: st.DataObject) -> None:
    domain = data.draw(domains())
    model = data.draw(kernel_models(domain))
    rows = data.draw(exact_rows(len(domain.attributes)))
    exact = BatchEvaluator(model)
    decisions, in_doubt = exact.decisions(rows)
    settled = exact.settled(rows).decisions
    assert np.all((decisions == settled) | in_doubt)


def test_rows_do_not_become_floats_by_accident() -> None:
    rows = ExactRows.of_columns([Scaled.of_fractions([Fraction(1, 10)])], 1)
    with pytest.raises(TypeError, match="exact"):
        np.asarray(rows)
    with pytest.raises(TypeError, match="exact"):
        np.ascontiguousarray(rows)
