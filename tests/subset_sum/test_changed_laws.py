"""Influence and paths: questions about another law than the population's own."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fairdsl.ir.population import Network
from fairdsl.ir.question import MOST_FAVOURED
from fairdsl.metrics.subject import subject_of, with_baseline, without_influence
from tests.drawing import examples
from tests.rates.laws import random_laws
from tests.strategies import RATIONAL, SMALL
from tests.subset_sum.laws import (
    asked,
    bernoulli,
    booleans,
    factor,
    favourable,
    joint_of,
    linear,
    masses,
    network,
    rates,
    value,
)

F = Fraction
ZERO, ONE = F(0), F(1)
RELAXED = settings(max_examples=examples(0.8), deadline=None, suppress_health_check=[HealthCheck.too_slow])


def mediated() -> Network:
    """A -> X -> Y, A -> Y; the score reads A, X and Y."""
    return replace(
        network(
            booleans("A", "X", "Y"),
            [
                factor(0, bernoulli(0.25)),
                factor(1, {(0,): bernoulli(0.2), (1,): bernoulli(0.7)}, (0,)),
                factor(
                    2,
                    {(0, 0): bernoulli(0.1), (0, 1): bernoulli(0.4), (1, 0): bernoulli(0.5), (1, 1): bernoulli(0.9)},
                    (0, 1),
                ),
            ],
        ),
        causal=True,
    )


def test_influence_does_not_reach_the_children() -> None:
    """Without X the score reads a fair coin, and Y still knows the X that was drawn."""
    problem = asked(mediated(), linear([0, 1, 1], 2), 0, influence=(1,))
    found = rates(problem, without_influence(subject_of(problem), problem.question))
    y = {0: F(8, 10) * F(1, 10) + F(2, 10) * F(4, 10), 1: F(3, 10) * F(5, 10) + F(7, 10) * F(9, 10)}
    assert found == {(F(a),): (y[a] / 2, y[a] / 2) for a in (0, 1)}
    own = {0: F(2, 10) * F(4, 10), 1: F(7, 10) * F(9, 10)}
    influence = value(problem)
    assert influence.low == influence.high == (own[1] - own[0]) - (y[1] - y[0]) / 2


@RELAXED
@given(random_laws(6), st.data())
def test_influence_is_a_mean_over_the_declared_values(law: Network, data: st.DataObject) -> None:
    count = len(law.columns)
    chosen = data.draw(st.lists(st.integers(0, count - 1), min_size=1, max_size=2, unique=True))
    number = data.draw(st.sampled_from([SMALL, RATIONAL]))
    model = linear([data.draw(number) for _ in range(count)], data.draw(number))
    problem = asked(law, model, data.draw(st.integers(0, count - 1)), influence=tuple(chosen))
    (key_column,) = problem.question.across
    expected: dict[Fraction, Fraction] = {}
    variants = [()]
    for column in chosen:
        variants = [(*v, (column, cell)) for v in variants for cell in range(len(law.cells[column]))]
    for cells, mass in masses(law).items():
        point = [law.cells[column][cell].low for column, cell in enumerate(cells)]
        key = point[key_column]
        for variant in variants:
            changed = list(point)
            for column, cell in variant:
                changed[column] = law.cells[column][cell].low
            part = mass / len(variants) if favourable(model, tuple(changed)) else ZERO
            expected[key] = expected.get(key, ZERO) + part
    joint = joint_of(problem, without_influence(subject_of(problem), problem.question)).joint
    assert {key[0]: (b.low, b.high) for key, b in joint.favourable.items()} == {k: (v, v) for k, v in expected.items()}


def edgewise(law: Network, model, a: int, baseline: int, allowed: frozenset) -> Fraction:
    """The edge g-formula, one assignment after the other; the protected column is 0."""
    total = ZERO
    for cells, _ in masses(replace(law, factors=())).items():
        if cells[0] != a:
            continue
        mass = ONE
        for each in law.factors:
            if each.column == 0:
                continue
            seen = tuple(
                baseline if parent == 0 and (0, each.column) in allowed else cells[parent] for parent in each.parents
            )
            row = each.rows.get(seen)
            mass *= 0 if row is None else row[cells[each.column]]
        read = list(cells)
        if (0, None) in allowed:
            read[0] = baseline
        point = tuple(law.cells[column][cell].low for column, cell in enumerate(read))
        total += mass if favourable(model, point) else 0
    return total


def test_paths_of_a_mediated_law() -> None:
    law, model = mediated(), linear([1, 1, 1], 2)
    for allowed in (frozenset(), frozenset({(0, 1)}), frozenset({(0, 2)}), frozenset({(0, 1), (0, 2), (0, None)})):
        problem = asked(law, model, 0, metric="path_specific_gap", baseline=(ONE,), allowed=allowed)
        subject = with_baseline(subject_of(problem), {0: ONE}, allowed)
        expected = {(F(a),): (edgewise(law, model, a, 1, allowed),) * 2 for a in (0, 1)}
        assert rates(problem, subject) == expected
        gap = value(problem)
        numbers = [low for low, _ in expected.values()]
        assert gap.low == gap.high == max(numbers) - min(numbers)
        assert value(replace(problem, question=replace(problem.question, baseline=MOST_FAVOURED))).low == gap.low
    assert gap.high == 0  # where every edge is allowed, everybody is read as the baseline


@RELAXED
@given(random_laws(6), st.data())
def test_the_edge_formula(law: Network, data: st.DataObject) -> None:
    count = len(law.columns)
    if any(each.column == 0 and each.parents for each in law.factors):
        law = replace(
            law,
            factors=tuple(
                factor(0, (F(1, len(law.cells[0])),) * len(law.cells[0])) if each.column == 0 else each
                for each in law.factors
            ),
        )
    ends = [each.column for each in law.factors if 0 in each.parents]
    edges = [(0, end) for end in (*ends, None)]
    allowed = frozenset(data.draw(st.lists(st.sampled_from(edges), unique=True)))
    model = linear([data.draw(SMALL) for _ in range(count)], data.draw(SMALL))
    baseline = data.draw(st.integers(0, len(law.cells[0]) - 1))
    value_there = law.cells[0][baseline].low
    problem = asked(law, model, 0, metric="path_specific_gap", baseline=(value_there,), allowed=allowed)
    joint = joint_of(problem, with_baseline(subject_of(problem), {0: value_there}, allowed)).joint
    for place, cell in enumerate(law.cells[0]):
        truth = edgewise(law, model, place, baseline, allowed)
        bounds = joint.favourable[(cell.low,)]
        assert bounds.low == bounds.high == truth
