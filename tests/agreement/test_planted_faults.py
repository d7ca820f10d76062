"""Tests of the tests: each fault that verifiers before us had must be caught by comparing with the oracle.

A fault is planted by giving the engine a slightly wrong problem; the oracle judges by the right one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from fairdsl.backends.enumerate import Enumerate
from fairdsl.ir.domain import Attribute, Category, CategoryValue, Integer
from fairdsl.ir.expr import TRUE, Relation, Who, conjoin, rename
from fairdsl.ir.model import ByThreshold
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Pair
from tests.agreement.engines import ask, disagreement
from tests.oracle import truth
from tests.strategies import problems

FLIPPED = {
    Relation.GT: Relation.GE,
    Relation.GE: Relation.GT,
    Relation.LT: Relation.LE,
    Relation.LE: Relation.LT,
}


def flip_a_strictness(problem: Problem) -> Problem:
    rule = problem.model.rule
    if not isinstance(rule, ByThreshold):
        return problem
    return replace(problem, model=replace(problem.model, rule=replace(rule, relation=FLIPPED[rule.relation])))


def _asking(problem: Problem, **changes: object) -> Problem:
    assert isinstance(problem.question, Pair)
    return replace(problem, question=replace(problem.question, **changes))


def bound_only_a(problem: Problem) -> Problem:
    """The partner may leave domain and target."""
    question = problem.question
    both = conjoin(problem.domain.where, question.target)
    only_a = conjoin(rename(both, {Who.EACH: Who.A}), question.pair_target)
    free = replace(problem, domain=replace(problem.domain, where=TRUE))
    return _asking(free, target=TRUE, pair_target=only_a)


def drop_a_relaxation(problem: Problem) -> Problem:
    return _asking(problem, relax=problem.question.relax[1:])


def drop_the_pair_target(problem: Problem) -> Problem:
    return _asking(problem, pair_target=TRUE)


def compare_only_ends(problem: Problem) -> Problem:
    """Only the smallest and the largest value of a differing attribute are compared."""

    def ends(index: int, attribute: Attribute) -> Attribute:
        if index not in problem.question.differ or not isinstance(attribute.type, Integer):
            return attribute
        codes = (attribute.type.low, attribute.type.high)
        kept = tuple(CategoryValue(name=f"v{code}", code=code) for code in codes)
        return replace(attribute, type=Category(values=kept))

    attributes = tuple(ends(index, attribute) for index, attribute in enumerate(problem.domain.attributes))
    return replace(problem, domain=replace(problem.domain, attributes=attributes))


FAULTS = [flip_a_strictness, bound_only_a, drop_a_relaxation, drop_the_pair_target, compare_only_ends]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_the_fault_is_caught(fault: Callable[[Problem], Problem]) -> None:
    # Linear scores are monotone in each attribute, so there the two ends do suffice.
    widths = (3,) if fault is compare_only_ends else (0, 0, 2, 3)

    @settings(
        max_examples=2000,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(problems(widths=widths))
    def agree(problem: Problem) -> None:
        wrong = fault(problem)
        if wrong != problem:
            verdict = ask(Enumerate(), wrong)
            assert verdict is None or disagreement(problem, verdict, truth(problem)) is None

    with pytest.raises(AssertionError):
        agree()
