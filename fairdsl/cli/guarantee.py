"""``fairdsl guarantee``: a file around a model that decides alike by construction."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import fairdsl
from fairdsl.cli.guard import interrupted
from fairdsl.cli.options import check_free, command_options, let_option, output_option, spec_argument
from fairdsl.cli.printing import Printer, print_lines, printer_option
from fairdsl.cli.progress import watching
from fairdsl.clock import received, unbroken
from fairdsl.options.commands import Guarantee

if TYPE_CHECKING:
    from fairdsl.repairing import Guaranteed


@click.command(
    "guarantee",
    epilog="Exit codes: 0 written; 2 mistakes in the spec, the rows or the command line, or a model that no such file "
    "can be written for; 130, 143 ended: the file is there if its report is.",
)
@spec_argument
@click.option(
    "--rows",
    required=True,
    type=click.Path(dir_okay=False),
    metavar="FILE.csv",
    help="Measure the price on this table, with the spec's columns and its label.",
)
@output_option("FILE.onnx", "The file to write.")
@click.option("--property", "property", metavar="NAME", help="The property, where the spec has several about pairs.")
@command_options(Guarantee)
@let_option
@printer_option
@click.pass_context
def command(ctx: click.Context, /, spec: str, printer: Printer, **options: Any) -> None:
    """Write a model that queries SPEC's model at all protected values and decides alike."""
    check_free(Path(options["output"]))
    with unbroken():  # what is written is said, whoever ends its check
        with printer.failing(ctx), watching() as observer:
            found = fairdsl.guarantee(spec, observer=observer, **options)
        given = [word for name, number in options["let"].items() for word in ("--let", f"{name}={number}")]
        printer.show(found, lambda each: _print([spec, *given], each))
        if received() is not None:
            ctx.exit(interrupted())


def _print(asked: list[str], found: Guaranteed) -> None:
    """The price, and how to check the file; ``asked`` names the spec."""
    again = shlex.join([*asked, "--model", f"{found.model}={found.file}"])
    print_lines((*found.lines(), f"    check it   fairdsl check {again}"), found.diagnostics)
