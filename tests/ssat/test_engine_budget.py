"""Deep and large instances, deadlines, little memory: bounds that hold, and no crash."""

from __future__ import annotations

import random
import time
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairdsl.backends.contract import Silent
from fairdsl.backends.ssat.engine import Engine, Solution
from fairdsl.backends.ssat.engine import search as search_module
from fairdsl.backends.ssat.instance import Bound, Instance, Quantifier
from fairdsl.clock import Deadline
from fairdsl.verdict import Reason
from tests.drawing import examples
from tests.ssat.brute import value
from tests.ssat.random_instances import circuit_of_seed, instances

E, A, R = Quantifier.EXISTS, Quantifier.FORALL, Quantifier.RANDOM
HALF = Fraction(1, 2)


def neighbours(size: int) -> Instance:
    """A chain: of two neighbours one is true."""
    prefix = tuple(Bound(number, R, HALF) for number in range(1, size + 1))
    return Instance(variables=size, prefix=prefix, clauses=tuple(pairwise(range(1, size + 1))))


def hard(size: int = 60) -> Instance:
    """A random formula that takes long."""
    chosen = random.Random(1)
    prefix = tuple(
        Bound(number, (R, E, A)[number // 9 % 3], HALF if number // 9 % 3 == 0 else None)
        for number in range(1, size + 1)
    )
    clauses = tuple(
        tuple(chosen.choice([1, -1]) * variable for variable in chosen.sample(range(1, size + 1), 4))
        for _ in range(2 * size)
    )
    return Instance(variables=size, prefix=prefix, clauses=clauses)


def sequences(size: int) -> int:
    """Of so many truths, without two neighbouring falses: a Fibonacci number."""
    before, after = 1, 2
    for _ in range(size - 1):
        before, after = after, before + after
    return after


class Clock:
    """A clock that goes on by one whenever it is read."""

    def __init__(self) -> None:
        self.now = 0

    def __call__(self) -> float:
        self.now += 1
        return self.now


def test_a_chain_is_cut_in_the_middle() -> None:
    size = 3_000
    found = Engine(neighbours(size)).solve()
    assert found.low * 2**size == sequences(size)
    assert found.statistics.decisions < 4 * size


def predictions(pairs: int) -> Instance:
    """A truth is chosen before each toss of a coin; of two neighbouring tosses one is foreseen.

    Every variable is decided inside of all before it, and nothing follows from a single clause.
    """
    size = 2 * pairs
    prefix = tuple(Bound(number, E if number % 2 else R, None if number % 2 else HALF) for number in range(1, size + 1))
    clauses = tuple(
        (*first, *second)
        for chosen in range(1, size - 1, 2)
        for first in ((chosen, -chosen - 1), (-chosen, chosen + 1))
        for second in ((chosen + 2, -chosen - 3), (-chosen - 2, chosen + 3))
    )
    return Instance(variables=size, prefix=prefix, clauses=clauses)


def test_a_small_prediction_by_definition() -> None:
    assert value(predictions(3)) == Engine(predictions(3)).solve().low == Fraction(5, 8)


def test_depth_is_no_matter() -> None:
    """Deeper than Python calls functions; each toss is foreseen with one chance in two, so the chain above counts."""
    pairs = 300
    found = Engine(predictions(pairs)).solve()
    assert found.low * 2**pairs == sequences(pairs)
    assert found.statistics.decisions > 2 * pairs


def test_depth_at_a_deadline() -> None:
    began = time.monotonic()
    found = Engine(predictions(5000)).solve(deadline=Deadline(began + 0.5))
    assert found.reason is Reason.TIMEOUT
    # Few of all sequences are good ones.
    assert found.low < Fraction(1, 10) < found.high
    assert time.monotonic() < began + 60


def test_many_components() -> None:
    size = 6000
    prefix = tuple(Bound(number, R, HALF) for number in range(1, size + 1))
    clauses = tuple((number, number + 1) for number in range(1, size, 2))
    assert Engine(Instance(variables=size, prefix=prefix, clauses=clauses)).solve().low == Fraction(3, 4) ** (size // 2)


def stopped(asked: Instance, ticks: int, engine: Engine | None = None) -> Solution:
    """What is known when the clock is stopped after so many looks, wherever the search is then."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search_module.time, "monotonic", Clock())
        return (engine or Engine(asked)).solve(deadline=Deadline(ticks))


@settings(max_examples=examples(1))
@given(instances(), st.integers(0, 12))
def test_bounds_at_a_deadline_enclose_the_value(asked: Instance, ticks: int) -> None:
    engine = Engine(asked)
    found = stopped(asked, ticks, engine)
    expected = value(asked)
    assert 0 <= found.low <= expected <= found.high <= 1
    assert (found.reason is Reason.TIMEOUT) == (found.low < found.high)
    assert found.exact or found.choice is None
    # What was remembered until then is right.
    assert engine.solve().low == expected


def test_bounds_within_products_and_sums() -> None:
    """Three components under one variable, whose values are combined while the clock is stopped somewhere in them."""
    part = ((2, 3, 4), (-2, 3, -4), (2, -3, 4))
    parts = [tuple(each + 3 * k if each > 0 else each - 3 * k for each in clause) for k in range(3) for clause in part]
    clauses = (*parts, *((1, 2 + 3 * k, 3 + 3 * k) for k in range(3)), *((-1, -2 - 3 * k, 4 + 3 * k) for k in range(3)))
    for quantifier in (R, E, A):
        prefix = (
            Bound(1, quantifier, Fraction(1, 3) if quantifier is R else None),
            *(Bound(number, R, Fraction(number, 12)) for number in range(2, 11)),
        )
        asked = Instance(variables=10, prefix=prefix, clauses=clauses)
        expected = value(asked)
        between = set()
        for ticks in range(1, 60):
            found = stopped(asked, ticks)
            assert 0 <= found.low <= expected <= found.high <= 1
            between.add((found.low, found.high))
        assert (expected, expected) in between
        assert (len(between) > 4) or quantifier is not R


def test_bounds_of_separate_components() -> None:
    """What is never begun counts as 0 to 1."""
    prefix = tuple(Bound(number, R, Fraction(9, 10)) for number in range(1, 7))
    clauses = ((1, 2, 3), (-1, 2, -3), (1, -2, 3), (4, 5, 6), (-4, 5, -6), (4, -5, 6))
    asked = Instance(variables=6, prefix=prefix, clauses=clauses)
    for ticks in range(1, 20):
        found = stopped(asked, ticks)
        assert found.low <= value(asked) <= found.high


def test_a_component_that_is_not_solved_yet_may_be_contradictory() -> None:
    prefix = tuple(Bound(number, R, HALF) for number in range(1, 8))
    contradictory = tuple((1, 5 * a, 6 * b, 7 * c) for a in (1, -1) for b in (1, -1) for c in (1, -1))
    asked = Instance(variables=7, prefix=prefix, clauses=((1, 2, 3, 4), (1, -2, -3), (-1, 2), (-1, 5), *contradictory))
    expected = value(asked)
    for ticks in range(1, 40):
        found = stopped(asked, ticks)
        assert found.low <= expected <= found.high


@pytest.mark.parametrize("start", range(0, 90, 30))
def test_bounds_of_circuits_at_a_deadline(start: int) -> None:
    for seed in range(start, start + 30):
        asked = circuit_of_seed(seed)
        expected = value(asked)
        for ticks in range(1, 12):
            found = stopped(asked, ticks)
            assert 0 <= found.low <= expected <= found.high <= 1


def test_bounds_come_together_with_time() -> None:
    asked = hard()
    now = time.monotonic()
    found = Engine(asked).solve(deadline=Deadline(now + 0.3))
    assert time.monotonic() < now + 5
    assert found.reason is Reason.TIMEOUT
    assert 0 <= found.low < found.high <= 1


def test_memory_ends_with_bounds() -> None:
    asked = hard()
    found = Engine(asked, memory=30_000).solve(deadline=Deadline.within(20))
    assert found.reason is Reason.MEMORY_OUT
    assert found.low < found.high


def test_an_interrupt_leaves_the_engine_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    class Impatient(Silent):
        def progress(self, stage: str, fraction: float | None, detail: str) -> None:
            raise KeyboardInterrupt

    asked = neighbours(60)
    engine = Engine(asked)
    monkeypatch.setattr(search_module, "_NEWS", 0.0)
    with pytest.raises(KeyboardInterrupt):
        engine.solve(observer=Impatient())
    monkeypatch.undo()
    assert engine.solve().low == Engine(asked).solve().low
