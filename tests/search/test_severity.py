"""Bits and gaps of pairs, against entropies and distances of the oracle's own outcomes and scores."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import isnan, log2

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairdsl.backends.search.evaluators import evaluator_of
from fairdsl.backends.search.severity import Severity, severity
from fairdsl.ir.domain import Point
from fairdsl.ir.expr import Who
from fairdsl.ir.model import ByHighest, Model
from fairdsl.ir.problem import Problem
from tests.builders import BOOLEAN, category, domain, integer, layer, linear, member, problem, real, score
from tests.drawing import examples
from tests.oracle import outcome, scores, true_for, truth, values_of
from tests.strategies import problems
from tests.tree_strategies import tree_problems


def severity_of(asked: Problem, pairs: list[tuple[Point, Point]]) -> Severity:
    a, b = (np.array([[float(value) for value in pair[who]] for pair in pairs]) for who in (0, 1))
    width = len(asked.domain.attributes)
    return severity(asked, asked.question, evaluator_of(asked.model), a.reshape(-1, width), b.reshape(-1, width))


def entropy(asked: Problem, person: Point) -> float:
    """By the definition: everybody who differs from the person in differing attributes only, and exists."""
    differ = asked.question.differ
    values = [values_of(asked.domain.attributes[index].type) for index in differ]
    decided: Counter[int] = Counter()
    for chosen in product(*values):
        other = list(person)
        for index, value in zip(differ, chosen, strict=True):
            other[index] = value
        everybody = {Who.EACH: tuple(other)}
        if true_for(asked.domain.where, everybody) and true_for(asked.question.target, everybody):
            decided[outcome(asked.model, tuple(other))] += 1
    total = sum(decided.values())
    return -sum(count / total * log2(count / total) for count in decided.values())


@settings(max_examples=examples(0.4))
@given(st.one_of(problems(), tree_problems(), problems(widths=(2,))))
def test_bits_and_gaps_of_every_violation(asked: Problem) -> None:
    pairs = truth(asked).violations[:12]
    found = severity_of(asked, pairs)
    for place, (a, b) in enumerate(pairs):
        assert found.bits[place] == pytest.approx(max(entropy(asked, a), entropy(asked, b)), abs=1e-12)
        of_a, of_b = scores(asked.model, a), scores(asked.model, b)
        if len(of_a) == 1:
            gap = abs(of_a[0] - of_b[0])
        else:
            i, j = outcome(asked.model, a), outcome(asked.model, b)
            apart = [x - y for x, y in zip(of_a, of_b, strict=True)]
            gap = abs(apart[i] - apart[j]) if i != j else max(map(abs, apart))
        assert found.gaps[place] == pytest.approx(float(gap), rel=1e-9)


def test_a_decision_by_sex_is_one_bit_and_one_race_of_five_less() -> None:
    people = domain(sex=BOOLEAN, race=category(0, 1, 2, 3, 4), age=integer(0, 9))
    by_sex = problem(people, score([1, 0, 0], "-1/2"), 0)
    by_race = problem(people, score([0, 1, 0], "-7/2"), 1)
    pair = [((Fraction(0), Fraction(0), Fraction(3)), (Fraction(1), Fraction(0), Fraction(3)))]
    other = [((Fraction(0), Fraction(0), Fraction(3)), (Fraction(0), Fraction(4), Fraction(3)))]
    assert severity_of(by_sex, pair).bits.tolist() == [1.0]
    assert severity_of(by_race, other).bits.tolist() == pytest.approx([0.721928094887])
    assert severity_of(by_race, other).gaps.tolist() == [4.0]


def test_who_is_barred_by_the_target_is_not_counted() -> None:
    """Of five races two are compared: one bit, not 0.72."""
    people = domain(race=category(0, 1, 2, 3, 4), age=integer(0, 9))
    asked = problem(people, score([1, 0], "-7/2"), 0, target=member(0, 1, 4))
    pair = [((Fraction(1), Fraction(3)), (Fraction(4), Fraction(3)))]
    assert severity_of(asked, pair).bits.tolist() == [1.0]
    nobody = replace(asked, question=replace(asked.question, target=linear({1: 1}, ">", 20)))
    assert isnan(severity_of(nobody, pair).bits[0])


def test_a_gap_too_small_for_its_scores_is_taken_in_more_digits() -> None:
    """2^53 + 1 and 2^53: float64 holds only one of them."""
    people = domain(sex=BOOLEAN, age=integer(0, 1))
    asked = problem(people, score(["1/3", 0], 2**53), 0)
    pair = [((Fraction(1), Fraction(0)), (Fraction(0), Fraction(0)))]
    assert severity_of(asked, pair).gaps.tolist() == [pytest.approx(1 / 3, rel=1e-15)]


def test_several_outcomes_lead_over_each_other() -> None:
    rows = [[3, 0], [0, 0], [-1, 0]]
    three = Model(
        name="m",
        outcomes=("a", "b", "c"),
        inputs=score([1, 1]).inputs,
        layers=(layer(rows, [0, 1, 0], 1),),
        rule=ByHighest(),
    )
    asked = problem(domain(sex=BOOLEAN, age=integer(0, 1)), three, 0)
    # Scores (3, 1, -1) and (0, 1, 0): a leads b by 2, and then by -1.
    pair = [((Fraction(1), Fraction(0)), (Fraction(0), Fraction(0)))]
    assert severity_of(asked, pair).gaps.tolist() == [3.0]


def test_bits_of_reals_are_not_known() -> None:
    asked = problem(domain(rate=real(0, 1), age=integer(0, 3)), score([1, 0], "-1/2"), 0)
    found = severity_of(asked, [((Fraction(0), Fraction(1)), (Fraction(1), Fraction(1)))])
    assert isnan(found.bits[0])
    assert found.gaps.tolist() == [1.0]
