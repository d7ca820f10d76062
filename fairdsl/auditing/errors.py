"""What stands in the way of an audit of predictions: one constructor a code."""

from __future__ import annotations

from fairdsl.diagnostics import Diagnostic


def not_audited(title: str, reason: str, help_text: str) -> Diagnostic:
    """E0681: predictions, labels or groups of which it is not clear what they mean."""
    return Diagnostic(
        code="E0681",
        title=title,
        notes=(reason,),
        why="a rate counts favourable decisions about people of a group; what is unclear would be counted as something",
        help=help_text,
    )
