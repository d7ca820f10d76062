"""Files that are always whole."""

from __future__ import annotations

from pathlib import Path

from fairdsl.backends.errors import cannot_write
from fairdsl.diagnostics import DiagnosticError

__all__ = ["write_whole"]


def write_whole(target: Path, text: str) -> None:
    """Replace a file in one step, so that nobody reads half of it."""
    partial = target.with_name(f".{target.name}.partial")
    try:
        partial.write_text(text, encoding="utf-8")
        partial.replace(target)
    except OSError as error:
        raise DiagnosticError(cannot_write(str(target.parent), error.strerror or str(error))) from error
