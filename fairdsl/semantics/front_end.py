"""The front end: from a path to a checked spec."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from fairdsl.diagnostics import Diagnostic, DiagnosticError, Reporter
from fairdsl.semantics.check import check_spec
from fairdsl.semantics.checked import CheckedSpec
from fairdsl.semantics.load import LoadedSpec, load, read_source
from fairdsl.semantics.remembered import Remembered


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadSpec:
    """A spec as far as it could be read.

    ``loaded`` is None where its text is no spec at all, ``checked`` where there are errors among the ``findings``,
    which are in the order in which a reader goes through them.
    """

    loaded: LoadedSpec | None
    checked: CheckedSpec | None
    findings: tuple[Diagnostic, ...]


def read_spec(path: str, parameters: Mapping[str, str] | None = None, known: Remembered | None = None) -> ReadSpec:
    """Load and check a spec; DiagnosticError where its own file cannot be opened.

    ``known`` is what was found of earlier versions of it, and is moved to where it stands now: what was read with it
    before may no longer be used.
    """
    reporter = Reporter()
    loaded = load(read_source(path), reporter, None if known is None else known.files)
    spec = check_spec(loaded, reporter, parameters, known) if loaded is not None else None
    findings = tuple(sorted(reporter, key=lambda finding: _place(finding, path)))
    return ReadSpec(loaded=loaded, checked=None if reporter.has_errors else spec, findings=findings)


def front_end(path: str, parameters: Mapping[str, str] | None = None) -> tuple[CheckedSpec, tuple[Diagnostic, ...]]:
    """Load and check a spec, with the numbers given for its ``parameters``, as texts, in place of its own.

    Its warnings come beside it; errors are raised together.
    """
    read = read_spec(path, parameters)
    if read.checked is None:
        raise DiagnosticError(*read.findings)
    return read.checked, read.findings


def _place(finding: Diagnostic, path: str) -> tuple[bool, str, int]:
    """The order in which a reader goes through them: the spec itself first, from top to bottom."""
    if finding.primary is None:
        return (False, "", 0)
    span = finding.primary.span
    return (span.file.path != path, span.file.path, span.start)
