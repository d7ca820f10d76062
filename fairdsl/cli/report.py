"""``fairdsl report``: a report that was written as JSON, in another format."""

from __future__ import annotations

from collections.abc import Mapping

import click

import fairdsl
from fairdsl.cli.guard import write_whole
from fairdsl.cli.report_files import report_options, write_reports
from fairdsl.report.formats import FORMATS


def _facts(_: click.Context, __: click.Parameter, given: tuple[str, ...]) -> dict[str, str]:
    """Texts by their names."""
    parts = [each.partition("=") for each in given]
    for name, sign, text in parts:
        if not (sign and text.strip()):
            raise click.BadParameter(f"`{name}` says nothing; write `--state {name}=TEXT`")
    return {name: text.strip() for name, _, text in parts}


@click.command("report", epilog="Exit codes: 0 written; 2 a file that is not a report (docs/reports.md).")
@click.argument("report", type=click.Path(exists=True, dir_okay=False))
@report_options("-o", "--output")
@click.option(
    "--format",
    "name",
    type=click.Choice(tuple(FORMATS)),
    help="What is printed where no file is named.  [default: text]",
)
@click.option(
    "--state",
    "facts",
    multiple=True,
    metavar="NAME=TEXT",
    callback=_facts,
    help="State what no report has, for `--format ll144`: tool, audited, distributed, data, left_out.",
)
def command(
    report: str, reports: tuple[str, ...], card: str | None, name: str | None, facts: Mapping[str, str]
) -> None:
    """Write a report in another format: as a page, for a pull request, for code scanning.

    REPORT is a file that `fairdsl check SPEC --json` or `--report FILE.json` wrote.
    """
    found = fairdsl.read_report(report)
    write_reports(found, reports, card)
    if name is not None or not (reports or card):
        try:
            text = found.rendered(name or "text", facts)
        except ValueError as problem:
            raise click.UsageError(str(problem)) from problem
        write_whole(text)
