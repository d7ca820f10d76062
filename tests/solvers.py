"""Solver processes that are none: questions are answered at once, in this process."""

from __future__ import annotations

from fairdsl.backends.smt.solvers.chain import Chained
from fairdsl.backends.smt.solvers.worker import decided
from fairdsl.ir.problem import Problem


class InProcess:
    """Decides every partition at once, in this process."""

    full = False

    def __init__(self, problem: Problem, places: int = 1, memory: int = 0) -> None:
        self._problem = problem
        self._ready = []

    def start(self, key, task) -> None:
        verdict = decided(self._problem, task)
        assert isinstance(verdict, Chained), verdict
        self._ready.append((key, verdict, 0.0))

    def finished(self, until):
        ready, self._ready = self._ready, []
        return ready

    def close(self) -> None:
        pass
