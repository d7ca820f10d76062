"""Processes that can be killed: workers of ours, and programs that others wrote.

Whatever cannot look at the clock runs in one: native solvers, onnxruntime on files that nobody has read. A
:class:`Worker` is a Python process that is handed messages and hands back others. It is a program of its own and not a
fork: a fork would inherit threads, locks and signal handlers, and the start methods of ``multiprocessing`` run the
user's main module again. It leads a session of its own, so a Ctrl-C on the terminal reaches the parent alone; it ends
when its parent is gone, however that ended; libraries start no threads of their own in it, since processes share out
the cores among themselves; and the operating system keeps its limit on memory, whatever libraries count.
:func:`left_to_itself` is for what shall be done even if the parent does not see the end of it.

:func:`run` runs a program of somebody else: in a new folder, in a process group that is gone when it is over.
"""

from __future__ import annotations

import json
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from pathlib import Path
from socket import socketpair
from typing import IO, Any, TypeVar

from fairdsl.clock import Deadline

#: A worker finds the modules where the parent finds them, also those of a checkout. Its arguments: where modules are,
#: the connection, its memory in bytes, and what ``worker_program.begin`` calls with the rest. That is run as a file, as
#: importing the package takes as long as importing z3.
PROGRAM = "import json, runpy, sys; sys.path[:] = json.loads(sys.argv[1]); "
PROGRAM += f"begin = runpy.run_path({str(Path(__file__).with_name('worker_program.py'))!r})['begin']; "
PROGRAM += "begin(int(sys.argv[2]), int(sys.argv[3]), *sys.argv[4:])"
#: A process that nobody listens to: where modules are, what it calls, and with what.
_ALONE = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from importlib import import_module; "
_ALONE += "module, _, function = sys.argv[2].partition(':'); getattr(import_module(module), function)(*sys.argv[3:])"
_ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"), "1"
)
#: Codes of processes that ran out of memory: z3's own, and that of one which the operating system killed.
_MEMORY_CODES = (101, -signal.SIGKILL)
#: How libraries that end the process themselves (OpenBLAS, z3, the C++ runtime, the loader) name a lack of memory.
_NO_MEMORY = ("memory", "bad_alloc", "failed to map segment")
#: Bytes of a program's output after which it is ended: answers are a few lines.
_MOST_OUTPUT = 1 << 26
#: Seconds that a process may take to end once it hung up.
_ENDING = 5.0
#: Seconds between looks at the output's size.
_LOOK = 0.2
#: How much of an error message is kept.
_LAST = 300


@dataclass(frozen=True, slots=True)
class Gone:
    """How a worker ended that was not told to."""

    #: Its exit code, negative for a signal; None if the system did not start it.
    code: int | None
    #: What its libraries wrote to the error stream, or the system's reason.
    written: str

    @property
    def how(self) -> str:
        """What became of it, behind its name."""
        return f"could not be started{self.last}" if self.code is None else f"ended with code {self.code}{self.last}"

    @property
    def last(self) -> str:
        """The last line of it, after a colon; nothing where there is none."""
        lines = self.written.strip().splitlines()
        return f": {lines[-1]}" if lines else ""

    @property
    def lacked_memory(self) -> bool:
        """Whether its code or its libraries say so."""
        return self.code in _MEMORY_CODES or lacks_memory(self.written)


class GoneError(Exception):
    """The worker hung up."""


def lacks_memory(written: str) -> bool:
    """Whether what a library wrote names a lack of memory."""
    return any(word in written.lower() for word in _NO_MEMORY)


