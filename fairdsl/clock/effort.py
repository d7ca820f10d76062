"""The clock of the work: seconds, or, where effort is given, what was done.

A time limit makes what is found depend on the machine. So a run may have an *effort* instead: in a block
:func:`metered` the clock of the work stands still but for what engines :func:`spend`, each in its own :class:`Work`
(boxes bounded, individuals drawn, a solver's resource units). Everything that asks how late it is asks this clock
(:func:`now`), so what has a quarter of the time has a quarter of the effort, and the same work is done on every
machine. What is said in seconds somewhere means so many :data:`UNITS`.

A time limit may be given beside. It ends the run as ever, and then what was done depends on the machine after all:
:attr:`Meter.late` says so.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from math import inf

#: Units of effort that represent a second: what an engine bounds of boxes in one.
UNITS = 100_000


@dataclass(frozen=True, slots=True)
class Work:
    """A kind of work that is counted: what it is, in the plural, and how many units one of it takes."""

    what: str
    units: float = 1.0


@dataclass(slots=True)
class Meter:
    """What was spent of an effort."""

    #: Units of the whole run; None: it has time, and what is done is counted all the same.
    limit: int | None
    #: The moment of ``time.monotonic`` at which the run ends all the same.
    ends: float = inf
    #: Units spent.
    spent: float = 0.0
    #: How much of each kind of work was done, by what it is called.
    done: Counter[str] = field(default_factory=Counter)
    #: Whether the time limit ended it.
    late: bool = False


_METER: ContextVar[Meter | None] = ContextVar("the effort in force", default=None)


def meter_in_force() -> Meter | None:
    """The meter of the block that this is in; None where work has seconds."""
    meter = _METER.get()
    return None if meter is None or meter.limit is None else meter


def now() -> float:
    """Seconds on the clock of the work."""
    meter = meter_in_force()
    return time.monotonic() if meter is None else meter.spent / UNITS


def spend(work: Work, count: float = 1, *, each: float = 1.0) -> None:
    """So much of it was done; one of it took ``each`` times the units, where that hangs on the model."""
    meter = _METER.get()
    if meter is not None and count:
        meter.spent += work.units * each * count
        meter.done[work.what] += int(count)


def absorb(other: Meter | None) -> None:
    """What another process did, if it said, is spent here."""
    meter = _METER.get()
    if meter is not None and other is not None:
        meter.spent += other.spent
        meter.done += other.done


def overdue() -> bool:
    """Whether the time limit beside the effort has passed."""
    meter = meter_in_force()
    if meter is None or time.monotonic() < meter.ends:
        return False
    meter.late = True
    return True


@contextmanager
def entered(meter: Meter) -> Iterator[Meter]:
    """A block in which that meter is in force."""
    token = _METER.set(meter)
    try:
        yield meter
    finally:
        _METER.reset(token)
