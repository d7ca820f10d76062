"""What commands say that come to findings alone: ``lint``, and whatever ended before it came to anything."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from fairdsl.codec import Document
from fairdsl.diagnostics import Diagnostic
from fairdsl.ir.agreement import Agreement
from fairdsl.report.listed import Listed
from fairdsl.report.stopped import Stopped


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure(Document):
    """What a command says as JSON that could not do what was asked for: why, and who ended it if somebody did."""

    SCHEMA: ClassVar[str] = "fairdsl.failure/1"

    #: The mistakes that ended it.
    diagnostics: tuple[Diagnostic, ...] = ()
    #: Who ended it, where it was not a mistake.
    ended: Stopped | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings(Document, Listed[Diagnostic]):
    """Everything that is wrong or doubtful about specs; it is the sequence of its diagnostics."""

    SCHEMA: ClassVar[str] = "fairdsl.findings/1"

    #: The paths of the specs.
    specs: tuple[str, ...]
    #: What came of holding a model against recorded decisions, where that was asked for.
    agreement: Agreement | None = None
    #: The findings, each once.
    diagnostics: tuple[Diagnostic, ...] = ()

    @property
    def listed(self) -> tuple[Diagnostic, ...]:
        """What it lists."""
        return self.diagnostics
