"""Searches on small problems, and what they may find at most: every unit with a violating pair, by enumeration."""

from __future__ import annotations

from fairdsl.backends.contract import Budget, Silent
from fairdsl.backends.search.evaluators import evaluator_of
from fairdsl.backends.search.falsify import SearchResult, falsify
from fairdsl.backends.search.strategies import STRATEGIES
from fairdsl.ir.domain import Point
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Pair
from fairdsl.numerics.evaluate import points_of
from tests.oracle import Truth

Unit = frozenset[Point]


def found_by(
    strategy: str, problem: Problem, *, count: int | None = None, seed: int = 0, seconds: float = 20.0
) -> SearchResult:
    assert isinstance(problem.question, Pair)
    return falsify(
        problem,
        problem.question,
        evaluator_of(problem.model),
        STRATEGIES[strategy],
        count=count,
        budget=Budget.of(seconds, seed=seed),
        observer=Silent(),
    )


def unit_of(question: Pair, a: Point, b: Point) -> Unit:
    """Without relaxations what the two share, with them the unordered pair."""
    if question.relax:
        return frozenset({a, b})
    return frozenset({tuple(value for index, value in enumerate(a) if index not in question.differ)})


def units_of(problem: Problem, truth: Truth) -> set[Unit]:
    return {unit_of(problem.question, a, b) for a, b in truth.violations}


def pairs_of(found: SearchResult) -> list[tuple[Point, Point]]:
    return list(zip(points_of(found.pairs.a), points_of(found.pairs.b), strict=True))


def mistake(problem: Problem, found: SearchResult, truth: Truth) -> str | None:
    """What is wrong with the pairs found, if anything: no violation, or a unit twice."""
    pairs = pairs_of(found)
    real = set(truth.violations)
    false = next((f"{pair} is not a violation" for pair in pairs if pair not in real), None)
    units = [unit_of(problem.question, a, b) for a, b in pairs]
    return false or ("a unit is counted twice" if len(set(units)) < len(units) else None)
