"""What each strategy is for, on problems where others fail; seeds; many outcomes; many protected attributes."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from fairdsl.backends.contract import Budget
from fairdsl.backends.search.evaluators import evaluator_of
from fairdsl.backends.search.falsify import Ending, SearchResult
from fairdsl.backends.search.ground import Ground
from fairdsl.backends.search.strategies import STRATEGIES
from fairdsl.backends.search.strategies.aequitas import Attributes, Directions, Undirected, walk
from fairdsl.backends.search.strategy import Tried
from fairdsl.ir.expr import Relation, Who
from fairdsl.ir.feature import IndicatorInput
from fairdsl.ir.model import ByHighest, Model
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Differ, Relaxation, ScoreGap
from fairdsl.options.commands import Search
from tests.builders import BOOLEAN, category, domain, integer, layer, linear, model, problem, real, score
from tests.search.tools import found_by, pairs_of, unit_of

WIDE = domain(amount=integer(0, 10**6), month=integer(0, 80), job=category(5, 2, 9, 0), rate=real(0, 1), sex=BOOLEAN)
TOY = domain(x=integer(0, 39), y=integer(0, 39), sex=BOOLEAN)


def line(width: int) -> Problem:
    """Sex decides where x + y lies in a band of so many values up to 40."""
    return problem(TOY, score([1, 1, width], -40), 2)


def band(width: int) -> set[tuple[float, float]]:
    return {(float(x), float(y)) for x in range(40) for y in range(40) if 40 - width < x + y <= 40}


def found_in(found: SearchResult) -> list[tuple[float, float]]:
    return [(x, y) for x, y, _ in found.pairs.a.tolist()]


@pytest.mark.parametrize("strategy", ["neighbours", "portfolio"])
@pytest.mark.parametrize("width", [1, 2, 5])
def test_a_saturated_hunt_finds_all_of_a_connected_band(strategy: str, width: int) -> None:
    asked = line(width)
    # Relaxed by nothing: the same units, of which nobody knows how many there are.
    question = replace(asked.question, relax=(Relaxation(attribute=0, by=Fraction(0)),))
    found = found_by(strategy, replace(asked, question=question))
    assert found.ending is Ending.SATURATED
    assert found.frontier == 0
    assert found.sample > 0
    assert sorted(found_in(found)) == sorted(band(width))


@pytest.mark.parametrize("strategy", sorted(set(STRATEGIES) - {"zero-order"}))
def test_every_strategy_finds_some(strategy: str) -> None:
    found = found_by(strategy, line(5), count=15)
    assert (len(found.pairs), found.ending) == (15, Ending.COUNT)
    assert len(set(found_in(found))) == 15
    assert set(found_in(found)) <= band(5)


def test_gradients_need_no_find_to_start_from() -> None:
    """One individual in a million violates: uniform draws miss them, a gradient's step does not."""
    rare = problem(WIDE, score([1, 10_000, 0, 0, 1], -777_777), 4)
    assert len(found_by("gradient", rare, count=1000, seconds=10).pairs) == 1000
    assert len(found_by("uniform", rare, count=1000, seconds=0.5).pairs) < 100


def test_differences_lead_a_black_box_to_its_boundary() -> None:
    """The same without slopes: the score counts thresholds, so only its values can be asked for."""
    tests = [linear({0: 1}, ">", 50_000 * step) for step in range(1, 20)] + [linear({4: 1}, ">", 0)]
    weights = [Fraction(1)] * 19 + [Fraction(1, 2)]
    stairs = replace(score(weights, Fraction(-41, 4)), inputs=tuple(IndicatorInput(test) for test in tests))
    asked = problem(WIDE, stairs, 4)
    assert not STRATEGIES["gradient"].fits(asked)
    found = found_by("zero-order", asked, count=200, seconds=10)
    assert len(found.pairs) == 200
    assert set(found.by_strategy) == {"zero-order"}


@pytest.mark.parametrize("strategy", sorted(set(STRATEGIES) - {"zero-order"}))
def test_one_seed_is_one_hunt(strategy: str) -> None:
    asked = line(4)
    once, again = (found_by(strategy, asked, count=12, seed=3) for _ in range(2))
    assert np.array_equal(once.pairs.a, again.pairs.a)
    assert np.array_equal(once.pairs.b, again.pairs.b)
    assert (once.evaluated, once.by_strategy) == (again.evaluated, again.by_strategy)
    other = found_by(strategy, asked, count=12, seed=4)
    assert not np.array_equal(once.pairs.a, other.pairs.a)


def test_several_protected_attributes_in_all_mode() -> None:
    people = domain(age=integer(0, 300), region=category(*range(0, 90, 3)), income=integer(0, 10**4))
    found = found_by("portfolio", problem(people, score([1, 0, "1/10"], -700), 0, 1, mode=Differ.EACH), count=300)
    a, b = found.pairs.a, found.pairs.b
    assert len(found.pairs) == len(np.unique(a[:, 2])) == 300
    assert (a[:, :2] != b[:, :2]).all()


def test_relaxations_and_ordered_pairs() -> None:
    asked = problem(
        WIDE,
        score([1, 0, 0, 0, 0], -500_000),
        4,
        relax=(Relaxation(attribute=0, by=Fraction(3)), Relaxation(attribute=2, by=None)),
        pair_target=linear({1: 1}, ">", 0, who=Who.A),
    )
    found = found_by("portfolio", asked, count=400, seconds=20)
    assert len(found.pairs) == 400
    assert len({unit_of(asked.question, a, b) for a, b in pairs_of(found)}) == 400
    assert (np.abs(found.pairs.a[:, 0] - found.pairs.b[:, 0]) <= 3).all()
    assert (found.pairs.a[:, 1] > 0).all()


