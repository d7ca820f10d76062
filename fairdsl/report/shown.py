"""A report in every format: as a text, in a file, in a notebook."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike, fspath
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from fairdsl.report.model import Report

__all__ = ["Shown"]


class Shown:
    """What can be shown: a report."""

    __slots__ = ()

    def rendered(self, format: str, facts: Mapping[str, str] | None = None) -> str:  # noqa: A002 - the word
        """The report in a format, such as ``html``, ``markdown`` or ``ll144``: docs/reports.md lists them.

        ``facts`` are what no report has and a format has a place for, such as the date of an audit. ValueError for
        others, and where the format needs properties that the report has not.
        """
        from fairdsl.report.formats import FORMATS

        return FORMATS[format].render(cast("Report", self), facts)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the report into a file, in the format that its name ends in. ValueError where that is none."""
        from fairdsl.report.formats import written_as
        from fairdsl.source.writing import write_file

        write_file(fspath(path), written_as(cast("Report", self), fspath(path)))

    def _repr_html_(self) -> str:
        """What notebooks show."""
        from fairdsl.report.layout import sheet_of
        from fairdsl.report.page import excerpt

        return excerpt(sheet_of(cast("Report", self)))
