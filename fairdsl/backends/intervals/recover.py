"""From results back to one verdict: the seed is forked again, and every part replaced by what became of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fairdsl.backends.intervals import errors
from fairdsl.backends.intervals.answer import Counted, shares_of, verdict_of
from fairdsl.backends.intervals.container import digest
from fairdsl.backends.intervals.job import Job
from fairdsl.backends.intervals.pace import advance_until
from fairdsl.backends.intervals.refine import Bounds, Refinement
from fairdsl.backends.intervals.result import Result
from fairdsl.diagnostics import DiagnosticError
from fairdsl.ir.question import Quantity
from fairdsl.verdict import Basis, Evidence, Holds, Reason, Shares, Unknown, Word

__all__ = ["Found", "Joined", "join_results", "seed_of", "usable"]

#: Nodes of the seed, for each shard; the same on every machine.
_SEED_NODES = 512


@dataclass(frozen=True, slots=True)
class Found:
    """A result and the file that it was read from."""

    path: Path
    result: Result


def seed_of(job: Job, shards: int, memory: int) -> Refinement:
    """The refinement that ``shards`` parts are forked from: its nodes depend on their number alone."""
    seed = Refinement.start(job.task, memory=memory)
    if shards > 1:
        advance_until(seed, lambda: False, _SEED_NODES * shards)
    return seed


def usable(job: Job, found: Sequence[Found]) -> dict[int, Found]:
    """The best result of each shard. DiagnosticError where results cannot be parts of one refinement."""
    best: dict[int, Found] = {}
    for one in found:
        reason = _unlike(one.result, found[0].result, job)
        if reason is not None:
            raise DiagnosticError(errors.unfitting_part(str(one.path), reason.format(first=found[0].path)))
        before = best.get(one.result.shard)
        if before is None or one.result.undecided < before.result.undecided:
            best[one.result.shard] = one
    return best


def _unlike(result: Result, first: Result, job: Job) -> str | None:
    """Why a result cannot be joined with the first one."""
    if result.job != job.sha256:
        return "it is a result of another job"
    if result.shards != first.shards:
        return f"it is one of {result.shards} shards, `{{first}}` one of {first.shards}"
    if digest(result.seed) != digest(first.seed):
        return "its seed is not that of `{first}`: the machines that made them round differently"
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Joined:
    """What the results of a job's shards come to: the shares, and the verdict that the demand asks for."""

    shares: Shares
    verdict: Holds | Unknown | Shares


def join_results(job: Job, found: Mapping[int, Found], memory: int, word: Word) -> Joined:
    """Join results by shard, as :func:`usable` gives them; shards without one count as undecided.

    ``word`` says whose results they are.
    """
    bounds = _refinement(job, found, memory).bounds()
    results = {shard: one.result for shard, one in found.items()}
    shards = max((result.shards for result in results.values()), default=1)
    missing = [shard for shard in range(1, shards + 1) if shard not in results]
    finished = not missing and all(result.finished for result in results.values())
    nodes = sum(result.nodes for result in results.values())
    of = f"{len(results)} of {shards} shards joined, " if shards > 1 else ""
    evidence = Evidence(
        backend="intervals",
        method=f"{of}{nodes:,} boxes evaluated",
        notes=(*_notes(shards, missing), *_no_pair(job, bounds)),
        vacuous=job.task.total == job.vacuous,
        basis=Basis(word=word),
    )
    counted = Counted(quantity=job.quantity, measure=job.measure, unit=job.unit, factor=job.factor, vacuous=job.vacuous)
    open_for = Reason.INCOMPLETE if finished else Reason.TIMEOUT
    return Joined(
        shares=shares_of(job.task, bounds, counted, evidence, open_for),
        verdict=verdict_of(job.task, bounds, counted, evidence, open_for),
    )


def _refinement(job: Job, found: Mapping[int, Found], memory: int) -> Refinement:
    """The whole refinement with the parts that were refined in their places."""
    if not found:
        return Refinement.start(job.task, memory=memory)
    one = next(iter(found.values())).result
    if one.shards == 1:
        return Refinement.resume(job.task, one.state, memory=memory)
    whole = Refinement.resume(job.task, one.seed, memory=memory)
    parts: list[Mapping[str, Any]] = list(whole.fork(one.shards))
    for shard, part in found.items():
        if digest(parts[shard - 1]) != part.result.part:
            reason = "its part of the seed is not the one that comes out here"
            raise DiagnosticError(errors.unfitting_part(str(part.path), reason))
        parts[shard - 1] = part.result.state
    whole.join(parts)
    return whole


def _no_pair(job: Job, bounds: Bounds) -> tuple[str, ...]:
    if job.quantity is not Quantity.HOLDS or not bounds.falsified:
        return ()
    return ("a job has no model to replay a pair on: `fairdsl check` looks for one",)


def _notes(shards: int, missing: Sequence[int]) -> tuple[str, ...]:
    if not missing:
        return ()
    if len(missing) == shards:
        return ("nothing of it was solved yet",)
    listing = ", ".join(map(str, missing[:8])) + (", ..." if len(missing) > 8 else "")
    if len(missing) == 1:
        return (f"shard {listing} of {shards} is missing: its part counts as undecided",)
    return (f"shards {listing} of {shards} are missing: their parts count as undecided",)
