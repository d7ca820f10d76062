"""Interval jobs, refined as far as the budget goes.

    job file --Shards--> seed --fork--> this shard's part --refine_within--> result file

The result file is always whole: each checkpoint replaces it in one step, so a run that is killed at any
moment goes on from the last one.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from secrets import randbits
from typing import Any

from fairdsl.backends.answer_files import check_earlier
from fairdsl.backends.contract import Observer
from fairdsl.backends.encoding import Ended, Solved, Solving
from fairdsl.backends.intervals import errors
from fairdsl.backends.intervals.clock import Checkpoints, Ending
from fairdsl.backends.intervals.cluster import check_cluster
from fairdsl.backends.intervals.container import digest
from fairdsl.backends.intervals.drive import refine_within
from fairdsl.backends.intervals.job import Job, read_job
from fairdsl.backends.intervals.options import IntervalsOptions
from fairdsl.backends.intervals.recheck import Recheck
from fairdsl.backends.intervals.recover import Found, Part, Shards, join_results, read_found
from fairdsl.backends.intervals.refine import Refinement
from fairdsl.backends.intervals.result import Result, result_name, write_result
from fairdsl.backends.intervals.warmup import compile_kernels
from fairdsl.diagnostics import DiagnosticError
from fairdsl.ir.numbers import Towards, above, below, ratio, shown
from fairdsl.resources import version
from fairdsl.verdict import Claim, Holds, Reason, Shares, Unknown
from fairdsl.verdict.claims import in_words

__all__ = ["SolvedJob", "solve_job"]

#: What became of the run, by its ending.
_ENDINGS = {
    Ending.FINISHED: "nothing is left to refine",
    Ending.DEADLINE: "the time is up; `--resume` goes on",
    Ending.NODES: "the boxes asked for are evaluated",
    Ending.INTERRUPTED: "interrupted; `--resume` goes on",
    Ending.STOPPED: "the processes went away; `--resume` goes on",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SolvedJob(Solved):
    """What became of a job, or of a shard: then everything outside the shard counts as undecided."""

    job: Job
    #: Which of how many shards it is, from 1.
    shard: int
    shards: int
    #: Why the run ended.
    ending: Ending
    #: Boxes that were evaluated, in earlier runs too.
    nodes: int
    #: The shares, also where the demand asks whether everybody is treated alike.
    standing: Shares
    verdict: Holds | Unknown | Shares
    #: What is believed of an earlier result; the shares are lowered by what may be wrong of it.
    taken: tuple[Claim, ...] = ()

    @property
    def ended(self) -> Ended:
        """Whatever is left undecided, a result is written."""
        return Ended.INTERRUPTED if self.ending is Ending.INTERRUPTED else Ended.ANSWERED

    @property
    def heading(self) -> tuple[str, str, str]:
        """The property, the demand, and which shard it is."""
        of = f"shard {self.shard} of {self.shards}" if self.shards > 1 else ""
        return self.job.asked.property, " ".join(self.job.asked.demand.split()), of

    @property
    def lines(self) -> Sequence[tuple[str, str | Reason]]:
        """The shares, the effort, and where they are written."""
        standing, elsewhere = self.standing, "what the other shards decide counts as undecided here"
        return (
            ("certified", shown(standing.certified, percent=True, towards=Towards.DOWN)),
            ("falsified", shown(standing.falsified, percent=True, towards=Towards.DOWN)),
            ("undecided", shown(standing.undecided, percent=True, towards=Towards.UP)),
            *((("note", elsewhere),) if self.shards > 1 else ()),
            *((("note", in_words(self.taken)),) if self.taken else ()),
            ("refined", f"{self.nodes:,} boxes in {self.seconds:.1f} s; {_ENDINGS[self.ending]}"),
            ("result", str(self.answer)),
        )

    def plain(self) -> dict[str, Any]:
        """The same as data."""
        shares = {name: getattr(self.standing, name) for name in ("certified", "falsified", "undecided")}
        return {
            "job": self.job.sha256,
            "property": self.job.asked.property,
            "demand": self.job.asked.demand,
            "shard": [self.shard, self.shards],
            "result": str(self.answer),
            "ending": self.ending.value,
            "nodes": self.nodes,
            "seconds": round(self.seconds, 3),
            **{name: (above if name == "undecided" else below)(share) for name, share in shares.items()},
            "exact": {name: ratio(share) for name, share in shares.items()},
        }


def solve_job(path: Path, how: Solving, observer: Observer) -> SolvedJob:
    """Refine the part ``how.shard`` until the budget ends; save it at every checkpoint.

    Raises DiagnosticError for a file that is no job, for ``resume`` without an earlier result, and for an
    earlier result without ``resume``.
    """
    job, budget = read_job(path), how.budget
    target = how.output or result_name(path, how.shard, how.shards)
    # Better known before anything is compiled or written.
    check_earlier(target, resume=how.resume)
    scheduler = budget.options[IntervalsOptions].scheduler
    if scheduler is not None:
        check_cluster(scheduler)
    budget = budget.extended(compile_kernels(observer))
    observer.progress(job.asked.property, None, job.asked.demand)
    began = time.monotonic()
    shards = Shards(job, how.shards, budget.memory)
    if how.resume:
        part = shards.opened(_earlier(job, target, how.shard, how.shards), Recheck(seed=randbits(64)))
        refinement = Refinement.resume(job.task, part.state, memory=budget.memory)
    else:
        part = _first(job, shards, how.shard, budget.memory)
        refinement = Refinement.resume(job.task, part.state, memory=budget.memory)
        write_result(target, part.result, version())
    start = latest = part.result

    def save(refined: Refinement) -> None:
        nonlocal latest
        latest = _at(start, refined, time.monotonic() - began)
        write_result(target, latest, version())

    ending = Ending.FINISHED
    if not start.finished:
        ending = refine_within(refinement, budget, observer, Checkpoints(save, how.checkpoint))
    joined = join_results(job, shards, {how.shard: replace(part, result=latest, state=refinement.state())})
    return SolvedJob(
        file=path,
        answer=target,
        job=job,
        shard=how.shard,
        shards=how.shards,
        ending=ending,
        nodes=latest.nodes,
        seconds=latest.seconds,
        standing=joined.shares,
        verdict=joined.verdict,
        taken=part.claims,
    )


def _first(job: Job, shards: Shards, shard: int, memory: int) -> Part:
    """The beginning of a shard."""
    state = shards.roots[shard - 1]
    begun = Result(
        job=job.sha256,
        shard=shard,
        shards=len(shards.roots),
        part=digest(state),
        leaves={},
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
    bounds = refinement.bounds()
    return replace(
        start,
        leaves=refinement.stored(),
        nodes=refinement.nodes,
        seconds=start.seconds + seconds,
        finished=refinement.finished,
        undecided=float(bounds.violating - bounds.falsified),
        falsified=float(bounds.falsified),
    )
