"""What ``fairdsl check`` tells the shell, and every page in words."""

from __future__ import annotations

from enum import Enum

__all__ = ["ExitCode"]


class ExitCode(Enum):
    """What ``fairdsl check`` tells the shell."""

    HOLDS = 0
    VIOLATED = 1
    REFUSED = 2  # or the spec has errors, or the command line is not understood
    UNKNOWN = 3  # or it is about nobody
    OUR_BUG = 70
    DISK = 74
    MEMORY = 75
    INTERRUPTED = 130
    TERMINATED = 143
