"""Those who are drawn again, by boxes: against counting everybody, and the reference value."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fairdsl
from fairdsl.backends.contract import Budget, Facts, Offer, Silent
from fairdsl.backends.enumerate import Enumerate
from fairdsl.backends.rates import Rates
from fairdsl.ir.expr import TRUE
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Individually, Quantity
from fairdsl.verdict import Vacuous, Value
from tests.drawing import examples
from tests.rates.test_population_shares import R1, shares


def drawn_again(asks: Problem, *, everybody: bool) -> Problem:
    """The same people, with conditions on who is asked about or without any."""
    pair = replace(asks.demanded.pair, relax=(), target=TRUE if everybody else asks.demanded.pair.target)
    domain = replace(asks.domain, where=TRUE) if everybody else asks.domain
    question = Individually(pair=pair, given=asks.given)
    return replace(asks, domain=domain, question=question, quantity=Quantity.REDRAW_DISAGREEMENT)


def test_boxes_come_to_what_counting_does() -> None:
    counted: Counter[str] = Counter()

    @given(asks=st.builds(drawn_again, shares(), everybody=st.booleans()))
    @settings(max_examples=examples(1.5))
    def agree(asks: Problem) -> None:
        if not isinstance(Rates().offer(asks), Offer):
            return
        exact = Enumerate().answer(asks, Facts(), Budget.of(20), Silent())
        found = Rates().answer(asks, Facts(), Budget.of(0.3), Silent())
        if isinstance(exact, Vacuous):
            assert isinstance(found, Vacuous)
            return
        assert isinstance(exact, Value)
        assert isinstance(found, Value)
        assert found.low <= exact.high
        assert exact.low <= found.high
        if found.reason is None and exact.reason is None:
            assert (found.low, found.high) == (exact.low, exact.high)
            counted["exact"] += 1
        counted["apart"] += found.low > 0
        counted["several"] += len(asks.demanded.pair.differ) > 1

    agree()
    assert counted["apart"]
    assert counted["exact"]
    assert counted["several"]


@pytest.mark.parametrize("seconds", [0.0, 0.05])
def test_bounds_at_any_time(seconds: float) -> None:
    @given(asks=st.builds(drawn_again, shares(), everybody=st.just(True)))
    @settings(max_examples=examples(0.2))
    def enclosed(asks: Problem) -> None:
        if not isinstance(Rates().offer(asks), Offer):
            return
        exact = Enumerate().answer(asks, Facts(), Budget.of(20), Silent())
        found = Rates().answer(asks, Facts(), Budget.of(seconds), Silent())
        if isinstance(exact, Value) and isinstance(found, Value):
            assert found.low <= exact.low
            assert exact.high <= found.high

    enclosed()


def test_the_reference_value(tmp_path: Path) -> None:
    text = R1.replace("WHERE", "").replace("CLAUSE", "").replace("measure fair_share", "measure redraw_disagreement")
    (tmp_path / "s.fair").write_text(text)
    (demand,) = fairdsl.check(tmp_path / "s.fair", backend="rates").properties[0].demands
    assert isinstance(demand.verdict, Value)
    assert demand.verdict.low == demand.verdict.high == Fraction(47, 460)
