"""Files beside a spec: solver files, jobs and instances, and pruned networks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike, fspath
from typing import TYPE_CHECKING

from fairdsl.api.paths import AnyPath, Names, Numbers, by_name, names_of, numbers, path_of
from fairdsl.options import Given, Run, options_of
from fairdsl.options.commands import Compile, Prune, Verify

if TYPE_CHECKING:
    from fractions import Fraction

    from fairdsl.backends.contract import Observer
    from fairdsl.backends.smt import Verified
    from fairdsl.pruning.run import Pruned
    from fairdsl.report.model import Report
    from fairdsl.solver_files.solve import SolvedFile
    from fairdsl.solver_files.write import Compiled


def compile(  # noqa: A001 - the verb of the trade, and of the command line
    spec: AnyPath,
    *,
    to: str,
    directory: AnyPath,
    models: Mapping[str, AnyPath] | None = None,
    let: Numbers | None = None,
    data: Mapping[str, AnyPath] | None = None,
    partition: int | None = None,
    first: int | None = None,
    seed: int = Compile.seed,
    instance_timeout: int = Compile.instance_timeout,
    properties: Names | None = None,
    options: Given | None = None,
    timeout: float | None = None,
) -> Compiled:
    """Write the spec's questions as solver files of format ``to`` into ``directory``, with a manifest.

    Args:
        spec: path of the ``.fair`` file.
        to: the format's name; :func:`capabilities` lists them.
        directory: folder to write into.
        models: files that replace those of the spec, by model name.
        let: numbers in place of those of the spec's parameters, by name, as ``{"limit": "75%"}``.
        data: files that replace those of distributions, by name.
        partition: cut attributes of more than so many values into chunks, and write files for each part.
        first: write only so many partitions, in the order that the seed determines.
        seed: random seed of that order.
        instance_timeout: seconds that `instances.csv` of VNN-LIB files gives a verifier for each.
        properties: names of the properties to write; all by default.
        options: what is set for the backend that writes the files, as ``{"ssat": {"groups": "learn"}}``; all options
            are listed in docs/options.md.
        timeout: seconds that it may take; None: as long as it takes.

    Returns:
        The files, and what the format cannot express.

    Raises:
        SpecError: the spec or its files have mistakes, the folder cannot be written, an option has a value that is not
            one, or the time was up.
    """
    from fairdsl.clock import Deadline, phase
    from fairdsl.plan.registry import sections
    from fairdsl.solver_files.questions import Partitioning
    from fairdsl.solver_files.write import compile_spec

    own = Compile.naming({"partition": partition, "first": first, "seed": seed, "instance_timeout": instance_timeout})
    cut = None if own.partition is None else Partitioning(size=own.partition, first=own.first, seed=own.seed)
    given = options_of(Run(seed=own.seed), options, sections())
    with phase("writing solver files", Deadline.after(timeout)):
        return compile_spec(
            path_of(spec, "the spec"),
            to,
            fspath(directory),
            by_name(models),
            cut,
            let=numbers(let),
            data=by_name(data),
            options=given,
            properties=names_of(properties),
            instance_timeout=own.instance_timeout,
        )


def prune(
    spec: AnyPath,
    *,
    output: AnyPath,
    model: str | None = None,
    models: Mapping[str, AnyPath] | None = None,
    let: Numbers | None = None,
    tolerance: float | Fraction = Prune.tolerance,
    points: int = Prune.points,
    seed: int = Prune.seed,
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
        let: numbers in place of those of the spec's parameters, by name, as ``{"limit": "75%"}``.
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
    from fairdsl.clock import Deadline, phase
    from fairdsl.pruning.run import prune_spec

    settings = Prune.naming({"tolerance": tolerance, "points": points, "seed": seed})
    with phase("pruning", Deadline.after(timeout)):
        return prune_spec(
            path_of(spec, "the spec"),
            model=model,
            models=by_name(models),
            let=numbers(let),
            settings=settings,
            data=None if data is None else fspath(data),
            output=fspath(output),
        )


def solve(
    path: AnyPath,
    *,
    timeout: float = 60.0,
    output: AnyPath | None = None,
    resume: bool = False,
    shard: int = 1,
    shards: int = 1,
    checkpoint: float = 5.0,
    seed: int = 0,
    jobs: int | None = None,
    memory: int = 2 << 30,
    options: Given | None = None,
    observer: Observer | None = None,
) -> SolvedFile:
    """Answer a solver file that :func:`compile` wrote, or one like it, with a solver of fairdsl's.

    What a file's format has no use for is a mistake: only interval jobs, for example, are solved in shards.

    Args:
        path: the file; its format goes by its name.
        timeout: seconds for the solver.
        output: path of the answer. By default scripts and jobs have theirs beside them, and of others none is written.
        resume: go on from an earlier answer; one that decides stands.
        shard: which of the ``shards`` parts, from 1.
        shards: into how many parts the file is shared out.
        checkpoint: seconds between two versions of the answer's file.
        seed: of the solver.
        jobs: processes to use; all cores by default.
        memory: bytes that all processes may use together.
        options: what is set for the backend whose file it is, as ``{"ssat": {"solver": "pysdd"}}`` or
            ``{"intervals": {"scheduler": "tcp://host:8786"}}``; all options are listed in docs/options.md.
        observer: hears of progress.

    Returns:
        What was ``found``, in the words of the format: a status, shares, a value; and the ``report`` that :func:`check`
        would give on the demand of a file that states one.

    Raises:
        SpecError: a file of no format, or a damaged one; an earlier answer that is missing or in the way.
    """
    from pathlib import Path

    from fairdsl.backends.contract import Budget, Silent
    from fairdsl.backends.encoding import Solving
    from fairdsl.plan.registry import sections
    from fairdsl.solver_files.solve import foreign_option, solve_file

    if timeout <= 0 or checkpoint <= 0 or not 1 <= shard <= shards or seed < 0:
        raise ValueError(
            "`timeout` and `checkpoint` are positive, `shard` is a number from 1 to `shards`, `seed` a number from 0"
        )
    place = Path(fspath(path))
    given = {
        "output": output is not None,
        "resume": resume,
        "shard": shards > 1,
        "checkpoint": checkpoint != 5.0,
        "seed": seed != 0,
        "jobs": jobs is not None,
        "memory": memory != 2 << 30,
    }
    set_ = options_of(Run(timeout=timeout, seed=seed, jobs=jobs, memory=memory), options, sections())
    given |= {path: True for section in set_.sections for path in section.given}
    foreign = foreign_option(place, [name for name, said in given.items() if said])
    if foreign is not None:
        raise ValueError(foreign)
    how = Solving(
        budget=Budget.under(set_),
        output=None if output is None else Path(fspath(output)),
        resume=resume,
        shard=shard,
        shards=shards,
        checkpoint=checkpoint,
    )
    return solve_file(place, how, observer or Silent())


def verify(
    query: AnyPath,
    *,
    networks: Mapping[str, AnyPath] | None = None,
    timeout: float = 60.0,
    seed: int = 0,
) -> Verified:
    """Answer a VNN-LIB query about networks with ReLU units, over real numbers.

    Args:
        query: path of the ``.vnnlib`` file, of version 2.0 or 1.0.
        networks: ONNX files by the names of the networks that the query declares; none for one that is ``equal-to``
            another. A query of version 1.0 names none, and takes one under any name, or the one of its comment.
        timeout: time limit in seconds.
        seed: random seed of the points that are tried.

    Returns:
        The ``status``, and of `sat` the inputs and outputs, which were evaluated exactly.

    Raises:
        SpecError: the query or a network cannot be read, or networks are missing, or one too many.
    """
    from pathlib import Path

    from fairdsl.backends.contract import Budget
    from fairdsl.backends.smt import verify_query

    own = Verify.naming({"timeout": timeout, "seed": seed})
    budget = Budget.of(own.timeout, seed=own.seed)
    return verify_query(Path(fspath(query)), by_name(networks), budget)


def recover(
    *paths: AnyPath,
    answers: AnyPath | Sequence[AnyPath] = (),
    spec: AnyPath | None = None,
    models: Mapping[str, AnyPath] | None = None,
    let: Numbers | None = None,
    data: Mapping[str, AnyPath] | None = None,
    memory: int = 2 << 30,
    recheck: bool = False,
    seed: int | None = None,
    timeout: float | None = None,
) -> Report:
    """The report on solver files from the answers to them, or on interval jobs from their results.

    Args:
        paths: the folder of solver files; or interval jobs and results, or folders with them.
        answers: a file with solvers' outputs, or several, instead of those in the folder.
        spec: the spec that the solver files were written from, where it is not where it was.
        models: files that replaced the spec's when the solver files were written, by model name.
        let: the same of numbers of the spec's parameters.
        data: the same of distributions.
        memory: bytes that joining results of interval jobs may use.
        recheck: compute all again that results claim, not only a sample of it.
        seed: of that sample; None: one that nobody can know before.
        timeout: seconds that it may take; None: as long as it takes.

    Returns:
        The report that :func:`check` would give. A missing answer, or shard, counts as undecided.

    Raises:
        SpecError: files that do not belong together, or the time was up.
    """
    from pathlib import Path

    from fairdsl.backends.encoding import Believing
    from fairdsl.clock import Deadline, phase
    from fairdsl.solver_files.recover import recover_files

    files = [answers] if isinstance(answers, str | PathLike) else answers
    with phase("reading the answers", Deadline.after(timeout)):
        return recover_files(
            [Path(fspath(path)) for path in paths],
            answers=[Path(fspath(path)) for path in files],
            spec=None if spec is None else path_of(spec, "the spec"),
            models=by_name(models),
            let=numbers(let),
            data=by_name(data),
            believing=Believing(memory=memory, recheck=recheck, seed=seed),
        )
