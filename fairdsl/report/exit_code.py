"""What ``fairdsl check`` tells the shell, and every page in words."""

from __future__ import annotations

from enum import Enum


class ExitCode(Enum):
    """What ``fairdsl check`` tells the shell."""

    HOLDS = 0
    VIOLATED = 1
    REFUSED = 2  # or the spec has errors, or the command line is not understood
    UNKNOWN = 3  # or it is about nobody
    CONTRADICTED = 4  # a second opinion contradicts a verdict, which stands as it is
    OUR_BUG = 70
    DISK = 74
    MEMORY = 75
    INTERRUPTED = 130
    TERMINATED = 143


#: What each of them means.
EXIT = {
    ExitCode.HOLDS: "nothing that is required is violated, unknown or refused",
    ExitCode.VIOLATED: "some property is violated",
    ExitCode.REFUSED: "the spec has errors or some property is refused",
    ExitCode.UNKNOWN: "no property is violated, some are unknown or about nobody",
    ExitCode.CONTRADICTED: "a second opinion contradicts a verdict, so one of the two is wrong",
    ExitCode.OUR_BUG: "a mistake in fairdsl",
    ExitCode.DISK: "the disk is full or fails",
    ExitCode.MEMORY: "there was not enough memory; the verdicts are what was known by then",
    ExitCode.INTERRUPTED: "interrupted; the verdicts are what was known by then",
    ExitCode.TERMINATED: "terminated; the verdicts are what was known by then",
}