class Worker:
    """A process of ours, from the parent's side."""

    def __init__(self, target: str, *arguments: str, memory: int = 0, program: str = PROGRAM) -> None:
        """Start it: it calls ``target`` with the connection and the arguments, and ends when that returns.

        ``target`` is ``module:function``, or ``/path/of/module.py:function`` where the packages around the module take
        long to import. ``memory`` in bytes, 0 for no limit; ``program`` takes the place of all that, in tests.

        One that the system refuses to start is like one that hung up at once: whoever has workers must expect that.
        """
        ours, theirs = socketpair()
        self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  # closed when the process is ended
        self._refused: OSError | None = None
        with theirs, self._noting():
            #: The process itself; there is none where it was refused.
            self.process = subprocess.Popen(
                [sys.executable, "-P", "-c", program, _path(), str(theirs.fileno()), str(memory), target, *arguments],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=self._errors,
                env=os.environ | _ONE_THREAD,
                start_new_session=True,
            )
        #: Both ends send and receive what can be pickled; readable where there is an answer.
        self.connection: Connection[object, object] = Connection(ours.detach())

    @contextmanager
    def _noting(self) -> Iterator[None]:
        try:
            yield
        except OSError as problem:
            self._refused = problem

    def interrupt(self) -> None:
        """As Ctrl-C does."""
        if self._refused is None:
            self.process.send_signal(signal.SIGINT)

    def send(self, message: object) -> None:
        """Send it; that the process is dead is noticed when it is listened to."""
        with suppress(OSError):
            self.connection.send(message)

    def receive(self) -> Any:
        """Its next message, however long that takes; GoneError where it hung up."""
        try:
            # Everything that is unpickled here was pickled by a process of ours a moment ago.
            return self.connection.recv()
        except (EOFError, OSError, pickle.UnpicklingError) as problem:
            raise GoneError from problem

    def gone(self) -> Gone:
        """What a process that hung up leaves; it is ended."""
        if self._refused is not None:
            self.end()
            return Gone(None, self._refused.strerror or str(self._refused))
        # It hung up, so it ends; or has closed its end and does not. Who is killed is taken for one who lacked memory.
        for end in (self.process.terminate, self.process.kill):
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(_ENDING)
            end()
        code = self.process.wait()
        self._errors.seek(0)
        written = self._errors.read().decode(errors="replace")
        self.end()
        return Gone(code, written)

    def end(self) -> None:
        """Kill it; harmless when repeated."""
        if self._refused is None:
            self.process.kill()
            self.process.wait()
        self.connection.close()
        self._errors.close()


def left_to_itself(target: str, *arguments: str) -> subprocess.Popen[bytes]:
    """A process of ours that nobody ends: it calls ``target`` (``module:function``), and outlives this one.

    OSError if it cannot be started.
    """
    return subprocess.Popen(
        [sys.executable, "-P", "-c", _ALONE, _path(), target, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=os.environ | _ONE_THREAD,
        start_new_session=True,
    )


def _path() -> str:
    """Where modules are. An entry that stands for the current folder must go on to mean the parent's."""
    return json.dumps([os.path.abspath(entry) for entry in sys.path])


#: Some kind of worker.
_Any = TypeVar("_Any", bound=Worker)


def waiting(workers: Sequence[_Any], until: Deadline) -> list[_Any]:
    """Those with a message, or that hung up: at once, or the first until then."""
    by_connection = {id(worker.connection): worker for worker in workers}
    ready = wait([worker.connection for worker in workers], until.patience)
    return [by_connection[id(connection)] for connection in ready]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """How the run of a program ended."""

    #: Its exit code, negative for a signal; None if it was ended at the deadline.
    code: int | None
    #: Standard output.
    output: str
    #: The end of what it wrote to standard error.
    error: str
    #: Seconds on the clock.
    seconds: float
    #: Whether it was ended because of the amount it printed.
    flooded: bool = False


def run(command: Callable[[Path], list[str]], seconds: float) -> Ran:
    """Run what ``command`` says for a new, empty folder, in it, for at most so long; no shell is involved.

    The program leads a process group, which is killed as a whole at the deadline, on Ctrl-C, and when the program has
    ended but left others behind. OSError if it cannot be started.
    """
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="fairdsl-run-", ignore_cleanup_errors=True) as name:
        folder = Path(name) / "run"
        folder.mkdir()
        line = command(folder)
        out, err = Path(name) / "output", Path(name) / "error"
        with (
            out.open("wb") as output,
            err.open("wb") as error,
            _started(line, folder, output.fileno(), error.fileno()) as process,
        ):
            code, flooded = _awaited(process, out, began + seconds)
        return Ran(
            code=code,
            output=_text(out),
            error=_text(err)[-_LAST:].strip(),
            seconds=time.monotonic() - began,
            flooded=flooded,
        )


@contextmanager
def _started(line: list[str], folder: Path, output: int, error: int) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(
        line, cwd=folder, stdin=subprocess.DEVNULL, stdout=output, stderr=error, start_new_session=True
    )
    try:
        yield process
    finally:
        # The group outlives its leader, so others that the leader started are reached either way.
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _awaited(process: subprocess.Popen[bytes], output: Path, until: float) -> tuple[int | None, bool]:
    """The exit code, None at the deadline; and whether too much was printed."""
    while (left := until - time.monotonic()) > 0:
        try:
            return process.wait(min(_LOOK, left)), False
        except subprocess.TimeoutExpired:
            if output.stat().st_size > _MOST_OUTPUT:
                return None, True
    return None, False


def _text(path: Path) -> str:
    with path.open("rb") as file:
        return file.read(_MOST_OUTPUT).decode("utf-8", errors="replace")
