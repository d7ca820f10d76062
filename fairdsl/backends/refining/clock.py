"""One run of a refinement: its deadline, the user's Ctrl-C, its checkpoints and what is told of its progress.

It goes in batches that are short enough to listen in between.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from fairdsl.backends.contract import Observer
from fairdsl.backends.refining.refinement import Refining
from fairdsl.backends.solved import Ending
from fairdsl.clock import NEVER, Deadline, Wish, meter_in_force, now, spend, wished

#: Open leaves a part that make parts of about equal worth.
_LEAVES = 64
#: Seconds of refinement between two looks at how many leaves are open.
_LOOK = 0.3
#: States are sent and joined so rarely that it takes at most this fraction of the time.
OVERHEAD = 0.05
#: Seconds between two checkpoints where nothing else is said, and between two states of the parts, against their
#: processes' death, where nothing is saved.
_CHECKPOINT, _RESERVE = 5.0, 30.0
#: How much longer the last checkpoint may take than the one before.
_LONGER = 1.3
#: Seconds between two messages to the observer.
_TELL = 0.5


@dataclass(slots=True)
class Checkpoints:
    """Calls ``save`` with the joined refinement every so many seconds; less often where that takes long."""

    save: Callable[[Any], None]
    seconds: float = _CHECKPOINT


class Clock:
    """Deadline, interrupts, checkpoints and progress of one run."""

    def __init__(
        self,
        refinement: Refining,
        deadline: Deadline,
        interrupt: Wish,
        observer: Observer,
        checkpoints: Checkpoints | None,
    ) -> None:
        self._refinement = refinement
        self.deadline = self._ends = deadline
        self.interrupt = interrupt
        self._observer = observer
        self._save = checkpoints.save if checkpoints else None
        self._seconds = checkpoints.seconds if checkpoints else _RESERVE
        self._began = now()
        self._saved = self._told = time.monotonic()
        self._pause = self._seconds

    @property
    def up(self) -> bool:
        """Whether it is time to stop."""
        return self.interrupt.requested or self.deadline.passed

    @property
    def saves(self) -> bool:
        """Whether checkpoints are written."""
        return self._save is not None

    @property
    def due(self) -> bool:
        """Whether it is time for a checkpoint."""
        return time.monotonic() >= self._saved + self._pause

    def checkpoint(self, began: float) -> None:
        """Save; what led to it began at that moment."""
        if self._save is not None:
            self._save(self._refinement)
        self._saved = time.monotonic()
        self._pause = max(self._seconds, (self._saved - began) / OVERHEAD)
        if self._save is not None:  # what is saved in the end takes at least as long, and is to be there in time
            self.deadline = self._ends.later(-_LONGER * (self._saved - began))

    def listen(self) -> bool:
        """Between two batches of this process: whether to stop. Saves and tells in passing."""
        if self._save is not None and self.due:
            self.checkpoint(time.monotonic())
        if self.up:
            return True
        self.tell(self._refinement.nodes, lambda: self._refinement.undecided)
        return self.up

    def tell(self, nodes: int, undecided: Callable[[], float]) -> None:
        """Progress to the observer, not too often."""
        moment = time.monotonic()
        if moment < self._told + _TELL:
            return
        self._told = moment
        units = max(0.0, undecided())
        self._refinement.course.append((self._refinement.seconds, units))
        left = units / max(1, self._refinement.total)
        span = self.deadline.at - self._began
        fraction = min(1.0, (now() - self._began) / span) if 0.0 < span < 1e9 else None
        self._observer.progress("refining", fraction, f"{nodes:,} {self._refinement.work.what}, {left:.2%} undecided")


def supervised(
    refinement: Refining,
    run: Callable[[Clock], None],
    *,
    deadline: Deadline,
    observer: Observer,
    checkpoints: Checkpoints | None,
    nodes: int | None,
) -> Ending:
    """Run it under a clock, save what it came to, and say why it ended.

    With ``nodes`` the deadline does not count: the number of nodes is the limit, and only an interrupt ends
    the run sooner.
    """
    with wished() as interrupt:
        clock = Clock(refinement, deadline if nodes is None else NEVER, interrupt, observer, checkpoints)
        run(clock)
        # Before the last checkpoint, which may be so quick that there would have been time for more.
        in_time = not clock.up
        if checkpoints is not None:
            clock.checkpoint(time.monotonic())
        if refinement.finished:
            return Ending.FINISHED
        if interrupt.requested:
            return Ending.INTERRUPTED
        if not in_time:
            return Ending.DEADLINE
        return Ending.STOPPED if nodes is None else Ending.NODES


def share_out(refinement: Refining, parts: int, stop: Callable[[], bool], nodes: int | None = None) -> bool:
    """Refine until there are leaves enough for so many parts; False if it came to an end first."""
    done = 0
    while not _enough(refinement, parts):
        if nodes is None:
            evaluated = advance_until(refinement, _or_after(_LOOK, stop))
        else:
            evaluated = advance_until(refinement, stop, min(parts * _LEAVES, nodes - done))
        done += evaluated
        if not evaluated or refinement.finished or stop() or (nodes is not None and done >= nodes):
            return False
    return True


def _enough(refinement: Refining, parts: int) -> bool:
    wanted = parts * _LEAVES
    undecided = refinement.heaviest(wanted)
    return len(undecided) == wanted and sum(each > 0 for each in undecided) > wanted // 4


def _or_after(seconds: float, stop: Callable[[], bool]) -> Callable[[], bool]:
    """To stop when asked to, and after so many seconds anyway."""
    soon = Deadline.within(seconds)
    return lambda: stop() or soon.passed


#: Seconds between two chances to stop.
_BATCH = 0.1
#: What the first batch may take.
_FIRST_SECONDS = 0.5
#: Nodes in a batch: at first, and where their number is the limit (then clocks must not matter).
_FIRST, NODES_AT_ONCE = 16, 256


def advance_until(refinement: Refining, stop: Callable[[], bool], nodes: int | None = None) -> int:
    """Refine until ``stop()``, until about ``nodes`` more are evaluated, or until nothing is left.

    ``stop`` is asked between batches, about ten times a second, and may do other work. Returns how many
    nodes were evaluated. With ``nodes`` the batches have a fixed size, so that the result is a function of
    the nodes alone.
    """
    done, batch = 0, max(1, min(_FIRST, int(_FIRST_SECONDS / max(refinement.seconds_a_node, 1e-9))))
    while not refinement.finished and not stop():
        if nodes is not None:
            if done >= nodes:
                break
            batch = min(NODES_AT_ONCE, nodes - done)
        elif meter_in_force() is not None:
            batch = max(1, min(NODES_AT_ONCE, int(_BATCH / refinement.seconds_a_node)))
        started = time.monotonic()
        evaluated = refinement.advance(batch)
        if not evaluated:
            break
        done += evaluated
        spend(refinement.work, evaluated, each=refinement.units_a_node)
        if nodes is None:
            batch = _rescaled(evaluated, time.monotonic() - started)
    return done


def _rescaled(evaluated: int, seconds: float) -> int:
    """How many nodes fill a batch at this pace; at most four times as many as the last one."""
    return max(1, min(4 * evaluated, int(evaluated * _BATCH / max(seconds, 1e-6))))
