"""A report in every format: as a text, in a file, in a notebook; and other results as a terminal shows them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from fairdsl.report.model import Report


class Worded(ABC):
    """A result that is shown as a terminal shows it, wherever Python prints it and in notebooks."""

    __slots__ = ()

    @abstractmethod
    def lines(self) -> Iterator[str]:
        """What the command prints, without colours and without what is found about the spec."""

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def _repr_html_(self) -> str:
        from fairdsl.report.html.markup import lines

        return lines(str(self))


class Shown:
    """What can be shown: a report."""

    __slots__ = ()

    def __str__(self) -> str:
        """What ``fairdsl check`` prints: its warnings, and the verdicts."""
        from fairdsl.diagnostics.text import render

        warnings = render(cast("Report", self).diagnostics, closing=False)
        return "\n".join(filter(None, (warnings, self.rendered())))

    def __repr__(self) -> str:
        """One line: of which spec, and what the properties come to."""
        from fairdsl.report.layout import outline_of

        report = cast("Report", self)
        return f"<{type(self).__name__} of {report.spec.path}: {outline_of(report).in_short}>"

    def rendered(self, format: str = "text", facts: Mapping[str, str] | None = None) -> str:  # noqa: A002 - the word
        """The report as ``fairdsl check`` prints it, or in another format, such as ``html`` or ``ll144``.

        docs/reports.md lists them. ``facts`` are what no report has and a format has a place for, such as the date of
        an audit. ValueError for others, and where the format needs properties that the report has not.
        """
        from fairdsl.report.formats import FORMATS

        return FORMATS[format].render(cast("Report", self), facts)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the report into a file, in the format that its name ends in. ValueError where that is none."""
        from fairdsl.report.formats import written_as
        from fairdsl.source.writing import write_file

        write_file(fspath(path), written_as(cast("Report", self), fspath(path)))

    def plot(
        self,
        kind: str = "groups",
        *,
        property: str | None = None,  # noqa: A002 - the word of the language
        path: str | PathLike[str] | None = None,
    ) -> Any:
        """A picture of its ``groups``, ``shares``, ``influences`` or ``regions``, or of the ``course`` of the shares.

        It is a figure of Matplotlib, of all properties or of one; with ``path`` it is written as .svg, .png or .pdf,
        too. ``course``, how much was undecided when, is known of runs that are not read from a file. ValueError for
        another kind or property, or where there is nothing of the kind; ImportError without Matplotlib.
        """
        from fairdsl.report.plots import plotted

        return plotted(cast("Report", self), kind, property, None if path is None else fspath(path))

    def _repr_html_(self) -> str:
        """What notebooks show."""
        from fairdsl.report.html.page import excerpt
        from fairdsl.report.layout import sheet_of

        return excerpt(sheet_of(cast("Report", self)))
