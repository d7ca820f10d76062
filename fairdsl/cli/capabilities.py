"""``fairdsl capabilities``: what each backend answers."""

from __future__ import annotations

import click

import fairdsl
from fairdsl.cli.documents import headed, write_json
from fairdsl.cli.options import json_option
from fairdsl.cli.terminal import output_style
from fairdsl.diagnostics.style import Paint, wrap

__all__ = ["command"]

_ROWS = ("questions", "quantities", "models", "formats")


@click.command("capabilities")
@json_option
def command(as_json: bool) -> None:
    """List what each backend answers."""
    rows = [
        {"backend": row.backend} | {name: _plain(getattr(row, name)) for name in _ROWS}
        for row in fairdsl.capabilities()
    ]
    if as_json:
        write_json(headed("fairdsl.capabilities/1", {"backends": rows}))
        return
    style = output_style()
    for number, row in enumerate(rows):
        if number:
            click.echo()
        click.echo(style.paint(str(row["backend"]), Paint.BOLD))
        for name in _ROWS:
            lines = list(wrap(style.shown(_words(row[name])), style.width - 16, indent=""))
            click.echo(f"    {name:<12}{lines[0]}")
            for line in lines[1:]:
                click.echo(" " * 16 + line)


def _plain(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value


def _words(value: object) -> str:
    return (", ".join(map(str, value)) or "none") if isinstance(value, list) else str(value)
