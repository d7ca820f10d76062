"""Reports read back from their files, whole."""

from __future__ import annotations

from fairdsl.codec import MisfitError
from fairdsl.comparing import errors
from fairdsl.diagnostics import DiagnosticError
from fairdsl.report.model import Report
from fairdsl.source.reading import content_of


def read_report(path: str) -> Report:
    """The report in a file; DiagnosticError where it is none, is damaged, or follows another schema."""
    try:
        return Report.from_json(content_of(path))
    except OSError as error:
        raise DiagnosticError(errors.unreadable_report(path, error.strerror or str(error))) from error
    except MisfitError as misfit:
        raise DiagnosticError(errors.unreadable_report(path, str(misfit))) from misfit
