"""The one clock of a command: when it has to end, and how the work inside finds out.

deadline.py   the moment itself; blocks that end when it passes; looks at the clock from inside long loops
phases.py     work before there are verdicts: not finished in time, it is a diagnostic that says what was going on
"""

from fairdsl.clock.deadline import (
    GRACE,
    Deadline,
    OutOfTimeError,
    Scope,
    command_began,
    deadline_in_force,
    look,
    process_began,
    until,
    untimed,
)
from fairdsl.clock.phases import doing, is_out_of_time, phase

__all__ = [
    "GRACE",
    "Deadline",
    "OutOfTimeError",
    "Scope",
    "command_began",
    "deadline_in_force",
    "doing",
    "is_out_of_time",
    "look",
    "phase",
    "process_began",
    "until",
    "untimed",
]
