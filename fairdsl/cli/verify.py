"""``fairdsl verify``: a VNN-LIB query, on the command line that the standard has for solvers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

import fairdsl
from fairdsl.cli.options import by_name, command_options
from fairdsl.cli.printing import Printer, printer_option
from fairdsl.options.commands import Verify

if TYPE_CHECKING:
    from fairdsl.backends.smt import Verified


@click.command("verify", epilog="Exit codes: 0 there is an answer, be it `unknown` or `timed-out`; 2 mistakes.")
@click.argument("query", type=click.Path(exists=True, dir_okay=False))
@click.option(
    "--network",
    "networks",
    multiple=True,
    metavar="NAME=PATH",
    callback=by_name("network", "--network"),
    help="The ONNX file of a network that the query declares (repeatable); none for one that is `equal-to` another.",
)
@command_options(Verify)
@printer_option
@click.pass_context
def command(
    ctx: click.Context, query: str, networks: Mapping[str, str], timeout: float, seed: int, printer: Printer
) -> None:
    """Answer a VNN-LIB query about networks with ReLU units.

    The first line is `sat`, `unsat`, `unknown` or `timed-out`; behind `sat` come the inputs and outputs.
    """
    with printer.failing(ctx):
        verified = fairdsl.verify(query, networks=networks, timeout=timeout, seed=seed)
    printer.show(verified, _print)


def _print(verified: Verified) -> None:
    """The answer as the standard has it; all else on the error stream."""
    click.echo(verified.status.value)
    old = [each for each in verified.assignment if each.shape is None]
    for each in verified.assignment:
        if each.shape is not None:
            click.echo("\n".join([f"{each.name} real {each.shape}", *each.values]))
    if old:
        click.echo("(" + "\n ".join(f"({each.name} {each.values[0]})" for each in old) + ")")
    click.echo(f"{verified.detail}, {verified.seconds:.3f} s", err=True)
    if verified.in_onnxruntime is not None and verified.assignment:
        word = "holds" if verified.in_onnxruntime else "does not hold"
        click.echo(f"at this point, rounded to what the files take, the query {word} in onnxruntime", err=True)
