"""fairdsl: is this model fair, and can you prove it?

A ``.fair`` file beside a model says what is required; these functions answer::

    import fairdsl

    report = fairdsl.check("examples/credit/credit.fair")
    for checked in report.properties:
        print(checked.name, checked.judgement.value)

Mistakes in a spec or in the files it names raise :class:`SpecError`, whose ``diagnostics`` say what and
where. Nothing heavy is imported before it is needed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fairdsl.backends.contract import Observer
    from fairdsl.compilation import Compiled
    from fairdsl.diagnostics import Diagnostic
    from fairdsl.diagnostics import DiagnosticError as SpecError
    from fairdsl.explanation import Capability, Explanation, PlanText
    from fairdsl.report.model import Report
    from fairdsl.solving import Solved

__all__ = [
    "Report",
    "SpecError",
    "__version__",
    "capabilities",
    "check",
    "compile",
    "explain",
    "lint",
    "plans",
    "recover",
    "solve",
]

#: What a path may be.
_Path = str | PathLike[str]


def check(
    spec: _Path,
    *,
    models: Mapping[str, _Path] | None = None,
    timeout: float = 60.0,
    seed: int = 0,
    jobs: int | None = None,
    memory: int = 2 << 30,
    scheduler: str | None = None,
    backend: str | None = None,
    properties: Sequence[str] | None = None,
    observer: Observer | None = None,
) -> Report:
    """Verify every property of the spec at ``spec`` and report.

    Args:
        spec: path of the ``.fair`` file.
        models: files that replace those of the spec, by model name; a ``sha256`` in the spec still binds.
        timeout: seconds for the whole run, shared among its demands.
        seed: of every random choice; the same seed gives the same witnesses.
        jobs: processes to use; all cores by default.
        memory: bytes that the interval refinement may use, all its processes together.
        scheduler: address of a Dask cluster to run the interval refinement on.
        backend: let only this backend answer (see :func:`capabilities`).
        properties: names of the properties to check; all by default.
        observer: hears of progress.

    Returns:
        The report: a verdict, evidence and witnesses for each demand. Refused demands are part of it.

    Raises:
        SpecError: the spec, or a file that it names, has mistakes.
    """
    import os

    from fairdsl.backends.contract import Budget, Silent
    from fairdsl.pipeline import verify

    if timeout <= 0 or seed < 0:
        raise ValueError("`timeout` is a positive number of seconds, `seed` a number from 0")
    return verify(
        fspath(spec),
        models=_paths(models),
        budget=Budget.of(timeout, jobs=jobs or os.cpu_count() or 1, seed=seed, memory=memory, scheduler=scheduler),
        backend=backend,
        properties=tuple(properties or ()),
        observer=observer or Silent(),
    )


def lint(spec: _Path, *, files: bool = False, models: Mapping[str, _Path] | None = None) -> tuple[Diagnostic, ...]:
    """Everything that is wrong or doubtful about a spec, without asking any backend.

    With ``files`` the models are opened too: width, names and operators are compared with the domain.
    Never raises for mistakes in the spec; they are what it returns.
    """
    from fairdsl.diagnostics import DiagnosticError
    from fairdsl.semantics import front_end

    try:
        checked, warnings = front_end(fspath(spec))
        if files:
            from fairdsl.elaborate import elaborate, load_models

            # All models are opened here, also those that only metrics of groups, or no property, speak of.
            _, about_models = load_models(checked, _paths(models))
            elaboration = elaborate(checked, _paths(models))
            refusals = (item.refusal for item in elaboration.demands if item.refusal is not None)
            return tuple(dict.fromkeys((*warnings, *about_models, *elaboration.warnings, *refusals)))
    except DiagnosticError as error:
        return error.diagnostics
    return warnings


def explain(spec: _Path) -> Explanation:
    """Each property of the spec as an English sentence and as a formula, with every clause in force."""
    from fairdsl.explanation import explain_spec

    return explain_spec(fspath(spec))


def plans(
    spec: _Path, *, models: Mapping[str, _Path] | None = None, backend: str | None = None
) -> tuple[PlanText, ...]:
    """Who would answer each demand of the spec, in which stages, and why the others would not."""
    from fairdsl.explanation import explain_plans

    return explain_plans(fspath(spec), _paths(models), backend)


def compile(  # noqa: A001 - the verb of the trade, and of the command line
    spec: _Path, *, to: str, directory: _Path, models: Mapping[str, _Path] | None = None
) -> Compiled:
    """Write the spec's questions as solver files of format ``to`` into ``directory``, with a manifest."""
    from fairdsl.compilation import compile_spec

    return compile_spec(fspath(spec), to, fspath(directory), _paths(models))


def solve(
    job: _Path,
    *,
    shard: int = 1,
    shards: int = 1,
    resume: bool = False,
    timeout: float = 60.0,
    jobs: int | None = None,
    memory: int = 2 << 30,
    scheduler: str | None = None,
    checkpoint: float = 5.0,
    output: _Path | None = None,
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
    from fairdsl.solving import solve_job

    if timeout <= 0 or checkpoint <= 0 or not 1 <= shard <= shards:
        raise ValueError("`timeout` and `checkpoint` are positive, `shard` is a number from 1 to `shards`")
    return solve_job(
        Path(fspath(job)),
        shard=shard,
        shards=shards,
        resume=resume,
        budget=Budget.of(timeout, jobs=jobs or os.cpu_count() or 1, memory=memory, scheduler=scheduler),
        checkpoint=checkpoint,
        output=None if output is None else Path(fspath(output)),
        observer=observer or Silent(),
    )


def recover(*paths: _Path, memory: int = 2 << 30) -> Report:
    """The report on interval jobs from their results: files, or folders with jobs and results.

    Shards that are missing count as undecided. Raises SpecError where results do not belong together.
    """
    from pathlib import Path

    from fairdsl.recovering import recover_results

    return recover_results([Path(fspath(path)) for path in paths], memory)


def capabilities() -> tuple[Capability, ...]:
    """What each backend answers and which files it writes."""
    from fairdsl.explanation import all_capabilities

    return all_capabilities()


def _paths(models: Mapping[str, _Path] | None) -> dict[str, str]:
    return {name: fspath(path) for name, path in (models or {}).items()}


def __getattr__(name: str) -> Any:
    match name:
        case "__version__":
            from fairdsl.resources import version

            return version()
        case "Report":
            from fairdsl.report.model import Report

            return Report
        case "SpecError":
            from fairdsl.diagnostics import DiagnosticError

            return DiagnosticError
    raise AttributeError(f"module `fairdsl` has no `{name}`")
