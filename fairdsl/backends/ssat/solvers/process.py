"""A solver's run: in a folder and a process group of its own, both gone when it is over."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Ran", "run"]

#: Bytes of output after which a solver is ended: answers are a few lines.
_MOST_OUTPUT = 1 << 26
#: Seconds between looks at the output's size.
_LOOK = 0.2
#: How much of an error message is kept.
_LAST = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """How a run ended: ``code`` is negative for a signal, and None if it was ended at the deadline.

    ``flooded``: it was ended because of the amount it printed. ``output`` is standard output; ``error`` the end
    of what it wrote to standard error.
    """

    code: int | None
    output: str
    error: str
    seconds: float
    flooded: bool = False


def run(command: Callable[[Path], list[str]], seconds: float) -> Ran:
    """Run what ``command`` says for a new, empty folder, in it, for at most so long; no shell is involved.

    The program leads a process group, which is killed as a whole at the deadline, on Ctrl-C, and when the
    program has ended but left others behind. OSError if it cannot be started.
    """
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="fairdsl-ssat-", ignore_cleanup_errors=True) as name:
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
            output=_text(out, _MOST_OUTPUT),
            error=_text(err, _MOST_OUTPUT)[-_LAST:].strip(),
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


def _awaited(process: subprocess.Popen[bytes], output: Path, deadline: float) -> tuple[int | None, bool]:
    """The exit code, None at the deadline; and whether too much was printed."""
    while True:
        left = deadline - time.monotonic()
        if left <= 0:
            return None, False
        try:
            return process.wait(min(_LOOK, left)), False
        except subprocess.TimeoutExpired:
            if output.stat().st_size > _MOST_OUTPUT:
                return None, True


def _text(path: Path, most: int) -> str:
    with path.open("rb") as file:
        return file.read(most).decode("utf-8", errors="replace")
