"""``fairdsl capabilities``: what each backend answers."""

from __future__ import annotations

import click

import fairdsl
from fairdsl.cli.printing import Printer, printer_option
from fairdsl.cli.terminal import output_style
from fairdsl.diagnostics.style import Paint, wrap
from fairdsl.report.explained import Capabilities

_ROWS = ("questions", "quantities", "models", "formats")


@click.command("capabilities")
@printer_option
def command(printer: Printer) -> None:
    """List what each backend answers."""
    printer.show(fairdsl.capabilities(), _print)


def _print(found: Capabilities) -> None:
    style = output_style()
    for number, row in enumerate(found):
        if number:
            click.echo()
        click.echo(style.paint(row.backend, Paint.BOLD))
        for name in _ROWS:
            words = ", ".join(getattr(row, name)) or "none"
            lines = list(wrap(style.shown(words), style.width - 16, indent=""))
            click.echo(f"    {name:<12}{lines[0]}")
            for line in lines[1:]:
                click.echo(" " * 16 + line)
