"""What a refinement has come to after so many CPU seconds, or when it has come so far.

CPU seconds are those of all processes, from the problem to the shares: the lowering counts, reading the files,
imports and compilation do not, for they are done before. Only worker processes import anew, and that counts.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from fairdsl.backends.contract import Silent
from fairdsl.backends.intervals.lowering import Lowered, lower
from fairdsl.backends.intervals.refine import Refinement
from fairdsl.backends.refining.clock import advance_until
from fairdsl.backends.refining.workers import refine_in_parallel
from fairdsl.clock import Deadline
from fairdsl.ir.problem import Problem

__all__ = ["Reading", "Started", "read_at", "reading_of", "refined_by", "started", "warm"]

#: Nodes that load every kernel: they are compiled as one program.
_WARM = 2


@dataclass(frozen=True, kw_only=True)
class Reading:
    """Shares of all units, each from the bounds on its own, and what they took."""

    certified: Fraction
    falsified: Fraction
    undecided: Fraction
    nodes: int
    cpu: float
    wall: float
    finished: bool


def cpu_seconds() -> float:
    """Of this process, all its threads, and the processes that it has started and that have ended."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + ended.ru_utime + ended.ru_stime


def warm(problem: Problem) -> None:
    """Load and compile all that the problem needs."""
    refinement = Refinement.start(lower(problem).task)
    refinement.advance(_WARM)
    refinement.bounds()


@dataclass(kw_only=True)
class Started:
    """A refinement that has begun, and when."""

    lowered: Lowered
    refinement: Refinement
    cpu: float
    wall: float


def started(problem: Problem) -> Started:
    """Lower and begin; the clocks run from before the lowering."""
    cpu, wall = cpu_seconds(), time.monotonic()
    lowered = lower(problem)
    return Started(lowered=lowered, refinement=Refinement.start(lowered.task), cpu=cpu, wall=wall)


def reading_of(run: Started) -> Reading:
    """What is known now."""
    task, bounds = run.lowered.task, run.refinement.bounds()
    violating = min(bounds.violating, Fraction(task.decided))
    return Reading(
        certified=(task.decided - violating + task.vacuous) / task.total,
        falsified=bounds.falsified / task.total,
        undecided=(bounds.violating - bounds.falsified + task.undetermined) / task.total,
        nodes=run.refinement.nodes,
        cpu=cpu_seconds() - run.cpu,
        wall=time.monotonic() - run.wall,
        finished=run.refinement.finished,
    )


def read_at(problem: Problem, marks: Sequence[float]) -> Iterator[Reading]:
    """One run in this process, read at each of these CPU seconds (ascending)."""
    run = started(problem)
    for mark in marks:
        advance_until(run.refinement, _before(run.cpu + mark))
        yield reading_of(run)


def refined_by(problem: Problem, jobs: int, wall: float) -> Reading:
    """By so many processes, for so many seconds of wall-clock time."""
    run = started(problem)
    refine_in_parallel(run.refinement, jobs=jobs, deadline=Deadline(run.wall + wall), observer=Silent())
    return reading_of(run)


def _before(end: float) -> Callable[[], bool]:
    """To stop so early that another batch as long as the last one would not end later."""
    last = cpu_seconds()

    def stop() -> bool:
        nonlocal last
        now = cpu_seconds()
        ahead, last = 2 * now - last, now
        return ahead >= end

    return stop
