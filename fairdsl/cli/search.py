"""``fairdsl search``: many violating pairs, in a file and in a few words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

import fairdsl
from fairdsl.cli.every_option import Folded
from fairdsl.cli.guard import interrupted
from fairdsl.cli.options import (
    command_options,
    data_option,
    let_option,
    model_option,
    output_option,
    settings_option,
    spec_argument,
)
from fairdsl.cli.printing import Printer, print_lines, printer_option
from fairdsl.cli.progress import watching
from fairdsl.cli.terminal import output_style
from fairdsl.clock import unbroken
from fairdsl.diagnostics import DiagnosticError
from fairdsl.options import declared, own_settings
from fairdsl.options.commands import Rank, Search
from fairdsl.options.errors import has_flag

if TYPE_CHECKING:
    from fairdsl.counterexamples import Found

#: Exit codes of verdicts (``report.model.ExitCode``), which is not imported for a few words of help.
_VIOLATED, _UNKNOWN = 1, 3


@click.command(
    "search",
    cls=Folded,
    epilog="Exit codes: 1 pairs are found; 3 none is found, which proves nothing; 2 errors in the spec or the command "
    "line; 130 interrupted, 143 terminated, and what was found is written.",
)
@spec_argument
@click.option("--property", "property", metavar="NAME", help="The property, where the spec has several about pairs.")
@model_option
@let_option
@command_options(Search, rare=("effort", "severity", "rank", "representatives"))
@click.option("--saturate", is_flag=True, hidden=True, help="Instead of so many, go on until nothing new is found.")
@settings_option("Set a parameter of a strategy (repeatable); see `fairdsl explain search`.")
@data_option
@output_option("FILE.csv", "Where to write the pairs (.csv or .parquet), in place of what is there.", required=False)
@printer_option
@click.pass_context
def command(
    ctx: click.Context,
    /,
    spec: str,
    printer: Printer,
    models: Mapping[str, str],
    let: Mapping[str, str],
    count: int,
    saturate: bool,
    rank: Rank | None,
    settings: tuple[str, ...],
    **options: Any,
) -> None:
    """Find many pairs that violate a property of SPEC.

    Each is replayed on the model and counted once. Nothing is proved by what is not found.
    """
    if saturate and ctx.get_parameter_source("count") is not ParameterSource.DEFAULT:
        raise click.UsageError(
            "`--saturate` finds as many as there are and `--count` so many; leave out one of the two"
        )
    if rank is Rank.DISTANCE and options["near"] is None:
        raise click.UsageError("`--rank distance` needs rows to be near to; add `--near FILE.csv`")
    # Signals end the work inside, so that whatever it leaves is written.
    with unbroken():
        with printer.failing(ctx), watching() as observer:
            found = fairdsl.search(
                spec,
                models=models,
                let=let,
                count=None if saturate else count,
                rank=None if rank is None else rank.value,
                observer=observer,
                **options,
                **_parameters(settings),
            )
        printer.show(found, _print)
        if found.ending.value == "interrupted":
            ctx.exit(interrupted())
        ctx.exit(_VIOLATED if found.count else _UNKNOWN)


def _parameters(settings: Sequence[str]) -> Mapping[str, Any]:
    """What is set by ``--set``. Raises DiagnosticError for what is not there, and for what has a flag."""
    given = own_settings(settings, Search)
    flags = {each.name: each.flag for each in declared(Search) if each.flag is not None}
    wrong = [has_flag(f"{Search.section}.{name}", flags[name]) for name in given if name in flags]
    if wrong:
        raise DiagnosticError(*wrong)
    return given


def _print(found: Found) -> None:
    from fairdsl.counterexamples.words import words

    print_lines(words(found, output_style().width), found.diagnostics)
