"""Boxes on which predicates are constant: disjoint, complete, and right at every point."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise, product

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fairdsl.backends.intervals.axes import Axis, cells, lattice, table
from fairdsl.backends.intervals.partition import FALSE, MIXED, TRUE, Boxes, partition
from fairdsl.ir.expr import TRUE as ALWAYS
from fairdsl.ir.expr import And, Not, Who
from tests.builders import linear, member
from tests.oracle import true_for
from tests.strategies import domains, predicates

NOTHING = np.zeros(1, dtype=object)


def axis_of(index: int, values) -> Axis:
    """Every other attribute as a table, in an order of its own."""
    values = [Fraction(value) for value in values]
    if index % 2:
        column = np.array([[int(7 * value) % 5] for value in values], dtype=object)
        return table(index, values, column, sort=True)
    steps = {b - a for a, b in pairwise(values)}
    if len(steps) == 1:
        return lattice(index, values[0], steps.pop(), len(values), NOTHING)
    return table(index, values, np.zeros((len(values), 1), dtype=object), sort=False)


@given(st.data())
def test_boxes_say_what_holds_at_every_point(data) -> None:
    people = data.draw(domains())
    wanted = [data.draw(predicates(people.attributes)) for _ in range(data.draw(st.integers(1, 3)))]
    axes = [axis_of(index, sorted(attribute.values)) for index, attribute in enumerate(people.attributes)]
    boxes = partition(wanted, axes, 10_000)
    assert not (boxes.states == MIXED).any()
    met = set()
    for low, high, states in zip(boxes.low, boxes.high, boxes.states, strict=True):
        for positions in product(*(range(a, b + 1) for a, b in zip(low, high, strict=True))):
            assert positions not in met
            met.add(positions)
            point = tuple(axis.value(position) for axis, position in zip(axes, positions, strict=True))
            for predicate, state in zip(wanted, states.tolist(), strict=True):
                assert state == (TRUE if true_for(predicate, {Who.EACH: point}) else FALSE)
    assert len(met) == np.prod([axis.size for axis in axes])


def share(boxes: Boxes, state: int) -> float:
    chosen = (boxes.states == state).any(axis=1)
    return float(np.prod((boxes.high - boxes.low + 1)[chosen].astype(float), axis=1).sum())


def test_the_limit_leaves_little_and_says_what() -> None:
    line = lattice(0, Fraction(0), Fraction(1), 2**20, NOTHING)
    other = lattice(1, Fraction(0), Fraction(1), 2**20, NOTHING)
    boxes = partition([linear({0: 1, 1: -1}, "<=")], [line, other], 2000)
    assert len(boxes.low) <= 2000
    half, mixed = 2.0**39, share(boxes, MIXED)
    assert 0 < mixed < 0.02 * 2.0**40
    assert share(boxes, TRUE) <= half + 2.0**20 <= share(boxes, TRUE) + mixed
    assert share(boxes, TRUE) + share(boxes, FALSE) + mixed == 2.0**40


def test_a_bound_on_one_attribute_is_cut_where_it_is() -> None:
    amounts = lattice(0, Fraction(0), Fraction(1), 10**9, NOTHING)
    boxes = partition([linear({0: 3}, "<", 1000), Not(member(0, 7, 9))], [amounts], 100)
    assert len(boxes.low) == 6
    assert not (boxes.states == MIXED).any()


def test_reals_keep_a_strict_bound_that_is_only_touched() -> None:
    """A face has no volume, so what is lost there counts as kept; but nobody who is inside is left out."""
    rate = cells(0, Fraction(0), Fraction(1), 8, NOTHING)
    below = partition([linear({0: 1}, "<", "1/2")], [rate], 100)
    assert sorted(zip(below.low[:, 0].tolist(), below.states[:, 0].tolist(), strict=True)) == [(0, TRUE), (4, FALSE)]
    above = partition([linear({0: 1}, ">=", "1/2")], [rate], 100)
    touched = above.states[(above.low[:, 0] <= 3) & (above.high[:, 0] >= 3), 0]
    assert touched.tolist() == [MIXED]


def test_a_real_boundary_inside_a_cell_stays_mixed() -> None:
    rate = cells(0, Fraction(0), Fraction(1), 8, NOTHING)
    boxes = partition([linear({0: 3}, "<=", 1), ALWAYS, And(())], [rate], 100)
    mixed = boxes.states[:, 0] == MIXED
    assert boxes.low[mixed].tolist() == boxes.high[mixed].tolist() == [[2]]
