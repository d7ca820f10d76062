"""Source files and the places in them that diagnostics point at. Imports nothing of ours."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field

__all__ = ["Position", "SourceFile", "Span"]


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
        starts = [0, *(i + 1 for i, character in enumerate(self.text) if character == "\n")]
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

    def to(self, other: Span) -> Span:
        """The span from the beginning of this one to the end of ``other`` (same file)."""
        return Span(self.file, self.start, other.end)
