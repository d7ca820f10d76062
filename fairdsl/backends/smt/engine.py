"""z3 in worker processes: scripts go out as text, answers come back as data, deadlines are kept by killing.

Every way in which a solver can fail has its status and, through :func:`reason_of`, its reason: nothing is
raised for what a solver does.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cache
from math import ceil
from pathlib import Path
from typing import Any, Protocol

from fairdsl.backends.contract import Budget
from fairdsl.backends.encoding import Answer
from fairdsl.clock import UNITS, Deadline, Work, meter_in_force, spend
from fairdsl.processes import PROGRAM, GoneError, Worker, waiting
from fairdsl.verdict import Reason

#: The file and not the module: the packages around it take longer to import than z3.
_WORKER = f"{Path(__file__).with_name('worker.py')}:serve"
_STATUSES = frozenset({"sat", "unsat", "unknown", "crashed"})
#: z3 takes about a second for so many of its resource units. What is counted where effort is given.
_A_SECOND = 150_000
_UNITS, _SCRIPTS = Work("z3 resource units", UNITS / _A_SECOND), Work("z3 scripts", UNITS / 100)
#: The most that z3 takes as a time limit.
_UNLIMITED = 2**32 - 1
#: What a z3 process may use where nothing is said.
_MEMORY = 4 << 30


@cache
def solver_name() -> str:
    """The solver and its version, for the evidence."""
    from importlib.metadata import PackageNotFoundError, version  # slow to import

    try:
        return f"z3 {version('z3-solver')}"
    except PackageNotFoundError:
        return "z3"


def reason_of(answer: Answer) -> Reason:
    """Why an answer decides nothing."""
    match answer.status:
        case "malformed":
            return Reason.MALFORMED
        case "crashed":
            return Reason.MEMORY_OUT if "memory" in answer.detail else Reason.ENGINE_CRASHED
        case _:
            if "memory" in answer.detail:
                return Reason.MEMORY_OUT
            return Reason.TIMEOUT if "timeout" in answer.detail else Reason.INCOMPLETE


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A script to solve. ``effort`` is z3's deterministic resource limit; None: until the deadline."""

    key: Hashable
    text: str
    seed: int
    effort: int | None
    deadline: Deadline


class Pool(Protocol):
    """Solves jobs side by side; tests put canned answers here."""

    def start(self, job: Job) -> None:
        """Begin; at most as many at a time as the pool has places."""

    def finished(self, until: Deadline) -> list[tuple[Hashable, Answer]]:
        """Wait for at least one answer, or until that moment; jobs past their deadline are ended."""

    def close(self) -> None:
        """End everything."""


class _Asked(Worker):
    """A process, and the job that it is at."""

    job: Job | None = None


class Workers:
    """A pool of up to ``places`` z3 processes of ``memory`` bytes each, started when they are needed."""

    def __init__(self, places: int, program: str = PROGRAM, *, memory: int = _MEMORY) -> None:
        """``program`` stands in for the worker's, in tests."""
        self._places = max(1, places)
        self._program, self._memory = program, memory
        self._workers: list[_Asked] = []
        self._ready: list[tuple[Hashable, Answer]] = []

    def start(self, job: Job) -> None:
        """Hand the job to an idle process, or to a new one."""
        worker = next((worker for worker in self._workers if worker.job is None), None)
        if worker is None:
            if len(self._workers) >= self._places:
                raise RuntimeError("every worker is busy")
            worker = _Asked(_WORKER, str(self._memory), memory=self._memory, program=self._program)
            self._workers.append(worker)
        worker.job = job
        # A little more than is left: the deadline is kept by killing, this only stops orphans.
        worker.send(request_of(job, beyond=1000))

    def finished(self, until: Deadline) -> list[tuple[Hashable, Answer]]:
        """Answers that arrived; processes whose job is past its deadline are killed."""
        busy = [(worker, worker.job) for worker in self._workers if worker.job is not None]
        if busy and not self._ready:
            for worker in waiting([worker for worker, _ in busy], min(until, *(job.deadline for _, job in busy))):
                self._receive(worker)
        for worker, job in busy:
            if worker.job is not None and job.deadline.passed:
                self._end(worker, Answer(status="unknown", detail="timeout"))
        ready, self._ready = self._ready, []
        return ready

    def close(self) -> None:
        """Kill all processes."""
        for worker in list(self._workers):
            self._end(worker, None)

    def _receive(self, worker: _Asked) -> None:
        try:
            found = worker.receive()
        except GoneError:
            gone = worker.gone()
            why = ", out of memory" if gone.lacked_memory else ""
            self._end(worker, Answer(status="crashed", detail=f"the solver process {gone.how}{why}"))
            return
        job, worker.job = worker.job, None
        if job is not None:
            self._ready.append((job.key, answer_to(job, found)))

    def _end(self, worker: _Asked, answer: Answer | None) -> None:
        worker.end()
        self._workers.remove(worker)
        if worker.job is not None and answer is not None:
            self._ready.append((worker.job.key, answer))


def request_of(job: Job, *, beyond: int = 0) -> dict[str, Any]:
    """What a worker is asked; the time limit is so many milliseconds ``beyond`` the deadline.

    Where effort is given, what is left of it limits z3, and time does not.
    """
    effort, patience = job.effort or 0, job.deadline.patience
    if meter_in_force() is not None:
        left = max(1, ceil(job.deadline.remaining * _A_SECOND))
        effort = min(effort or left, left)
    milliseconds = _UNLIMITED if patience is None else min(_UNLIMITED, int(1000 * patience) + beyond)
    return {"text": job.text, "seed": job.seed, "effort": effort, "milliseconds": milliseconds}


def answer_to(job: Job, found: Any) -> Answer:
    """A worker's message on the job as an answer; what it took is spent."""
    spend(_SCRIPTS)
    spend(_UNITS, found.get("spent", 0) if isinstance(found, dict) else 0)
    answer = read_answer(found)
    out_of_effort = answer.status == "unknown" and meter_in_force() is not None and job.deadline.passed
    return Answer(status="unknown", detail="timeout") if out_of_effort else answer


def read_answer(found: Any) -> Answer:
    """A worker's message as an answer; total."""
    match found:
        case {"status": str(status), "values": dict(values), "detail": str(detail)} if status in _STATUSES:
            named = {str(name): str(value) for name, value in values.items()}
            return Answer(status=status, values=named, detail=detail)
    return Answer(status="malformed", detail="the solver's answer was not understood")


def answer_of_z3(text: str, budget: Budget, pool: Pool | None = None) -> Answer:
    """z3's answer to one script until the deadline: of an idle ``pool``, or else in a process of its own."""
    used = Workers(1) if pool is None else pool
    try:
        used.start(Job(key=0, text=text, seed=budget.seed, effort=None, deadline=budget.deadline))
        while not (found := used.finished(budget.deadline)):
            pass
        return found[0][1]
    finally:
        if pool is None:
            used.close()
