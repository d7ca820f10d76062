"""``fairdsl compare``: what changed between two reports."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import click

import fairdsl
from fairdsl.cli.gate import proof_gate, removed_option
from fairdsl.cli.printing import Printer, printer_option
from fairdsl.cli.terminal import output_style
from fairdsl.report.exit_code import ExitCode
from fairdsl.source.numbers import read_number

if TYPE_CHECKING:
    from fairdsl.comparing import Comparison


def _tolerance(_: click.Context, __: click.Parameter, text: str | None) -> Fraction | None:
    """``5%``, ``0.05`` or ``1/20``: a number from 0; from 1 on with the sign, since `5` is meant as 5%."""
    if text is None:
        return None
    written = text.strip()
    try:
        number = read_number(written.removesuffix("%").strip())
    except ValueError as error:
        raise click.BadParameter(f"`{text}` is not a tolerance; write for example 5% or 0.05") from error
    if number < 0:
        raise click.BadParameter(f"`{text}` is not a tolerance; it is a number from 0")
    if written.endswith("%"):
        return number / 100
    if number >= 1:
        raise click.BadParameter(f"`{text}` is not a tolerance; write for example 5% or 0.05, and 100% for 1")
    return number


@click.command(
    "compare",
    epilog="Exit codes: 0 nothing got worse; 1 a verdict got worse, what held is asked no more, or a number got worse "
    "by more than the tolerance; 2 files that are not reports, or have nothing in common; 3 no verdict got worse, but "
    "a number may have got worse by more than the tolerance.",
)
@click.argument("before", type=click.Path(exists=True, dir_okay=False))
@click.argument("after", type=click.Path(exists=True, dir_okay=False))
@click.option(
    "--tolerance",
    callback=_tolerance,
    metavar="SHARE",
    help="How much further from its ideal a metric may be than before, as 5% or 0.05. Without it only verdicts decide.",
)
@removed_option(hidden=False)
@click.option(
    "--require-proof",
    is_flag=True,
    help="Exit with 3 where something in AFTER holds, or was measured, that no checked proof shows.",
)
@printer_option
@click.pass_context
def command(
    ctx: click.Context,
    before: str,
    after: str,
    tolerance: Fraction | None,
    removed: tuple[str, ...],
    require_proof: bool,
    printer: Printer,
) -> None:
    """Say what changed between two reports, and what got worse.

    BEFORE and AFTER are files that `fairdsl check SPEC --json` wrote: of the same spec with another model
    (`--model`), with other data (`--data`), or as it was before.
    """
    with printer.failing(ctx):
        comparison = fairdsl.compare(before, after, tolerance=tolerance, removed=removed)
    printer.show(comparison, _print)
    if require_proof and not comparison.exit_code.value:
        ctx.exit(proof_gate(ExitCode.HOLDS, fairdsl.read_report(after), asked=True).value)
    ctx.exit(comparison.exit_code.value)


def _print(comparison: Comparison) -> None:
    from fairdsl.comparing.text import render

    click.echo(render(comparison, output_style()), nl=False)
