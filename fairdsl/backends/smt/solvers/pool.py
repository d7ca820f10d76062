"""Solver processes seen from the parent: given questions one at a time, killed when their time is up."""

from __future__ import annotations

import json
import os
import pickle
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Hashable
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import IO, Protocol

from fairdsl.backends.smt.engine import OUT_OF_MEMORY
from fairdsl.backends.smt.solvers.chain import Chained, Status
from fairdsl.backends.smt.solvers.worker import Failed, Ready, Task
from fairdsl.ir.problem import Problem
from fairdsl.verdict import Reason

__all__ = ["PoolOf", "SolverPool", "Solvers"]

#: The worker finds the modules where the parent finds them, also those of a checkout.
_PROGRAM = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
_PROGRAM += "from fairdsl.backends.smt.solvers.worker import serve; serve(int(sys.argv[2]), int(sys.argv[3]))"

#: The processes share the cores among themselves; libraries that start threads of their own would only fight.
_ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
#: Seconds beyond its limit after which a process is killed: it knows its limit and mostly keeps it.
_GRACE = 0.25
#: Seconds that a process may take to load the program.
_LOADING = 60.0
#: How libraries that end the process themselves (OpenBLAS, z3, the C++ runtime, the loader) name a lack of memory.
_NO_MEMORY = ("memory", "bad_alloc", "failed to map segment")


class Solvers(Protocol):
    """Answers questions side by side; tests put their own here."""

    @property
    def full(self) -> bool:
        """Whether no further question can be asked."""

    def start(self, key: Hashable, task: Task) -> None:
        """Begin; only where the pool is not full."""

    def finished(self, until: float) -> list[tuple[Hashable, Chained, float]]:
        """Verdicts with the seconds they took: those there are, or the first that comes until then."""

    def close(self) -> None:
        """End everything."""


@dataclass(slots=True, eq=False)
class _Worker:
    process: subprocess.Popen[bytes]
    connection: Connection[bytes, object]
    errors: IO[bytes]
    key: Hashable | None = None
    seconds: float = 0.0
    started: float = 0.0
    deadline: float = 0.0
    ready: bool = False

    def begin(self) -> None:
        """Time counts from now."""
        self.started = time.monotonic()
        self.deadline = self.started + (self.seconds + _GRACE if self.ready else _LOADING)


class SolverPool:
    """Up to ``places`` processes for one problem, started when they are needed."""

    def __init__(self, problem: Problem, places: int, memory: int, program: str = _PROGRAM) -> None:
        self._problem = pickle.dumps(problem, protocol=5)
        self._program = program
        self._places = max(1, places)
        self._memory = memory
        self._workers: list[_Worker] = []

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
        with suppress(OSError):  # a dead process is noticed when it is listened to
            worker.connection.send(pickle.dumps(task, protocol=5))

    def finished(self, until: float) -> list[tuple[Hashable, Chained, float]]:
        """Verdicts that arrived until then, with the seconds they took; waits for one, or for a limit to pass."""
        busy = [worker for worker in self._workers if worker.key is not None]
        if not busy:
            return []
        until = min(until, *(worker.deadline for worker in busy))
        by_connection = {worker.connection: worker for worker in busy}
        found = []
        for connection in wait(list(by_connection), max(0.0, until - time.monotonic())):
            answer = self._received(by_connection[connection])  # type: ignore[index]  # one of ours
            if answer is not None:
                found.append(answer)
        now = time.monotonic()
        for worker in busy:
            if worker.key is not None and now >= worker.deadline:
                detail = "the time for a query was up"
                found.append(self._ended(worker, Reason.TIMEOUT, detail))
        return found

    def close(self) -> None:
        """Kill all processes."""
        for worker in list(self._workers):
            self._end(worker)

    def _started(self) -> _Worker:
        ours, theirs = socket.socketpair()
        errors = tempfile.TemporaryFile()  # noqa: SIM115  # closed when the process is ended
        with theirs:
            process = subprocess.Popen(
                [sys.executable, "-c", self._program, json.dumps(sys.path), str(theirs.fileno()), str(self._memory)],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                env=os.environ | _ONE_THREAD,
                start_new_session=True,
            )
        worker = _Worker(process, Connection(ours.detach()), errors)
        self._workers.append(worker)
        with suppress(OSError):
            worker.connection.send(self._problem)
        return worker

    def _received(self, worker: _Worker) -> tuple[Hashable, Chained, float] | None:
        try:
            message = worker.connection.recv()
        except (EOFError, OSError, pickle.UnpicklingError):
            return self._died(worker)
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

    def _died(self, worker: _Worker) -> tuple[Hashable, Chained, float]:
        """What a process that hung up leaves: its code, and the last line of what its libraries wrote."""
        code = worker.process.wait()
        worker.errors.seek(0)
        written = worker.errors.read().decode(errors="replace").strip().splitlines()
        reason = Reason.MEMORY_OUT if code in OUT_OF_MEMORY else self._why(worker, "\n".join(written))
        last = f": {written[-1]}" if written else ""
        return self._ended(worker, reason, f"the solver's process ended with code {code}{last}")

    def _why(self, worker: _Worker, written: str) -> Reason:
        """Whether memory was lacking: the process says so, or could not load under its limit what loads without."""
        lacking = (self._memory and not worker.ready) or any(word in written.lower() for word in _NO_MEMORY)
        return Reason.MEMORY_OUT if lacking else Reason.ENGINE_CRASHED

    def _ended(self, worker: _Worker, reason: Reason, detail: str) -> tuple[Hashable, Chained, float]:
        """Kill the process; its question is left unknown."""
        assert worker.key is not None
        key, worker.key = worker.key, None
        self._end(worker)
        verdict = Chained(status=Status.UNKNOWN, by="solver", reason=reason, detail=detail)
        return key, verdict, time.monotonic() - worker.started

    def _end(self, worker: _Worker) -> None:
        worker.connection.close()
        worker.process.kill()
        worker.process.wait()
        worker.errors.close()
        self._workers.remove(worker)


#: From a problem, a number of processes and their memory to a pool.
PoolOf = Callable[[Problem, int, int], Solvers]
