"""A limit on the memory of a command: somebody beside it looks at what it takes, and asks for the end as SIGTERM does.

A limit of the system (``ulimit -v``) counts addresses, of which libraries reserve many and use few, and what it refuses
ends a library, not a question. Here what is known when the limit is passed is told, as where the time is up.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fairdsl.clock.interrupts import lack_memory

#: Seconds between two looks.
_EVERY = 0.1
_STATM = Path("/proc/self/statm")


@contextmanager
def limited_memory(limit: int | None) -> Iterator[None]:
    """A block that is asked to end where the process takes more bytes; None, or a system that does not tell: never.

    Processes that it starts have limits of their own.
    """
    if limit is None or _taken() is None:
        yield
        return
    over = threading.Event()

    def watch() -> None:
        while not over.wait(_EVERY):
            if (_taken() or 0) > limit:
                lack_memory()
                return

    threading.Thread(target=watch, name="memory", daemon=True).start()
    try:
        yield
    finally:
        over.set()


def _taken() -> int | None:
    """Bytes of memory that the process has in use; None where the system does not say."""
    try:
        return int(_STATM.read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return None
