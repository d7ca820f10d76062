"""Diagnostics for programs."""

from __future__ import annotations

import json

from fairdsl.diagnostics import Diagnostic, Edit, Label
from fairdsl.diagnostics.json import diagnostic_to_json, diagnostics_to_json
from fairdsl.source import SourceFile, Span

FILE = SourceFile("x.fair", "protected sxe\nnext\n")


def test_every_field() -> None:
    place = Span(FILE, 10, 13)
    diagnostic = Diagnostic(
        code="E0203",
        title="`sxe` is not declared",
        primary=Label(place, "not declared"),
        secondary=(Label(Span(FILE, 0, 14), "among these"),),
        notes=("one", "two"),
        why="because",
        help="write `sex`",
        fix=Edit(place, "sex"),
    )
    written = diagnostic_to_json(diagnostic)
    here = {"path": "x.fair", "start": {"line": 1, "column": 11}, "end": {"line": 1, "column": 14}}
    line = {"path": "x.fair", "start": {"line": 1, "column": 1}, "end": {"line": 2, "column": 1}}
    assert written == {
        "code": "E0203",
        "severity": "error",
        "title": "`sxe` is not declared",
        "why": "because",
        "help": "write `sex`",
        "notes": ["one", "two"],
        "primary": {**here, "text": "not declared"},
        "secondary": [{**line, "text": "among these"}],
        "fix": {**here, "replacement": "sex"},
    }
    assert json.loads(json.dumps(written)) == written


def test_absent_fields_are_null_and_nothing_is_folded() -> None:
    warnings = [Diagnostic(code="W0801", title=title) for title in ("one", "two")]
    written = diagnostics_to_json(warnings)
    assert [entry["severity"] for entry in written] == ["warning", "warning"]
    assert written[0]["primary"] is None
    assert written[0]["fix"] is None
    assert written[0]["secondary"] == []
