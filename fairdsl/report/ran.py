"""How a run went: what limited it, which limit ended it, what it spent, and on what machine."""

from __future__ import annotations

import platform
from dataclasses import dataclass
from enum import Enum
from math import ceil, isfinite
from typing import Annotated

from fairdsl.clock import Meter
from fairdsl.codec import KEYED
from fairdsl.options import Options
from fairdsl.report.stopped import Stopped
from fairdsl.verdict import Reason


class EndedBy(Enum):
    """What ended a run."""

    DONE = "done"  # everything was answered, as far as engines can
    TIMEOUT = "timeout"
    EFFORT = "effort"
    USER = "user"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """How a run went. With the same effort and seed only ``timeout``, ``jobs`` and ``platform`` may differ."""

    #: The time limit in seconds; None: none.
    timeout: float | None
    #: The limit on effort, in units; None: none.
    effort: int | None = None
    #: What ended it: all was ``done``, or the ``timeout``, the ``effort`` or the ``user`` cut it short.
    ended_by: EndedBy
    #: Units of effort spent; whoever gives as many as effort comes to about as much on any machine.
    spent: int
    #: How much was done of each kind of work that engines count.
    work: Annotated[tuple[tuple[str, int], ...], KEYED] = ()
    #: The number of processes that could be used.
    jobs: int
    #: The operating system and the processor's kind.
    platform: str

    @property
    def in_words(self) -> str:
        """The limits and what came of them, in a line."""
        given = [_counted(self.effort, "units of effort")] if self.effort is not None else []
        given += [f"{self.timeout:g} s"] if self.timeout is not None else []
        ended = {
            EndedBy.DONE: "done within",
            EndedBy.TIMEOUT: "ended by the time limit, of",
            EndedBy.EFFORT: "ended by the effort, of",
            EndedBy.USER: "interrupted, of",
        }[self.ended_by]
        done = ", ".join(_counted(count, what) for what, count in sorted(self.work, key=lambda each: -each[1])[:3])
        limits = f"{ended} {' and '.join(given)}" if given else "no limit"
        return f"{limits}; {_counted(self.spent, 'units spent')}" + (f": {done}" if done else "")


def _counted(count: int, what: str) -> str:
    """``2 pairs replayed``, ``1 pair replayed``: the first word that ends in `s` is the plural of what was counted."""
    if count == 1:
        words = what.split()
        place = next(at for at, word in enumerate(words) if word.endswith("s"))
        words[place] = words[place].removesuffix("es" if words[place].endswith("xes") else "s")
        what = " ".join(words)
    return f"{count:,} {what}"


def what_ended(meter: Meter, open_for: set[Reason | None], stopped: Stopped | None) -> EndedBy:
    """What ended a run whose demands are open for these reasons."""
    if stopped is not None:
        return EndedBy.USER
    if Reason.EFFORT in open_for:
        return EndedBy.EFFORT
    return EndedBy.TIMEOUT if Reason.TIMEOUT in open_for or meter.late else EndedBy.DONE


def ran_of(options: Options, meter: Meter, ended: EndedBy) -> Ran:
    """What the meter says of a run with these options."""
    limit = options.run.limit
    return Ran(
        timeout=limit if isfinite(limit) else None,
        effort=meter.limit,
        ended_by=ended,
        spent=ceil(meter.spent),
        work=tuple(sorted(meter.done.items())),
        jobs=options.run.processes,
        platform=f"{platform.system()} {platform.machine()}",
    )
