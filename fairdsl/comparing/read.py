"""Reports read back from their files, whole."""

from __future__ import annotations

from pathlib import Path

from fairdsl.codec import MisfitError
from fairdsl.comparing import errors
from fairdsl.diagnostics import DiagnosticError
from fairdsl.report.model import Report

__all__ = ["read_report"]


def read_report(path: str) -> Report:
    """The report in a file; DiagnosticError where it is none, is damaged, or follows another schema."""
    try:
        return Report.from_json(Path(path).read_bytes())
    except OSError as error:
        raise DiagnosticError(errors.unreadable_report(path, error.strerror or str(error))) from error
    except MisfitError as misfit:
        raise DiagnosticError(errors.unreadable_report(path, str(misfit))) from misfit
