"""Representatives: boxes that do not overlap, what is proved of them, and middles of clusters."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from fairdsl.backends.contract import Silent
from fairdsl.counterexamples.medoids import Metric, middles
from fairdsl.counterexamples.representatives import Stand, representatives
from fairdsl.ir.expr import Or, conjoin
from fairdsl.ir.feature import IndicatorInput
from fairdsl.ir.problem import Problem
from fairdsl.numerics.evaluate import points_of
from fairdsl.verdict import Among, Within
from tests.builders import BOOLEAN, category, domain, integer, linear, member, problem, real, score
from tests.drawing import examples
from tests.oracle import truth
from tests.search.tools import found_by, unit_of
from tests.strategies import problems
from tests.tree_strategies import tree_problems


def stands_of(asked: Problem, count: int, *, pairs: int | None = None) -> tuple[list[Stand], np.ndarray]:
    found = found_by("portfolio", asked, count=pairs)
    return representatives(asked, asked.question, found.pairs, count, 0, Silent()), found.pairs.a


def inside(stand: Stand, person: tuple[Fraction, ...]) -> bool:
    return all(
        side.low <= person[side.attribute] <= side.high
        if isinstance(side, Within)
        else person[side.attribute] in side.values
        for side in stand.sides
    )


@settings(max_examples=examples(0.25))
@given(st.one_of(problems(), tree_problems(), tree_problems()), st.integers(1, 4))
def test_boxes_of_small_problems_against_all_their_units(asked: Problem, count: int) -> None:
    assume(not asked.question.relax)
    found = truth(asked)
    stands, a = stands_of(asked, count)
    assert bool(stands) == bool(found.violations)
    units = [{unit_of(asked.question, p, p) for p in found.individuals if inside(stand, p)} for stand in stands]
    violating = {unit_of(asked.question, one, other) for one, other in found.violations}
    people = points_of(a)
    for stand, held in zip(stands, units, strict=True):
        assert stand.inside.tolist() == [inside(stand, person) for person in people]
        assert stand.inside[stand.pair]
        assert stand.how in ("counted", "leaf boxes")
        share = Fraction(len(held & violating), len(held))
        assert stand.low <= share <= stand.high
        assert stand.how != "leaf boxes" or stand.low == share == stand.high
        assert stand.units == len(held)
        if not stand.bounded:
            assert stand.individuals == sum(inside(stand, person) for person in found.individuals)
    assert not any(one & other for one, other in combinations(units, 2))
    if len(stands) < count:
        assert np.logical_or.reduce([stand.inside for stand in stands]).all() if stands else True


def rule_over(people, *predicates) -> Problem:
    """Sex decides wherever one of the predicates holds."""
    rule = replace(score([1], "-1/2"), inputs=(IndicatorInput(conjoin(member(3, 1), Or(tuple(predicates)))),))
    return problem(people, rule, 3)


def _within(attribute: int, low: int, high: int) -> Within:
    return Within(attribute=attribute, low=Fraction(low), high=Fraction(high))


PEOPLE = domain(x=integer(0, 999), y=integer(0, 999), job=category(0, 1, 2), sex=BOOLEAN)


def test_two_separate_regions_have_a_representative_each() -> None:
    one = conjoin(linear({0: 1}, "<=", 200), linear({1: 1}, "<=", 300), member(2, 0, 1))
    other = conjoin(linear({0: 1}, ">=", 700), linear({1: 1}, ">=", 900))
    stands, _ = stands_of(rule_over(PEOPLE, one, other), 2, pairs=3000)
    assert {stand.how for stand in stands} == {"leaf boxes"}
    assert [stand.low for stand in stands] == [1, 1]
    one_box = (_within(0, 0, 200), _within(1, 0, 300), Among(attribute=2, values=(Fraction(0), Fraction(1))))
    assert {stand.sides for stand in stands} == {one_box, (_within(0, 700, 999), _within(1, 900, 999))}
    assert {stand.individuals for stand in stands} == {201 * 301 * 2 * 2, 300 * 100 * 3 * 2}
    assert sum(int(stand.inside.sum()) for stand in stands) == 3000


def test_a_network_is_sampled_and_the_interval_contains_the_share() -> None:
    """A band of 300 values of x + y / 1000: nearly a box, and every unit of it can be counted."""
    asked = problem(PEOPLE, score([1000, 1, 0, 300_000], -700_000), 3)
    stands, _ = stands_of(asked, 1, pairs=2000)
    (stand,) = stands
    assert (stand.how, stand.confidence) == ("sample", 0.95)
    sides = {side.attribute: side for side in stand.sides}
    low, high = (sides[0].low, sides[0].high) if 0 in sides else (0, 999)
    bottom, top = (sides[1].low, sides[1].high) if 1 in sides else (0, 999)
    xs, ys = np.meshgrid(np.arange(int(low), int(high) + 1), np.arange(int(bottom), int(top) + 1))
    sums = 1000 * xs + ys
    share = ((sums <= 700_000) & (sums > 400_000)).mean()
    assert stand.low <= share <= stand.high
    assert stand.high - stand.low < 0.06


def test_reals_are_not_counted() -> None:
    people = domain(rate=real(0, 1), y=integer(0, 9), job=category(0, 1), sex=BOOLEAN)
    stands, _ = stands_of(problem(people, score([1, 0, 0, "1/2"], "-3/4"), 3), 1, pairs=300)
    assert stands[0].individuals is None
    assert (stands[0].how, stands[0].confidence) == ("sample", 0.95)


def test_the_same_finds_have_the_same_representatives() -> None:
    asked = problem(PEOPLE, score([1, 1, 0, 90], -700), 3)
    (once, _), (again, _) = (stands_of(asked, 3, pairs=500) for _ in range(2))
    assert [(s.pair, s.sides, s.low, s.high) for s in once] == [(s.pair, s.sides, s.low, s.high) for s in again]


def test_the_middles_of_clusters_the_largest_first() -> None:
    points = np.array([[0.0, 0], [0, 1], [0, 2], [0, 3], [0, 4], [100, 0], [100, 1], [50, 9]])
    metric = Metric(np.array([100.0, 10.0]), np.array([True, True]))
    assert middles(points, 3, metric) == [2, 5, 7]
    assert metric(points[:1], points[5]).tolist() == [0.5]
    assert middles(points[:1], 4, metric) == [0]
    assert middles(np.ones((5, 2)), 4, metric) == [0]
    names = Metric(np.array([0.0, 1.0]), np.array([False, True]))
    assert names(np.array([[3.0, 0], [4, 1]]), np.array([3.0, 1])).tolist() == [0.5, 0.5]
    with pytest.raises(ValueError, match="nothing to cluster"):
        middles(points[:0], 2, metric)
