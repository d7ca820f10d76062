"""A file that a spec pins by its SHA-256 is this file and no other."""

from __future__ import annotations

from fairdsl.diagnostics import DiagnosticError
from fairdsl.ir.declaration import FileSource
from fairdsl.models import errors

__all__ = ["check_pinned"]


def check_pinned(source: FileSource, path: str, digest: str, *, replaced: bool) -> None:
    """Raise DiagnosticError (E0507) where ``source`` pins another digest than that of the file at ``path``.

    ``replaced``: the file was named on the command line in place of the spec's.
    """
    pinned = source.sha256
    if pinned is not None and pinned.lower() != digest:
        span = source.digest_span or source.span
        raise DiagnosticError(errors.digest_differs(path, pinned, digest, span, replaced=replaced))
