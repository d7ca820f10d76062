"""``fairdsl check``: the verdicts."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import click

import fairdsl
from fairdsl.cli.guard import INTERRUPTED
from fairdsl.cli.options import (
    Seconds,
    data_option,
    groups_option,
    jobs_option,
    json_option,
    memory_option,
    model_option,
    scheduler_option,
    spec_argument,
    ssat_solver_option,
)
from fairdsl.cli.partition import partition_of, partition_options, solver_options
from fairdsl.cli.progress import watching
from fairdsl.cli.verdicts import Verdicts
from fairdsl.diagnostics import DiagnosticError
from fairdsl.report.json import write
from fairdsl.report.model import Report

__all__ = ["command"]


@click.command(
    "check",
    epilog="Exit codes: 0 everything required holds (or the spec only measures); 1 some property is "
    "violated; 2 the spec or the command line has errors or, with nothing violated, some property is "
    "refused; 3 nothing is violated or refused, some property is unknown; 70 a bug in fairdsl; 130 interrupted.",
)
@spec_argument
@json_option
@model_option
@data_option
@click.option(
    "--timeout",
    type=Seconds(),
    default=60.0,
    show_default=True,
    metavar="SECONDS",
    help="What the whole run may take.",
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, metavar="N", help="Of the searches.")
@jobs_option
@memory_option
@scheduler_option
@click.option("--backend", metavar="NAME", help="Let only this backend answer; see `fairdsl capabilities`.")
@click.option("--property", "properties", multiple=True, metavar="NAME", help="Check only this property (repeatable).")
@partition_options
@solver_options
@groups_option
@ssat_solver_option
@click.option(
    "--cross-check",
    is_flag=True,
    help="Ask every other backend that can decide a demand, too: notes say what they make of it, and where two "
    "contradict each other the verdict is unknown.",
)
@click.option("--explain-plan", is_flag=True, help="Print who would answer what, and why; run nothing.")
@click.pass_context
def command(
    ctx: click.Context,
    /,
    spec: str,
    as_json: bool,
    models: Mapping[str, str],
    data: Mapping[str, str],
    timeout: float,
    seed: int,
    jobs: int | None,
    memory: int,
    scheduler: str | None,
    backend: str | None,
    properties: tuple[str, ...],
    query_timeout: float | None,
    query_memory: int,
    trust_milp: bool,
    groups: str | None,
    ssat_solver: str | None,
    cross_check: bool,
    explain_plan: bool,
    **partitioning: Any,
) -> None:
    """Verify every property of SPEC and report the verdicts."""
    partition = partition_of(**partitioning)
    if partition is not None and backend not in (None, "smt"):
        raise click.UsageError(f"`--partition` is answered by `smt`, not by `{backend}`; leave out one of the two")
    if explain_plan:
        _print_plan(spec, models, data, backend, timeout, by_partitions=partition is not None)
        return
    with watching() as observer:
        verdicts = None if as_json else Verdicts(observer)
        try:
            report = fairdsl.check(
                spec,
                models=models,
                data=data,
                timeout=timeout,
                seed=seed,
                jobs=jobs,
                memory=memory,
                scheduler=scheduler,
                backend=backend,
                properties=properties or None,
                partition=partition,
                query_timeout=query_timeout,
                query_memory=query_memory,
                trust_milp=trust_milp,
                groups=groups,
                ssat_solver=ssat_solver,
                cross_check=cross_check,
                observer=observer,
                listener=verdicts,
            )
        except DiagnosticError as error:
            report = _unchecked(spec, seed, error)
        except KeyboardInterrupt:
            observer.close()
            click.echo(f"interrupted{observer.whereabouts()}; no verdict is reported", err=True)
            ctx.exit(INTERRUPTED)
    if verdicts is None:
        click.echo(write(report), nl=False)
    else:
        verdicts.end(report)
    ctx.exit(report.exit_code.value)


def _unchecked(spec: str, seed: int, error: DiagnosticError) -> Report:
    """The report on a spec with errors: its findings and nothing else."""
    digest = sha256(Path(spec).read_bytes()).hexdigest()
    return Report(
        version=fairdsl.__version__, path=spec, sha256=digest, seed=seed, diagnostics=tuple(error.diagnostics)
    )


def _print_plan(
    spec: str,
    models: Mapping[str, str],
    data: Mapping[str, str],
    backend: str | None,
    timeout: float,
    *,
    by_partitions: bool,
) -> None:
    """Property, demand, stages in their order, and the reasons."""
    plans = fairdsl.plans(spec, models=models, data=data, backend=backend, by_partitions=by_partitions, timeout=timeout)
    turns = sum(plan.turn is not None for plan in plans)
    for plan in plans:
        click.echo(f"{plan.property}   {plan.demand}")
        for number, stage in enumerate(plan.stages, start=1):
            click.echo(f"    {number}. {stage}")
        if plan.turn is not None and turns > 1:
            click.echo(f"    turn {plan.turn} of {turns}, by cost: {plan.cost}")
        for reason in plan.reasons:
            click.echo(f"    {reason}")
