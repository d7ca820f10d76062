"""``fairdsl replay``: one pair that somebody wrote down, on the original model."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

import fairdsl
from fairdsl.cli.options import let_option, model_option, properties_option, spec_argument
from fairdsl.cli.printing import Printer, printer_option
from fairdsl.cli.terminal import output_style

if TYPE_CHECKING:
    from fairdsl.counterexamples.written import ReplayedDemand, ReplayedPair


#: What commas part, but for those within quotation marks.
_PARTS = re.compile(r'(?:[^,"]|"[^"]*"?)+')
_QUOTED = re.compile(r'"[^"]*"')


def values(_: click.Context, parameter: click.Parameter, text: str | None) -> dict[str, str]:
    """``age = 30, sex = female, race = " White"`` as the spec and reports write it."""
    found: dict[str, str] = {}
    for part in filter(None, (part.strip() for part in _PARTS.findall(text or ""))):
        name, equals, value = (each.strip() for each in part.partition("="))
        if not (name and equals and value):
            raise click.BadParameter(
                f"`{part}` is not a value of an attribute; write --{parameter.name} 'age=30, sex=f'"
            )
        if name in found:
            raise click.BadParameter(f"`{name}` is there twice")
        found[name] = value[1:-1] if _QUOTED.fullmatch(value) else value
    return found


@click.command(
    "replay",
    epilog="Exit codes: 0 the pair breaks no demand; 1 it breaks one; 2 mistakes; 3 no demand is about the pair, or "
    "exact arithmetic and the deployed file disagree.",
)
@spec_argument
@click.option("--a", required=True, metavar="VALUES", callback=values, help="The one: 'age=30, sex=female, ...'.")
@click.option("--b", required=True, metavar="VALUES", callback=values, help="The other: what differs is enough.")
@click.option("--c", metavar="VALUES", callback=values, help="A third one, of demands about three: what differs.")
@click.option("--d", metavar="VALUES", callback=values, help="A fourth one.")
@properties_option("Only this property")
@model_option
@let_option
@printer_option
@click.pass_context
def command(
    ctx: click.Context, /, spec: str, c: Mapping[str, str], d: Mapping[str, str], printer: Printer, **options: Any
) -> None:
    """Hold one pair that you write down against each demand about individuals.

    Whether two people may be compared at all is said as well, and by which rule they may not.
    """
    with printer.failing(ctx):
        try:
            found = fairdsl.replay_pair(spec, c=c or None, d=d or None, **options)
        except ValueError as error:
            raise click.UsageError(str(error), ctx) from error
    printer.show(found, _print)
    ctx.exit(found.exit_code)


def _print(found: ReplayedPair) -> None:
    from fairdsl.report.breaches import breach_blocks
    from fairdsl.report.layout import pair_block
    from fairdsl.report.text import block_lines

    style = output_style()
    for demand in found.demands:
        click.echo(f"{style.shown(demand.name)}   {style.shown(demand.demand)}   {_came(demand)}")
        if demand.breach is not None:
            for block in breach_blocks("pair" if demand.individual is None else "who", (demand.breach,), ()):
                for line in block_lines(block, style):
                    click.echo(line)
        if demand.pair is not None:
            for line in block_lines(pair_block("pair", demand.pair, ()), style):
                click.echo(line)


def _came(demand: ReplayedDemand) -> str:
    return _verdict(demand) if demand.individual is None else f"{demand.individual}: {_verdict(demand)}"


def _verdict(demand: ReplayedDemand) -> str:
    if demand.beside is not None:
        return f"not about this {'pair' if demand.individual is None else 'individual'}: {demand.beside}"
    if demand.open:
        return "open: exact arithmetic leaves it open" if demand.undecided else "open: the deployed file does otherwise"
    return "broken" if demand.broken else "not broken"
