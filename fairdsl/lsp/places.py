"""Places as editors count them: lines from 0, columns in units of the encoding that client and server agreed on.

Spans count characters (code points). An editor counts the units of UTF-16 unless it offers something better, so a
letter beyond the basic plane is two of them; and its lines also end with a carriage return alone.
"""

from __future__ import annotations

import re
from bisect import bisect_right

from lsprotocol import types

from fairdsl.source import Span

_LINE_END = re.compile(r"\r\n|\n|\r")
_UNITS = {
    types.PositionEncodingKind.Utf8: lambda text: len(text.encode("utf-8", "surrogatepass")),
    types.PositionEncodingKind.Utf16: lambda text: (
        len(text) if text.isascii() else len(text) + sum(character > "\uffff" for character in text)
    ),
    types.PositionEncodingKind.Utf32: len,
}


def uri_of(path: str) -> str:
    """The address of a file."""
    from pygls.uris import from_fs_path

    return from_fs_path(path) or path


class Places:
    """From offsets in a text to places of the editor and back."""

    def __init__(self, text: str, encoding: types.PositionEncodingKind | str, *, marked: bool = False) -> None:
        """``marked``: the editor's text begins with a byte order mark, which the text itself has not."""
        self._text = text
        self._units = _UNITS[types.PositionEncodingKind(encoding)]
        self._lead = self._units("\ufeff") if marked else 0
        self._starts = [0, *(found.end() for found in _LINE_END.finditer(text))]
        self._ends = [*(found.start() for found in _LINE_END.finditer(text)), len(text)]

    def position(self, offset: int) -> types.Position:
        """The place of a character; one past the end is the end of the text, one within a line end that of its line."""
        offset = max(0, min(offset, len(self._text)))
        line = bisect_right(self._starts, offset) - 1
        column = self._units(self._text[self._starts[line] : min(offset, self._ends[line])])
        return types.Position(line, column if line else column + self._lead)

    def range(self, span: Span) -> types.Range:
        """The range of a span of this text."""
        return types.Range(self.position(span.start), self.position(span.end))

    def offset(self, position: types.Position) -> int:
        """The character at a place; columns behind the end of a line are its end."""
        if position.line >= len(self._starts):
            return len(self._text)
        start, end = self._starts[position.line], self._ends[position.line]
        column = position.character - (0 if position.line else self._lead)
        low, high = start, end
        while low < high:  # the last character that begins at or before the column
            middle = (low + high + 1) // 2
            if self._units(self._text[start:middle]) <= column:
                low = middle
            else:
                high = middle - 1
        return low

    @property
    def everything(self) -> types.Range:
        """The range of the whole text."""
        return types.Range(types.Position(0, 0), self.position(len(self._text)))
