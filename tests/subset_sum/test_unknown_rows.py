"""Paths that lead to parents without a distribution: the gap contains that of every distribution there may be."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fairdsl.backends.rates import joints
from fairdsl.ir.population import Factor, Network
from fairdsl.ir.problem import Problem
from fairdsl.verdict import Value
from tests.subset_sum.laws import asked, bernoulli, booleans, factor, linear, network, value

F = Fraction
RELAXED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
CHANCES = st.integers(0, 4).map(lambda count: F(count, 4))

#: A -> X -> Y -> Z, and A -> Y, X -> Z: what the score reads are X, Y and Z, or some of them.
PARENTS = {0: (), 1: (0,), 2: (0, 1), 3: (1, 2)}
Rows = dict[tuple[int, ...], Fraction]
Tables = dict[int, Rows]


@st.composite
def counted(draw: st.DrawFn) -> Tables:
    """For each column the probability of 1 given its parents; some combinations have none."""
    tables: Tables = {0: {(): F(1, 2)}}
    for column, parents in list(PARENTS.items())[1:]:
        every = list(product((0, 1), repeat=len(parents)))
        known = [cells for cells in every if draw(st.integers(0, 3))] or every[:1]
        tables[column] = {cells: draw(CHANCES) for cells in known}
    return tables


def law_of(tables: Tables) -> Network:
    factors: list[Factor] = [
        factor(column, {cells: bernoulli(chance) for cells, chance in rows.items()}, PARENTS[column])
        if PARENTS[column]
        else factor(column, bernoulli(rows[()]))
        for column, rows in tables.items()
    ]
    return replace(network(booleans("A", "X", "Y", "Z"), factors), causal=True)


def completed(tables: Tables) -> Iterator[Tables]:
    """Every way to send each combination that has no distribution to 0 or to 1: all others lie between them."""
    missing = [
        (column, cells)
        for column, parents in PARENTS.items()
        for cells in product((0, 1), repeat=len(parents))
        if cells not in tables[column]
    ]
    for choice in product((F(0), F(1)), repeat=len(missing)):
        whole = {column: dict(rows) for column, rows in tables.items()}
        for (column, cells), chance in zip(missing, choice, strict=True):
            whole[column][cells] = chance
        yield whole


def rate(tables: Tables, weights: list[int], threshold: int, group: int, baseline: int, allowed: set[int]) -> Fraction:
    """Pr[favourable], everybody's A set to ``group``, and read as the baseline by the children in ``allowed``."""
    total = F(0)
    for x, y, z in product((0, 1), repeat=3):
        values = {0: group, 1: x, 2: y, 3: z}
        mass = F(1)
        for column in (1, 2, 3):
            cells = tuple(
                baseline if parent == 0 and column in allowed else values[parent] for parent in PARENTS[column]
            )
            chance = tables[column][cells]
            mass *= chance if values[column] else 1 - chance
        if sum(weight * values[place] for place, weight in enumerate(weights)) >= threshold:
            total += mass
    return total


@RELAXED
@given(
    counted(),
    st.lists(st.integers(-2, 3), min_size=3, max_size=3),
    st.integers(-1, 3),
    st.integers(0, 1),
    st.sampled_from([{1}, {2}, {1, 2}]),
)
def test_every_distribution_is_allowed_for(
    tables: Tables, weights: list[int], threshold: int, baseline: int, allowed: set[int]
) -> None:
    edges = frozenset((0, child) for child in allowed)
    problem = asked(
        law_of(tables),
        linear([0, *weights], threshold),
        0,
        metric="path_specific_gap",
        baseline=(F(baseline),),
        allowed=edges,
    )
    read = [0, *weights]
    truths = [
        [rate(whole, read, threshold, group, baseline, allowed) for group in (0, 1)] for whole in completed(tables)
    ]
    for found in (value(problem), by_states(problem)):
        assert found.low <= min(abs(one - other) for one, other in truths)
        assert max(abs(one - other) for one, other in truths) <= found.high
        for place, bounds in enumerate(found.rates):
            assert bounds.low <= min(pair[place] for pair in truths)
            assert max(pair[place] for pair in truths) <= bounds.high
        if len(truths) == 1:
            assert found.low == found.high


def by_states(problem: Problem) -> Value:
    """As a score with trees is answered."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(joints, "_reads_columns_alone", lambda model: False)
        found = value(problem)
    assert "state" in found.evidence.method
    return found


def test_what_nothing_reads_need_not_be_known() -> None:
    """Z has no distribution where X = 1, but the score reads X alone."""
    tables: Tables = {
        0: {(): F(1, 2)},
        1: {(0,): F(1, 4), (1,): F(3, 4)},
        2: {(0, 0): F(1, 2)},
        3: {(0, 0): F(1, 2)},
    }
    problem = asked(
        law_of(tables),
        linear([0, 1], 1),
        0,
        metric="path_specific_gap",
        baseline=(F(0),),
        allowed=frozenset({(0, 2)}),
    )
    found = value(problem)
    assert found.low == found.high == F(1, 2)


def test_a_half_of_a_group_may_be_anything() -> None:
    """Nurses and cooks alike are sent on, and of older nurses there are none: one gap in four to three in four."""
    tables: Tables = {
        0: {(): F(1, 2)},
        1: {(0,): F(1, 2), (1,): F(1)},
        2: {(0, 0): F(0), (0, 1): F(1, 2), (1, 1): F(1)},
        3: {(0, 0): F(0), (0, 1): F(1), (1, 0): F(0), (1, 1): F(1)},
    }
    problem = asked(
        law_of(tables),
        linear([0, 0, 1], 1),
        0,
        metric="path_specific_gap",
        baseline=(F(0),),
        allowed=frozenset({(0, 1)}),
    )
    found = value(problem)
    assert (found.low, found.high) == (F(1, 4), F(3, 4))
    assert any("any decision is allowed for" in note for note in found.evidence.notes)
