"""Boxes and what is said of them: members, sizes, growth, and shares against brute force."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from fairdsl.backends.contract import Budget
from fairdsl.backends.search import shares
from fairdsl.backends.search.boxes import Box, Names, Span
from fairdsl.backends.search.evaluators import evaluator_of
from fairdsl.backends.search.ground import Ground
from fairdsl.backends.search.growth import AIM, grown
from fairdsl.backends.search.sampling import Column
from fairdsl.backends.search.shares import share_of
from fairdsl.ir.expr import conjoin
from fairdsl.ir.feature import IndicatorInput
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import SameDecision
from tests.builders import BOOLEAN, category, domain, integer, linear, member, problem, real, score
from tests.drawing import examples
from tests.oracle import truth
from tests.search.tools import unit_of
from tests.strategies import confident_problems, problems
from tests.tree_strategies import tree_problems

FOREVER = Budget.of(1000.0, seed=0)


def ground_of(asked: Problem, seed: int = 0) -> Ground:
    return Ground(asked, asked.question, evaluator_of(asked.model), Budget.of(1000.0, seed=seed))


@st.composite
def boxes(draw: st.DrawFn, columns: list[Column]) -> Box:
    """A box of finite columns."""
    sides: list[Span | Names] = []
    for column in columns:
        values = sorted(column.listed.tolist())
        if column.ordered:
            low, high = sorted([draw(st.sampled_from(values)), draw(st.sampled_from(values))])
            sides.append(Span(low, high))
        else:
            sides.append(Names(tuple(sorted(draw(st.sets(st.sampled_from(values), min_size=1))))))
    return Box(tuple(sides))


def held(box: Box, ground: Ground) -> set[tuple[float, ...]]:
    """All shared values in the box, from those that the target leaves."""
    return {
        row
        for row in product(*(column.listed.tolist() for column in ground.space.columns))
        if all(
            value in side.chosen if isinstance(side, Names) else side.low <= value <= side.high
            for value, side in zip(row, box.sides, strict=True)
        )
    }


@settings(max_examples=examples(1))
@given(st.data())
def test_members_size_and_overlap_of_boxes(data: st.DataObject) -> None:
    people = domain(age=integer(-2, 3), job=category(7, -2, 40), sex=BOOLEAN, size=integer(0, 5))
    ground = ground_of(problem(people, score([1, 1, 1, 1]), 2, target=member(3, 0, 2, 5)))
    one, other = (data.draw(boxes(ground.space.columns)) for _ in range(2))
    members, others = held(one, ground), held(other, ground)
    assert one.count(ground.space.columns) == len(members)
    everybody = np.array(sorted(product(*(column.listed.tolist() for column in ground.space.columns))))
    assert {tuple(row) for row in everybody[one.contains(everybody)].tolist()} == members
    assert {tuple(row) for row in one.some(ground.space.columns, 1000, ground.rng).tolist()} == members
    drawn = {tuple(row) for row in one.draw(ground.space.columns, 60 * len(members), ground.rng).tolist()}
    assert drawn == members
    # Sides meet where their ranges do, even if the attribute has no value there.
    assert one.meets(other) >= bool(members & others)


def test_reals_in_a_box_are_not_counted_and_lie_in_it() -> None:
    ground = ground_of(problem(domain(rate=real(0, 1), job=category(3, 1), sex=BOOLEAN), score([1, 1, 1]), 2))
    box = Box((Span(0.25, 0.5), Names((1.0,))))
    assert box.count(ground.space.columns) is None
    drawn = box.draw(ground.space.columns, 500, ground.rng)
    assert box.contains(drawn).all()
    assert len(np.unique(drawn[:, 0])) > 400
    assert box.with_side(0, Span(0.5, 0.5)).count(ground.space.columns) == 1


def known_share(asked: Problem, box: Box, ground: Ground) -> tuple[int, int]:
    """How many units of the box there are, and how many of them violate."""
    found = truth(asked)
    inside = held(box, ground)

    def within(unit: frozenset[tuple]) -> bool:
        return tuple(map(float, next(iter(unit)))) in inside

    units = {unit for unit in (unit_of(asked.question, p, p) for p in found.individuals) if within(unit)}
    violating = {unit for unit in (unit_of(asked.question, a, b) for a, b in found.violations) if within(unit)}
    return len(units), len(violating)


@settings(max_examples=examples(0.7))
@given(st.one_of(problems(), tree_problems(), confident_problems()), st.data())
def test_a_small_box_is_counted(asked: Problem, data: st.DataObject) -> None:
    assume(not asked.question.relax)
    ground = ground_of(asked)
    assume(not ground.sampler.empty)
    box = data.draw(boxes(ground.space.columns))
    units, violating = known_share(asked, box, ground)
    share = share_of(ground, box, 0.95, FOREVER)
    if not units:
        assert share is None
        return
    assert (share.units, share.violating, share.confidence) == (units, violating, None)
    assert share.low == Fraction(violating, units) <= share.high
    if not asked.question.sure and isinstance(asked.question.demand, SameDecision):
        assert share.high == share.low


@settings(max_examples=examples(0.2))
@given(problems(), st.data())
def test_a_sampled_share_contains_the_counted_one(asked: Problem, data: st.DataObject) -> None:
    assume(not asked.question.relax)
    ground = ground_of(asked)
    assume(not ground.sampler.empty)
    box = data.draw(boxes(ground.space.columns))
    units, violating = known_share(asked, box, ground)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shares, "_LISTED", 0)
        patch.setattr(shares, "_DRAWN", 2048)
        share = share_of(ground, box, 1 - 1e-9, FOREVER)
    if units and share is not None:
        assert float(share.low) <= violating / units <= float(share.high)
        assert share.confidence == 1 - 1e-9
        assert share.high - share.low < 1


def test_no_time_is_no_share() -> None:
    ground = ground_of(problem(domain(age=integer(0, 9), sex=BOOLEAN), score([0, 1]), 1))
    assert share_of(ground, Box((Span(0, 9),)), 0.95, Budget.of(0.0, seed=0)) is None


TOY = domain(x=integer(0, 99), y=integer(0, 99), job=category(0, 1, 2), sex=BOOLEAN)


def test_a_box_grows_to_all_of_a_box() -> None:
    """Whoever has 20 <= x <= 60 and another job than 1 is decided by sex, whatever y is."""
    inside = [linear({0: 1}, ">=", 20), linear({0: 1}, "<=", 60), member(2, 0, 2), member(3, 1)]
    rule = replace(score([1], "-1/2"), inputs=(IndicatorInput(conjoin(*inside)),))
    ground = ground_of(problem(TOY, rule, 3))
    box = grown(ground, [33.0, 50.0, 2.0], [], FOREVER)
    assert box == Box((Span(20, 60), Span(0, 99), Names((0.0, 2.0))))
    barred = Box((Span(30, 31), Span(0, 99), Names((0.0, 1.0, 2.0))))
    beside = grown(ground, [33.0, 50.0, 2.0], [barred], FOREVER)
    assert not beside.meets(barred)
    assert beside == Box((Span(32, 60), Span(0, 99), Names((0.0, 2.0))))


@pytest.mark.parametrize("width", [1, 3, 12])
def test_most_of_a_grown_box_violates(width: int) -> None:
    """Sex decides where x + y is in a slanted band, of which no box is a good picture."""
    ground = ground_of(problem(TOY, score([1, 1, 0, width], -100), 3))
    box = grown(ground, [60.0, 40.0, 1.0], [], FOREVER)
    assert box.contains(np.array([[60.0, 40.0, 1.0]])).all()
    share = share_of(ground, box, 0.95, FOREVER)
    assert share.low >= AIM - 0.15
    assert box.sides[2] == Names((0.0, 1.0, 2.0))


def test_reals_without_an_end_are_not_followed_for_ever() -> None:
    people = domain(debt=real(), rate=real(0, 1), sex=BOOLEAN)
    ground = ground_of(problem(people, score([0, 0, 1], "-1/2"), 2))
    box = grown(ground, [3.0, 0.5], [], FOREVER)
    assert box.sides[1] == Span(0.0, 1.0)
    assert np.isfinite([box.sides[0].low, box.sides[0].high]).all()
    assert box.sides[0].high - box.sides[0].low > 1e5
