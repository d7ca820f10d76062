"""Searches against brute force: what is found is there and counted once, and a saturated portfolio leaves nothing."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairdsl.backends.search import Search
from fairdsl.backends.search.falsify import Ending
from fairdsl.backends.search.strategies import STRATEGIES
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Quantity
from fairdsl.verdict import Reason, Shares
from tests.agreement.engines import ask, disagreement
from tests.builders import category, domain, integer, linear, score
from tests.builders import problem as asked_of
from tests.drawing import examples
from tests.oracle import truth
from tests.search.tools import found_by, mistake, pairs_of, unit_of, units_of
from tests.strategies import confident_problems, problems
from tests.tree_strategies import tree_problems


@settings(max_examples=examples(0.7))
@given(problems(), st.integers(0, 3))
def test_a_saturated_portfolio_finds_every_unit(problem, seed) -> None:
    found, known = found_by("portfolio", problem, seed=seed), truth(problem)
    assert mistake(problem, found, known) is None
    assert found.ending in (Ending.EXHAUSTED, Ending.SATURATED)
    assert {unit_of(problem.question, a, b) for a, b in pairs_of(found)} == units_of(problem, known)


@settings(max_examples=examples(0.4))
@given(st.one_of(confident_problems(), tree_problems(), problems(widths=(2,), curved=True)))
def test_confidence_trees_and_curves(problem) -> None:
    found, known = found_by("portfolio", problem), truth(problem)
    assert mistake(problem, found, known) is None
    assert {unit_of(problem.question, a, b) for a, b in pairs_of(found)} == units_of(problem, known)


@pytest.mark.parametrize("strategy", sorted(set(STRATEGIES) - {"portfolio"}))
@settings(max_examples=examples(0.15))
@given(problems(), st.integers(0, 3))
def test_every_strategy_finds_violations_only(strategy, problem, seed) -> None:
    if STRATEGIES[strategy].fits(problem):
        found = found_by(strategy, problem, count=20, seed=seed, seconds=0.3)
        assert mistake(problem, found, truth(problem)) is None


@settings(max_examples=examples(0.7))
@given(problems(Quantity.FAIR_SHARE))
def test_what_the_stage_says_of_a_share_is_true(problem: Problem) -> None:
    """Violations bound a share from one side: never by more units than the definition calls unfair."""
    verdict = ask(Search(), problem, seconds=1.0)
    if verdict is None:
        return
    assert isinstance(verdict, Shares)
    assert disagreement(problem, verdict, truth(problem)) is None
    assert verdict.certified == 0
    assert bool(verdict.witnesses) == bool(verdict.falsified)


@pytest.mark.parametrize(
    ("weight", "total", "reason"), [(0, 2, None), (1, None, Reason.INCOMPLETE)], ids=["all of them", "one of them"]
)
def test_where_every_unit_is_found_to_be_unfair_they_are_counted(weight, total, reason) -> None:
    """Conditions leave at most as many units as there are values: where each of those is found, exactly as many."""
    people = domain(sex=category(0, 1), n=integer(0, 3), where=linear({1: 1}, "<=", 1))
    asked = asked_of(people, score([2, 2 * weight], threshold=1), 0, quantity=Quantity.FAIR_SHARE)
    verdict = ask(Search(), asked, seconds=1.0)
    assert isinstance(verdict, Shares)
    assert disagreement(asked, verdict, truth(asked)) is None
    assert (verdict.total, verdict.reason) == (total, reason)
