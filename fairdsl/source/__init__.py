"""Source files and the places in them that diagnostics point at. Imports nothing of ours."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field

__all__ = ["Anchor", "MovingSpan", "Position", "SourceFile", "Span"]

_LINE_END = re.compile("\n")


@dataclass(frozen=True, slots=True, order=True)
class Position:
    """A place as an editor shows it: line and column, both counted from 1."""

    line: int
    column: int


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A text, the path under which the user named it, and the digest of its bytes where it is a file.

    Files are the same by their path: of one that a document names, no more than some lines is known.
    """

    path: str
    text: str = field(repr=False, compare=False)
    sha256: str = field(repr=False, compare=False, default="")
    _line_starts: tuple[int, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        starts = [0, *(found.end() for found in _LINE_END.finditer(self.text))]
        object.__setattr__(self, "_line_starts", tuple(starts))

    def position(self, offset: int) -> Position:
        """Line and column of a character offset; offsets past the end fall on the last character."""
        offset = max(0, min(offset, len(self.text)))
        line = bisect_right(self._line_starts, offset)
        return Position(line, offset - self._line_starts[line - 1] + 1)

    def line(self, number: int) -> str:
        """The text of a line (counted from 1) without its line break."""
        start = self._line_starts[number - 1]
        end = self._line_starts[number] - 1 if number < len(self._line_starts) else len(self.text)
        return self.text[start:end].rstrip("\r")


@dataclass(frozen=True, slots=True)
class Span:
    """The characters ``start`` (included) to ``end`` (excluded) of a file."""

    file: SourceFile
    start: int
    end: int

    @property
    def text(self) -> str:
        """The characters themselves."""
        return self.file.text[self.start : self.end]

    @property
    def first(self) -> Position:
        """Where the span begins."""
        return self.file.position(self.start)

    @property
    def last(self) -> Position:
        """Where the span ends: the position just behind its last character."""
        return self.file.position(self.end)

    def part(self, start: int, end: int) -> Span:
        """The span between two offsets of its file."""
        return Span(self.file, start, end)

    def to(self, other: Span) -> Span:
        """The span from the beginning of this one to the end of ``other`` (same file)."""
        return self.part(self.start, other.end)

    def __eq__(self, other: object) -> bool:
        """Whether both are the same characters of the same file, whatever kind of span says so."""
        if not isinstance(other, Span):
            return NotImplemented
        return self.start == other.start and self.end == other.end and self.file == other.file

    def __hash__(self) -> int:
        return hash((self.file, self.start, self.end))


@dataclass(slots=True)
class Anchor:
    """Where a part of a text begins in its file; an edit before it moves it, and all places in it."""

    file: SourceFile
    start: int


class MovingSpan(Span):
    """Characters of a part of a text, which has a place in one version of the file at a time.

    An editor keeps what it knows of a declaration that was not edited. Its places are moved by setting the anchor, so
    no span of an earlier version may be used, or be a key, beyond the next edit.
    """

    __slots__ = ("_anchor", "_length", "_offset")
    _anchor: Anchor
    _offset: int
    _length: int

    def __init__(self, anchor: Anchor, offset: int, length: int) -> None:
        """``offset`` counts from the anchor."""
        object.__setattr__(self, "_anchor", anchor)
        object.__setattr__(self, "_offset", offset)
        object.__setattr__(self, "_length", length)

    @property
    def file(self) -> SourceFile:
        """The file as it is now."""
        return self._anchor.file

    @property
    def start(self) -> int:
        """Where it begins now."""
        return self._anchor.start + self._offset

    @property
    def end(self) -> int:
        """Where it ends now."""
        return self._anchor.start + self._offset + self._length

    def part(self, start: int, end: int) -> Span:
        """The span between two offsets, which moves as this one does."""
        return MovingSpan(self._anchor, start - self._anchor.start, end - start)
