"""``fairdsl fmt``: the one standard layout."""

from __future__ import annotations

import sys
from difflib import unified_diff
from pathlib import Path

import click

from fairdsl.cli.guard import SPEC_ERROR
from fairdsl.cli.terminal import error_style, output_style
from fairdsl.diagnostics import Diagnostic, DiagnosticError
from fairdsl.diagnostics.style import Paint
from fairdsl.diagnostics.text import render
from fairdsl.source import SourceFile
from fairdsl.source.reading import content_of
from fairdsl.source.writing import write_file

#: Exit code of ``--check`` when something would change.
_WOULD_CHANGE = 1
_STANDARD_INPUT = "-"


@click.command("fmt", epilog="Exit codes: 0 done; 1 with --check, some file would change; 2 errors.")
@click.argument("files", metavar="FILES...", nargs=-1, required=True, type=click.Path(exists=True, allow_dash=True))
@click.option("--check", is_flag=True, help="Change nothing; say which files would change.")
@click.option("--diff", is_flag=True, help="Change nothing; print what would change.")
@click.pass_context
def command(ctx: click.Context, files: tuple[str, ...], check: bool, diff: bool) -> None:
    """Lay specs out in the one standard way.

    `-` reads standard input and writes standard output.
    """
    changed: list[str] = []
    unreadable: list[Diagnostic] = []
    for path in files:
        before = _read(path)
        try:
            after = _formatted(path, before)
        except DiagnosticError as error:
            unreadable += error.diagnostics
            continue
        if after != before:
            changed.append(path)
        if diff:
            _print_diff(path, before, after)
        elif not check:
            _write(path, before, after)
    if unreadable:
        style = error_style()
        text = render(unreadable, colour=style.colour, unicode=style.unicode, width=style.width)
        click.echo(text, err=True, nl=False)
        ctx.exit(SPEC_ERROR)
    if check:
        for path in changed:
            click.echo(f"would change {path}", err=True)
        ctx.exit(_WOULD_CHANGE if changed else 0)


def _read(path: str) -> str:
    """The text with its own line ends."""
    raw = sys.stdin.buffer.read() if path == _STANDARD_INPUT else content_of(path)
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise click.UsageError(f"`{path}` is not text in UTF-8 (byte {error.start + 1})") from None


def _formatted(path: str, text: str) -> str:
    """The standard layout, metrics by their canonical names; Windows line ends stay."""
    from fairdsl.prelude import with_canonical_names
    from fairdsl.syntax.laid_out import laid_out

    source = SourceFile("standard input" if path == _STANDARD_INPUT else path, text)
    layout = laid_out(with_canonical_names(source))
    return layout.replace("\n", "\r\n") if "\r\n" in text else layout


def _write(path: str, before: str, after: str) -> None:
    """Replace the file in one step, so that an interruption never leaves half of it."""
    if path == _STANDARD_INPUT:
        click.echo(after.encode("utf-8"), nl=False)
    elif after != before:
        target = Path(path).resolve()
        write_file(target, after)
        click.echo(f"changed {path}", err=True)


def _print_diff(path: str, before: str, after: str) -> None:
    style = output_style()
    paints = {"+": Paint.GOOD, "-": Paint.ERROR, "@": Paint.GUTTER}
    lines = unified_diff(before.splitlines(), after.splitlines(), f"{path}", f"{path} (laid out)", lineterm="")
    for line in lines:
        click.echo(style.paint(style.shown(line), paints.get(line[:1], Paint.PLAIN)))
