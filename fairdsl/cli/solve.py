"""``fairdsl solve``: a solver file of any format, and one printer for what came out."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

import fairdsl
from fairdsl.cli.every_option import WithSettings
from fairdsl.cli.guard import exit_code
from fairdsl.cli.options import (
    Seconds,
    jobs_option,
    memory_option,
    run_option,
    set_option,
)
from fairdsl.cli.printing import Printer, print_findings, printer_option
from fairdsl.cli.progress import watching
from fairdsl.cli.terminal import output_style
from fairdsl.options import split_settings

if TYPE_CHECKING:
    from fairdsl.report.model import Report
    from fairdsl.solver_files.solve import SolvedFile

__all__ = ["command"]

_SHARD = re.compile(r"(\d+)/(\d+)")
_MOST_SHARDS = 100_000


def _shard(_: click.Context, __: click.Parameter, text: str) -> tuple[int, int]:
    """``2/8`` as a pair of numbers."""
    match = _SHARD.fullmatch(text)
    shard, shards = map(int, match.groups()) if match else (0, 0)
    if not 1 <= shard <= shards <= _MOST_SHARDS:
        raise click.BadParameter(f"`{text}` names no part; write for example --shard 1/4 for the first of four")
    return shard, shards


@click.command(
    "solve",
    cls=WithSettings,
    epilog="Exit codes: 0 there is an answer; 2 it is not a solver file, or an earlier answer is missing or in the "
    "way; 3 the value is known in part; 130 interrupted, 143 terminated (what is known is written, and a run that is "
    "killed goes on with --resume). Of a file with a demand (NAME.json) those of `fairdsl check`.",
)
@click.argument("path", metavar="FILE", type=click.Path(exists=True, dir_okay=False))
@click.option(
    "--shard",
    default="1/1",
    show_default=True,
    metavar="I/N",
    callback=_shard,
    help="Refine only part I of N; the parts may run on different machines.",
)
@click.option("--resume", is_flag=True, help="Go on from the earlier answer.")
@run_option("timeout", 60.0, help="Time limit in seconds.")
@jobs_option
@memory_option
@set_option
@click.option(
    "--checkpoint",
    type=Seconds(),
    default=5.0,
    show_default=True,
    metavar="SECONDS",
    hidden=True,
    help="How often the result is written; less often where writing takes long.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False),
    metavar="ANSWER",
    help="The answer's file.  [default: NAME.smt2.answer, NAME.result or NAME.I-of-N.result beside the file]",
)
@printer_option
@click.pass_context
def command(
    ctx: click.Context,
    /,
    path: str,
    shard: tuple[int, int],
    printer: Printer,
    output: str | None,
    settings: tuple[str, ...],
    **run: Any,
) -> None:
    """Answer a solver file with a solver of fairdsl's.

    FILE is one that `fairdsl compile SPEC --to FORMAT -o DIR` wrote; docs/solver-files.md says what answers each
    format, and where the answer is written.
    """
    with printer.failing(ctx), watching() as observer:
        options = split_settings(settings)
        _refuse_options(ctx, path, options)
        number, shards = shard
        solved = fairdsl.solve(
            path, shard=number, shards=shards, output=output or None, options=options, observer=observer, **run
        )
    printer.show(solved, _print_solved)
    ctx.exit(exit_code(solved.exit_code.value))


def _refuse_options(ctx: click.Context, path: str, options: Mapping[str, Mapping[str, str]]) -> None:
    """Options that say nothing about such a file are a mistake."""
    from fairdsl.solver_files.solve import foreign_option

    given = [name for name in ctx.params if ctx.get_parameter_source(name) is not ParameterSource.DEFAULT]
    set_ = {f"{section}.{name}" for section, values in options.items() for name in values}
    foreign = foreign_option(Path(path), (set(given) - _EVERY) | set_)
    if foreign is not None:
        raise click.UsageError(foreign if foreign.partition(" ")[0] in set_ else f"--{foreign}")


#: Options that mean something whatever the file is.
_EVERY = {"path", "timeout", "printer", "settings"}


def _print_solved(solved: SolvedFile) -> None:
    """The report on what the file states, or what came out."""
    report = solved.report
    if report is not None:
        _print_report(report)
    else:
        _print(solved)


def _print_report(report: Report) -> None:
    """The report on standard output, what is doubtful on standard error."""
    from fairdsl.report.text import render

    print_findings(report.diagnostics)
    style = output_style()
    click.echo(render(report, colour=style.colour, unicode=style.unicode, width=style.width), nl=False)


def _print(solved: SolvedFile) -> None:
    """What was solved and what came out; a line for whatever else there is to say."""
    from fairdsl.cli.solved import heading, lines

    what, came_out, remark = heading(solved)
    click.echo("   ".join(part for part in (what, output_style().shown(came_out), remark) if part))
    for word, said in lines(solved):
        click.echo(f"    {word:<11}{said}")
