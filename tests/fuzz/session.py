"""Many inputs in worker processes, each under a limit of time and memory; what ends badly is kept with its input."""

from __future__ import annotations

import multiprocessing
import os
import resource
import signal
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from multiprocessing.connection import Connection
from pathlib import Path

__all__ = ["Limits", "Outcome", "Tally", "run_inputs", "try_input"]

#: What a worker has loaded before any input is read counts beside the limit of memory.
_LIBRARIES = 2 << 30


@dataclass(frozen=True, slots=True)
class Limits:
    """What one input may take."""

    seconds: float = 10.0
    memory: int = 1 << 30


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one input: nothing, or what went wrong."""

    wrong: str = ""
    seconds: float = 0.0


@dataclass(slots=True)
class Tally:
    """Figures of a session by reader, and what went wrong: reader, number of the input, what."""

    tried: Counter[str] = field(default_factory=Counter)
    seconds: Counter[str] = field(default_factory=Counter)
    slowest: dict[str, float] = field(default_factory=dict)
    wrong: list[tuple[str, int, str]] = field(default_factory=list)
    #: The most memory that any worker took, in bytes.
    memory: int = 0


class _TooSlowError(BaseException):
    """The time of an input is up."""


def _up(*_: object) -> None:
    raise _TooSlowError


def try_input(name: str, content: bytes, limits: Limits, folder: Path) -> Outcome:
    """Read one input here, in this process; only the main thread has alarms."""
    from tests.fuzz.readers import READERS

    reader = next(reader for reader in READERS if reader.name == name)
    start = time.process_time()
    before = signal.signal(signal.SIGVTALRM, _up)
    signal.setitimer(signal.ITIMER_VIRTUAL, limits.seconds)
    try:
        reader.read(content, folder)
        wrong = ""
    except _TooSlowError:
        wrong = f"over {limits.seconds:g} s: " + "".join(traceback.format_exc().splitlines(keepends=True)[-8:])
    except BaseException as error:  # whatever a reader lets out is what is looked for
        wrong = "".join(traceback.format_exception(error)[-6:])
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
    return Outcome(wrong, time.process_time() - start)


def _worker(connection: Connection, limits: Limits) -> None:
    """Read inputs as they come: a reader's name and the number of the input."""
    os.nice(10)
    resource.setrlimit(resource.RLIMIT_AS, (limits.memory + _LIBRARIES, limits.memory + _LIBRARIES))
    from tests.fuzz.readers import READERS, inputs

    by_name = {reader.name: reader for reader in READERS}
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        while (task := connection.recv()) is not None:
            name, number = task
            content = inputs(by_name[name], number)
            outcome = try_input(name, content, limits, Path(folder))
            connection.send((outcome, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024))


def run_inputs(
    names: Sequence[str], first: int, limits: Limits, *, hours: float, most: int, workers: int, crashers: Path
) -> Tally:
    """Inputs from number ``first`` on, the readers in turn, until the time or ``most`` of them is up.

    ``crashers`` is the folder that what went wrong is kept in. A worker that hangs in a library is killed.
    """
    context = multiprocessing.get_context("spawn")
    tally, until, tasks = Tally(), time.monotonic() + 3600 * hours, 0
    pool = [_Worker(context, limits) for _ in range(workers)]
    try:  # a session may be ended by Ctrl-C, and has its figures all the same
        while tasks < most and time.monotonic() < until:
            for worker in pool:
                worker.begin(names[tasks % len(names)], first + tasks // len(names))
                tasks += 1
            for worker in pool:
                worker.end(tally, crashers)
    except KeyboardInterrupt:
        pass
    finally:
        for worker in pool:
            worker.stop()
    return tally


class _Worker:
    """A process that reads inputs one by one, and is begun anew where it dies."""

    def __init__(self, context: multiprocessing.context.SpawnContext, limits: Limits) -> None:
        self._context, self._limits = context, limits
        self._task = ("", 0)
        self._start()

    def _start(self) -> None:
        self._connection, theirs = self._context.Pipe()
        self._process = self._context.Process(target=_worker, args=(theirs, self._limits), daemon=True)
        self._process.start()

    def begin(self, name: str, number: int) -> None:
        """Hand out an input."""
        self._task = (name, number)
        self._connection.send(self._task)

    def end(self, tally: Tally, crashers: Path) -> None:
        """Wait for what comes of it; machines are loaded, so a process is killed after twenty times its CPU time."""
        name, number = self._task
        try:
            if not self._connection.poll(20 * self._limits.seconds + 60):
                raise EOFError
            outcome, memory = self._connection.recv()
        except (EOFError, ConnectionError):
            self.stop()
            self._start()
            outcome, memory = Outcome("the process hung or died", self._limits.seconds), 0
        tally.tried[name] += 1
        tally.seconds[name] += outcome.seconds
        tally.slowest[name] = max(tally.slowest.get(name, 0.0), outcome.seconds)
        tally.memory = max(tally.memory, memory)
        if outcome.wrong:
            tally.wrong.append((name, number, outcome.wrong))
            _keep(name, number, outcome.wrong, crashers)

    def stop(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.join()


def _keep(name: str, number: int, wrong: str, crashers: Path) -> None:
    from tests.fuzz.readers import READERS, inputs

    content = inputs(next(reader for reader in READERS if reader.name == name), number)
    folder = crashers / name
    folder.mkdir(parents=True, exist_ok=True)
    stem = sha256(content).hexdigest()[:16]
    (folder / stem).write_bytes(content)
    (folder / f"{stem}.txt").write_text(f"{name} {number}\n{wrong}", encoding="utf-8", errors="backslashreplace")
