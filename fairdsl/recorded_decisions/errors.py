"""What recorded decisions show about a model: one constructor a code."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from fairdsl.diagnostics import Diagnostic, Label
from fairdsl.diagnostics.wording import listed, short_path
from fairdsl.ir.declaration import Recorded
from fairdsl.ir.domain import show_number
from fairdsl.source import Span


def does_not_agree(model: str, counted: str, asked: Fraction, rows: Sequence[str], span: Span) -> Diagnostic:
    """E0554: fewer rows agree than the clause asks for, beyond what ties explain."""
    return Diagnostic(
        code="E0554",
        title=f"`{model}` does not decide as was recorded",
        primary=Label(span, f"{_percent(asked)} of the rows have to agree"),
        notes=(f"agrees on {counted}", *rows),
        why="then the spec reads the file in another way than those who deployed it, or it is another file",
        help="compare `fairdsl explain` with the training program: order of inputs, codes of categories, units, and "
        "which label represents which outcome",
    )


def not_decisions(
    recorded: Recorded, model: str, reason: str, cells: Sequence[str], row: int, help_text: str, span: Span
) -> Diagnostic:
    """E0555: cells that are neither outcomes of the model, nor labels of its file, nor numbers that it gives.

    ``row``: the first one that has such a cell, counted from 1 below the header.
    """
    return Diagnostic(
        code="E0555",
        title=f"`{recorded.column[:30]}` of `{short_path(recorded.path)}` cannot be read as decisions",
        primary=Label(span, f"{listed(cells, 4)}: {reason}"),
        notes=(f"first in row {row:,}",),
        why=f"a cell that is guessed could make `{model}` agree with decisions that it never made",
        help=help_text,
    )


def another_binding(model: str, better: str, span: Span) -> Diagnostic:
    """W0813: with inputs, codes or outcomes exchanged, clearly more rows would agree."""
    return Diagnostic(
        code="W0813",
        title=f"another binding of `{model}` agrees better with what was recorded",
        primary=Label(span, "compared with recorded decisions"),
        notes=(better,),
        why="it is the usual trace of inputs, codes or labels that the spec has in another order than the file",
        help="compare the order of inputs, codes and labels with the training program, and write it as it is there",
    )


def _percent(share: Fraction) -> str:
    return f"{show_number(100 * share)}%"
