"""Pairs judged many at once, against the replay of one pair at a time; and gaps between two arithmetics."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairdsl.backends.search.evaluators import evaluator_of
from fairdsl.backends.search.falsify import Ending
from fairdsl.backends.search.judge import Judge, Status, admissible_rows
from fairdsl.ir.expr import Relation
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Relaxation, ScoreGap
from fairdsl.numerics.evaluate import points_of
from fairdsl.replay import admissible, witness
from tests.builders import BOOLEAN, category, domain, integer, linear, problem, real, score
from tests.deployed_stand_in import StandIn, deployed
from tests.drawing import examples
from tests.oracle import truth, values_of
from tests.search.tools import found_by
from tests.strategies import confident_problems, problems
from tests.tree_strategies import tree_problems

#: Beside values of small attributes, some that none of them has.
_NUMBERS = st.sampled_from([-2.0, -1.0, 0.0, 0.0, 1.0, 1.0, 2.0, 3.0, 0.5])


@st.composite
def judged_problems(draw: st.DrawFn) -> tuple[Problem, np.ndarray, np.ndarray]:
    """A problem, and pairs of which some are admissible: b is a with up to three numbers changed."""
    asked = draw(st.one_of(problems(), confident_problems(), tree_problems(), problems(widths=(2,), curved=True)))
    columns = asked.domain.attributes
    inside = st.tuples(*(st.sampled_from([float(value) for value in column.values]) for column in columns))
    rows = draw(st.lists(inside, min_size=1, max_size=8))
    a = np.array(rows, dtype=np.float64)
    b = a.copy()
    for row in range(len(b)):
        for _ in range(draw(st.integers(0, 3))):
            column = draw(st.sampled_from([*asked.question.differ, *range(len(columns))]))
            values = st.sampled_from([float(value) for value in columns[column].values])
            b[row, column] = draw(st.one_of(values, values, values, _NUMBERS))
    return asked, a, b


@settings(max_examples=examples(1))
@given(judged_problems())
def test_many_pairs_are_judged_as_each_of_them_is(case) -> None:
    asked, a, b = case
    pair, people = asked.question, asked.domain
    judged = Judge(asked, pair, evaluator_of(asked.model)).replay(a, b)
    fits = admissible_rows(pair, people, a, b)
    plain = replace(pair, sure=())
    for row, (one, other) in enumerate(zip(points_of(a), points_of(b), strict=True)):
        assert fits[row] == (admissible(plain, people, one, other) is None)
        alone = witness(asked, one, other)
        assert (judged.status[row] == Status.FOUND) == (alone is not None and alone.replay.agrees)
        if alone is not None:
            named = [
                "undecided" if found < 0 else asked.model.outcomes[found] for found in judged.decisions[row].tolist()
            ]
            assert named == [alone.replay.decision_a, alone.replay.decision_b]


@settings(max_examples=examples(0.7))
@given(st.one_of(problems(), confident_problems(), confident_problems(), tree_problems()))
def test_all_pairs_of_a_small_domain(asked: Problem) -> None:
    """What is found among all ordered pairs is what the definitions call a violation."""
    individuals = list(product(*(values_of(attribute.type) for attribute in asked.domain.attributes)))[:40]
    pairs = list(product(individuals, repeat=2))
    a, b = (np.array([[float(value) for value in pair[who]] for pair in pairs]) for who in (0, 1))
    judged = Judge(asked, asked.question, evaluator_of(asked.model)).replay(a, b)
    found = {pair for pair, status in zip(pairs, judged.status, strict=True) if status == Status.FOUND}
    assert found == {pair for pair in truth(asked).violations if set(pair) <= set(individuals)}


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[Sequence[float]], int]], None]:
    def install(decide_one: Callable[[Sequence[float]], int]) -> None:
        monkeypatch.setattr("fairdsl.backends.search.judge.runtime_of", lambda _: StandIn(decide_one))

    return install


PEOPLE = domain(sex=BOOLEAN, age=integer(0, 9))


def test_what_only_one_arithmetic_calls_a_violation_is_a_gap(stand_in) -> None:
    """Exactly, sex decides at every age; in the file nobody of 7 and older is refused."""
    stand_in(lambda row: int(row[0] > 0 or row[1] >= 7))
    found = found_by("portfolio", deployed(problem(PEOPLE, score([20, 1], -10), 0)))
    assert sorted(found.pairs.a[:, 1].tolist()) == list(range(7))
    assert found.gaps == 3
    assert found.gap is not None
    assert found.gap.status.tolist() == [Status.GAP]


def test_a_gap_between_the_best_two_leaves_the_next_two_to_try(stand_in) -> None:
    """The scores of the jobs are -10, 5 and 30; the file grants the middle one only."""
    stand_in(lambda row: int(row[0] == 15))
    people = domain(job=category(0, 15, 40), age=integer(0, 9))
    found = found_by("portfolio", deployed(problem(people, score([1, 0], -10), 0)))
    assert len(found.pairs) == 10
    assert set(map(tuple, np.stack([found.pairs.a[:, 0], found.pairs.b[:, 0]], axis=1).tolist())) == {(0, 15)}
    assert found.gaps == 0


def test_a_hunt_that_meets_gaps_only_finds_nothing(stand_in) -> None:
    stand_in(lambda row: 1)
    found = found_by("portfolio", deployed(problem(PEOPLE, score([20, 0], -10), 0)))
    assert (len(found.pairs), found.gaps, found.ending) == (0, 10, Ending.EXHAUSTED)


@pytest.mark.parametrize(("relation", "found"), [(Relation.LE, False), (Relation.LT, True)])
def test_a_gap_of_exactly_the_limit(relation: Relation, found: bool) -> None:
    """One third is not a float: the gap is the limit exactly, which only rational arithmetic tells."""
    gap = ScoreGap(relation=relation, limit=Fraction(1, 3))
    asked = problem(domain(sex=BOOLEAN, age=integer(0, 9)), score(["1/3", "1/7"]), 0, demand=gap)
    assert len(found_by("portfolio", asked).pairs) == (10 if found else 0)


def test_a_gap_of_the_deployed_scores_has_its_own_limit(stand_in) -> None:
    stand_in(lambda row: int(row[0] * 5))
    for limit, agreed in ((Fraction(4), True), (Fraction(6), False)):
        asked = deployed(problem(PEOPLE, score([10, 0]), 0, demand=ScoreGap(relation=Relation.LE, limit=limit)))
        found = found_by("portfolio", asked)
        assert (len(found.pairs), found.gaps) == ((10, 0) if agreed else (0, 10))


def test_relaxed_reals_stay_within_the_relaxation_exactly() -> None:
    """A tenth is not a float: no find is a rounding error too far away."""
    people = domain(sex=BOOLEAN, rate=real(0, 1), size=integer(0, 3))
    asked = problem(
        people,
        score([1, 10, 0], -6),
        0,
        relax=(Relaxation(attribute=1, by=Fraction(1, 10)),),
        target=linear({1: 3}, ">=", 1),
    )
    found = found_by("portfolio", asked, count=500)
    assert len(found.pairs) == 500
    for a, b in zip(points_of(found.pairs.a), points_of(found.pairs.b), strict=True):
        assert abs(a[1] - b[1]) <= Fraction(1, 10)
        assert min(a[1], b[1]) * 3 >= 1
        assert Fraction(float(np.float32(float(a[1])))) == a[1]
