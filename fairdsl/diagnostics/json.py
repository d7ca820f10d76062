"""Diagnostics as plain dictionaries, ready for ``json.dumps``; nothing is folded."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from fairdsl.diagnostics.model import Diagnostic, Edit, Label
from fairdsl.source import Position, Span

__all__ = ["diagnostic_to_json", "diagnostics_to_json"]

JsonObject = dict[str, Any]


def diagnostics_to_json(diagnostics: Iterable[Diagnostic]) -> list[JsonObject]:
    """One object per diagnostic, in order."""
    return [diagnostic_to_json(diagnostic) for diagnostic in diagnostics]


def diagnostic_to_json(diagnostic: Diagnostic) -> JsonObject:
    """``code``, ``severity``, ``title``, and the places and texts; None where there is none."""
    return {
        "code": diagnostic.code,
        "severity": diagnostic.severity.value,
        "title": diagnostic.title,
        "why": diagnostic.why,
        "help": diagnostic.help,
        "notes": [*diagnostic.notes, *diagnostic.details],
        "primary": None if diagnostic.primary is None else _label(diagnostic.primary),
        "secondary": [_label(label) for label in diagnostic.secondary],
        "fix": None if diagnostic.fix is None else _edit(diagnostic.fix),
    }


def _label(label: Label) -> JsonObject:
    return {**_span(label.span), "text": label.text}


def _edit(edit: Edit) -> JsonObject:
    return {**_span(edit.span), "replacement": edit.replacement}


def _span(span: Span) -> JsonObject:
    return {"path": span.file.path, "start": _position(span.first), "end": _position(span.last)}


def _position(position: Position) -> JsonObject:
    return {"line": position.line, "column": position.column}
