"""What cannot be used of what a Python caller gave: one constructor a code."""

from __future__ import annotations

from fairdsl.diagnostics import Diagnostic

__all__ = ["not_a_table"]


def not_a_table(what: str, reason: str, help_text: str) -> Diagnostic:
    """E0680: rows, or values, in a form that nobody reads."""
    return Diagnostic(
        code="E0680",
        title=f"{what} cannot be read as a table",
        notes=(reason,),
        why="a value that was read in another way than it was meant would be audited as somebody else's",
        help=help_text,
    )
