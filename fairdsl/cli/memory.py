"""Where the system limits a process's memory: libraries that would end it with an exit code of their own.

OpenBLAS calls ``exit(1)`` where it gets no memory, and 1 is the exit code of a violated property. So it starts no
threads under a limit (each takes its own memory), and its working memory is taken before anything else is.
"""

from __future__ import annotations

import os
import sys

import click

#: No memory was left (EX_TEMPFAIL).
NO_MEMORY = 75
LACKING = (
    "error: there was not enough memory; what was printed before stands, and nothing else was concluded\n"
    "  give more of it, fewer `--jobs`, or a limit with `--memory` where the command has one"
)
#: Bytes of addresses: with less not even an empty spec is checked (measured: 170 MB on Linux), and the rows of the
#: smallest product for which OpenBLAS takes its working memory.
_LEAST, _ROWS = 192 << 20, 128


def prepare_memory() -> None:
    """Take what libraries need, where there is a limit; ends the program where that is too low for anything."""
    try:
        import resource
    except ImportError:  # a system without such limits
        return
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit == resource.RLIM_INFINITY:
        return
    if limit < _LEAST:
        click.echo(f"{LACKING}\n  the limit (`ulimit -v`) is {limit >> 20} MiB; fairdsl needs {_LEAST >> 20}", err=True)
        sys.exit(NO_MEMORY)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    import numpy as np

    square = np.zeros((_ROWS, _ROWS))
    square @ square
