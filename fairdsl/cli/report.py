"""``fairdsl report``: a report that was written as JSON, in another format."""

from __future__ import annotations

import click

import fairdsl
from fairdsl.cli.guard import write_whole
from fairdsl.cli.report_files import report_options, write_reports
from fairdsl.report.formats import FORMATS

__all__ = ["command"]


@click.command("report", epilog="Exit codes: 0 written; 2 a file that is no report (docs/reports.md).")
@click.argument("report", type=click.Path(exists=True, dir_okay=False))
@report_options("-o", "--output")
@click.option(
    "--format",
    "name",
    type=click.Choice(tuple(FORMATS)),
    help="What is printed where no file is named.  [default: text]",
)
def command(report: str, reports: tuple[str, ...], card: str | None, name: str | None) -> None:
    """Write a report in another format: as a page, for a pull request, for code scanning.

    REPORT is a file that `fairdsl check SPEC --json` or `--report FILE.json` wrote.
    """
    found = fairdsl.read_report(report)
    write_reports(found, reports, card)
    if name is not None or not (reports or card):
        write_whole(found.rendered(name or "text"))
