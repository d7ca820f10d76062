"""``fairdsl lint``: mistakes in specs, without a solver."""

from __future__ import annotations

from collections.abc import Mapping

import click

import fairdsl
from fairdsl.cli.documents import headed, write_json
from fairdsl.cli.guard import SPEC_ERROR
from fairdsl.cli.options import json_option, model_option
from fairdsl.cli.terminal import error_style
from fairdsl.diagnostics import Diagnostic, DiagnosticError, Severity
from fairdsl.diagnostics.json import diagnostics_to_json
from fairdsl.diagnostics.text import render

__all__ = ["command"]


@click.command("lint", epilog="Exit codes: 0 no errors (there may be warnings); 2 errors.")
@click.argument("specs", metavar="SPEC...", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False))
@click.option("--files", is_flag=True, help="Also open the models and compare them with the domain.")
@json_option
@model_option
@click.pass_context
def command(ctx: click.Context, specs: tuple[str, ...], files: bool, as_json: bool, models: Mapping[str, str]) -> None:
    """Find mistakes in SPEC without running any solver."""
    found: list[Diagnostic] = []
    for spec in specs:
        # Two specs may use one file: what is wrong with it is said once.
        found += [finding for finding in _findings(spec, files, models) if finding not in found]
    if as_json:
        written = {"specs": list(specs), "diagnostics": diagnostics_to_json(found)}
        write_json(headed("fairdsl.findings/1", written))
    elif found:
        style = error_style()
        text = render(found, colour=style.colour, unicode=style.unicode, width=style.width)
        click.echo(text, err=True, nl=False)
    if any(finding.severity is Severity.ERROR for finding in found):
        ctx.exit(SPEC_ERROR)


def _findings(spec: str, files: bool, models: Mapping[str, str]) -> tuple[Diagnostic, ...]:
    try:
        return fairdsl.lint(spec, files=files, models=models)
    except DiagnosticError as error:
        return tuple(error.diagnostics)
