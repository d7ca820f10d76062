"""Files beside a spec: solver files, jobs and instances, and pruned networks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import fspath
from typing import TYPE_CHECKING

from fairdsl.api.paths import AnyPath, by_name

if TYPE_CHECKING:
    from fractions import Fraction

    from fairdsl.backends.contract import Observer
    from fairdsl.compilation import Compiled
    from fairdsl.pruning.run import Pruned
    from fairdsl.solving.instances import SolvedInstance
    from fairdsl.solving.jobs import Solved
    from fairdsl.solving.scripts import Answered
    from fairdsl.solving.stochastic import SolvedStochastic

__all__ = ["compile", "prune", "solve", "solve_instance", "solve_script", "solve_stochastic"]


def compile(  # noqa: A001 - the verb of the trade, and of the command line
    spec: AnyPath,
    *,
    to: str,
    directory: AnyPath,
    models: Mapping[str, AnyPath] | None = None,
    data: Mapping[str, AnyPath] | None = None,
    partition: int | None = None,
    first: int | None = None,
    seed: int = 0,
    groups: str | None = None,
    properties: Sequence[str] | None = None,
    timeout: float | None = None,
) -> Compiled:
    """Write the spec's questions as solver files of format ``to`` into ``directory``, with a manifest.

    Args:
        spec: path of the ``.fair`` file.
        to: ``smtlib``, ``vnnlib``, ``interval-job``, ``subset-sum``, ``sdimacs``, ``mcc`` or ``dimacs``.
        directory: folder to write into.
        models: files that replace those of the spec, by model name.
        data: files that replace those of distributions, by name.
        partition: cut attributes of more than so many values into chunks, and write files for each part.
        first: write only so many partitions, in the order that the seed determines.
        seed: of that order.
        groups: of ``sdimacs``, whether every group has a file (``enumerate``) or a solver is to find the extreme
            ones (``learn``); by default what is practical.
        properties: names of the properties to write; all by default.
        timeout: seconds that it may take; None: as long as it takes.

    Returns:
        The files, and what the format cannot express.

    Raises:
        SpecError: the spec or its files have mistakes, the folder cannot be written, or the time was up.
    """
    from fairdsl.clock import Deadline, phase
    from fairdsl.compilation import Partitioning, compile_spec

    if (partition is not None and partition < 1) or (first is not None and (first < 1 or partition is None)):
        raise ValueError("`partition` and `first` are positive, and `first` counts partitions")
    cut = None if partition is None else Partitioning(size=partition, first=first, seed=seed)
    if groups not in (None, "enumerate", "learn"):
        raise ValueError("`groups` is `enumerate` or `learn`")
    with phase("writing solver files", Deadline.after(timeout)):
        return compile_spec(
            fspath(spec),
            to,
            fspath(directory),
            by_name(models),
            cut,
            data=by_name(data),
            groups=groups,
            properties=tuple(properties or ()),
        )


def prune(
    spec: AnyPath,
    *,
    output: AnyPath,
    model: str | None = None,
    models: Mapping[str, AnyPath] | None = None,
    tolerance: float | Fraction = 0.01,
    points: int = 10_000,
    seed: int = 0,
    data: AnyPath | None = None,
    timeout: float | None = None,
) -> Pruned:
    """Write a model of the spec without the hidden units that are seldom active.

    The pruned network is another model: a verdict on it is about that file, and no proof about the original.

    Args:
        spec: path of the ``.fair`` file.
        output: path of the ONNX file to write.
        model: name of the model; not needed where the spec has one.
        models: files that replace those of the spec, by model name.
        tolerance: a unit goes if it is active for at most this share of the individuals that are drawn.
        points: how many individuals to draw, and again as many to compare decisions on.
        seed: of the draws; the same seed gives the same file.
        data: a CSV file with the spec's columns and its label, to measure accuracy on.
        timeout: seconds that it may take; None: as long as it takes.

    Returns:
        What was removed, and how the decisions of the two networks differ.

    Raises:
        SpecError: the spec, the model's file or the data have mistakes, the file cannot be cut exactly, or the time was
            up.
    """
    from fractions import Fraction

    from fairdsl.clock import Deadline, phase
    from fairdsl.pruning.run import prune_spec

    if not 0 <= tolerance <= 1 or points < 1 or seed < 0:
        raise ValueError("`tolerance` is a share from 0 to 1, `points` a positive number, `seed` a number from 0")
    with phase("pruning", Deadline.after(timeout)):
        return prune_spec(
            fspath(spec),
            model=model,
            models=by_name(models),
            # A float is meant as it is written: 0.01 is one in a hundred.
            tolerance=tolerance if isinstance(tolerance, Fraction) else Fraction(str(tolerance)),
            points=points,
            seed=seed,
            data=None if data is None else fspath(data),
            output=fspath(output),
        )


def solve(
    job: AnyPath,
    *,
    shard: int = 1,
    shards: int = 1,
    resume: bool = False,
    timeout: float = 60.0,
    jobs: int | None = None,
    memory: int = 2 << 30,
    scheduler: str | None = None,
    checkpoint: float = 5.0,
    output: AnyPath | None = None,
    observer: Observer | None = None,
) -> Solved:
    """Refine an interval job that :func:`compile` wrote, or one shard of it, and write the result.

    Args:
        job: path of the job file.
        shard: which of the ``shards`` parts, from 1.
        shards: into how many parts the job is shared out.
        resume: go on from the earlier result instead of beginning.
        timeout: seconds to refine.
        jobs: processes to use; all cores by default.
        memory: bytes that all processes may use together.
        scheduler: address of a Dask cluster to run on.
        checkpoint: seconds between two versions of the result file.
        output: path of the result; beside the job by default.
        observer: hears of progress.

    Returns:
        How far it got: the verdict, with everything outside the shard undecided.

    Raises:
        SpecError: the file is no job, or an earlier result is missing or in the way.
    """
    import os
    from pathlib import Path

    from fairdsl.backends.contract import Budget, Silent
    from fairdsl.solving.jobs import solve_job

    if timeout <= 0 or checkpoint <= 0 or not 1 <= shard <= shards:
        raise ValueError("`timeout` and `checkpoint` are positive, `shard` is a number from 1 to `shards`")
    return solve_job(
        Path(fspath(job)),
        shard=shard,
        shards=shards,
        resume=resume,
        budget=Budget.of_command(timeout, jobs=jobs or os.cpu_count() or 1, memory=memory, scheduler=scheduler),
        checkpoint=checkpoint,
        output=None if output is None else Path(fspath(output)),
        observer=observer or Silent(),
    )


def solve_script(
    script: AnyPath, *, timeout: float = 60.0, seed: int = 0, resume: bool = False, output: AnyPath | None = None
) -> Answered:
    """Answer an SMT-LIB script that :func:`compile` wrote with the embedded solver, and write the answer.

    Args:
        script: path of the ``.smt2`` file.
        timeout: seconds for the solver.
        seed: of the solver.
        resume: keep an earlier answer that decides, and solve again where it does not.
        output: path of the answer; ``NAME.smt2.answer`` beside the script by default.

    Returns:
        The solver's status, and where its answer is written.

    Raises:
        SpecError: an earlier answer is missing or in the way, or the answer cannot be written.
    """
    from pathlib import Path

    from fairdsl.backends.contract import Budget
    from fairdsl.solving.scripts import solve_script as answered

    if timeout <= 0 or seed < 0:
        raise ValueError("`timeout` is a positive number of seconds, `seed` a number from 0")
    return answered(
        Path(fspath(script)),
        resume=resume,
        budget=Budget.of_command(timeout, seed=seed),
        output=None if output is None else Path(fspath(output)),
    )


def solve_instance(
    instance: AnyPath,
    *,
    timeout: float = 60.0,
    memory: int = 2 << 30,
    output: AnyPath | None = None,
    observer: Observer | None = None,
) -> SolvedInstance:
    """Answer a subset-sum instance that :func:`compile` wrote, or one written by hand.

    Args:
        instance: path of the ``.json`` file.
        timeout: seconds for the engine.
        memory: bytes that its tables may use.
        output: path of the report as JSON; not written by default.
        observer: hears of progress.

    Returns:
        The report that :func:`check` would give on this one demand, and the exact value.

    Raises:
        SpecError: the file is no instance, was altered, or the report cannot be written.
    """
    from pathlib import Path

    from fairdsl.backends.contract import Budget, Silent
    from fairdsl.solving.instances import solve_instance as answered

    if timeout <= 0:
        raise ValueError("`timeout` is a positive number of seconds")
    return answered(
        Path(fspath(instance)),
        budget=Budget.of_command(timeout, memory=memory),
        output=None if output is None else Path(fspath(output)),
        observer=observer or Silent(),
    )


def solve_stochastic(
    instance: AnyPath,
    *,
    timeout: float = 60.0,
    memory: int = 2 << 30,
    ssat_solver: str | None = None,
    observer: Observer | None = None,
) -> SolvedStochastic:
    """Answer an SDIMACS instance: the value of a prefix of choices and chances over clauses.

    Args:
        instance: path of the ``.sdimacs`` file.
        timeout: seconds for the solver.
        memory: bytes that the embedded solver may use.
        ssat_solver: name or path of another solver than the embedded one.
        observer: hears of progress.

    Returns:
        The exact value, or bounds and the reason where the budget ended first; and the outermost choice
        that attains the value.

    Raises:
        SpecError: the file is no instance, or the solver is not there or does not answer such instances.
    """
    from pathlib import Path

    from fairdsl.backends.contract import Budget, Silent
    from fairdsl.solving.stochastic import solve_stochastic as answered

    if timeout <= 0:
        raise ValueError("`timeout` is a positive number of seconds")
    return answered(
        Path(fspath(instance)),
        solver=ssat_solver,
        budget=Budget.of_command(timeout, memory=memory),
        observer=observer or Silent(),
    )
