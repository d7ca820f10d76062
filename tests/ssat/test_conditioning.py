"""Elimination as a Bayesian network given the keys: against the product of tables, one assignment after the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import prod

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fairdsl.backends.ssat.conditioning import Conditioned, Scope, conditioned, order_of
from fairdsl.backends.ssat.distribution import Distribution
from fairdsl.ir.domain import Attribute, Integer
from fairdsl.ir.expr import TRUE, Predicate
from fairdsl.ir.feature import IndicatorInput
from fairdsl.ir.population import Cell, Inside, Network
from fairdsl.metrics.subject import subject_of
from fairdsl.numerics.tables import Table
from tests import builders
from tests.drawing import examples
from tests.subset_sum.laws import asked, bernoulli, booleans, factor, linear, network, points

F = Fraction
RELAXED = settings(max_examples=examples(1.3), deadline=None, suppress_health_check=list(HealthCheck))
At = dict[int, int]


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[Table], dict[int, int]]:
    """A few tables over up to five columns of two or three states; every column has one."""
    sizes = {column: draw(st.integers(2, 3)) for column in range(draw(st.integers(2, 5)))}
    scopes = [
        sorted({column, *draw(st.lists(st.sampled_from(sorted(sizes)), max_size=2, unique=True))}) for column in sizes
    ]
    made = []
    for scope in scopes:
        shape = [sizes[column] for column in scope]
        numbers = draw(st.lists(st.integers(0, 3), min_size=prod(shape), max_size=prod(shape)))
        made.append(Table(tuple(scope), np.array(numbers, dtype=object).reshape(shape)))
    return made, sizes


def at(table: Table, states: At) -> int:
    return int(table.numbers[tuple(states[column] for column in table.columns)])


def chance(found: Conditioned, states: At) -> Fraction | None:
    """The product of the rows; None where one of them is never met."""
    total = F(1)
    for conditional in found.network:
        row = conditional.numbers[tuple(states[parent] for parent in conditional.parents)]
        if not row.any():
            return None
        total *= F(int(row[states[conditional.column]]), int(row.sum()))
    return total


def every(sizes: dict[int, int], columns: Sequence[int]) -> list[At]:
    return [dict(zip(columns, each, strict=True)) for each in product(*(range(sizes[column]) for column in columns))]


@RELAXED
@given(tables(), st.data())
def test_the_law_is_a_product_of_conditionals_and_of_the_keys(
    drawn: tuple[list[Table], dict[int, int]], data: st.DataObject
) -> None:
    factors, sizes = drawn
    kept = set(data.draw(st.lists(st.sampled_from(sorted(sizes)), max_size=2, unique=True)))
    wanted = set(data.draw(st.lists(st.sampled_from(sorted(sizes)), unique=True))) - kept
    order = order_of([Scope(frozenset(table.columns)) for table in factors], sizes, kept, wanted)
    assert sorted([*order.columns, *kept]) == sorted(sizes)
    found = conditioned(factors, 7, sizes, order.columns, wanted)
    inside = [conditional.column for conditional in found.network]
    assert wanted <= set(inside)
    for conditional in found.network:
        before = {*kept, *inside[: inside.index(conditional.column)]}
        assert set(conditional.parents) <= before  # keys have no parents, others have theirs before them
    for states in every(sizes, [*sorted(kept), *inside]):
        others = [column for column in sizes if column not in states]
        truth = sum(prod(at(table, states | rest) for table in factors) for rest in every(sizes, others))
        row = chance(found, states)
        assert F(truth, 7) == (0 if row is None else found.mass(states) * row)


def test_a_network_whose_keys_have_no_parents_stays_as_it_was_written() -> None:
    law = network(
        booleans("A", "X", "Y"),
        [
            factor(0, bernoulli(F(1, 3))),
            factor(1, {(0,): bernoulli(F(1, 5)), (1,): bernoulli(F(2, 5))}, (0,)),
            factor(2, {(0,): bernoulli(F(1, 7)), (1,): bernoulli(F(2, 7))}, (1,)),
        ],
    )
    found = Distribution(subject_of(asked(law, linear([1, 2, 3], 3), 0))).conditioned
    assert [(each.column, each.parents) for each in found.network] == [(1, (0,)), (2, (1,))]
    assert found.network[0].numbers.tolist() == [[4, 1], [3, 2]]
    assert found.network[1].numbers.tolist() == [[6, 1], [5, 2]]
    assert [found.mass({0: state}) for state in (0, 1)] == [F(2, 3), F(1, 3)]


def backwards(given: Predicate = TRUE) -> Distribution:
    """The case of docs/semantics.md: X -> A, and the rule reads X."""
    law = network(
        booleans("A", "X"),
        [
            factor(0, {(0,): bernoulli(F(1, 10)), (1,): bernoulli(F(9, 10))}, (1,)),
            factor(1, bernoulli(F(1, 2))),
        ],
    )
    return Distribution(subject_of(asked(law, linear([0, 1], 1), 0, given=given)))


def test_a_key_with_parents_is_conditioned_on_and_not_plugged_in() -> None:
    found = backwards().conditioned
    assert [(each.column, each.parents, each.numbers.tolist()) for each in found.network] == [
        (1, (0,), [[9, 1], [1, 9]])
    ]
    assert [found.mass({0: state}) for state in (0, 1)] == [F(1, 2), F(1, 2)]


def test_a_condition_changes_the_law_of_everything_before_it() -> None:
    found = backwards(builders.member(1, 1)).conditioned
    assert [found.mass({0: state}) for state in (0, 1)] == [F(1, 20), F(9, 20)]
    assert [each.numbers.tolist() for each in found.network] == [[0, 1]]


def test_hidden_columns_stay_where_summing_them_out_would_connect_everything() -> None:
    """A column that nobody reads with ten children: no table of 2^10 cells."""
    names = booleans(*(f"x{place}" for place in range(10)), "hidden")
    children = [
        factor(place, {(0,): bernoulli(F(1, place + 2)), (1,): bernoulli(F(1, 2))}, (10,)) for place in range(10)
    ]
    law = network(names, [*children, factor(10, bernoulli(F(1, 3)))])
    model = linear([1] * 10, 5)
    made = Distribution(subject_of(asked(law, model, 0)))
    assert made.order.largest <= 8
    assert 10 in {conditional.column for conditional in made.conditioned.network}


def numbers(inside: Inside) -> Network:
    column = Attribute(name="x", type=Integer(low=0, high=9))
    cells = (Cell(low=F(0), high=F(4), inside=inside), Cell(low=F(5), high=F(9), inside=inside))
    flag = Attribute(name="y", type=Integer(low=0, high=3))
    return replace(
        network(
            (column, flag),
            [factor(0, (F(1, 4), F(3, 4))), factor(1, (F(1, 4),) * 4)],
            [cells, points((0, 1, 2, 3))],
        )
    )


def test_conditions_within_cells_and_over_several_columns_are_part_of_the_law() -> None:
    rule = linear([1], 1, inputs=[IndicatorInput(builders.linear({0: 1}, ">=", 7))])
    within = Distribution(subject_of(asked(numbers(Inside.UNIFORM), rule, 1, given=builders.linear({0: 1}, ">=", 3))))
    assert within.asked == ()
    assert within.mass([0]) == F(1, 4) * (F(1, 4) * F(2, 5) + F(3, 4))
    several = Distribution(
        subject_of(asked(numbers(Inside.UNIFORM), rule, 1, given=builders.linear({0: 1, 1: -2}, "<=", 0)))
    )
    assert several.asked == ()
    # x <= 2 y: of y = 3 the values 0 .. 6.
    assert several.mass([3]) == F(1, 4) * (F(1, 4) + F(3, 4) * F(2, 5))


def test_conditions_that_a_cell_leaves_open_are_asked() -> None:
    rule = linear([1], 1, inputs=[IndicatorInput(builders.linear({0: 1}, ">=", 7))])
    condition = builders.linear({0: 1}, ">=", 3)
    found = Distribution(subject_of(asked(numbers(Inside.UNKNOWN), rule, 1, given=condition)))
    assert found.asked == (condition,)
    assert found.mass([0]) == F(1, 4)
