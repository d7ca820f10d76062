"""What stands in the way of planting a discriminator: one constructor a code."""

from __future__ import annotations

from fairdsl.diagnostics import Diagnostic, Label
from fairdsl.source import Span


def nothing_to_plant(title: str, reason: str, help_text: str, span: Span | None = None) -> Diagnostic:
    """E0595: a spec that can detect nothing, or a model in which nothing can be planted."""
    return Diagnostic(
        code="E0595",
        title=title,
        primary=Label(span, reason) if span else None,
        notes=() if span else (reason,),
        why="how sensitive a spec is shows where a discriminator that is known to be there breaks what held before",
        help=help_text,
    )
