"""The standard streams of a command: closed ones, full ones, and those whose reader went away.

What is told on standard output is what the command is for: a command that cannot tell it says so by its exit code.
What is told on standard error is said beside it: where that fails the command goes on.
"""

from __future__ import annotations

import io
import os
import sys
from contextlib import suppress

import click

#: Exit codes: output or a file that cannot be written (EX_IOERR), and what shells have for a program that a closed pipe
#: ends.
DISK, NO_READER = 74, 141


class _Forgiving(io.FileIO):
    """A file whose readers may be gone, and its disk full: what is written then is lost."""

    def write(self, content: object, /) -> int:
        with suppress(OSError):
            return super().write(content)  # type: ignore[arg-type]
        return memoryview(content).nbytes  # type: ignore[arg-type]


def prepare() -> None:
    """See that all three streams are open, for a file that gets the number of a closed one would be written into.

    Ends the program where standard output is closed: no verdict could be printed.
    """
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest number that is free
    kind = getattr(sys.stderr, "encoding", None) or "utf-8"
    sys.stderr = io.TextIOWrapper(
        io.BufferedWriter(_Forgiving(2, "wb", closefd=False)), kind, "backslashreplace", line_buffering=True
    )
    if sys.stdout is None:
        click.echo("error: standard output is closed, so nothing can be written there; redirect it to a file", err=True)
        sys.exit(DISK)


def give_up_output() -> None:
    """What is left in the buffer of standard output goes nowhere, instead of failing again at the end."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
