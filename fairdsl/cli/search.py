"""``fairdsl search``: many violating pairs, in a file and in a few words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

import fairdsl
from fairdsl.cli.found import print_found
from fairdsl.cli.guard import interrupted
from fairdsl.cli.options import data_option, model_option, run_option, spec_argument
from fairdsl.cli.printing import Printer, printer_option
from fairdsl.cli.progress import watching
from fairdsl.clock import unbroken

__all__ = ["command"]

#: Exit codes of verdicts (``report.model.ExitCode``), which is not imported for a few words of help.
_VIOLATED, _UNKNOWN = 1, 3


@click.command(
    "search",
    epilog="Exit codes: 1 pairs are found; 3 none is found, which proves nothing; 2 errors in the spec or the command "
    "line; 130 interrupted, 143 terminated, and what was found is written.",
)
@spec_argument
@click.option("--property", "property", metavar="NAME", help="The property, where the spec has several about pairs.")
@model_option
@click.option("--count", type=click.IntRange(min=1), metavar="N", help="How many pairs to find.  [default: 1000]")
@click.option("--saturate", is_flag=True, help="Go on until nothing new is found.")
@run_option("timeout", help="Time limit in seconds.")
@run_option("seed")
@click.option(
    "--strategy", metavar="NAME", help="How to search; see docs/search.md.  [default: portfolio; near rows outward]"
)
@click.option(
    "--near",
    metavar="FILE.csv|NAME",
    help="Begin with these rows and stay near to them: a CSV file, or a distribution of the spec that has rows.",
)
@data_option
@click.option("--severity", is_flag=True, help="Columns for how severe each pair is: its score gap and its bits.")
@click.option(
    "--rank",
    type=click.Choice(["bits", "gap", "distance"]),
    help="Order the pairs that are found.  [default: as they are found; near rows by distance]",
)
@click.option(
    "--representatives",
    type=click.IntRange(min=1),
    default=None,
    metavar="K",
    help="Choose K pairs that stand for the others, each with its part of the domain.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False),
    metavar="FILE.csv",
    help="Where to write the pairs (.csv or .parquet); a file that exists is replaced.",
)
@printer_option
@click.pass_context
def command(
    ctx: click.Context,
    /,
    spec: str,
    printer: Printer,
    models: Mapping[str, str],
    count: int | None,
    saturate: bool,
    representatives: int | None,
    **options: Any,
) -> None:
    """Find many pairs that violate a property of SPEC.

    Each pair is replayed on the model, and each is counted once. Nothing is proved by what is not found: that is
    what `fairdsl check` is for.
    """
    if saturate and count is not None:
        raise click.UsageError(
            "`--saturate` finds as many as there are and `--count` so many; leave out one of the two"
        )
    if options["rank"] == "distance" and options["near"] is None:
        raise click.UsageError("`--rank distance` needs rows to be near to; add `--near FILE.csv`")
    wanted = None if saturate else count or 1000
    # Signals end the work inside, so that whatever it leaves is written.
    with unbroken():
        with printer.failing(ctx), watching() as observer:
            found = fairdsl.search(
                spec, models=models, count=wanted, representatives=representatives or 0, observer=observer, **options
            )
        printer.show(found, print_found)
        if found.ending.value == "interrupted":
            ctx.exit(interrupted())
        ctx.exit(_VIOLATED if found.count else _UNKNOWN)
