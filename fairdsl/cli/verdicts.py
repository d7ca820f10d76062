"""Verdicts on standard output as they come, the same in a terminal, a pipe and the log of a build.

Properties stand in the order in which they are answered, which is a fixed rule: so a run that is killed has said what
it knew, and the same run says the same again. JSON, which is read by programs, is one document in the spec's order.
"""

from __future__ import annotations

from collections.abc import Sequence

import click

from fairdsl.cli.printing import print_findings, print_repeated
from fairdsl.cli.progress import Watcher
from fairdsl.cli.terminal import output_style
from fairdsl.diagnostics import Diagnostic, Severity
from fairdsl.diagnostics.text import repeats
from fairdsl.report.model import PropertyReport, Report
from fairdsl.report.text import Page


class Verdicts:
    """Prints a report block by block (``report.listener.Listener``), and at the end what was not printed yet.

    What is wrong with the spec goes to standard error, before what it is about; warnings that only repeat one are
    counted at the end.
    """

    def __init__(self, watcher: Watcher) -> None:
        self._watcher = watcher
        self._page: Page | None = None
        self._found: set[Diagnostic] = set()
        self._again: list[Diagnostic] = []
        self._printed: dict[str, PropertyReport] = {}

    def begun(self, report: Report, properties: Sequence[str]) -> None:
        """The findings so far, and what is audited."""
        self._page = Page(properties, output_style())
        with self._watcher.aside():
            self._find(report.diagnostics, more=True)
            click.echo(self._page.header(report), nl=False)

    def answered(self, item: PropertyReport, findings: Sequence[Diagnostic]) -> None:
        """The property, after what its verdicts say about the spec."""
        assert self._page is not None, "it has begun"
        self._printed[item.name] = item
        with self._watcher.aside():
            self._find(findings, more=True)
            click.echo("\n" + self._page.property(item), nl=False)

    def end(self, report: Report) -> None:
        """The rest: all of a report that nobody heard of before, and what became another verdict; its summary else.

        Of a run that was ended before anything was known there is nothing to print.
        """
        if report.ended is not None and not report.properties:
            return
        left = [item for item in report.properties if self._is_news(item)]
        if (
            self._page is None
            and not report.properties
            and any(one.severity is Severity.ERROR for one in report.diagnostics)
        ):
            self._find(report.diagnostics, more=False)
            return
        if self._page is None:
            self.begun(report, [item.name for item in report.properties])
        for item in left:
            self.answered(item, ())
        assert self._page is not None, "it has begun"
        self._find(report.diagnostics, more=True)
        print_repeated(self._again)
        click.echo("\n" + self._page.summary(report), nl=False)

    def _is_news(self, item: PropertyReport) -> bool:
        """Whether it was not printed, or with other verdicts: proofs may show more than was found."""
        printed = self._printed.get(item.name)
        return printed is None or any(
            one.verdict != other.verdict for one, other in zip(printed.demands, item.demands, strict=True)
        )

    def _find(self, findings: Sequence[Diagnostic], *, more: bool) -> None:
        """Print the findings that are new, with a blank line where ``more`` follows; those that repeat one wait."""
        new = [finding for finding in findings if finding not in self._found]
        told = [finding for finding in new if not repeats(finding, self._found)]
        self._again += [finding for finding in new if repeats(finding, self._found)]
        self._found.update(new)
        print_findings(told, more=more)
