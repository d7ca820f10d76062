"""Grids: chunks that cover all values once, orders that name every partition once, and no number is too large."""

from __future__ import annotations

from fractions import Fraction
from itertools import islice, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairdsl.backends.smt.options import Order
from fairdsl.backends.smt.partition.grid import Chunks, Grid, values_in_words
from fairdsl.backends.smt.solvers import chain
from fairdsl.numerics.narrow import Finite, Interval
from fairdsl.verdict import Unknown
from tests.builders import BOOLEAN, category, domain, integer, problem, real, score
from tests.drawing import examples
from tests.smt.partition_tools import asked

FINITE = st.lists(st.integers(-20, 20), min_size=1, unique=True).map(lambda values: Finite(tuple(sorted(values))))
RANGES = st.builds(lambda low, count: Finite(range(low, low + count)), st.integers(-50, 50), st.integers(1, 40))
INTERVALS = st.builds(
    lambda low, length: Interval(Fraction(low, 7), Fraction(low, 7) + Fraction(length, 5)),
    st.integers(-50, 50),
    st.integers(0, 60),
)


@given(st.one_of(FINITE, RANGES), st.integers(1, 45))
def test_chunks_of_values_are_the_values_in_order(values: Finite, size: int) -> None:
    chunks = Chunks(values, size)
    parts = [chunks.at(place) for place in range(chunks.count)]
    assert [value for part in parts for value in part.values] == list(values.values)
    assert all(part.count == size for part in parts[:-1])
    assert 1 <= parts[-1].count <= size
    assert chunks.last_share == Fraction(parts[-1].count, parts[0].count)


@given(INTERVALS, st.integers(1, 5))
def test_chunks_of_reals_meet_and_cover(values: Interval, size: int) -> None:
    chunks = Chunks(values, size)
    parts = [chunks.at(place) for place in range(chunks.count)]
    assert (parts[0].low, parts[-1].high) == (values.low, values.high)
    assert all(first.high == second.low for first, second in pairwise(parts))
    assert all(part.high - part.low == size for part in parts[:-1])
    assert parts[-1].high - parts[-1].low <= size


@pytest.mark.parametrize("place", [-1, 3])
def test_there_is_no_chunk_beyond_the_ends(place: int) -> None:
    with pytest.raises(IndexError):
        Chunks(Finite(range(30)), 10).at(place)


@settings(max_examples=examples(0.35))
@given(st.lists(st.integers(1, 12), min_size=1, max_size=4), st.integers(0, 9), st.integers(1, 5))
def test_the_largest_come_first_and_each_once(widths: list[int], length: int, size: int) -> None:
    people = domain(
        g=integer(0, 1), z=real(0, Fraction(length, 2)), **{f"x{i}": integer(0, w - 1) for i, w in enumerate(widths)}
    )
    grid = Grid.of(problem(people, score([0] * (2 + len(widths))), 0), size)
    order = list(grid.by_volume())
    assert sorted(order) == list(range(grid.count))
    volumes = [grid.volume(index) for index in order]
    assert volumes == sorted(volumes, reverse=True)
    assert sum(volumes) == 1


def test_the_largest_of_very_many_kinds_are_named_at_once() -> None:
    """Sixty attributes with a short last chunk make 2^60 kinds of partitions: they were all sorted first."""
    people = domain(g=integer(0, 1), **{f"x{i}": integer(0, 10 + i) for i in range(60)})
    grid = Grid.of(problem(people, score([0] * 61), 0), 2)
    drawn = list(islice(grid.by_volume(), 300))
    volumes = [grid.volume(index) for index in drawn]
    assert len(set(drawn)) == 300
    assert volumes == sorted(volumes, reverse=True)
    assert volumes[0] == max(volumes)


@pytest.mark.parametrize("order", list(Order))
def test_intervals_of_more_chunks_than_len_can_say(order: Order, monkeypatch: pytest.MonkeyPatch) -> None:
    """`len` of a sequence ends at 2^63 - 1; the run ended with an error of ours."""
    monkeypatch.setattr(chain, "_DRAWN", 16)  # numbers of 30 digits are compared one by one
    people = domain(x=real(0, 10**30), y=integer(0, 10**12), g=integer(0, 1))
    vast = problem(people, score([1, 1, 0]), 2)
    grid = Grid.of(vast, 1)
    assert grid.count == 10**30 * (10**12 + 1)
    numbers = [0, grid.count // 3, grid.count - 1]
    assert grid.boxes(numbers).box(2) == grid.box(grid.count - 1)
    assert grid.box(grid.count - 1)[0] == Interval(Fraction(10**30 - 1), Fraction(10**30))
    verdict = asked(vast, size=1, first=2, order=order)
    assert isinstance(verdict, Unknown)
    assert verdict.evidence.coverage.asked.count == 2


@given(st.integers(1, 400), st.integers(0, 5))
def test_many_boxes_at_once_are_the_boxes_one_by_one(seed: int, extra: int) -> None:
    people = domain(x=integer(0, 10 + extra), y=real(0, "7/2"), g=integer(0, 1), z=integer(-3, 3))
    grid = Grid.of(problem(people, score([1, 1, 0, 1]), 2), 2)
    numbers = grid.placed(0, min(20, grid.count), seed)
    boxes = grid.boxes(numbers)
    assert [boxes.box(place) for place in range(len(numbers))] == [grid.box(number) for number in numbers]


def test_values_are_said_as_the_spec_writes_them() -> None:
    people = domain(age=integer(0, 9), has=BOOLEAN, job=category(1, 5, 8), debt=real(0, 9))
    age, has, job, debt = people.attributes
    assert values_in_words(age, Finite(range(2, 6))) == "2 .. 5"
    assert values_in_words(age, Finite((1, 4))) == "1, 4"
    assert values_in_words(has, Finite(range(1, 2))) == "true"
    assert values_in_words(job, Finite((1, 8))) == "v1, v8"
    assert values_in_words(debt, Interval(None, Fraction(1, 2))) == " .. 0.5"
