"""Value sets left by `where` and `target`: sound, and sharp where it matters."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given

from fairdsl.ir.expr import TRUE, And, Not, Or
from fairdsl.numerics.narrow import Finite, Interval, count_points, narrow
from tests.builders import BOOLEAN, category, domain, integer, linear, member, real
from tests.oracle import truth
from tests.strategies import problems


@given(problems())
def test_contains_every_individual_of_the_target(problem) -> None:
    sets = narrow(problem.domain, problem.question.target)
    for individual in truth(problem).individuals:
        assert all(values.contains(value) for values, value in zip(sets, individual, strict=True))


def test_a_wide_integer_is_cut_at_both_ends_with_strictness() -> None:
    people = domain(age=integer(0, 100_000))
    wanted = And((linear({0: 1}, ">", 17), linear({0: 2}, "<=", 131)))
    assert narrow(people, wanted) == (Finite(range(18, 66)),)


def test_a_category_keeps_its_set_and_not_the_hull() -> None:
    people = domain(job=category(7, 1, 4, -2))
    assert narrow(people, Not(member(0, 4))) == (Finite((-2, 1, 7)),)


def test_alternatives_are_united_and_impossible_ones_dropped() -> None:
    people = domain(
        Or((linear({0: 1}, ">=", 13), Not(member(1, 2)))), years=integer(1, 16), education=category(0, 1, 2)
    )
    years, education = narrow(people, member(1, 2))
    assert (years, education) == (Finite(range(13, 17)), Finite((2,)))


def test_an_alternative_that_leaves_an_attribute_free_restricts_it_only_where_it_is_possible() -> None:
    free = Or((linear({0: 1}, "=", 3), member(1, 1)))
    assert narrow(domain(free, x=integer(0, 9), y=BOOLEAN)) == (Finite(range(10)), Finite((0, 1)))
    assert narrow(domain(free, x=integer(0, 9), y=BOOLEAN), member(1, 0)) == (Finite(range(3, 4)), Finite((0,)))


def test_a_linear_constraint_bounds_wide_attributes() -> None:
    people = domain(hours=integer(0, 1000), age=integer(18, 96))
    hours, age = narrow(people, linear({0: 2, 1: 1}, "<=", 200))
    assert hours == Finite(range(92))
    assert age == Finite(range(18, 97))


def test_reals_keep_closed_bounds_and_fixed_reals_become_finite() -> None:
    people = domain(income=real(0), rate=real(), share=real(0, 1))
    wanted = And((linear({0: 1}, "<", "7/2"), linear({1: 4}, "=", 1), linear({2: 1}, ">=", 1)))
    assert narrow(people, wanted) == (
        Interval(Fraction(0), Fraction(7, 2)),
        Finite((Fraction(1, 4),)),
        Finite((1,)),
    )


def test_nothing_left_is_noticed_and_counted_as_zero() -> None:
    people = domain(age=integer(0, 9), income=real(0), old=BOOLEAN)
    sets = narrow(people, And((linear({0: 1}, ">", 5), linear({0: 1, 2: 1}, "<", 5))))
    assert count_points(sets) == 0
    assert all(values.count == 0 for values in sets)


def test_counting_points() -> None:
    assert count_points(narrow(domain(age=integer(0, 9), old=BOOLEAN), TRUE)) == 20
    assert count_points(narrow(domain(age=integer(0, 9), income=real(0)), TRUE)) is None
