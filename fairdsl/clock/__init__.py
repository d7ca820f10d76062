"""The one clock of a command: when it has to end, and how the work inside finds out.

deadline.py   the moment itself; blocks that end when it passes; looks at the clock from inside long loops
phases.py     work before there are verdicts: not finished in time, it is a diagnostic that says what was going on
interrupts.py Ctrl-C and SIGTERM, which ask for the end before the deadline
"""

from fairdsl.clock.deadline import (
    GRACE,
    NEVER,
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
from fairdsl.clock.interrupts import Wish, interrupting, listening, received, unbroken, winding_down, wished
from fairdsl.clock.phases import doing, is_out_of_time, phase

__all__ = [
    "GRACE",
    "NEVER",
    "Deadline",
    "OutOfTimeError",
    "Scope",
    "Wish",
    "command_began",
    "deadline_in_force",
    "doing",
    "interrupting",
    "is_out_of_time",
    "listening",
    "look",
    "phase",
    "process_began",
    "received",
    "unbroken",
    "until",
    "untimed",
    "winding_down",
    "wished",
]
