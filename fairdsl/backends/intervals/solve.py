"""Interval jobs, refined as far as the budget goes.

    job file --Shards--> seed --fork--> this shard's part --refine_within--> result file

Each checkpoint appends what is new to the result file, so a run that is killed at any moment goes on from the last
one that is there as a whole. A run that ends puts one archive in its place.
"""

from __future__ import annotations

import time
from dataclasses import asdict, replace
from pathlib import Path
from secrets import randbits

from fairdsl.backends.answer_files import check_earlier
from fairdsl.backends.contract import Observer
from fairdsl.backends.encoding import Solving
from fairdsl.backends.intervals import errors
from fairdsl.backends.intervals.container import digest
from fairdsl.backends.intervals.job import Job, read_job
from fairdsl.backends.intervals.options import IntervalsOptions
from fairdsl.backends.intervals.recheck import Recheck
from fairdsl.backends.intervals.recover import Found, Part, Shards, join_results, read_found
from fairdsl.backends.intervals.refine import Refinement
from fairdsl.backends.intervals.result import Progress, Result, growing, result_name, write_result
from fairdsl.backends.intervals.warmup import KERNELS
from fairdsl.backends.refining.clock import Checkpoints
from fairdsl.backends.refining.cluster import check_cluster
from fairdsl.backends.refining.workers import refine_within
from fairdsl.backends.solved import Ending, Refined, Solved
from fairdsl.clock import look, phase
from fairdsl.diagnostics import DiagnosticError

__all__ = ["solve_job"]

#: Who answers jobs.
_SOLVER = "the interval refinement"


def solve_job(path: Path, form: str, how: Solving, observer: Observer) -> Solved:
    """Refine the part ``how.shard`` until the budget ends; save it at every checkpoint.

    Raises DiagnosticError for a file that is not a job, for ``resume`` without an earlier result, and for an
    earlier result without ``resume``.
    """
    job, budget = read_job(path), how.budget
    target = how.output or result_name(path, how.shard, how.shards)
    # Better known before anything is compiled or written.
    check_earlier(target, resume=how.resume)
    scheduler = budget.options[IntervalsOptions].scheduler
    if scheduler is not None:
        check_cluster(scheduler)
    with phase("compiling the kernels", budget.deadline):
        KERNELS.ready(observer, budget.deadline)
        look()
    observer.progress(job.head.asked.property, None, job.head.asked.demand)
    began = time.monotonic()
    shards = Shards(job, how.shards, budget.memory)
    if how.resume:
        part = shards.opened(_earlier(job, target, how.shard, how.shards), Recheck(seed=randbits(64)))
        refinement = Refinement.resume(job.task, part.state, memory=budget.memory)
    else:
        part = _first(job, shards, how.shard, budget.memory)
        refinement = Refinement.resume(job.task, part.state, memory=budget.memory)
    start = latest = part.result
    ending = Ending.FINISHED
    if not start.finished:
        recorded = refinement.recorded(start.leaves)
        with growing(target, start) as add:

            def save(refined: Refinement) -> None:
                add(_progress(start, refined, time.monotonic() - began), refined.added(recorded))

            checkpoints = Checkpoints(save, how.checkpoint)
            ending = refine_within(refinement, budget, observer, checkpoints, scheduler=scheduler)
        latest = _at(start, refinement, time.monotonic() - began)
    if not (start.finished and how.resume):
        write_result(target, latest)
    joined = join_results(job, shards, {how.shard: replace(part, result=latest, state=refinement.state())})
    refined = Refined(
        job=job.sha256,
        property=job.head.asked.property,
        demand=job.head.asked.demand,
        shard=how.shard,
        shards=how.shards,
        ending=ending,
        nodes=latest.nodes,
        standing=joined.shares,
        verdict=joined.verdict,
        taken=part.claims,
    )
    return Solved(format=form, file=path, solver=_SOLVER, seconds=latest.seconds, found=refined, answer=target)


def _first(job: Job, shards: Shards, shard: int, memory: int) -> Part:
    """The beginning of a shard."""
    state = shards.roots[shard - 1]
    begun = Result(
        job=job.sha256,
        shard=shard,
        shards=len(shards.roots),
        part=digest(state),
        nodes=0,
        seconds=0.0,
        finished=False,
        undecided=0.0,
        falsified=0.0,
    )
    return Part(result=_at(begun, Refinement.resume(job.task, state, memory=memory), 0.0), state=state)


def _earlier(job: Job, path: Path, shard: int, shards: int) -> Found:
    """The result to go on from; DiagnosticError where it is not one of this shard."""
    found = read_found(path)
    result = found.result
    if result.job != job.sha256:
        raise DiagnosticError(errors.unfitting_part(str(path), "it is a result of another job"))
    if (result.shard, result.shards) != (shard, shards):
        reason = f"it is of shard {result.shard}/{result.shards}, and {shard}/{shards} is to be resumed"
        raise DiagnosticError(errors.unfitting_part(str(path), reason))
    return found


def _at(start: Result, refinement: Refinement, seconds: float) -> Result:
    """The result as the refinement stands now."""
    reached = asdict(_progress(start, refinement, seconds))
    return replace(start, leaves=refinement.stored(), **reached)


def _progress(start: Result, refinement: Refinement, seconds: float) -> Progress:
    """How far it is, after so many seconds more than at the start."""
    bounds = refinement.bounds()
    return Progress(
        nodes=refinement.nodes,
        seconds=start.seconds + seconds,
        finished=refinement.finished,
        undecided=float(bounds.violating - bounds.falsified),
        falsified=float(bounds.falsified),
    )
