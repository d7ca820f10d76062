"""``solve``: an interval job refined as far as the budget goes, a script or a subset-sum instance answered as a whole.

    job file --seed_of--> seed --fork--> this shard's part --refine_within--> result file

The result file is always whole: each checkpoint replaces it in one step, so a run that is killed at any
moment goes on from the last one. A script's answer is what another solver would print, in a file beside it; an
instance's is the report that ``check`` would give on its demand.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairdsl.backends.contract import Budget, Observer
from fairdsl.backends.errors import cannot_write, nothing_to_resume, result_exists
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
from fairdsl.verdict import Holds, Refused, Shares, Unknown, Value

if TYPE_CHECKING:
    from fairdsl.backends.subset_sum.instance import Instance
    from fairdsl.report.model import Report

__all__ = ["Answered", "Solved", "SolvedInstance", "solve_instance", "solve_job", "solve_script"]


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """What the embedded solver said about a script: ``sat``, ``unsat``, ``unknown`` or ``crashed``, and why.

    ``answer`` is the file with its answer, ``solver`` its name and version.
    """

    script: Path
    answer: Path
    status: str
    detail: str
    seconds: float
    solver: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SolvedInstance:
    """The report on an instance's demand, and the verdict that it was made from; ``output``: where it was written."""

    instance: Path
    report: Report
    verdict: Value | Refused | Unknown
    output: Path | None


def solve_instance(path: Path, *, budget: Budget, output: Path | None, observer: Observer) -> SolvedInstance:
    """Answer an instance, and write the report as JSON where an ``output`` is given.

    Raises DiagnosticError for a file that is no instance, and where nothing can be written.
    """
    from fairdsl.backends.subset_sum.instance import answered
    from fairdsl.backends.subset_sum.instance_file import read_instance
    from fairdsl.report.json import write

    instance = read_instance(path)
    began = time.monotonic()
    verdict = answered(instance, budget, observer)
    report = _report(path, instance, verdict, time.monotonic() - began)
    if output is not None:
        _write_whole(output, write(report))
    return SolvedInstance(instance=path, report=report, verdict=verdict, output=output)


def _report(path: Path, instance: Instance, verdict: Value | Refused | Unknown, seconds: float) -> Report:
    """The report on one demand; an instance written by hand is its own spec."""
    from fairdsl.ir.domain import Domain
    from fairdsl.ir.expr import TRUE
    from fairdsl.ir.question import Quantity
    from fairdsl.report.build import demand_report
    from fairdsl.report.model import HashedFile, PropertyReport, Report

    asked, threshold, metric = instance.asked, instance.threshold, instance.question.metric
    limit = "" if threshold is None else f" {threshold.relation.value} {threshold.text}"
    verb = "measure" if threshold is None else "require"
    demand = demand_report(
        text=f"{verb} {metric}{limit}" if asked is None else asked.demand,
        metric=metric if asked is None else asked.metric,
        quantity=Quantity.METRIC,
        threshold=threshold,
        verdict=verdict,
        domain=Domain(name="", attributes=instance.population.columns, where=TRUE),
        outcomes=(),
        seconds=seconds,
        population=instance.population,
    )
    data = instance.population.sample
    return Report(
        version=version(),
        path=path.name if asked is None else asked.spec,
        sha256=None if asked is None else asked.spec_sha256,
        title=None if asked is None else asked.title,
        models=()
        if asked is None
        else (HashedFile(name=asked.model, path=asked.model_path, sha256=asked.model_sha256),),
        data=() if data is None else (HashedFile(name=instance.population.name, path=data.path, sha256=data.sha256),),
        properties=(
            PropertyReport(
                name=path.stem if asked is None else asked.property,
                sentence=f"The metric `{metric}` of a law written by hand." if asked is None else asked.sentence,
                clauses=() if asked is None else asked.clauses,
                demands=(demand,),
            ),
        ),
        diagnostics=verdict.warnings if isinstance(verdict, Value) else (),
    )


def _write_whole(target: Path, text: str) -> None:
    """Replace a file in one step, so that nobody reads half of it."""
    partial = target.with_name(f".{target.name}.partial")
    try:
        partial.write_text(text, encoding="utf-8")
        partial.replace(target)
    except OSError as error:
        raise DiagnosticError(cannot_write(str(target.parent), error.strerror or str(error))) from error


def solve_script(path: Path, *, resume: bool, budget: Budget, output: Path | None) -> Answered:
    """Answer a script and write the answer as solvers print it: the status, and behind `sat` the values.

    With ``resume`` an earlier answer that decides stands. Raises DiagnosticError for an earlier answer
    without ``resume``, for ``resume`` without one, and where nothing can be written.
    """
    from fairdsl.backends.smt.engine import Z3, solver_name
    from fairdsl.backends.smt.recover import answer_text, parse_answer

    target = output if output is not None else path.with_name(f"{path.name}.answer")
    if resume and not target.exists():
        raise DiagnosticError(nothing_to_resume(str(target)))
    if target.exists():
        if not resume:
            raise DiagnosticError(result_exists(str(target)))
        earlier = parse_answer(target.read_text(encoding="utf-8", errors="replace"))
        if earlier.status in ("sat", "unsat"):
            return Answered(
                script=path, answer=target, status=earlier.status, detail="", seconds=0.0, solver="an earlier run"
            )
    began = time.monotonic()
    found = Z3().solve(path.read_text(encoding="utf-8"), budget)
    _write_whole(target, answer_text(found))
    return Answered(
        script=path,
        answer=target,
        status=found.status,
        detail=found.detail,
        seconds=time.monotonic() - began,
        solver=solver_name(),
    )


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
    joined = join_results(job, {shard: Found(target, latest)}, budget.memory)
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
