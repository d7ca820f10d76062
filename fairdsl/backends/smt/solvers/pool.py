"""Solver processes seen from the parent: given questions one at a time, killed when their time is up."""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable, Hashable
from typing import Protocol

from fairdsl.backends.smt.solvers.chain import Chained, Status
from fairdsl.backends.smt.solvers.worker import Failed, Ready, Task
from fairdsl.clock import NEVER, Deadline
from fairdsl.ir.problem import Problem
from fairdsl.processes import PROGRAM, GoneError, Worker, lacks_memory, waiting
from fairdsl.verdict import Reason

_WORKER = "fairdsl.backends.smt.solvers.worker:serve"
#: Seconds beyond its limit after which a process is killed: it knows its limit and mostly keeps it.
_GRACE = 0.25
#: Seconds that a process may take to load the program.
_LOADING = 60.0


class Solvers(Protocol):
    """Answers questions side by side; tests put their own here."""

    @property
    def full(self) -> bool:
        """Whether no further question can be asked."""

    def start(self, key: Hashable, task: Task) -> None:
        """Begin; only where the pool is not full."""

    def finished(self, until: Deadline) -> list[tuple[Hashable, Chained, float]]:
        """Verdicts with the seconds they took: those there are, or the first that comes until then."""

    def close(self) -> None:
        """End everything."""


class _Asked(Worker):
    """A process, and the question that it is asked."""

    key: Hashable | None = None
    seconds = started = 0.0
    deadline = NEVER
    ready = False

    def begin(self) -> None:
        """Time counts from now."""
        self.started = time.monotonic()
        self.deadline = Deadline.within(self.seconds + _GRACE if self.ready else _LOADING)


class SolverPool:
    """Up to ``places`` processes for one problem, started when they are needed."""

    def __init__(self, problem: Problem, places: int, memory: int, program: str = PROGRAM) -> None:
        """``memory`` in bytes for each, 0 for no limit; ``program`` stands in for the worker's, in tests."""
        self._problem = pickle.dumps(problem, protocol=5)
        self._program = program
        self._places = max(1, places)
        self._memory = memory
        self._workers: list[_Asked] = []

    @property
    def busy(self) -> int:
        """How many questions are being answered."""
        return sum(worker.key is not None for worker in self._workers)

    @property
    def full(self) -> bool:
        """Whether no further question can be asked."""
        return self.busy >= self._places

    def start(self, key: Hashable, task: Task) -> None:
        """Hand the question to an idle process, or to a new one; the pool must not be full."""
        worker = next((worker for worker in self._workers if worker.key is None), None) or self._started()
        worker.key, worker.seconds = key, task.limits.seconds
        worker.begin()
        worker.send(task)

    def finished(self, until: Deadline) -> list[tuple[Hashable, Chained, float]]:
        """Verdicts that arrived until then, with the seconds they took; waits for one, or for a limit to pass."""
        busy = [worker for worker in self._workers if worker.key is not None]
        if not busy:
            return []
        found = []
        for worker in waiting(busy, min(until, *(worker.deadline for worker in busy))):
            answer = self._received(worker)
            if answer is not None:
                found.append(answer)
        for worker in busy:
            if worker.key is not None and worker.deadline.passed:
                detail = "the time for a query was up"
                found.append(self._ended(worker, Reason.TIMEOUT, detail))
        return found

    def close(self) -> None:
        """Kill all processes."""
        for worker in list(self._workers):
            self._end(worker)

    def _started(self) -> _Asked:
        worker = _Asked(_WORKER, memory=self._memory, program=self._program)
        self._workers.append(worker)
        worker.send(self._problem)
        return worker

    def _received(self, worker: _Asked) -> tuple[Hashable, Chained, float] | None:
        try:
            message = worker.receive()
        except GoneError:
            gone = worker.gone()
            reason = Reason.MEMORY_OUT if gone.lacked_memory else self._why(worker, "")
            return self._ended(worker, reason, f"the solver's process {gone.how}")
        match message:
            case Ready():
                worker.ready = True
                worker.begin()
                return None
            case Failed(trace=trace):
                last = trace.strip().splitlines()[-1]
                return self._ended(worker, self._why(worker, last), last)
            case _:
                assert isinstance(message, Chained)
                assert worker.key is not None
                key, worker.key = worker.key, None
                if not worker.ready:  # it could not load the program, and ends
                    self._end(worker)
                return key, message, time.monotonic() - worker.started

    def _why(self, worker: _Asked, written: str) -> Reason:
        """Whether memory was lacking: the process says so, or could not load under its limit what loads without."""
        lacking = (self._memory and not worker.ready) or lacks_memory(written)
        return Reason.MEMORY_OUT if lacking else Reason.ENGINE_CRASHED

    def _ended(self, worker: _Asked, reason: Reason, detail: str) -> tuple[Hashable, Chained, float]:
        """Kill the process; its question is left unknown."""
        assert worker.key is not None
        key, worker.key = worker.key, None
        self._end(worker)
        verdict = Chained(status=Status.UNKNOWN, by="solver", reason=reason, detail=detail)
        return key, verdict, time.monotonic() - worker.started

    def _end(self, worker: _Asked) -> None:
        worker.end()
        self._workers.remove(worker)


#: From a problem, a number of processes and their memory to a pool.
PoolOf = Callable[[Problem, int, int], Solvers]
