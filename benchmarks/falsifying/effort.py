"""Searches in this process: with so many evaluations instead of so many seconds, which is the same on every machine."""

from __future__ import annotations

import time

from fairdsl.backends.contract import Budget, Silent
from fairdsl.backends.search.evaluators import Counted, evaluator_of
from fairdsl.backends.search.falsify import SearchResult, falsify
from fairdsl.backends.search.strategies import STRATEGIES
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Pair

__all__ = ["searched"]

#: Seconds that no search here comes near to.
_LONG = 3600.0


class _Enough(Silent):
    """Interrupts a search, as Ctrl-C does, between two batches: what was found until then is kept."""

    def __init__(self, spent: Counted, most: int) -> None:
        self._spent, self._most = spent, most

    def progress(self, stage: str, fraction: float | None, detail: str) -> None:
        if self._spent.evaluated >= self._most:
            raise KeyboardInterrupt


def searched(
    problem: Problem, strategy: str, seed: int, *, count: int | None = None, most: int | None = None
) -> tuple[SearchResult, float]:
    """A search for so many pairs, or with about so many evaluations, and the CPU seconds that it took.

    They go from the closed problem to the replayed pairs: making the model ready to be evaluated counts, reading the
    spec and the file does not. The batch that passes the mark is tried to its end.
    """
    pair = problem.question
    assert isinstance(pair, Pair), "the specs ask about pairs"
    began = time.process_time()
    evaluator = evaluator_of(problem.model)
    budget = Budget.of(_LONG, seed=seed)
    observer = Silent()
    if most is not None:
        evaluator = Counted(evaluator)
        observer = _Enough(evaluator, most)
    found = falsify(problem, pair, evaluator, STRATEGIES[strategy], count=count, budget=budget, observer=observer)
    return found, time.process_time() - began
