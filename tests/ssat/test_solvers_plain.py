"""The normal form for other solvers: same value, and nothing left in it that solvers get wrong."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from solver_instances import by_definition, instances

from fairdsl.backends.ssat.instance import Bound, Instance, Quantifier
from fairdsl.backends.ssat.plain import Simplifier, plain, rounded
from fairdsl.backends.ssat.reading import number_of
from fairdsl.backends.ssat.solvers.adapters import with_choice_within
from fairdsl.backends.ssat.writing import sdimacs_of
from fairdsl.ir.plain_decimals import decimal_of


@given(instances())
def test_the_value_is_kept(instance: Instance) -> None:
    left = plain(instance)
    value = left.factor * by_definition(left.instance)
    assert value == by_definition(instance)
    assert left.settled in (None, value)


@given(instances())
def test_what_is_left_is_plain(instance: Instance) -> None:
    left = plain(instance)
    clauses, prefix = left.instance.clauses, left.instance.prefix
    assert all(len({abs(each) for each in clause}) == len(clause) >= 2 for clause in clauses)
    assert len({frozenset(clause) for clause in clauses}) == len(clauses)
    used = {abs(each) for clause in clauses for each in clause}
    assert used == {bound.variable for bound in prefix} == set(range(1, left.instance.variables + 1))
    assert all(bound.chance is None or 0 < bound.chance < 1 for bound in prefix)
    assert len(left.numbers) == left.instance.variables


def test_clauses_that_become_equal_are_one() -> None:
    prefix = tuple(Bound(each, Quantifier.RANDOM, Fraction(1, 2)) for each in (1, 2, 3))
    left = plain(Instance(variables=3, prefix=prefix, clauses=((3,), (1, 2, -3), (2, 1), (1, 2, 1))))
    assert left.instance.clauses == ((1, 2),)
    assert left.factor == Fraction(1, 2)


@given(instances("er"), st.data())
def test_assumptions_are_put_in(instance: Instance, data: st.DataObject) -> None:
    bound = {each.variable for each in instance.prefix}
    outer = [each for each in range(1, instance.variables + 1) if each not in bound]
    if instance.prefix and instance.prefix[0].quantifier is Quantifier.EXISTS:
        outer += [each.variable for each in next(instance.blocks)[1]]
    simplifier = Simplifier(instance)
    for _ in range(2):
        assumed = [data.draw(st.sampled_from([each, -each])) for each in outer if data.draw(st.booleans())]
        left = simplifier.under(assumed)
        truths = {abs(each): each > 0 for each in assumed}
        assert left.factor * by_definition(left.instance) == by_definition(instance, truths)
        assert left == plain(instance, assumed)


@pytest.mark.parametrize("assumptions", [(2,), (-3,), (9,), (1, -1)])
def test_other_assumptions_are_refused(assumptions: tuple[int, ...]) -> None:
    prefix = (
        Bound(1, Quantifier.EXISTS),
        Bound(2, Quantifier.RANDOM, Fraction(1, 2)),
        Bound(3, Quantifier.EXISTS),
    )
    with pytest.raises(ValueError, match=r"not a literal of the outermost|true and false"):
        plain(Instance(variables=3, prefix=prefix, clauses=((1, 2), (-2, 3))), assumptions)


def test_a_normal_form_of_a_normal_form() -> None:
    prefix = (
        Bound(2, Quantifier.EXISTS),
        Bound(4, Quantifier.RANDOM, Fraction(1, 3)),
        Bound(6, Quantifier.RANDOM, Fraction(1, 10**20)),
        Bound(8, Quantifier.RANDOM, Fraction(1, 2)),
    )
    left = plain(Instance(variables=8, prefix=prefix, clauses=((4,), (2, 6, 8), (-2, -8), (-2, 6))))
    assert (left.factor, left.numbers) == (Fraction(1, 3), (2, 6, 8))
    decimals, moved = rounded(left.instance, 15)
    both = left.then(plain(decimals))
    assert moved == Fraction(1, 10**20)
    assert both.fixed == {4: True, 6: False, 2: False, 8: True}
    assert both.settled == Fraction(1, 6)


@given(instances("er"), st.integers(1, 3))
def test_rounding_moves_the_value_no_further_than_said(instance: Instance, digits: int) -> None:
    decimals, moved = rounded(instance, digits)
    assert abs(by_definition(decimals) - by_definition(instance)) <= moved


def test_rounding_can_move_it_that_far() -> None:
    prefix = tuple(Bound(each, Quantifier.RANDOM, Fraction(1, 10**9)) for each in (1, 2, 3))
    instance = Instance(variables=3, prefix=prefix, clauses=((1, 2, 3),))
    decimals, moved = rounded(instance, 6)
    assert 0.999 * float(moved) < float(by_definition(instance) - by_definition(decimals)) <= float(moved)


@given(instances("r"))
def test_a_choice_within_changes_no_value(instance: Instance) -> None:
    left = plain(instance).instance
    if left.clauses:
        assert by_definition(with_choice_within(left)) == by_definition(left)


@given(st.fractions(Fraction(1, 10**15), Fraction(10**15 - 1, 10**15)))
def test_decimals_are_plain_and_exact(chance: Fraction) -> None:
    near = Fraction(round(chance * 10**15), 10**15)
    if 0 < near < 1:
        written = decimal_of(near)
        assert Fraction(written) == near
        assert written.startswith("0.")
        assert written[2:].isdigit()
        assert len(written) <= 17


def test_small_probabilities_have_no_exponent() -> None:
    assert decimal_of(Fraction(1, 100_000)) == "0.00001"


@pytest.mark.parametrize("text", ["nan", "inf", "", "-", "1e", "0x1"])
def test_what_is_no_number(text: str) -> None:
    assert number_of(text) is None


def test_numbers_as_solvers_print_them() -> None:
    assert [number_of(text) for text in ("6.000000e-01", "0.6", "1", "1e-07")] == [
        Fraction(3, 5),
        Fraction(3, 5),
        1,
        Fraction(1, 10**7),
    ]
    assert math.isclose(float(number_of("0.3099474") or 0), 0.309947332, rel_tol=1e-6)


def test_the_file() -> None:
    prefix = (
        Bound(1, Quantifier.EXISTS),
        Bound(2, Quantifier.RANDOM, Fraction(3, 10)),
        Bound(3, Quantifier.RANDOM, Fraction(3, 5)),
        Bound(4, Quantifier.FORALL),
        Bound(5, Quantifier.FORALL),
    )
    instance = Instance(variables=5, prefix=prefix, clauses=((1, 2), (-1, 3), (4, -5)))
    assert sdimacs_of(instance) == "p cnf 5 3\ne 1 0\nr 0.3 2 0\nr 0.6 3 0\na 4 5 0\n1 2 0\n-1 3 0\n4 -5 0\n"
