"""``fairdsl recover``: the report on interval jobs, from their results."""

from __future__ import annotations

import click

import fairdsl
from fairdsl.cli.options import json_option, memory_option
from fairdsl.cli.terminal import output_style
from fairdsl.diagnostics import DiagnosticError
from fairdsl.report.json import write
from fairdsl.report.model import Report
from fairdsl.report.text import render

__all__ = ["command"]


@click.command(
    "recover",
    epilog="Exit codes are those of check: 0 everything required holds (or is only measured); 1 violated; "
    "2 errors, or results that do not belong together; 3 unknown.",
)
@click.argument("paths", metavar="DIR|RESULT...", nargs=-1, required=True, type=click.Path(exists=True))
@memory_option
@json_option
@click.pass_context
def command(ctx: click.Context, paths: tuple[str, ...], memory: int, as_json: bool) -> None:
    """Join the results of interval jobs into one report.

    A folder stands for the jobs and results in it; the job of a result that is named by itself is looked for
    in the result's folder. Shards without a result count as undecided; of several results of one shard the
    better is taken.
    """
    try:
        report = fairdsl.recover(*paths, memory=memory)
    except DiagnosticError as error:
        if not as_json:
            raise
        report = Report(version=fairdsl.__version__, path=paths[0], sha256=None, diagnostics=tuple(error.diagnostics))
    if as_json:
        click.echo(write(report), nl=False)
    else:
        style = output_style()
        click.echo(render(report, colour=style.colour, unicode=style.unicode, width=style.width), nl=False)
    ctx.exit(report.exit_code.value)
