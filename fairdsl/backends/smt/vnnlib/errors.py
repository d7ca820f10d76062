"""What VNN-LIB files say that cannot be solved: each mistake with its place."""

from __future__ import annotations

from fairdsl.diagnostics import Diagnostic, Label
from fairdsl.source import Span


def not_vnnlib(path: str, what: str, place: Span | None, instead: str) -> Diagnostic:
    """A file, or a part of it, that is not VNN-LIB as it is read here."""
    return Diagnostic(
        code="E0624",
        title=f"`{path}` cannot be read as a VNN-LIB query",
        primary=None if place is None else Label(place, what),
        notes=() if place is not None else (what,),
        why="`unsat` of what was understood in part would look like a proof",
        help=instead,
    )
