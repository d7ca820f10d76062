"""Where a single analysis takes seconds nobody can look at the clock in it, so none begins that may not end in time."""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from fairdsl.backends.contract import Budget, Silent
from fairdsl.backends.intervals.effort import seconds_of_analysis
from fairdsl.backends.refining.clock import advance_until
from fairdsl.backends.refining.workers import refine_within
from fairdsl.backends.solved import Ending
from tests.intervals.bisection import SlowBisection, plane


class Heavy(SlowBisection):
    """A node may take ten seconds."""

    @property
    def seconds_a_node(self) -> float:
        return 10.0


class Wide(SlowBisection):
    """A node takes longer than a batch shall."""

    sizes: list[int]

    @property
    def seconds_a_node(self) -> float:
        return 0.4

    def advance(self, nodes: int) -> int:
        self.sizes.append(nodes)
        return super().advance(nodes)


TASK = plane([40, 40], [1, -1], 3)


@pytest.mark.parametrize("seconds", [1.0, 9.0])
def test_nothing_is_begun_that_may_not_end_in_time(seconds: float) -> None:
    refinement, began = Heavy.start(TASK), time.monotonic()
    assert refine_within(refinement, Budget.of(seconds), Silent()) is Ending.DEADLINE
    assert refinement.nodes == 0
    assert time.monotonic() - began < 1
    enough = Budget.of(11.0)
    assert refine_within(refinement, enough, Silent(), alone=True) is not None
    assert refinement.nodes > 0


def test_the_first_batch_is_as_small_as_it_has_to_be() -> None:
    refinement = Wide.start(TASK)
    refinement.sizes = []
    advance_until(refinement, lambda: len(refinement.sizes) == 1)
    assert refinement.sizes == [1]


@pytest.mark.parametrize(
    ("widths", "least", "most"),
    [([10, *[1000] * 10, 1], 20, 120), ([10, *[300] * 10, 1], 0.6, 4), ([13, 50, 50, 1], 0, 0.001)],
)
def test_an_analysis_is_known_to_be_long(widths: list[int], least: float, most: float) -> None:
    """Ten layers of 300 units were measured to take 0.65 s; of 1,000 they multiply 37 times as much."""
    net: Any = SimpleNamespace(layers=SimpleNamespace(widths=np.array(widths)))
    assert least < seconds_of_analysis(net) < most
