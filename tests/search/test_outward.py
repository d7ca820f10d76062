"""Searches near given rows: the rows first, the nearest counterexamples first, and distances as they are defined."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairdsl.backends.contract import Budget, Silent
from fairdsl.backends.search.evaluators import evaluator_of
from fairdsl.backends.search.falsify import Ending, SearchResult, falsify
from fairdsl.backends.search.ground import as_deployed
from fairdsl.backends.search.nearness import scales_of
from fairdsl.backends.search.pool import NearestFirst
from fairdsl.backends.search.strategies import STRATEGIES
from fairdsl.ir.problem import Problem
from tests.builders import BOOLEAN, category, domain, integer, linear, problem, real, score
from tests.drawing import examples
from tests.oracle import truth, values_of
from tests.search.tools import mistake, pairs_of, unit_of, units_of
from tests.strategies import problems


def caught_near(
    rows: np.ndarray, asked: Problem, *, strategy: str = "outward", count: int | None = None
) -> SearchResult:
    return falsify(
        asked,
        asked.question,
        evaluator_of(asked.model),
        STRATEGIES[strategy],
        count=count,
        budget=Budget.of(20.0, seed=1),
        observer=Silent(),
        rows=rows,
    )


def distance_of(rows: np.ndarray, asked: Problem, a: np.ndarray, b: np.ndarray) -> float:
    """By the definition, of the nearer of the two."""
    shared = [index for index in range(rows.shape[1]) if index not in asked.question.differ]
    scales = scales_of(rows, asked.domain, shared)
    if not shared:
        return 0.0
    apart = [
        np.where(np.isnan(scales), one[shared] != rows[:, shared], np.abs(one[shared] - rows[:, shared]) / scales)
        for one in (a, b)
    ]
    return float(min(each.sum(axis=1).min() for each in apart))


@st.composite
def problems_and_rows(draw: st.DrawFn) -> tuple[Problem, np.ndarray]:
    asked = draw(problems())
    cells = st.tuples(*(st.sampled_from([float(v) for v in values_of(c.type)]) for c in asked.domain.attributes))
    return asked, np.array(draw(st.lists(cells, min_size=1, max_size=6)))


@settings(max_examples=examples(0.7))
@given(problems_and_rows(), st.sampled_from(["outward", "portfolio"]))
def test_a_saturated_hunt_finds_every_unit_and_knows_its_distance(case, strategy: str) -> None:
    asked, rows = case
    found, known = caught_near(rows, asked, strategy=strategy), truth(asked)
    assert mistake(asked, found, known) is None
    assert found.ending in (Ending.EXHAUSTED, Ending.SATURATED)
    assert {unit_of(asked.question, a, b) for a, b in pairs_of(found)} == units_of(asked, known)
    assert found.near is not None
    for place in range(len(found.pairs)):
        wanted = distance_of(rows, asked, found.pairs.a[place], found.pairs.b[place])
        assert found.near.distances[place] == pytest.approx(wanted)
        row = rows[[found.near.rows[place]]]
        apart = min(np.nansum(distance_from(rows, asked, row, one[place])) for one in (found.pairs.a, found.pairs.b))
        assert apart == pytest.approx(wanted)


def distance_from(rows: np.ndarray, asked: Problem, row: np.ndarray, one: np.ndarray) -> np.ndarray:
    shared = [index for index in range(rows.shape[1]) if index not in asked.question.differ]
    scales = scales_of(rows, asked.domain, shared)
    return np.where(np.isnan(scales), one[shared] != row[0, shared], np.abs(one[shared] - row[0, shared]) / scales)


WIDE = domain(amount=integer(0, 10**6), month=integer(0, 80), job=category(5, 2, 9, 0), sex=BOOLEAN)


def rows_of(count: int) -> np.ndarray:
    rng = np.random.default_rng(5)
    amounts = np.rint(rng.normal(500_000, 2000, count))
    return np.column_stack(
        [amounts, rng.integers(0, 81, count), rng.choice([0, 5, 9], count), rng.integers(0, 2, count)]
    )


def test_rows_that_are_discriminated_themselves_come_first() -> None:
    """Sex decides for amounts from 500,000 to 500,999; about a fifth of the rows is there."""
    asked, rows = problem(WIDE, score([1, 0, 0, 1000], -500_999), 3), rows_of(2000)
    among = np.unique(rows[(rows[:, 0] > 499_999) & (rows[:, 0] < 501_000)][:, :3], axis=0)
    found = caught_near(rows, asked, count=3 * len(among))
    assert found.near is not None
    own = found.near.distances == 0
    assert own.sum() == len(among) > 100
    assert own[: len(among)].all()
    assert {found.strategies[by] for by in found.by[own]} == {"data"}
    assert np.array_equal(rows[found.near.rows[own]][:, :3], found.pairs.a[own][:, :3])
    # Drawn uniformly, a find is a thousandth of the domain and hundreds of deviations away.
    assert np.median(found.near.distances) < 1
    far = falsify(
        asked,
        asked.question,
        evaluator_of(asked.model),
        STRATEGIES["uniform"],
        count=50,
        budget=Budget.of(20, seed=0),
        observer=Silent(),
    )
    assert np.median([distance_of(rows, asked, a, b) for a, b in zip(far.pairs.a, far.pairs.b, strict=True)]) > 0
    assert far.near is None


def test_one_seed_is_one_hunt_near_rows_too() -> None:
    asked, rows = problem(WIDE, score([1, 0, 0, 1000], -501_999), 3), rows_of(500)
    once, again = (caught_near(rows, asked, count=700) for _ in range(2))
    assert np.array_equal(once.pairs.a, again.pairs.a)
    assert np.array_equal(once.near.distances, again.near.distances)
    assert once.by_strategy == again.by_strategy


def test_rows_outside_the_target_are_not_begun_with_but_may_be_near() -> None:
    people = domain(age=integer(0, 99), sex=BOOLEAN)
    asked = problem(people, score([0, 1], "-1/2"), 1, target=linear({0: 1}, ">=", 18))
    found = caught_near(np.array([[10.0, 0], [12, 1], [14, 0]]), asked)
    assert found.near is not None
    assert sorted(found.pairs.a[:, 0].tolist()) == list(range(18, 100))
    assert "data" not in found.by_strategy
    first = found.pairs.a[:, 0] == 18
    assert (found.near.distances[first], found.near.rows[first]) == (2.0, 2)


def test_reals_of_the_rows_are_replayed_as_float32() -> None:
    people = domain(rate=real(0, 1), sex=BOOLEAN)
    rows = np.array([[0.3, 0.0], [0.7, 1.0]])
    found = caught_near(rows, problem(people, score([0, 1], "-1/2"), 1), count=5)
    assert found.near is not None
    assert found.pairs.a[:2, 0].tolist() == as_deployed(rows, people)[:, 0].tolist()
    assert found.near.distances[:2].tolist() == [0, 0]


def test_the_nearest_find_is_expanded_first() -> None:
    pool = NearestFirst(1, np.random.default_rng(0))
    pool.enter(np.array([[3.0], [1.0], [2.0]]), np.array([0.3, 0.1, 0.2]))
    pool.enter(np.array([[0.0], [1.5]]), np.array([0.0, 0.1]))
    assert (len(pool), pool.waiting) == (5, 5)
    assert pool.take(3).ravel().tolist() == [0.0, 1.0, 1.5]
    assert pool.take(9).ravel().tolist() == [2.0, 3.0]
    assert pool.waiting == 0
    assert set(pool.some(50).ravel().tolist()) <= {0.0, 1.0, 1.5, 2.0, 3.0}
