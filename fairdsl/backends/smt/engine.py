"""z3 in worker processes: scripts go out as text, answers come back as data, deadlines are kept by killing.

Every way in which a solver can fail has its status and, through :func:`reason_of`, its reason: nothing is
raised for what a solver does.
"""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import sys
import time
from collections.abc import Hashable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Protocol

from fairdsl.backends.contract import Budget
from fairdsl.backends.encoding import Answer
from fairdsl.verdict import Reason

__all__ = ["OUT_OF_MEMORY", "Job", "Pool", "Workers", "answer_of_z3", "reason_of", "solver_name"]

#: `-P`: the worker's own folder is no place to import from.
_COMMAND = (sys.executable, "-P", str(Path(__file__).with_name("worker.py")))
_STATUSES = frozenset({"sat", "unsat", "unknown", "crashed"})
#: What a z3 process may use where nothing is said.
_MEMORY = 4 << 30
#: Codes of processes that ran out of memory: z3's own, and that of one which the operating system killed.
OUT_OF_MEMORY = (101, -9)


def solver_name() -> str:
    """The solver and its version, for the evidence."""
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
    deadline: float


class Pool(Protocol):
    """Solves jobs side by side; tests put canned answers here."""

    def start(self, job: Job) -> None:
        """Begin; at most as many at a time as the pool has places."""

    def finished(self, until: float) -> list[tuple[Hashable, Answer]]:
        """Wait for at least one answer, or until that moment; jobs past their deadline are ended."""

    def close(self) -> None:
        """End everything."""


@dataclass(slots=True)
class _Worker:
    process: subprocess.Popen[bytes]
    job: Job | None = None
    received: bytearray = field(default_factory=bytearray)


class Workers:
    """A pool of up to ``places`` z3 processes of ``memory`` bytes each, started when they are needed."""

    def __init__(self, places: int, command: Sequence[str] = _COMMAND, *, memory: int = _MEMORY) -> None:
        self._places = max(1, places)
        self._command = [*command, str(memory)]
        self._workers: list[_Worker] = []
        self._ready: list[tuple[Hashable, Answer]] = []

    def start(self, job: Job) -> None:
        """Hand the job to an idle process, or to a new one."""
        worker = next((worker for worker in self._workers if worker.job is None), None)
        if worker is None:
            if len(self._workers) >= self._places:
                raise RuntimeError("every worker is busy")
            worker = _Worker(
                subprocess.Popen(
                    self._command,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                )
            )
            self._workers.append(worker)
        worker.job = job
        request = {
            "text": job.text,
            "seed": job.seed,
            "effort": job.effort or 0,
            # A little more than is left: the deadline is kept by killing, this only stops orphans.
            "milliseconds": int(1000 * (job.deadline - time.monotonic())) + 1000,
        }
        try:
            assert worker.process.stdin is not None
            worker.process.stdin.write(json.dumps(request).encode() + b"\n")
            worker.process.stdin.flush()
        except OSError:
            self._end(worker, Answer(status="crashed", detail="the solver process ended"))

    def finished(self, until: float) -> list[tuple[Hashable, Answer]]:
        """Answers that arrived; processes whose job is past its deadline are killed."""
        busy = [worker for worker in self._workers if worker.job is not None]
        if busy and not self._ready:
            until = min(until, *(worker.job.deadline for worker in busy if worker.job is not None))
            with selectors.DefaultSelector() as selector:
                for worker in busy:
                    assert worker.process.stdout is not None
                    selector.register(worker.process.stdout, selectors.EVENT_READ, worker)
                for key, _ in selector.select(max(0.0, until - time.monotonic())):
                    self._receive(key.data)
        now = time.monotonic()
        for worker in list(self._workers):
            if worker.job is not None and now >= worker.job.deadline:
                self._end(worker, Answer(status="unknown", detail="timeout"))
        ready, self._ready = self._ready, []
        return ready

    def close(self) -> None:
        """Kill all processes."""
        for worker in list(self._workers):
            self._end(worker, None)

    def _receive(self, worker: _Worker) -> None:
        assert worker.process.stdout is not None
        chunk = os.read(worker.process.stdout.fileno(), 1 << 20)
        if not chunk:
            code = worker.process.wait()
            why = ", out of memory" if code in OUT_OF_MEMORY else ""
            self._end(worker, Answer(status="crashed", detail=f"the solver process ended with code {code}{why}"))
            return
        worker.received += chunk
        if worker.received.endswith(b"\n"):
            line = bytes(worker.received)
            worker.received.clear()
            job, worker.job = worker.job, None
            if job is not None:
                self._ready.append((job.key, read_answer(line)))

    def _end(self, worker: _Worker, answer: Answer | None) -> None:
        worker.process.kill()
        worker.process.wait()
        for stream in (worker.process.stdin, worker.process.stdout):
            if stream is not None:
                with suppress(OSError):
                    stream.close()
        self._workers.remove(worker)
        if worker.job is not None and answer is not None:
            self._ready.append((worker.job.key, answer))


def read_answer(line: bytes) -> Answer:
    """A worker's line as an answer; total."""
    try:
        found: Any = json.loads(line)
        values = found["values"]
        if found["status"] in _STATUSES and isinstance(values, dict):
            named = {str(name): str(value) for name, value in values.items()}
            return Answer(status=found["status"], values=named, detail=str(found["detail"]))
    except (ValueError, KeyError, TypeError):
        pass
    return Answer(status="malformed", detail="the solver's answer was not understood")


def answer_of_z3(text: str, budget: Budget) -> Answer:
    """z3's answer to one script, in a process of its own, until the deadline."""
    workers = Workers(1)
    try:
        workers.start(Job(key=0, text=text, seed=budget.seed, effort=None, deadline=budget.deadline))
        while not (found := workers.finished(budget.deadline)):
            pass
        return found[0][1]
    finally:
        workers.close()
