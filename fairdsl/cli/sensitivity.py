"""``fairdsl sensitivity``: which discriminators a spec would have detected."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import click

import fairdsl
from fairdsl.cli.every_option import WithSettings
from fairdsl.cli.guard import exit_code
from fairdsl.cli.options import (
    data_option,
    let_option,
    model_option,
    properties_option,
    run_option,
    set_option,
    share_of_all,
    spec_argument,
)
from fairdsl.cli.printing import Printer, print_lines, printer_option
from fairdsl.cli.progress import watching
from fairdsl.cli.replay import values
from fairdsl.clock import unbroken
from fairdsl.options import split_settings

if TYPE_CHECKING:
    pass


def _each_share(ctx: click.Context, parameter: click.Parameter, texts: tuple[str, ...]) -> tuple[Fraction | None, ...]:
    return tuple(share_of_all(ctx, parameter, text) for text in texts)


def _each_group(ctx: click.Context, parameter: click.Parameter, texts: tuple[str, ...]) -> tuple[dict[str, str], ...]:
    return tuple(values(ctx, parameter, text) for text in texts)


@click.command(
    "sensitivity",
    cls=WithSettings,
    epilog="Exit codes: 0 all are detected; 1 some survive; 2 mistakes, or nothing can be planted or detected; "
    "3 of some it is not known; 130 interrupted, 143 terminated.",
)
@spec_argument
@click.option(
    "--strength",
    "strengths",
    multiple=True,
    metavar="SHARE",
    callback=_each_share,
    help="How much to plant, of all people or of the group (repeatable).  [default: 1%, 5%, 20%]",
)
@click.option(
    "--kind",
    "kinds",
    multiple=True,
    type=click.Choice(["people", "group", "proxy"]),  # sensitivity.Kind, which is not imported for a line of help
    help="What to plant (repeatable).  [default: all]",
)
@click.option(
    "--group",
    "groups",
    multiple=True,
    metavar="VALUES",
    callback=_each_group,
    help="Against whom: 'sex=female, race=black' (repeatable).  [default: a group of each protected attribute]",
)
@properties_option("Ask only this property")
@model_option
@let_option
@data_option
@run_option("timeout", help="Time limit in seconds for each audit.")
@run_option("effort")
@run_option("seed")
@run_option("jobs", hidden=True)
@run_option("memory", hidden=True)
@set_option
@printer_option
@click.pass_context
def command(ctx: click.Context, /, spec: str, printer: Printer, settings: tuple[str, ...], **options: Any) -> None:
    """Plant known discriminators into SPEC's models and say which its properties detect."""
    with unbroken():  # what is known when a signal comes is said
        with printer.failing(ctx), watching() as observer:
            try:
                found = fairdsl.sensitivity(spec, options=split_settings(settings), observer=observer, **options)
            except ValueError as error:
                raise click.UsageError(str(error), ctx) from error
        printer.show(found, lambda each: print_lines(each.lines(), each.diagnostics))
        ctx.exit(exit_code(found.exit_code.value))
