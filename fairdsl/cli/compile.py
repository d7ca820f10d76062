"""``fairdsl compile``: solver files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

import fairdsl
from fairdsl.backends.formats import FORMATS
from fairdsl.cli.every_option import WithSettings
from fairdsl.cli.guard import SPEC_ERROR
from fairdsl.cli.options import (
    command_options,
    data_option,
    let_option,
    model_option,
    output_option,
    properties_option,
    set_option,
    spec_argument,
    timeout_option,
)
from fairdsl.cli.printing import Printer, print_findings, printer_option
from fairdsl.options import split_settings
from fairdsl.options.commands import Compile

if TYPE_CHECKING:
    from fairdsl.solver_files.write import Compiled


@click.command(
    "compile",
    cls=WithSettings,
    epilog="Exit codes: 0 everything required of the format's kind is written (what is left out is named); 2 errors, a "
    "requirement of that kind that the format cannot express, or nothing to write.",
)
@spec_argument
@click.option(
    "--to",
    required=True,
    metavar="FORMAT",
    help=f"{', '.join(FORMATS)}.",
)
@output_option("DIR", "Folder to write into.", "directory")
@model_option
@let_option
@data_option
@properties_option("Write only this property")
@command_options(Compile)
@set_option
@timeout_option
@printer_option
@click.pass_context
def command(
    ctx: click.Context, /, spec: str, directory: str, settings: tuple[str, ...], printer: Printer, **options: Any
) -> None:
    """Write the properties of SPEC as solver files, with a manifest that names them.
    `fairdsl recover DIR` turns the answers to them into a report.
    """
    with printer.failing(ctx):
        compiled = fairdsl.compile(spec, directory=directory, options=split_settings(settings), **options)
    printer.show(compiled, lambda found: _print(found, directory))
    if compiled.diagnostics:
        ctx.exit(SPEC_ERROR)


def _print(compiled: Compiled, directory: str) -> None:
    """The files, or how many partitions have some; what is not among them on standard error."""
    cut = [question for question in compiled.questions if question.partitions is not None]
    for path in () if cut else (*compiled.files, *compiled.lists):
        click.echo(path)
    for question in cut:
        assert question.partitions is not None
        of = f"{question.parts:,} of {question.partitions:,} partitions"
        click.echo(f"{question.property}: {of} of `{' '.join(question.demand.split())}` in {directory}")
    click.echo(compiled.manifest)
    for line in compiled.left_out:
        click.echo(line, err=True)
    print_findings(compiled.diagnostics, more=False)
