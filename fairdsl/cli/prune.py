"""``fairdsl prune``: a smaller network, and what it does otherwise than the original."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import fairdsl
from fairdsl.cli.options import (
    check_free,
    command_options,
    let_option,
    model_option,
    output_option,
    spec_argument,
    timeout_option,
)
from fairdsl.cli.printing import Printer, print_lines, printer_option
from fairdsl.options.commands import Prune

if TYPE_CHECKING:
    from fairdsl.pruning.run import Pruned


@click.command(
    "prune",
    epilog="The written file is another network: verdicts on it prove nothing about the original. "
    "Exit codes: 0 written; 2 errors in the spec, the data or the command line, or a file that cannot be cut exactly.",
)
@spec_argument
@click.option("--model-name", "model", metavar="NAME", help="The model to prune, where the spec has several.")
@command_options(Prune)
@click.option(
    "--data",
    type=click.Path(dir_okay=False),
    metavar="FILE.csv",
    help="Measure accuracy on this table, with the spec's columns and its label.",
)
@output_option("FILE.onnx", "The file to write.")
@model_option
@let_option
@timeout_option
@printer_option
@click.pass_context
def command(ctx: click.Context, /, spec: str, printer: Printer, models: Mapping[str, str], **options: Any) -> None:
    """Write a network without the units that are seldom active.

    Units are profiled on random individuals of the domain. Pruning is a heuristic: `fairdsl check` on the
    written file verifies that file, not the original.
    """
    check_free(Path(options["output"]))
    with printer.failing(ctx):
        pruned = fairdsl.prune(spec, models=models, **options)
    given = [word for name, number in options["let"].items() for word in ("--let", f"{name}={number}")]
    printer.show(pruned, lambda found: _print([spec, *given], found))


def _print(asked: Sequence[str], pruned: Pruned) -> None:
    """What was removed, what that did to decisions, and what the file is good for; ``asked`` names the spec."""
    from fairdsl.pruning.words import lines, row

    again = shlex.join([*asked, "--model", f"{pruned.model}={pruned.file}"])
    print_lines((*lines(pruned), row("check it", f"fairdsl check {again}")), pruned.diagnostics)
