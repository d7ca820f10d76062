"""Cases are made and bounded when it is their turn, and what bounds say is what they say of each case by itself."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fairdsl.backends.contract import Budget, Facts, Silent
from fairdsl.backends.smt import case_bounds
from fairdsl.backends.smt.case_bounds import Bounder, CaseBounds
from fairdsl.backends.smt.cases import cases
from fairdsl.backends.smt.worklist import WorkList
from fairdsl.clock import Deadline, Meter, OutOfTimeError, metered
from fairdsl.ir.model import ByHighest
from fairdsl.ir.problem import Problem
from fairdsl.verdict import Reason
from tests.builders import category, domain, integer, layer, model, problem


def question(seed: int = 1) -> Problem:
    """Four outcomes and three groups: 36 cases, of which bounds settle some."""
    rng = np.random.default_rng(seed)
    hidden = layer(rng.integers(-3, 4, size=(5, 3)).tolist(), [1, 0, -2, 3, 0])
    final = layer(rng.integers(-3, 4, size=(4, 5)).tolist(), [0, 10, -15, 1], 1)
    network = replace(model(hidden, final, attributes=3), outcomes=tuple("pqrs"), rule=ByHighest())
    return problem(domain(race=category(0, 1, 2), age=integer(0, 5), hours=integer(-2, 2)), network, 0)


def one_by_one(monkeypatch: pytest.MonkeyPatch, most: int) -> list[int]:
    """Batches of five cases; the sizes of those that were bounded, and the time is up after ``most`` of them."""
    monkeypatch.setattr(case_bounds, "_NUMBERS", 5 * 9)
    sizes: list[int] = []
    usual = CaseBounds._bounded

    def bounded(self, asked):
        if len(sizes) == most:
            raise OutOfTimeError
        sizes.append(len(asked))
        return usual(self, asked)

    monkeypatch.setattr(CaseBounds, "_bounded", bounded)
    return sizes


@pytest.mark.parametrize("seed", range(4))
def test_bounds_are_those_of_each_case_alone(seed: int) -> None:
    asked = question(seed)
    every = cases(asked)
    found = [entry for batch in CaseBounds(asked, every).batches() for entry in batch]
    assert len(found) == len(every) == 36
    for number, (case, together) in enumerate(found):
        assert (case, case.number) == (every[number], number)
        (alone,) = Bounder(asked.model, case).bound([case.region])
        assert together.region == alone.region == case.region
        assert (together.settled, together.undecided) == (alone.settled, alone.undecided)
        assert together.reach == pytest.approx(alone.reach)


def test_nothing_is_bounded_before_somebody_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = one_by_one(monkeypatch, 100)
    bounds = CaseBounds(question(), cases(question()))
    batches = bounds.batches()
    assert not sizes
    next(batches)
    assert sizes == [5]
    assert bounds.exceed(0)
    assert len(sizes) < 8
    assert sum(len(batch) for batch in bounds.batches()) == 36
    assert sizes == [5] * 7 + [1]  # each of them once


def test_what_is_bounded_is_spent_of_an_effort() -> None:
    asked = question()
    meter = Meter(10**9)
    with metered(meter):
        sides = sum(1 for batch in CaseBounds(asked, cases(asked)).batches() for _ in batch)
    assert sides == 36
    assert meter.spent >= meter.done["boxes bounded by matrix products"] > 0


class _Never:
    """A solver that is not asked."""

    def start(self, job: object) -> None:
        raise AssertionError("bounds settle what is asked here")

    def finished(self, until: Deadline) -> list:
        return []

    def close(self) -> None:
        """Nothing to end."""


def test_what_bounds_settled_before_the_time_was_up_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was not bounded any more is open: a proof of some of the cases is not one of them all."""
    asked = question()
    settled = [
        case for batch in CaseBounds(asked, cases(asked)).batches() for case, bounded in batch if bounded.settled
    ]
    assert len(settled) > 10
    sizes = one_by_one(monkeypatch, 2)
    run = WorkList(asked, _Never(), Facts(), Budget.of(60.0), Silent(), CaseBounds(asked, settled))
    outcome = run.run()
    assert (sizes, outcome.by_bounds) == ([5, 5], 10)
    assert outcome.open == [(Reason.TIMEOUT, "the time is up")]
