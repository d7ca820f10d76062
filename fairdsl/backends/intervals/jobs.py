"""Interval jobs: what networks' questions are as files (:mod:`fairdsl.backends.refining.jobs`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from fairdsl.backends.intervals.answer import Counted, shares_of, verdict_of
from fairdsl.backends.intervals.job import JOB, read_job
from fairdsl.backends.intervals.options import IntervalsOptions
from fairdsl.backends.intervals.refine import Bounds, Refinement
from fairdsl.backends.intervals.task import Task
from fairdsl.backends.intervals.warmup import KERNELS
from fairdsl.backends.refining.clock import advance_until
from fairdsl.backends.refining.jobs import Job, Jobs, Joined
from fairdsl.backends.refining.recheck import Checked, Recheck
from fairdsl.backends.refining.refinement import State
from fairdsl.ir.question import Quantity
from fairdsl.options import Options
from fairdsl.verdict import Evidence, Holds, Reason, Shares, Unknown, Vacuous, held

#: Nodes of the seed, for each shard; the same on every machine.
_SEED_NODES = 512


class IntervalJobs(Jobs):
    """The jobs of networks."""

    backend, solver = "intervals", "the interval refinement"
    kind, kernels = JOB, KERNELS

    def read(self, path: Path) -> Job:
        """A job from its file."""
        return read_job(path)

    def scheduler(self, options: Options) -> str | None:
        """The cluster that is set."""
        return options[IntervalsOptions].scheduler

    def begun(self, task: Task, shards: int, memory: int) -> tuple[Refinement, list[State]]:
        """The roots, or the seed that is shared out."""
        whole = Refinement.start(task, memory=memory)
        if shards == 1:
            return whole, [whole.state()]
        advance_until(whole, lambda: False, _SEED_NODES * shards)
        return whole, list(whole.fork(shards))

    def joined(self, task: Task, whole: Refinement, states: Sequence[State], memory: int) -> Refinement:
        """The parts in their places."""
        if len(states) == 1:
            return self.resume(task, states[0], memory)
        whole.join(states)
        return whole

    def resume(self, task: Task, state: State, memory: int) -> Refinement:
        """A part, to go on with."""
        return Refinement.resume(task, state, memory=memory)

    def opened(self, task: Task, roots: State, leaves: State, how: Recheck, memory: int) -> tuple[Refinement, Checked]:
        """What a file keeps, to go on with."""
        return Refinement.opened(task, roots, leaves, how, memory=memory)

    def stored(self, refinement: Refinement, roots: State) -> Mapping[str, Any]:
        """The tree of splits and its claims."""
        return refinement.stored()

    def additions(self, refinement: Refinement, kept: State) -> Callable[[], Mapping[str, Any]]:
        """What a file lacks of the tree."""
        return refinement.additions(kept)

    def falsified(self, refinement: Refinement) -> float:
        """Units that are treated unfairly for sure."""
        return float(refinement.bounds().falsified)

    def result(
        self, job: Job, whole: Refinement, checked: Sequence[Checked], evidence: Evidence, open_for: Reason
    ) -> Joined:
        """Shares, and whether everybody is treated alike."""
        bounds, head = _lowered(whole.bounds(), job, checked), job.head
        evidence = replace(evidence, notes=(*evidence.notes, *_no_pair(job, bounds)))
        counted = Counted(
            quantity=head.quantity,
            measure=head.measure,
            unit=head.unit,
            factor=head.factor,
            vacuous=head.vacuous,
            unsure=head.unsure,
        )
        return Joined(
            shares=shares_of(job.task, bounds, counted, evidence, open_for),
            verdict=_of_somebody(verdict_of(job.task, bounds, counted, evidence, open_for), job),
        )


def _of_somebody(verdict: Holds | Vacuous | Unknown | Shares, job: Job) -> Holds | Vacuous | Unknown | Shares:
    """A job has no conditions to look for somebody who meets them: whether there is anybody may not be known."""
    task = job.task
    if isinstance(verdict, Holds) and task.total - task.undetermined - job.head.vacuous <= job.head.unsure:
        return held(verdict.evidence, nobody=None)
    return verdict


def _lowered(bounds: Bounds, job: Job, checked: Sequence[Checked]) -> Bounds:
    """The bounds, wider by what may be wrong in files of which only a sample was recomputed."""
    decided = job.task.decided
    violating = min(bounds.violating + decided * sum(each.violating for each in checked), Fraction(decided))
    falsified = max(bounds.falsified - decided * sum(each.falsified for each in checked), Fraction(0))
    deployed = bounds.violating_float32
    if deployed is not None:
        deployed = min(deployed + decided * sum(each.violating32 for each in checked), Fraction(decided))
    return Bounds(violating=violating, falsified=falsified, violating_float32=deployed)


def _no_pair(job: Job, bounds: Bounds) -> tuple[str, ...]:
    if job.head.quantity is not Quantity.HOLDS or not bounds.falsified:
        return ()
    return ("a job has no model to replay a pair on: `fairdsl check` looks for one",)
