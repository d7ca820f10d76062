"""Search beyond small grids: rare violations, reals, constraints, many protected values, gaps of scores."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from fairdsl.backends.search import Search
from fairdsl.ir.exact_array import ExactArray
from fairdsl.ir.expr import And, Or, Relation, Who
from fairdsl.ir.model import ByHighest, Layer, Model
from fairdsl.ir.question import Differ, Relaxation, ScoreGap
from fairdsl.verdict import Unknown, Violated
from tests.agreement.engines import ask, in_target
from tests.builders import BOOLEAN, category, domain, integer, layer, linear, member, model, problem, real, score


def found(asked) -> Violated:
    verdict = ask(Search(), asked)
    assert isinstance(verdict, Violated)
    for witness in verdict.witnesses:
        assert in_target(asked, witness.a.point)
        assert in_target(asked, witness.b.point)
    return verdict


WIDE = domain(amount=integer(0, 10**6), month=integer(0, 80), job=category(5, 2, 9, 0), rate=real(0, 1), sex=BOOLEAN)


def test_one_in_a_hundred_million() -> None:
    """Only at amount + 1000 month = 777,777 exactly does sex decide."""
    found(problem(WIDE, score([1, 1000, 0, 0, 1], -777_777), 4))


def test_a_rare_outcome_in_a_far_corner() -> None:
    hidden = layer([[1, 0, 0, 0, 0], [0, 1, 0, 0, 0]], [-990_000, -75])
    corner = model(hidden, layer([["1/1000", 1]], [-12], 1), attributes=5)
    with_sex = model(
        layer([[1, 0, 0, 0, 0], [0, 1, 0, 0, 0], [0, 0, 0, 0, 1]], [-990_000, -75, 0]),
        layer([["1/1000", 1, 1]], [-12], 1),
        attributes=5,
    )
    found(problem(WIDE, with_sex, 4))
    assert isinstance(ask(Search(), problem(WIDE, corner, 4), seconds=2), Unknown)


def test_equalities_and_alternatives_do_not_starve() -> None:
    target = And(
        (
            linear({0: 1, 1: 1000}, "=", 500_000),
            Or((member(2, 9), linear({3: 2}, "<", "1/2"))),
            linear({1: 3}, ">=", 100),
        )
    )
    found(problem(WIDE, score([1, 0, 0, 0, 5000], -430_000), 4, target=target))


def test_relaxed_neighbours_and_ordered_pairs() -> None:
    older = linear({1: 1}, ">", 0, who=Who.A)
    asked = problem(
        WIDE,
        score([1, 0, 0, 0, 0], -500_000),
        4,
        relax=(Relaxation(attribute=0, by=Fraction(3)), Relaxation(attribute=2, by=None)),
        pair_target=older,
    )
    for witness in found(asked).witnesses:
        assert abs(witness.a.point[0] - witness.b.point[0]) <= 3
        assert witness.a.point[1] > 0


def test_wide_protected_attributes_in_all_mode() -> None:
    people = domain(age=integer(0, 500), region=category(*range(0, 90, 3)), income=integer(0, 10**6))
    asked = problem(people, score([1, 0, "1/1000"], -700), 0, 1, mode=Differ.EACH)
    for witness in found(asked).witnesses:
        assert witness.a.point[0] != witness.b.point[0]
        assert witness.a.point[1] != witness.b.point[1]


def test_several_outcomes_and_gaps_of_scores() -> None:
    rows = [[1, 0, 0, 0, 3], ["1/2", 0, 0, 0, 0], [0, 5000, 0, 0, 0]]
    base = score([1, 0, 0, 0, 1])
    three = Model(
        name="m", outcomes=("a", "b", "c"), inputs=base.inputs, layers=(layer(rows, [0, 1, 2], 1),), rule=ByHighest()
    )
    found(problem(WIDE, three, 4))
    gap = ScoreGap(relation=Relation.LE, limit=Fraction(2))
    found(problem(WIDE, score([1, 0, 0, 0, "5/2"]), 4, demand=gap))
    assert isinstance(ask(Search(), problem(WIDE, score([1, 0, 0, 0, 2]), 4, demand=gap), seconds=1), Unknown)


def test_real_witnesses_are_float32_numbers() -> None:
    people = domain(income=real(), rate=real("1/10", "3/10"), sex=BOOLEAN)
    for witness in found(problem(people, score([1, 10, 1], -1), 2)).witnesses:
        for value in (*witness.a.point, *witness.b.point):
            assert Fraction(float(np.float32(float(value)))) == value


@pytest.mark.parametrize("seed", range(3))
def test_random_deep_networks(seed: int) -> None:
    rng = np.random.default_rng(seed)
    widths = [5, 24, 12, 6, 1]
    layers = [
        Layer(
            weight=ExactArray.from_floats(
                (rng.standard_normal((out, into)) / ([1e5, 20, 3, 1, 1] if into == 5 else 1)).astype(np.float32)
            ),
            bias=ExactArray.from_floats(rng.standard_normal(out).astype(np.float32)),
            slope=ExactArray.from_floats(np.full(out, 1.0 if out == 1 else 0.0)),
        )
        for into, out in pairwise(widths)
    ]
    found(problem(WIDE, model(*layers, attributes=5), 4))
