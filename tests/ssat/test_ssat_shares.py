"""Groups share the time: what is left of it goes to those whose share ended before the solver was done."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction

import pytest

from fairdsl.backends.contract import Observer, Silent
from fairdsl.backends.ssat.engine import Engine, Solution
from fairdsl.backends.ssat.instance import Instance
from fairdsl.backends.ssat.law import Law
from fairdsl.backends.ssat.questions import Inquiry
from fairdsl.clock import NEVER, Deadline
from fairdsl.ir.feature import IndicatorInput
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import GroupMetric
from fairdsl.metrics.subject import subject_of
from fairdsl.verdict import Reason
from tests import builders
from tests.subset_sum.laws import asked, bernoulli, booleans, factor, linear, network

F = Fraction
CHANCES = [F(1, 10), F(2, 10), F(3, 10), F(4, 10)]


class Hasty:
    """The embedded engine, which stops early where it is told to."""

    def __init__(self, instance: Instance, stops: Callable[[Sequence[int], int], Reason | None]) -> None:
        self.engine, self.stops = Engine(instance), stops
        self.asked: list[tuple[int, ...]] = []

    def solve(self, assumptions: Sequence[int], *, deadline: Deadline, observer: Observer | None = None) -> Solution:
        found = self.engine.solve(assumptions)
        self.asked.append(tuple(assumptions))
        reason = self.stops(assumptions, self.asked.count(tuple(assumptions)))
        return found if reason is None else replace(found, low=F(0), high=F(1), choice=None, reason=reason)


def problem() -> Problem:
    """Four groups, accepted as often as `x` is true of them."""
    rows = {(a, b): bernoulli(CHANCES[2 * a + b]) for a in (0, 1) for b in (0, 1)}
    law = network(
        booleans("a", "b", "x"), [factor(0, bernoulli(F(1, 2))), factor(1, bernoulli(F(1, 2))), factor(2, rows, (0, 1))]
    )
    return asked(law, linear([1], 1, inputs=[IndicatorInput(builders.member(2, 1))]), 0, 1)


def asking(stops: Callable[[Sequence[int], int], Reason | None]) -> tuple[Inquiry, list[Hasty]]:
    made: list[Hasty] = []

    def solver(instance: Instance) -> Hasty:
        made.append(Hasty(instance, stops))
        return made[-1]

    found = problem()
    assert isinstance(found.question, GroupMetric)
    law = Law(subject_of(found))
    return Inquiry(found.question, law, solver, counts={}, observer=Silent(), deadline=NEVER), made


def rates(inquiry: Inquiry) -> list[tuple[Fraction, Fraction]]:
    return [(4 * bounds.low, 4 * bounds.high) for bounds in inquiry.enumerated().favourable.values()]


@pytest.mark.parametrize("times", [1, 2])
def test_who_ran_out_of_time_is_asked_again(times: int) -> None:
    first: list[Sequence[int]] = []

    def stops(assumptions: Sequence[int], time: int) -> Reason | None:
        first.append(assumptions)
        return Reason.TIMEOUT if assumptions == first[0] and time <= times else None

    inquiry, (*_,) = asking(stops)
    if times == 1:
        assert rates(inquiry) == [(chance, chance) for chance in CHANCES]
        assert inquiry.reason is None
    else:  # alone again, with all the time there was
        assert sorted(rates(inquiry)) == [(0, 1), *((chance, chance) for chance in CHANCES[1:])]
        assert inquiry.reason is Reason.TIMEOUT


def test_rounds_go_on_while_they_help() -> None:
    """One more is done in every round."""
    seen: dict[tuple[int, ...], int] = {}

    def stops(assumptions: Sequence[int], time: int) -> Reason | None:
        return Reason.TIMEOUT if time <= seen.setdefault(tuple(assumptions), len(seen)) else None

    inquiry, made = asking(stops)
    assert rates(inquiry) == [(chance, chance) for chance in CHANCES]
    assert inquiry.reason is None
    assert len(made[0].asked) == 4 + 3 + 2 + 1


def test_nobody_is_asked_again_for_nothing() -> None:
    inquiry, made = asking(lambda assumptions, time: Reason.TIMEOUT)
    assert rates(inquiry) == [(0, 1)] * 4
    assert inquiry.reason is Reason.TIMEOUT
    assert len(made[0].asked) == 4
    inquiry, made = asking(lambda assumptions, time: Reason.MEMORY_OUT if assumptions[0] > 0 else None)
    assert len([low for low, high in rates(inquiry) if low < high]) == 2
    assert inquiry.reason is Reason.MEMORY_OUT
    assert len(made[0].asked) == 4


def test_it_ends_at_the_deadline() -> None:
    found = problem()
    assert isinstance(found.question, GroupMetric)
    law = Law(subject_of(found))
    inquiry = Inquiry(found.question, law, Engine, counts={}, observer=Silent(), deadline=Deadline(0.0))
    assert all(low <= chance <= high for chance, (low, high) in zip(CHANCES, rates(inquiry), strict=True))
