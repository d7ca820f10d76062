"""Diagnostics as data: what is wrong, where, why it matters and what to write instead.

Each code has exactly one constructor function, in the ``errors.py`` of the phase that finds it; nothing
else builds a :class:`Diagnostic`, and no phase writes prose at the point of detection. Renderers live in
``diagnostics.text``; documents have them as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import Annotated, ClassVar

from fairdsl.codec import INLINE
from fairdsl.diagnostics.codes import CODES
from fairdsl.source import Span


class Severity(Enum):
    """An error stops what depends on it; a warning does not."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Label:
    """A place and a few words about it."""

    #: The place.
    span: Annotated[Span, INLINE]
    #: What is said of it.
    text: str = ""


@dataclass(frozen=True, slots=True)
class Edit:
    """A replacement that mends the place."""

    #: The place.
    span: Annotated[Span, INLINE]
    #: What to write there.
    replacement: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnostic:
    """One finding. ``title`` says what is, ``why`` why it matters to an audit, ``help`` what to write.

    Titles have at most 80 characters and no final stop, and name things in backticks as the user did. ``details`` are
    further notes, too many for people who did not ask for them: JSON has them behind the others, texts leave them out.
    """

    #: What documents have besides the fields.
    ALSO_WRITTEN: ClassVar[tuple[str, ...]] = ("severity",)

    #: The code, which has a page of its own.
    code: str
    #: What is wrong, in a line.
    title: str
    #: The place of it.
    primary: Label | None = None
    #: Other places that matter.
    secondary: tuple[Label, ...] = ()
    #: What else there is to say.
    notes: tuple[str, ...] = ()
    #: Why it matters to an audit.
    why: str | None = None
    #: What to write.
    help: str | None = None
    #: The replacement that mends it.
    fix: Edit | None = None
    #: Further notes, too many for people who did not ask for them.
    details: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.code not in CODES:
            raise ValueError(f"{self.code} is not in the registry of codes")

    @property
    def severity(self) -> Severity:
        """Codes that begin with W are warnings."""
        return Severity.WARNING if self.code.startswith("W") else Severity.ERROR


class DiagnosticError(Exception):
    """Carries diagnostics out of a phase that cannot go on."""

    def __init__(self, *diagnostics: Diagnostic) -> None:
        super().__init__("; ".join(f"{d.code}: {d.title}" for d in diagnostics))
        self.diagnostics = diagnostics

    def __str__(self) -> str:
        """Each finding on a line of its own, with what is wrong about its place and what to write, below it."""
        return "\n".join(line for finding in self.diagnostics for line in _lines(finding))


def _lines(finding: Diagnostic) -> Iterator[str]:
    yield f"{finding.code}: {finding.title}"
    if finding.primary is not None and finding.primary.text:
        yield f"    {finding.primary.text}"
    yield from (f"    {note}" for note in finding.notes)
    if finding.help:
        yield f"    help: {finding.help}"


@dataclass(slots=True)
class Reporter:
    """Collects findings: a phase reports and goes on, so that one run shows all of them."""

    diagnostics: list[Diagnostic] = field(default_factory=list)
    _known: set[Diagnostic] = field(default_factory=set, init=False, repr=False)

    def report(self, diagnostic: Diagnostic) -> None:
        """Add a finding, once."""
        if diagnostic not in self._known:
            self._known.add(diagnostic)
            self.diagnostics.append(diagnostic)

    def extend(self, diagnostics: Iterable[Diagnostic]) -> None:
        """Add several."""
        for diagnostic in diagnostics:
            self.report(diagnostic)

    @property
    def has_errors(self) -> bool:
        """Whether any finding is an error."""
        return any(d.severity is Severity.ERROR for d in self.diagnostics)

    def __iter__(self) -> Iterator[Diagnostic]:
        return iter(self.diagnostics)
