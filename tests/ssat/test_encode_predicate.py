"""Predicates over order-encoded columns against the definition, individual by individual."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairdsl.backends.ssat.encode.predicate import Predicates, predicate_literal
from fairdsl.backends.ssat.gates import Column, Gates, NotSingleError
from fairdsl.ir.domain import Domain
from fairdsl.ir.expr import FALSE, TRUE, And, Not, Or, Predicate, Who
from tests.builders import domain, integer, linear, member
from tests.oracle import true_for, values_of
from tests.ssat.extensions import at_point, columns_of, extensions, truth
from tests.strategies import domains, predicates


@st.composite
def cases(draw: st.DrawFn) -> tuple[Domain, Predicate]:
    people = draw(domains())
    columns = people.attributes
    return people, Or((draw(predicates(columns)), And((draw(predicates(columns)), draw(predicates(columns))))))


def points(people: Domain) -> list[tuple[Fraction, ...]]:
    return list(product(*(values_of(attribute.type) for attribute in people.attributes)))


@given(cases())
def test_the_literal_is_true_where_the_predicate_holds(case: tuple[Domain, Predicate]) -> None:
    people, predicate = case
    gates = Gates()
    columns = columns_of(gates, people)
    literal = predicate_literal(gates, predicate, columns)
    for point in points(people):
        models = extensions(gates, at_point(columns, point))
        assert len(models) == 1
        assert truth(models[0], literal) == true_for(predicate, {Who.EACH: point})


@given(cases(), st.booleans())
def test_a_demand_has_one_extension_where_it_is_met(case: tuple[Domain, Predicate], wanted: bool) -> None:
    people, predicate = case
    gates = Gates()
    columns = columns_of(gates, people)
    Predicates(gates, columns).require(predicate, wanted)
    for point in points(people):
        met = true_for(predicate, {Who.EACH: point}) == wanted
        assert len(extensions(gates, at_point(columns, point))) == met


def people(*sizes: int) -> tuple[Gates, dict[int, Column]]:
    gates = Gates()
    return gates, columns_of(gates, domain(**{f"x{k}": integer(0, size - 1) for k, size in enumerate(sizes)}))


def test_clauses_of_thresholds_need_no_variables() -> None:
    gates, columns = people(5, 5, 5)
    before = gates.variables, len(list(gates.clauses))
    either = Or((linear({0: 1}, ">", 2), Not(linear({1: 1}, "<=", 1)), And((linear({2: 1}, "<", 2),))))
    Predicates(gates, columns).require(And((either, linear({0: 1}, "<=", 3))))
    assert (gates.variables, len(list(gates.clauses))) == (before[0], before[1] + 2)
    assert (-columns[0].below[2], -columns[1].below[1], columns[2].below[1]) in gates.clauses


def test_a_middle_range_in_a_disjunction_is_two_clauses() -> None:
    gates, columns = people(5, 5)
    before = gates.variables, len(list(gates.clauses))
    middle = And((linear({0: 1}, ">=", 1), linear({0: 1}, "<=", 3)))
    Predicates(gates, columns).require(Or((middle, linear({1: 1}, "<", 2))))
    assert (gates.variables, len(list(gates.clauses))) == (before[0], before[1] + 2)


def test_many_ranges_in_a_disjunction_get_a_variable() -> None:
    gates, columns = people(9, 9)
    before = gates.variables, len(list(gates.clauses))
    Predicates(gates, columns).require(Or((member(0, 1, 3, 5, 7), member(1, 1, 3, 5, 7))))
    assert gates.variables > before[0]
    assert len(list(gates.clauses)) - before[1] < 25
    for x, y in product(range(9), repeat=2):
        point = (Fraction(x), Fraction(y))
        assert len(extensions(gates, at_point(columns, point))) == (x % 2 == 1 or y % 2 == 1), point


def test_trap_23_thresholds_of_one_attribute_share_their_order() -> None:
    gates, columns = people(10)
    at_most_3 = predicate_literal(gates, linear({0: 1}, "<=", 3), columns)
    above_5 = predicate_literal(gates, linear({0: -2}, "<", -10), columns)
    assert (at_most_3, above_5) == (columns[0].below[3], -columns[0].below[5])
    assert len(extensions(gates, [at_most_3])) > 0
    assert extensions(gates, [at_most_3, above_5]) == []


def test_constants() -> None:
    gates, columns = people(3, 3)
    for predicate, value in ((TRUE, True), (FALSE, False), (linear({}, "<", 1), True), (Not(TRUE), False)):
        assert truth({}, predicate_literal(gates, predicate, columns)) is value
    Predicates(gates, columns).require(linear({}, ">", 1))
    assert () in gates.clauses


def test_places_of_several_values_answer_thresholds_but_have_no_number() -> None:
    gates, whole = people(3, 3)
    halves = tuple(Fraction(value) + Fraction(1, 2) for value in range(3))
    columns = {0: Column(halves, (False, True, False), whole[0].below), 1: whole[1]}
    assert predicate_literal(gates, linear({0: 2}, "<", 2), columns) == whole[0].below[0]
    with pytest.raises(NotSingleError) as found:
        predicate_literal(gates, linear({0: 1, 1: 1}, "<", 2), columns)
    assert found.value.column == 0
