"""The front end: from a path to a checked spec."""

from __future__ import annotations

from collections.abc import Mapping

from fairdsl.diagnostics import Diagnostic, DiagnosticError, Reporter
from fairdsl.semantics.check import check_spec
from fairdsl.semantics.checked import CheckedSpec
from fairdsl.semantics.load import load, read_source

__all__ = ["front_end"]


def front_end(path: str, parameters: Mapping[str, str] | None = None) -> tuple[CheckedSpec, tuple[Diagnostic, ...]]:
    """Load and check a spec, with the numbers given for its ``parameters``, as texts, in place of its own.

    Its warnings come beside it; errors are raised together.
    """
    reporter = Reporter()
    loaded = load(read_source(path), reporter)
    spec = check_spec(loaded, reporter, parameters) if loaded is not None else None
    findings = sorted(reporter, key=lambda finding: _place(finding, path))
    if spec is None or reporter.has_errors:
        raise DiagnosticError(*findings)
    return spec, tuple(findings)


def _place(finding: Diagnostic, path: str) -> tuple[bool, str, int]:
    """The order in which a reader goes through them: the spec itself first, from top to bottom."""
    if finding.primary is None:
        return (False, "", 0)
    span = finding.primary.span
    return (span.file.path != path, span.file.path, span.start)
