"""A file that is named, with ``--model NAME=PATH``, in place of the one that the spec names."""

from __future__ import annotations

from fairdsl.diagnostics import DiagnosticError
from fairdsl.models import errors
from fairdsl.source import Span
from fairdsl.source.reading import opened

__all__ = ["check_replacement"]


def check_replacement(path: str, model: str, span: Span) -> None:
    """See that the file at ``path`` can be opened; raises DiagnosticError (E0501), which says where it was named.

    Whoever reads the file would point at the path in the spec, at ``span``, which is not the one that is wrong.
    """
    try:
        opened(path).close()
    except OSError as problem:
        reason = problem.strerror or str(problem)
        raise DiagnosticError(errors.cannot_open(path, reason, span, replaces=model)) from problem
