"""``--report FILE`` and ``--card FILE``: what a run came to, in files of any format."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click

from fairdsl.clock import unbroken
from fairdsl.report.card import MARKERS, card_in
from fairdsl.report.formats import endings, format_of, written_as
from fairdsl.report.model import Report
from fairdsl.source.reading import content_of
from fairdsl.source.writing import write_file

_Command = TypeVar("_Command", bound=Callable[..., Any])


def _files(_: click.Context, __: click.Parameter, paths: tuple[str, ...]) -> tuple[str, ...]:
    """Files whose names end in a format, before anything is run."""
    for path in paths:
        if format_of(path) is None:
            raise click.BadParameter(f"`{path}` ends like no format of reports; {endings()}")
    return paths


def _card(_: click.Context, __: click.Parameter, path: str | None) -> str | None:
    """A file that has a place for the report."""
    if path is not None and card_in(_text(path), "") is None:
        begin, end = MARKERS
        raise click.BadParameter(f"`{path}` has no place for the report; write `{begin}` and `{end}` on lines of it")
    return path


def _text(path: str) -> str:
    return content_of(path).decode("utf-8", "replace")


def report_options(*names: str) -> Callable[[_Command], _Command]:
    """The options by which a command writes reports; the files go by ``reports``, the card by ``card``."""

    def with_options(command: _Command) -> _Command:
        files = click.option(
            *names,
            "reports",
            multiple=True,
            metavar="FILE",
            callback=_files,
            help="Write a report: .html, .md, .sarif, .xml, .json, .txt.",
        )
        card = click.option(
            "--card",
            metavar="FILE.md",
            type=click.Path(exists=True, dir_okay=False),
            callback=_card,
            hidden=names == ("--report",),  # an everyday run has no card
            help=f"Put the report into a Markdown file, between `{MARKERS[0]}` and `{MARKERS[1]}`.",
        )
        return files(card(command))

    return with_options


def write_reports(report: Report, files: Sequence[str], card: str | None) -> None:
    """Every file whole, whatever signals come meanwhile."""
    with unbroken():
        for path in files:
            write_file(path, written_as(report, path))
        if card is not None:
            text = card_in(_text(card), report.rendered("markdown"))
            assert text is not None, "it was looked at before the run"
            write_file(card, text)
