"""``fairdsl init``: a first spec for a table, and for a model."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

import fairdsl
from fairdsl.cli.options import output_option, timeout_option
from fairdsl.cli.printing import Printer, print_lines, printer_option

if TYPE_CHECKING:
    from fairdsl.drafting import Drafted


@click.command(
    "init", epilog="Exit codes: 0 written; 2 a table, column or model that cannot be used, or a file in the way."
)
@click.argument("data", metavar="DATA.csv", type=click.Path(exists=True, dir_okay=False))
@click.option(
    "--model", type=click.Path(exists=True, dir_okay=False), metavar="FILE", help="The model that decides about people."
)
@click.option("--label", metavar="COLUMN", help="The column that says what became of them.")
@click.option(
    "--protected", metavar="COLUMNS", help="Protected columns, with commas between.  [default: what looks protected]"
)
@output_option("FILE.fair", "The file to write.  [default: the table's name with .fair]", required=False)
@timeout_option
@printer_option
@click.pass_context
def command(
    ctx: click.Context,
    data: str,
    model: str | None,
    label: str | None,
    protected: str | None,
    output: str | None,
    timeout: float | None,
    printer: Printer,
) -> None:
    """Write a first spec for a table of people.

    Types, ranges and groups are read off the rows, each with a comment that says how; what only you can decide is said
    there, too. Nothing is overwritten.
    """
    if output is not None and not Path(output).absolute().parent.is_dir():
        raise click.UsageError(f"there is no folder `{Path(output).parent}`")
    columns = [name.strip() for name in protected.split(",")] if protected else []
    with printer.failing(ctx):
        drafted = fairdsl.init(data, model=model, label=label, protected=columns, output=output, timeout=timeout)
    printer.show(drafted, _print)


def _print(drafted: Drafted) -> None:
    """What was written, what was left out, what is to be decided, and the next command."""
    command = "check" if drafted.checks else "lint"
    print_lines((*str(drafted).splitlines(), f"    {'then':<11}fairdsl {command} {shlex.quote(drafted.path)}"))
