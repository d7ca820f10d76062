"""``fairdsl compile``: solver files."""

from __future__ import annotations

from collections.abc import Mapping

import click

import fairdsl
from fairdsl.cli.guard import SPEC_ERROR
from fairdsl.cli.options import model_option, spec_argument
from fairdsl.cli.terminal import error_style
from fairdsl.diagnostics.text import render

__all__ = ["command"]


@click.command(
    "compile",
    epilog="Exit codes: 0 everything required is written (measures may be left out); 2 errors, or a "
    "requirement that the format cannot express.",
)
@spec_argument
@click.option("--to", "form", required=True, metavar="FORMAT", help="The file format: smtlib or interval-job.")
@click.option(
    "-o",
    "--output",
    "directory",
    required=True,
    metavar="DIR",
    type=click.Path(file_okay=False),
    help="Folder to write into.",
)
@model_option
@click.pass_context
def command(ctx: click.Context, spec: str, form: str, directory: str, models: Mapping[str, str]) -> None:
    """Write the properties of SPEC as solver files, with a manifest that names them."""
    compiled = fairdsl.compile(spec, to=form, directory=directory, models=models)
    for path in (*compiled.files, compiled.manifest):
        click.echo(path)
    for line in compiled.left_out:
        click.echo(line, err=True)
    if compiled.refused:
        style = error_style()
        text = render(compiled.refused, colour=style.colour, unicode=style.unicode, width=style.width)
        click.echo(text, err=True, nl=False)
        ctx.exit(SPEC_ERROR)
