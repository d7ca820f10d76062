"""Places in source files as documents have them: path, line and column, and the lines themselves.

A place that is read back points into a file of which nothing is known but these lines; there it shows the same excerpt.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fairdsl.codec.form import JsonObject, Schemas
from fairdsl.codec.mistakes import Place
from fairdsl.codec.objects import ObjectForm
from fairdsl.source import Position, SourceFile, Span

#: Longer lines are left out, as those of files that a program wrote.
_LONGEST = 10_000
#: No source file is longer; a place beyond is a mistake.
_LARGEST = 1 << 24
_POSITION: JsonObject = {
    "type": "object",
    "required": ["line", "column", "offset"],
    "additionalProperties": False,
    "properties": {
        "line": {"type": "integer", "minimum": 1},
        "column": {"type": "integer", "minimum": 1},
        "offset": {"description": "Characters before it in the file.", "type": "integer", "minimum": 0},
    },
}


class SpanForm(ObjectForm):
    """A span: ``{"path", "start", "end", "lines"}``."""

    def __init__(self) -> None:
        """All spans are written alike."""
        super().__init__(Span, (), (), tagged=False)
        self.keys = ("path", "start", "end", "lines")

    def encode(self, value: Span) -> JsonObject:
        written: JsonObject = {
            "path": value.file.path,
            "start": _position(value.first, value.start),
            "end": _position(value.last, value.end),
        }
        lines = value.file.text[_line_start(value) : _line_end(value)]
        return written | {"lines": lines} if len(lines) <= _LONGEST else written

    def decode(self, plain: Any, place: Place) -> Span:
        if not isinstance(plain, dict):
            raise place.misfit("is not an object")
        self._check_keys(plain, place)
        start, end = (_read_position(plain[name], place.at(name)) for name in ("start", "end"))
        lines = plain.get("lines", "")
        if not isinstance(plain["path"], str) or not isinstance(lines, str):
            raise place.at("path" if isinstance(lines, str) else "lines").misfit("is not text")
        (first, offset), (last, behind) = start, end
        before = offset - (first.column - 1)
        if before < first.line - 1 or behind < offset:
            raise place.at("start").misfit("is not a place in a file")
        # Of what stands before, nothing is known but how much it is, and how many lines.
        ahead = " " * (before - (first.line - 1)) + "\n" * (first.line - 1)
        text = ahead + lines
        text += " " * (behind - len(text)) if "lines" not in plain else ""
        span = Span(SourceFile(plain["path"], text), offset, behind)
        if "lines" in plain and (span.first != first or span.last != last or behind > len(text)):
            raise place.at("lines").misfit("is not the text at `start` and `end`")
        return span

    def _check_keys(self, plain: Mapping[str, Any], place: Place) -> None:
        for key in plain:
            if key not in self.keys:
                raise place.at(key).misfit("is not a key that is read here")
        for key in self.keys[:-1]:
            if key not in plain:
                raise place.at(key).misfit("is missing")

    def schema(self, schemas: Schemas) -> JsonObject:
        return schemas.refer(Span, lambda: self.object_schema(schemas))

    def object_schema(self, schemas: Schemas) -> JsonObject:
        return {
            "description": "The characters of a file from `start` on, up to the one before `end`.",
            "type": "object",
            "required": ["path", "start", "end"],
            "additionalProperties": False,
            "properties": {
                "path": {"type": "string"},
                "start": _POSITION,
                "end": _POSITION,
                "lines": {"description": "The lines that it lies in, unless they are very long.", "type": "string"},
            },
        }


def _position(position: Position, offset: int) -> JsonObject:
    return {"line": position.line, "column": position.column, "offset": offset}


def _read_position(plain: Any, place: Place) -> tuple[Position, int]:
    if not isinstance(plain, dict) or set(plain) != {"line", "column", "offset"}:
        raise place.misfit("is not an object with `line`, `column` and `offset`")
    for name, least in (("line", 1), ("column", 1), ("offset", 0)):
        number = plain[name]
        if not isinstance(number, int) or isinstance(number, bool) or not least <= number <= _LARGEST:
            raise place.at(name).misfit(f"is not a whole number from {least}")
    return Position(plain["line"], plain["column"]), plain["offset"]


def _line_start(span: Span) -> int:
    """Where its first line begins."""
    return span.start - (span.first.column - 1)


def _line_end(span: Span) -> int:
    """Where its last line ends, without the break."""
    found = span.file.text.find("\n", span.end)
    return len(span.file.text) if found < 0 else found
