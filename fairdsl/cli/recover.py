"""``fairdsl recover``: the report on solver files or interval jobs, from their answers or results."""

from __future__ import annotations

from typing import Any

import click

import fairdsl
from fairdsl.cli.options import data_option, let_option, memory_option, model_option, timeout_option
from fairdsl.cli.printing import Printer, print_report, printer_option
from fairdsl.diagnostics import DiagnosticError
from fairdsl.report.model import Report, SpecFile


@click.command(
    "recover",
    epilog="Exit codes are those of check: 0 everything required holds (or is only measured); 1 violated; "
    "2 errors, or files that do not belong together; 3 unknown.",
)
@click.argument("paths", metavar="[SPEC] DIR|RESULT...", nargs=-1, required=True, type=click.Path(exists=True))
@click.option(
    "--answers",
    multiple=True,
    metavar="FILE",
    type=click.Path(exists=True),
    help="An answer, a folder or a table of them, instead of those in DIR (repeatable).",
)
@click.option(
    "--spec",
    metavar="SPEC",
    type=click.Path(exists=True, dir_okay=False),
    help="The spec of the solver files, where it is not where it was.",
)
@click.option("--recheck", is_flag=True, help="Compute again all that results claim, not only a sample of it.")
@model_option
@let_option
@data_option
@memory_option
@timeout_option
@printer_option
@click.pass_context
def command(ctx: click.Context, /, paths: tuple[str, ...], spec: str | None, printer: Printer, **options: Any) -> None:
    """Turn answers to solver files, or results of interval jobs, into one report.

    Only answers are read from files: what is asked is derived from SPEC again, its models and its data, and without
    SPEC from the spec that the folder names, which the report then says first.

    DIR is the folder that `compile` wrote; docs/solver-files.md says where the answer to each file is looked for,
    docs/jobs.md which results belong to a job.
    """
    if spec is None and len(paths) > 1 and paths[0].endswith(".fair"):
        spec, paths = paths[0], paths[1:]
    try:
        report = fairdsl.recover(*paths, spec=spec, **options)
    except DiagnosticError as error:
        if printer.as_it_comes:
            raise
        report = Report(fairdsl=fairdsl.__version__, spec=SpecFile(path=paths[0]), diagnostics=tuple(error.diagnostics))
    printer.show(report, print_report)
    ctx.exit(report.exit_code.value)
