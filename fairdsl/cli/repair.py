"""``fairdsl repair``: a model that is trained again until it discriminates less."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

import fairdsl
from fairdsl.cli.guard import interrupted
from fairdsl.cli.options import command_options, let_option, spec_argument
from fairdsl.cli.printing import Printer, print_lines, printer_option
from fairdsl.cli.progress import watching
from fairdsl.clock import unbroken
from fairdsl.options.commands import Repair

if TYPE_CHECKING:
    from fairdsl.repairing import Repaired, RepairedRates

#: The exit code of a verdict that is not known (``report.model.ExitCode``).
_NOT_IMPROVED = 3


@click.command(
    "repair",
    epilog="`fairdsl check` says whether the written model is fair. Exit codes: 0 a better model is written; 3 none is "
    "better: the one of the rows alone is; 2 mistakes; 130, 143 ended: the best one so far.",
)
@spec_argument
@click.option(
    "--train",
    required=True,
    type=click.Path(dir_okay=False),
    metavar="FILE.csv",
    help="The rows to train on, columns and label.",
)
@click.option(
    "--estimator",
    required=True,
    metavar="MODULE:FUNCTION",
    help="What makes an estimator; or PATH.py:FUNCTION.",
)
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(),
    metavar="DIR",
    help="The folder to write, which is new or empty.",
)
@click.option("--property", "property", metavar="NAME", help="The property, where the spec has several.")
@command_options(Repair)
@let_option
@printer_option
@click.pass_context
def command(ctx: click.Context, /, spec: str, printer: Printer, **options: Any) -> None:
    """Train a model of SPEC again until it discriminates less; runs the estimator's code."""
    # Signals end the work inside, so that whatever it leaves is written.
    with unbroken():
        with printer.failing(ctx), watching() as observer:
            repaired = fairdsl.repair(spec, observer=observer, **options)
        printer.show(repaired, _print)
        if repaired.ending.value == "interrupted":
            ctx.exit(interrupted())
        ctx.exit(0 if repaired.improved else _NOT_IMPROVED)


def _print(repaired: Repaired | RepairedRates) -> None:
    """The report of the folder, and where it is."""
    print_lines((*repaired.lines(), f"    written    {repaired.output}"), repaired.diagnostics)
