"""Metrics of intervals against their definition: for all rates in the intervals, and no wider than they must be."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairdsl.ir.enclosure import Enclosure
from fairdsl.ir.expr import Relation
from fairdsl.metrics.intervals import (
    Defined,
    Range,
    difference,
    gap,
    greatest,
    hull,
    least_of,
    mean,
    most_of,
    quotient,
    ratio,
    smallest,
)
from fairdsl.metrics.joint import Bounds
from fairdsl.verdict import Judgement, judge

F = Fraction

#: Few distinct numbers, so that ties, zeros and ones are frequent.
numbers = st.integers(0, 6).map(lambda n: F(n, 6))
bounds = st.tuples(numbers, numbers).map(lambda ends: Bounds(low=min(ends), high=max(ends)))


def true_gap(rates: Sequence[F]) -> F | None:
    return max(rates) - min(rates)


def true_ratio(rates: Sequence[F]) -> F | None:
    return min(rates) / max(rates) if max(rates) else None


def corners(rates: Sequence[Bounds]) -> list[tuple[F, ...]]:
    """Ends and middles of all intervals: extremes of gaps and ratios lie at ends, crossings in between."""
    return list(product(*(sorted({rate.low, (rate.low + rate.high) / 2, rate.high}) for rate in rates)))


@pytest.mark.parametrize(("metric", "truth"), [(gap, true_gap), (ratio, true_ratio)])
@given(st.lists(bounds, min_size=2, max_size=4), st.sampled_from(Relation), numbers)
def test_every_choice_of_rates_lies_in_the_interval(
    metric: Callable[[Sequence[Bounds]], Range],
    truth: Callable[[Sequence[F]], F | None],
    rates: list[Bounds],
    relation: Relation,
    limit: F,
) -> None:
    found = metric(rates)
    true = [truth(choice) for choice in corners(rates)]
    defined = [value for value in true if value is not None]
    assert found.high is not None
    assert all(found.low <= value <= found.high for value in defined)
    expected = Defined.YES if None not in true else Defined.PERHAPS if defined else Defined.NO
    assert found.defined is expected
    if found.defined is Defined.YES:
        match judge(Enclosure(low=found.low, high=found.high), relation, limit):
            case Judgement.HOLDS:
                assert all(relation.compares(value, limit) for value in defined)
            case Judgement.VIOLATED:
                assert not any(relation.compares(value, limit) for value in defined)


@given(st.lists(bounds, min_size=2, max_size=4))
def test_the_gap_is_no_wider_than_it_must_be(rates: list[Bounds]) -> None:
    found = gap(rates)
    # The least gap: all rates move towards one number; it is among the ends.
    ends = sorted({end for rate in rates for end in (rate.low, rate.high)})
    near = [tuple(min(max(goal, rate.low), rate.high) for rate in rates) for goal in ends]
    reached = [max(choice) - min(choice) for choice in (*corners(rates), *near)]
    assert (min(reached), max(reached)) == (found.low, found.high)


@given(st.lists(bounds.filter(lambda rate: rate.low > 0), min_size=2, max_size=4))
def test_the_ratio_is_no_wider_than_it_must_be(rates: list[Bounds]) -> None:
    found = ratio(rates)
    ends = sorted({end for rate in rates for end in (rate.low, rate.high)})
    near = [tuple(min(max(goal, rate.low), rate.high) for rate in rates) for goal in ends]
    reached = [min(choice) / max(choice) for choice in (*corners(rates), *near)]
    assert (min(reached), max(reached)) == (found.low, found.high)


@given(st.lists(bounds, min_size=2, max_size=4), numbers)
def test_the_rules_of_pairs(rates: list[Bounds], limit: F) -> None:
    """The rules as docs/semantics.md writes them, pair by pair."""
    pairs = [(a, b) for n, a in enumerate(rates) for m, b in enumerate(rates) if n != m]
    found = gap(rates)
    assert found.high is not None
    verdict = judge(Enclosure(low=found.low, high=found.high), Relation.LE, limit)
    assert (verdict is Judgement.HOLDS) == all(a.high - b.low <= limit for a, b in pairs)
    assert (verdict is Judgement.VIOLATED) == any(a.low - b.high > limit for a, b in pairs)
    found = ratio(rates)
    if found.defined is Defined.YES and 0 < limit <= 1:
        assert found.high is not None
        verdict = judge(Enclosure(low=found.low, high=found.high), Relation.GE, limit)
        assert (verdict is Judgement.HOLDS) == all(a.low >= limit * b.high for a, b in pairs)
        assert (verdict is Judgement.VIOLATED) == any(a.high < limit * b.low for a, b in pairs)


@given(st.lists(bounds, min_size=1, max_size=4))
def test_candidates_for_the_most_and_the_least_favoured(rates: list[Bounds]) -> None:
    choices = corners(rates)
    most = {place for choice in choices for place, rate in enumerate(choice) if rate == max(choice)}
    least = {place for choice in choices for place, rate in enumerate(choice) if rate == min(choice)}
    assert set(most_of(rates)) == most
    assert set(least_of(rates)) == least


@given(bounds, bounds)
def test_signed_metrics(one: Bounds, other: Bounds) -> None:
    minus, over = difference(one, other), quotient(one, other)
    for p, q in corners([one, other]):
        assert minus.high is not None
        assert minus.low <= p - q <= minus.high
        if q:
            assert over.low <= p / q
            assert over.high is None or p / q <= over.high
    assert (over.defined is Defined.NO) == (other.high == 0)
    assert (over.defined is Defined.YES) == (other.low > 0)


def test_nobody_favoured_is_no_ratio_of_1() -> None:
    zero = Bounds.exactly(F(0))
    assert ratio([zero, zero]).defined is Defined.NO
    assert ratio([zero, Bounds(low=F(0), high=F(1))]).defined is Defined.PERHAPS
    assert ratio([zero, Bounds(low=F(1, 9), high=F(1))]) == Range(low=F(0), high=F(0))


def test_several_numbers_as_one() -> None:
    one, two = Range(low=F(0), high=F(1, 2)), Range(low=F(1, 4), high=F(1, 4))
    assert greatest([one, two]) == Range(low=F(1, 4), high=F(1, 2))
    assert smallest([one, two]) == Range(low=F(0), high=F(1, 4))
    assert hull([one, two]) == Range(low=F(0), high=F(1, 2))
    assert mean([one, two]) == Range(low=F(1, 8), high=F(3, 8))
    unbounded = Range(low=F(0), high=None, defined=Defined.PERHAPS)
    assert hull([one, unbounded]) == unbounded
