"""Solvers that others wrote in the place of the embedded engine: each instance a run of its own."""

from __future__ import annotations

from collections.abc import Sequence

from fairdsl.backends.contract import Observer
from fairdsl.backends.ssat.engine import Solution, Statistics
from fairdsl.backends.ssat.instance import Instance
from fairdsl.backends.ssat.solvers import Solver, answered
from fairdsl.clock import Deadline

__all__ = ["Outside"]


class Outside:
    """One instance, asked of an external solver under assumptions.

    What it answers is as wide as it has to be for its arithmetic; ``details`` is what the adapter says that numbers
    rest on. DiagnosticError where the solver gets such instances wrong.
    """

    def __init__(self, instance: Instance, solver: Solver, details: dict[str, None]) -> None:
        self._instance, self._solver, self._details = instance, solver, details

    def solve(self, assumptions: Sequence[int], *, deadline: Deadline, observer: Observer | None = None) -> Solution:
        """Bounds of the value, and what the solver says attains it: its word, which the caller checks."""
        found = answered(self._instance, self._solver, deadline.remaining, assumptions)
        self._details[found.detail] = None
        return Solution(
            low=found.low, high=found.high, choice=found.choice, reason=found.reason, statistics=Statistics()
        )
