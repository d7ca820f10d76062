"""`when confidence(...)`: every engine against the definitions, on random small problems."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings

from fairdsl.backends.contract import Procedure, Refusal
from fairdsl.backends.intervals import Intervals
from fairdsl.ir.question import Quantity
from fairdsl.verdict import Holds, Shares, Unknown, Violated
from tests.agreement.engines import ENGINES, ask, disagreement
from tests.oracle import truth
from tests.strategies import confident_problems

DECIDING = [engine for engine in ENGINES if engine.name != "intervals"]


@pytest.mark.parametrize("engine", DECIDING, ids=lambda engine: engine.name)
def test_agrees_with_the_oracle(engine: Procedure) -> None:
    """Levels from 1/4 to 9999/10000, asked of a, of b and of both, of one score and of several."""
    counted: Counter[str] = Counter()
    quantity = None if engine.name == "enumerate" else Quantity.HOLDS
    seconds = 0.3 if engine.name == "search" else 60.0

    examples = {"enumerate": 0.8, "smt": 0.5, "search": 0.15}[engine.name]  # of what is usual

    @settings(max_examples=int(examples * settings.default.max_examples))
    @given(confident_problems(quantity))
    def agree(problem) -> None:
        verdict = ask(engine, problem, seconds)
        assert verdict is not None
        counted[type(verdict).__name__] += 1
        assert disagreement(problem, verdict, truth(problem)) is None

    agree()
    print(engine.name, dict(counted))
    if engine.name != "search":
        assert counted[Unknown.__name__] == 0
        assert min(counted[kind.__name__] for kind in (Holds, Violated)) > 0
    if engine.name == "enumerate":
        assert counted[Shares.__name__] > 0


@given(confident_problems())
def test_intervals_refuses(problem) -> None:
    refused = Intervals().offer(problem)
    assert isinstance(refused, Refusal)
