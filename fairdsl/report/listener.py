"""Those who hear of a run's verdicts as they come."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from fairdsl.diagnostics import Diagnostic
from fairdsl.report.model import PropertyReport, Report


class Listener(Protocol):
    """Hears of each property when all its demands have their verdicts; the terminal's printer is one."""

    def begun(self, report: Report, properties: Sequence[str]) -> None:
        """All files are read: ``report`` names them and has no verdict yet; these properties will have one."""

    def answered(self, item: PropertyReport, findings: Sequence[Diagnostic]) -> None:
        """A property with all its verdicts, and what is to be said about the spec because of them."""


class Deaf:
    """A listener that waits for the report."""

    def begun(self, report: Report, properties: Sequence[str]) -> None:
        """Ignore it."""

    def answered(self, item: PropertyReport, findings: Sequence[Diagnostic]) -> None:
        """Ignore it."""
