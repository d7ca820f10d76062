"""`when confidence(...)`: every engine against the definitions, on random small problems."""

from __future__ import annotations

from hypothesis import given, settings

from fairdsl.backends.contract import Refusal
from fairdsl.backends.intervals import Intervals
from fairdsl.verdict import Holds, Shares, Violated
from tests.agreement.engines import ENGINES, hold_all
from tests.strategies import confident_problems

DECIDING = [engine for engine in ENGINES if engine.name != "intervals"]


def test_all_engines_agree_with_the_oracle() -> None:
    """Levels from 1/4 to 9999/10000, asked of a, of b and of both, of one score and of several."""
    examples = int(0.8 * settings.default.max_examples)
    for name, counted in hold_all(DECIDING, confident_problems(None), examples, every={"search": 4}).items():
        assert counted["refused"] == 0
        if name != "search":
            assert counted["unknown"] == 0
            assert min(counted[kind.__name__] for kind in (Holds, Violated)) > 0
        if name == "enumerate":
            assert counted[Shares.__name__] > 0


@given(confident_problems())
def test_intervals_refuses(problem) -> None:
    refused = Intervals().offer(problem)
    assert isinstance(refused, Refusal)