def test_three_outcomes_and_gaps_of_scores() -> None:
    rows = [[1, 0, 0, 0, 3], ["1/2", 0, 0, 0, 0], [0, 5000, 0, 0, 0]]
    base = score([1, 0, 0, 0, 1])
    three = Model(
        name="m", outcomes=("a", "b", "c"), inputs=base.inputs, layers=(layer(rows, [0, 1, 2], 1),), rule=ByHighest()
    )
    found = found_by("portfolio", problem(WIDE, three, 4), count=200)
    assert len(found.pairs) == 200
    assert (found.pairs.decisions[:, 0] != found.pairs.decisions[:, 1]).all()
    hidden = model(layer([[1, 0, 0, 0, 0]], [-990_000]), layer([["1/1000"]], [0], 1), attributes=5)
    gap = ScoreGap(relation=Relation.LE, limit=Fraction(9))
    far = problem(WIDE, hidden, 4, relax=(Relaxation(attribute=0, by=None),), demand=gap)
    assert len(found_by("portfolio", far, count=50).pairs) == 50


def test_an_empty_target_and_a_fair_model_are_searched_in_vain() -> None:
    nobody = problem(TOY, score([1, 1, 1], -40), 2, target=linear({0: 1}, ">", 100))
    fair = problem(TOY, score([1, 1, 0], -40), 2)
    for asked in (nobody, fair):
        found = found_by("portfolio", asked)
        assert (len(found.pairs), found.ending) == (0, Ending.EXHAUSTED)


def test_a_hunt_ends_when_every_unit_was_tried() -> None:
    """Too many units for a uniform sample to be taken as the end, and none of them violates."""
    wide = domain(x=integer(0, 299), y=integer(0, 333), sex=BOOLEAN)
    found = found_by("portfolio", problem(wide, score([1, 1, 0], -40), 2), seconds=60)
    assert (found.tried, found.ending) == (100_200, Ending.EXHAUSTED)


def test_units_beyond_those_asked_for_are_not_tried_to_the_end() -> None:
    """All forty are tried in the first batch, and all of them violate."""
    asked = problem(domain(x=integer(0, 39), sex=BOOLEAN), score([0, 1], 0), 1)
    endings = {count: found_by("uniform", asked, count=count) for count in (10, 40)}
    assert {count: (len(found.pairs), found.ending) for count, found in endings.items()} == {
        10: (10, Ending.COUNT),
        40: (40, Ending.EXHAUSTED),
    }


def test_in_a_large_domain_nothing_found_is_searched_until_the_time_is_up() -> None:
    found = found_by("portfolio", problem(WIDE, score([1, 0, 0, 0, 0], -5), 4), seconds=0.5)
    assert (len(found.pairs), found.ending) == (0, Ending.TIME)


def test_directions_are_rewarded_for_what_they_lead_to() -> None:
    """The sign of the reward, which the authors' own script has the wrong way round for attributes."""
    directions = Directions(3, Search())
    directions.learn(1, down=True, discriminatory=True)
    directions.learn(2, down=False, discriminatory=True)
    directions.learn(0, down=False, discriminatory=False)
    assert directions.down_probability == [0.501, 0.501, 0.499]
    attributes = Attributes(2, Search())
    attributes.learn(0, down=True, discriminatory=True)
    assert attributes.probability[0] > 0.5 > attributes.probability[1]
    assert sum(attributes.probability) == pytest.approx(1)


def walked(choice: type[Undirected], options: Search, batch: int, steps: int) -> list[tuple[float, ...]]:
    """The rows of a walk on a band, of which so many are proposed at once."""
    asked, people = line(5), band(5)
    ground = Ground(asked, asked.question, evaluator_of(asked.model), Budget.of(60.0, options, seed=1))
    ground.batch = batch
    drawn = iter(np.random.default_rng(7).integers(0, 40, (10_000, 2)).astype(float))
    ground.draw = lambda count: np.array([next(drawn) for _ in range(count)])  # type: ignore[method-assign]
    going = walk("walk", ground, choice)
    proposed, rows = next(going), list[tuple[float, ...]]()
    while len(rows) < steps:
        violating = np.array([(x, y) in people for x, y in proposed.rows.tolist()])
        taken = len(violating) if proposed.until is None else proposed.until(violating)
        rows.extend(map(tuple, proposed.rows[:taken].tolist()))
        proposed = going.send(Tried(violating[:taken], 0))
    return rows[:steps]


@pytest.mark.parametrize("choice", [Undirected, Directions, Attributes])
@pytest.mark.parametrize("delta", ["0.1%", "10%"])
def test_a_walk_is_the_same_one_by_one_and_in_batches(choice: type[Undirected], delta: str) -> None:
    options = Search.naming(
        {"strategy": "fully-directed", "draws": 20, "steps": 300, "delta_v": delta, "delta_pr": delta}
    )
    alone = walked(choice, options, 1, 1500)
    assert walked(choice, options, 256, 1500) == alone
    assert len(set(alone)) > 100


def test_the_parameters_of_a_walk_are_followed() -> None:
    def moves(**given: Any) -> set[tuple[float, float]]:
        options = Search.naming({"strategy": "fully-directed", "draws": 20, "steps": 300} | given)
        rows = np.array(walked(Attributes, options, 64, 1500))
        return {(x, y) for x, y in np.diff(rows, axis=0).tolist() if abs(x) + abs(y) <= 5}

    assert moves() >= {(0, 1), (0, -1), (1, 0), (-1, 0)}
    assert {(0, 3), (0, -3), (3, 0), (-3, 0)} <= moves(step=3)
    assert not {(0, -1), (-1, 0)} & moves(init_prob="0", delta_v="0")
