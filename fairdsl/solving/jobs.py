"""Interval jobs, refined as far as the budget goes.

    job file --seed_of--> seed --fork--> this shard's part --refine_within--> result file

The result file is always whole: each checkpoint replaces it in one step, so a run that is killed at any
moment goes on from the last one.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fairdsl.backends.contract import Budget, Observer
from fairdsl.backends.errors import nothing_to_resume, result_exists
from fairdsl.backends.intervals import errors
from fairdsl.backends.intervals.clock import Checkpoints, Ending
from fairdsl.backends.intervals.cluster import check_cluster
from fairdsl.backends.intervals.container import digest
from fairdsl.backends.intervals.drive import refine_within
from fairdsl.backends.intervals.job import Job, read_job
from fairdsl.backends.intervals.recover import Found, join_results, seed_of
from fairdsl.backends.intervals.refine import Refinement
from fairdsl.backends.intervals.result import Result, read_result, result_name, write_result
from fairdsl.backends.intervals.warmup import compile_kernels
from fairdsl.diagnostics import DiagnosticError
from fairdsl.resources import version
from fairdsl.verdict import Holds, Shares, Unknown, Word

__all__ = ["Solved", "solve_job"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Solved:
    """What became of a job, or of a shard: then everything outside the shard counts as undecided.

    ``standing`` are the shares, also where the demand asks whether everybody is treated alike.
    """

    job: Job
    result: Path
    shard: int
    shards: int
    ending: Ending
    nodes: int
    seconds: float
    standing: Shares
    verdict: Holds | Unknown | Shares


def solve_job(
    path: Path,
    *,
    shard: int,
    shards: int,
    resume: bool,
    budget: Budget,
    checkpoint: float,
    output: Path | None,
    observer: Observer,
) -> Solved:
    """Refine part ``shard`` of ``shards`` until the budget ends; save every ``checkpoint`` seconds.

    Raises DiagnosticError for a file that is no job, for ``resume`` without an earlier result, and for an
    earlier result without ``resume``.
    """
    job = read_job(path)
    target = output if output is not None else result_name(path, shard, shards)
    if budget.scheduler is not None:
        # Better known before anything is written.
        check_cluster(budget.scheduler)
    budget = budget.extended(compile_kernels(observer))
    observer.progress(job.asked.property, None, job.asked.demand)
    began = time.monotonic()
    if resume:
        start = _earlier(job, target, shard, shards)
    else:
        if target.exists():
            raise DiagnosticError(result_exists(str(target)))
        start = _first(job, shard, shards, budget.memory)
        write_result(target, start, version())
    refinement = Refinement.resume(job.task, start.state, memory=budget.memory)
    latest = start

    def save(refined: Refinement) -> None:
        nonlocal latest
        latest = _at(start, refined, time.monotonic() - began)
        write_result(target, latest, version())

    ending = Ending.FINISHED
    if not start.finished:
        ending = refine_within(refinement, budget, observer, Checkpoints(save, checkpoint))
    joined = join_results(job, {shard: Found(target, latest)}, budget.memory, Word.OWN)
    return Solved(
        job=job,
        result=target,
        shard=shard,
        shards=shards,
        ending=ending,
        nodes=latest.nodes,
        seconds=latest.seconds,
        standing=joined.shares,
        verdict=joined.verdict,
    )


def _first(job: Job, shard: int, shards: int, memory: int) -> Result:
    """The beginning of a shard: the seed, and the part of it."""
    seed = seed_of(job, shards, memory)
    state: Mapping[str, Any] = seed.state()
    kept: Mapping[str, Any] = {}
    if shards > 1:
        kept = state
        state = seed.fork(shards)[shard - 1]
    part = Refinement.resume(job.task, state, memory=memory)
    begun = Result(
        job=job.sha256,
        shard=shard,
        shards=shards,
        seed_nodes=seed.nodes,
        seed=kept,
        part=digest(state),
        state=state,
        nodes=0,
        seconds=0.0,
        finished=False,
        undecided=0.0,
        falsified=0.0,
    )
    return _at(begun, part, 0.0)


def _earlier(job: Job, path: Path, shard: int, shards: int) -> Result:
    """The result to go on from; DiagnosticError where it is not one of this shard."""
    if not path.exists():
        raise DiagnosticError(nothing_to_resume(str(path)))
    result = read_result(path)
    if result.job != job.sha256:
        raise DiagnosticError(errors.unfitting_part(str(path), "it is a result of another job"))
    if (result.shard, result.shards) != (shard, shards):
        reason = f"it is of shard {result.shard}/{result.shards}, and {shard}/{shards} is to be resumed"
        raise DiagnosticError(errors.unfitting_part(str(path), reason))
    return result


def _at(start: Result, refinement: Refinement, seconds: float) -> Result:
    """The result as the refinement stands now."""
    bounds = refinement.bounds()
    return replace(
        start,
        state=refinement.state(),
        nodes=refinement.nodes,
        seconds=start.seconds + seconds,
        finished=refinement.finished,
        undecided=float(bounds.violating - bounds.falsified),
        falsified=float(bounds.falsified),
    )
