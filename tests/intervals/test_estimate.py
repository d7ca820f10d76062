"""The sampled estimate: every unit judged as the definition says, and intervals that contain the truth."""

from __future__ import annotations

import time
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given

from fairdsl.backends.contract import Refusal
from fairdsl.backends.intervals.estimate import Sample, sample_units
from fairdsl.backends.units import units_of
from fairdsl.clock import Deadline
from fairdsl.ir.expr import Relation, Who
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Differ, Relaxation, SameDecision, ScoreGap
from fairdsl.numerics.evaluate import points_of
from fairdsl.replay import admissible, witness
from tests import oracle
from tests.builders import BOOLEAN, category, domain, integer, layer, linear, model, problem, real, score
from tests.strategies import problems

F = Fraction
PEOPLE = domain(sex=BOOLEAN, age=integer(0, 19), job=category(0, 3, 5))
LEAN = score([5, 2, 1], F(-35, 2))


def sampled(asked: Problem, count: int = 4000, seed: int = 0) -> Sample:
    return sample_units(asked, count, seed, Deadline.within(30))


def all_candidates(asked: Problem) -> np.ndarray:
    """Every candidate that could be drawn: those that hold nobody too."""
    pair = asked.question
    columns = [
        values[:1] if index in pair.differ and not pair.of_individuals else values
        for index, values in enumerate(oracle.values_of(attribute.type) for attribute in asked.domain.attributes)
    ]
    return np.array(list(product(*columns)), dtype=np.float64)


@given(problems())
def test_every_unit_is_judged_as_the_definition_says(asked: Problem) -> None:
    asked = replace(asked, question=replace(asked.question, demand=SameDecision()))
    units = units_of(asked)
    assert not isinstance(units, Refusal)
    truth = oracle.truth(asked)
    if units.empty:
        assert truth.total == 0
        return
    judged = units.judge(all_candidates(asked))
    assert int(judged.present.sum()) == truth.total + truth.vacuous
    assert int(judged.in_question.sum()) == truth.total
    assert int((judged.present & judged.unfair).sum()) == truth.total - truth.fair
    assert not judged.doubtful.any()
    assert not (judged.unfair & ~judged.in_question).any()
    violations = {frozenset(pair) for pair in truth.violations}
    pairs = zip(points_of(judged.a), points_of(judged.b), strict=True)
    assert all(frozenset(pair) in violations for pair in pairs)


@pytest.mark.parametrize(
    "clauses",
    [
        {},
        {"target": linear({1: 1, 2: 1}, "<=", 12)},
        {"pair_target": linear({2: 1}, "<=", 3, who=Who.A)},
        {"relax": (Relaxation(attribute=1, by=F(2)),)},
        {"relax": (Relaxation(attribute=1, by=F(2)), Relaxation(attribute=2, by=None))},
    ],
)
def test_the_interval_contains_the_truth_as_often_as_it_says(clauses: dict[str, object]) -> None:
    asked = problem(PEOPLE, LEAN, 0, **clauses)
    truth = oracle.truth(asked)
    assert 0 < truth.fair_share < 1
    estimates = [sampled(asked, 400, seed).estimate for seed in range(16)]
    assert all(estimate is not None and estimate.sampled == 400 for estimate in estimates)
    containing = [e for e in estimates if e is not None and e.interval.low <= truth.fair_share <= e.interval.high]
    assert len(containing) >= 13  # 15 expected
    assert all(e.interval.high - e.interval.low < F(12, 100) for e in containing)


def test_units_of_a_thin_target_are_drawn_by_rejection() -> None:
    people = domain(where=linear({1: 1, 2: -1}, "=", 0), sex=BOOLEAN, x=integer(0, 40), y=integer(0, 40))
    asked = problem(people, score([8, 1, 0], -20), 0)
    estimate = sampled(asked, 1000).estimate
    assert estimate is not None
    assert estimate.sampled == 1000
    assert estimate.interval.low <= oracle.truth(asked).fair_share <= estimate.interval.high


def test_reals_are_sampled_by_volume() -> None:
    # Unfair where 2 < x + y <= 3 over the unit square scaled by 2: the corner triangle 2 < x + y <= 3 of it.
    people = domain(sex=BOOLEAN, x=real(0, 2), y=real(0, 2))
    asked = problem(people, score([1, 1, 1], -3), 0)
    estimate = sampled(asked, 20000).estimate
    assert estimate is not None
    # The area between the lines x + y = 2 and x + y = 3 is 2 - 1/2, of 4.
    assert estimate.interval.low <= 1 - F(3, 8) <= estimate.interval.high
    assert estimate.interval.high - estimate.interval.low < F(2, 100)


def test_pairs_break_the_demand_on_the_original_model() -> None:
    asked = problem(PEOPLE, LEAN, 0, relax=(Relaxation(attribute=1, by=F(1)),))
    found = sampled(asked, 300)
    assert found.estimate is not None
    assert 0 < len(found.pairs) == found.estimate.unfair
    for a, b in found.pairs[:40]:
        assert any(admissible(asked.question, asked.domain, *pair) is None for pair in ((a, b), (b, a)))
        assert witness(asked, a, b) is not None


def test_the_seed_decides_and_time_only_shortens() -> None:
    asked = problem(PEOPLE, LEAN, 0)
    assert sampled(asked, 500, seed=3) == sampled(asked, 500, seed=3)
    assert sampled(asked, 500, seed=3).pairs != sampled(asked, 500, seed=4).pairs
    late = sample_units(asked, 500, 0, Deadline.within(-1))
    assert late.estimate is None
    assert "in time" in late.why


def test_a_slow_model_does_not_pass_the_deadline() -> None:
    width = 300
    rule = model(
        layer([[1, 1, 1]] * width, [0] * width), layer([[F(1, 4)] * width] * width, [0] * width),
        layer([[1] * width], [-1], 1), attributes=3,
    )  # fmt: skip
    started = time.monotonic()
    found = sample_units(problem(PEOPLE, rule, 1), 10**9, 0, Deadline(started + 0.5))
    assert found.estimate is not None
    assert time.monotonic() - started < 2


@pytest.mark.parametrize("limit", [4, 5, 6])
def test_gaps_of_scores_are_sampled_too(limit: int) -> None:
    asked = problem(PEOPLE, LEAN, 0, demand=ScoreGap(relation=Relation.LE, limit=F(limit)))
    estimate = sampled(asked, 1000).estimate
    assert estimate is not None
    assert estimate.interval.low <= oracle.truth(asked).fair_share <= estimate.interval.high


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        (problem(domain(sex=BOOLEAN, x=real(0)), score([1, 1]), 0), "`x` is unbounded"),
        (problem(domain(x=real(0, 1), y=integer(0, 3)), score([1, 1]), 0), "`x` is real"),
        (
            problem(domain(x=real(0, 1), sex=BOOLEAN), score([1, 1]), 1, relax=(Relaxation(attribute=0, by=F(1)),)),
            "`x` is real",
        ),
        (problem(domain(x=integer(0, 9999), y=BOOLEAN), score([1, 1]), 0), "10,000 people"),
        (problem(domain(x=integer(0, 30), y=integer(0, 30)), score([1, 1]), 0, 1, mode=Differ.EACH), "961 people"),
    ],
)
def test_what_cannot_be_listed_is_not_estimated(asked: Problem, why: str) -> None:
    found = sampled(asked)
    assert found.estimate is None
    assert why in found.why
