"""The one clock of a command: when it has to end, and how the work inside finds out.

effort.py     the clock that deadlines are moments of: seconds, or what was done where effort is given
deadline.py   the moment itself; blocks that end when it passes; looks at the clock from inside long loops
phases.py     work before there are verdicts: not finished in time, it is a diagnostic that says what was going on
interrupts.py Ctrl-C and SIGTERM, which ask for the end before the deadline
memory.py     a limit on memory, which asks for it, too
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
    metered,
    process_began,
    until,
)
from fairdsl.clock.effort import UNITS, Meter, Work, absorb, meter_in_force, now, spend
from fairdsl.clock.interrupts import (
    Wish,
    interrupting,
    lacked_memory,
    listening,
    received,
    unbroken,
    winding_down,
    wished,
)
from fairdsl.clock.memory import limited_memory
from fairdsl.clock.phases import doing, is_out_of_time, phase

__all__ = [
    "GRACE",
    "NEVER",
    "UNITS",
    "Deadline",
    "Meter",
    "OutOfTimeError",
    "Scope",
    "Wish",
    "Work",
    "absorb",
    "command_began",
    "deadline_in_force",
    "doing",
    "interrupting",
    "is_out_of_time",
    "lacked_memory",
    "limited_memory",
    "listening",
    "look",
    "meter_in_force",
    "metered",
    "now",
    "phase",
    "process_began",
    "received",
    "spend",
    "unbroken",
    "until",
    "winding_down",
    "wished",
]
