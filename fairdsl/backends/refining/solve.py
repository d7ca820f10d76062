"""Jobs, refined as far as the budget goes.

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
from fairdsl.backends.refining import errors
from fairdsl.backends.refining.clock import Checkpoints
from fairdsl.backends.refining.cluster import check_cluster
from fairdsl.backends.refining.container import digest
from fairdsl.backends.refining.jobs import Job, Jobs
from fairdsl.backends.refining.recheck import Recheck
from fairdsl.backends.refining.recover import Found, Part, Shards, arrays_of, join_results, read_found
from fairdsl.backends.refining.refinement import Refining, State
from fairdsl.backends.refining.result import Progress, Result, growing, result_name, write_result
from fairdsl.backends.refining.workers import refine_within
from fairdsl.backends.solved import Ending, Refined, Solved
from fairdsl.clock import NEVER, now
from fairdsl.diagnostics import DiagnosticError


def solve_job(kind: Jobs, path: Path, form: str, how: Solving, observer: Observer) -> Solved:
    """Refine the part ``how.shard`` until the budget ends; save it at every checkpoint.

    Raises DiagnosticError for a file that is not a job, for ``resume`` without an earlier result, and for an
    earlier result without ``resume``.
    """
    job, budget = kind.read(path), how.budget
    kind = kind.of(job)
    target = how.output or result_name(path, how.shard, how.shards)
    # Better known before anything is compiled or written.
    check_earlier(target, resume=how.resume)
    scheduler = kind.scheduler(budget.options)
    if scheduler is not None:
        check_cluster(scheduler)
    if kind.kernels is not None:
        # A limit of the refinement, which is all that a job is solved for: on a busy machine loading took all of it.
        began = now()
        kind.kernels.ready(observer, NEVER)
        budget = replace(budget, deadline=budget.deadline.later(now() - began))
    observer.progress(job.head.asked.property, None, job.head.asked.demand)
    shards = Shards(kind, job, how.shards, budget.memory)
    roots = shards.roots[how.shard - 1]
    if how.resume:
        part = shards.opened(_earlier(job, target, how.shard, how.shards), Recheck(seed=randbits(64)))
        refinement = kind.resume(job.task, part.state, budget.memory)
    else:
        refinement = kind.resume(job.task, roots, budget.memory)
        part = _first(job, shards, how.shard, refinement)
    reached = _Reached(kind, refinement, roots, part.result)
    start = latest = part.result
    ending = Ending.FINISHED
    if not start.finished:
        additions = kind.additions(refinement, start.leaves)
        with growing(target, start) as add:

            def save(_: Refining) -> None:
                if additions is None:
                    write_result(target, reached.result())
                else:
                    add(reached.progress(), additions())

            checkpoints = Checkpoints(save, how.checkpoint)
            ending = refine_within(refinement, budget, observer, checkpoints, scheduler=scheduler)
        latest = reached.result()
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
    return Solved(format=form, file=path, solver=kind.solver, seconds=latest.seconds, found=refined, answer=target)


def _first(job: Job, shards: Shards, shard: int, refinement: Refining) -> Part:
    """The beginning of a shard, from which its refinement goes on."""
    state = shards.roots[shard - 1]
    begun = Result(
        job=job.sha256,
        shard=shard,
        shards=len(shards.roots),
        part=digest(arrays_of(state)),
        nodes=0,
        seconds=0.0,
        finished=False,
        undecided=0.0,
        falsified=0.0,
    )
    return Part(result=replace(_Reached(shards.kind, refinement, state, begun).result(), seconds=0.0), state=state)


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


class _Reached:
    """How far a refinement is that started from a result."""

    def __init__(self, kind: Jobs, refinement: Refining, roots: State, start: Result) -> None:
        self._kind, self._refinement, self._roots, self._start = kind, refinement, roots, start
        self._began = time.monotonic()
        self._latest, self._nodes = start, refinement.nodes

    def progress(self) -> Progress:
        """How far it is now."""
        refinement = self._refinement
        return Progress(
            nodes=self._kind.evaluated(refinement),
            seconds=self._start.seconds + time.monotonic() - self._began,
            finished=refinement.finished,
            undecided=float(refinement.undecided),
            falsified=self._kind.falsified(refinement),
        )

    def result(self) -> Result:
        """The result as the refinement stands now."""
        if self._latest is self._start or self._nodes != self._refinement.nodes:
            self._nodes = self._refinement.nodes
            leaves = self._kind.stored(self._refinement, self._roots)
            self._latest = replace(self._start, leaves=leaves, **asdict(self.progress()))
        return self._latest
