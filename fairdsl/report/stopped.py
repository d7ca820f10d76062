"""Who ended a run before it was done."""

from __future__ import annotations

import signal
from enum import Enum

from fairdsl.clock import lacked_memory, received


class Stopped(Enum):
    """How a run was ended."""

    INTERRUPTED = "interrupted"  # SIGINT: Ctrl-C
    TERMINATED = "terminated"  # SIGTERM, which batch systems send
    MEMORY = "out of memory"  # by `--memory-limit`


def who_stopped() -> Stopped:
    """Of a run that was ended: where no command listens to signals it was KeyboardInterrupt, which is Ctrl-C."""
    if lacked_memory():
        return Stopped.MEMORY
    return Stopped.TERMINATED if received() is signal.SIGTERM else Stopped.INTERRUPTED
