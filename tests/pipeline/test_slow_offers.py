"""A backend that needs long to say whether it can answer does not keep the others from answering."""

from __future__ import annotations

import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from fairdsl.backends.contract import Offer, Refusal
from fairdsl.clock import Deadline, look, until
from fairdsl.elaborate import elaborate
from fairdsl.ir.opaque import Access
from fairdsl.ir.problem import Problem
from fairdsl.plan import Plan, negotiate
from fairdsl.plan.registry import About
from fairdsl.semantics import front_end

HIRING = Path(__file__).parents[2] / "examples" / "hiring" / "hiring.fair"


class Backend:
    def __init__(self, name: str, offer: Callable[[Problem], Offer | Refusal]) -> None:
        self.name, self.offer = name, offer


class Line(Backend):
    """A line of the registry with such a backend."""

    about, needs = About.PAIRS, Access.ANSWERS

    def procedure(self) -> Backend:
        return self


def looking(_: Problem) -> Offer:
    while True:
        look()
        time.sleep(0.01)


def asleep(_: Problem) -> Offer:
    time.sleep(30)
    raise AssertionError("the alarm rang")


def at_once(_: Problem) -> Offer:
    return Offer(method="by hand", decides=True)


@pytest.fixture(scope="module")
def problem() -> Problem:
    spec, _ = front_end(str(HIRING))
    return elaborate(spec, {}, data={}).demands[0].problem


def registry(monkeypatch: pytest.MonkeyPatch, **offers: Callable[[Problem], Any]) -> None:
    lines = {name: Line(name, offer) for name, offer in offers.items()}
    monkeypatch.setattr(import_module("fairdsl.plan.negotiate"), "engines", lambda: lines)


@pytest.mark.parametrize("slow", [looking, asleep])
def test_others_answer(problem: Problem, slow: Callable[[Problem], Offer], monkeypatch: pytest.MonkeyPatch) -> None:
    registry(monkeypatch, slow=slow, quick=at_once)
    began = time.monotonic()
    with until(Deadline.within(2.0), grace=0.1):
        plan = negotiate(problem)
    assert isinstance(plan, Plan)
    assert [stage.procedure.name for stage in plan.stages] == ["quick"]
    assert dict(plan.passed_over)["slow"] == "it did not find out in time whether it can answer"
    assert time.monotonic() < began + 1.5


@pytest.mark.parametrize("backend", [None, "slow"])
def test_where_nobody_else_decides_the_time_is_up(
    problem: Problem, backend: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is not a refusal: with more time there may be an answer."""
    registry(monkeypatch, slow=looking)
    with until(Deadline.within(0.4), grace=0.1) as scope:
        negotiate(problem, backend=backend)
    assert scope.passed
    assert scope.during.startswith("`slow` looked at")
