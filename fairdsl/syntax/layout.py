"""Lines of formatted text, filled from pieces that must not be broken, with the comments put back."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field

from fairdsl.syntax import tree

#: Lines are broken where they can be, so that they stay within this many columns.
WIDTH = 100

#: What a statement's further lines are indented by.
_FURTHER = "    "

_LIKE_DOC = re.compile(r"##(?!#)")
_BLANK_LINE_FOLLOWS = re.compile(r"[ \t\r]*\n[ \t\r]*\n")


@dataclass(frozen=True, slots=True)
class Piece:
    """A text that stays on one line; ``start`` is its place in the source, which comments are sorted by.

    When a statement does not fit on one line, it is broken before every ``hard`` piece.
    """

    text: str
    start: int
    hard: bool = False


def flat(pieces: Sequence[Piece]) -> str:
    """The pieces on one line."""
    return " ".join(piece.text for piece in pieces)


@dataclass(slots=True)
class _Line:
    """``start`` is the source offset of what the line begins with; blank lines have none."""

    text: str
    start: int | None
    comment_indent: str = ""
    above: list[tree.Comment] = field(default_factory=list)
    beside: tree.Comment | None = None


class Writer:
    """Collects lines in the order of the source; ``text`` then gives every comment its place."""

    def __init__(self, comments: Sequence[tree.Comment]) -> None:
        self._comments = comments
        self._lines: list[_Line] = []

    def blank(self) -> None:
        """A blank line, unless nothing stands above."""
        if self._lines:
            self._lines.append(_Line("", None))

    def line(self, text: str, start: int, comment_indent: str = "") -> None:
        """A line as it stands; comments above it get the indent given."""
        self._lines.append(_Line(text, start, comment_indent))

    def statement(self, indent: str, pieces: Sequence[Piece], start: int) -> None:
        """The pieces, on one line if they fit and no comment stands between; further lines are indented by four more.

        Nothing is aligned, so that another name changes no line but its own.
        """
        rows = [pieces] if self._fits(indent, pieces) else self._rows(pieces, WIDTH - len(indent) - len(_FURTHER))
        self.line(indent + flat(rows[0]), start, indent)
        for row in rows[1:]:
            self.line(indent + _FURTHER + flat(row), row[0].start, indent + _FURTHER)

    def _fits(self, indent: str, pieces: Sequence[Piece]) -> bool:
        return len(indent + flat(pieces)) <= WIDTH and not self._commented(pieces)

    def _commented(self, pieces: Sequence[Piece]) -> bool:
        return any(self._commented_between(pieces[i], pieces[i + 1]) for i in range(len(pieces) - 1))

    def _commented_between(self, first: Piece, second: Piece) -> bool:
        return any(first.start <= comment.span.start < second.start for comment in self._comments)

    def _rows(self, pieces: Sequence[Piece], width: int) -> Sequence[Sequence[Piece]]:
        rows: list[list[Piece]] = [[]]
        for piece in pieces:
            row = rows[-1]
            room = width + (len(_FURTHER) if len(rows) == 1 else 0)
            if row and (
                piece.hard or len(flat(row)) + 1 + len(piece.text) > room or self._commented_between(row[-1], piece)
            ):
                rows.append([piece])
            else:
                row.append(piece)
        return rows

    # ---- comments ------------------------------------------------------------------------------

    def text(self) -> str:
        """All lines, with the comments in their places."""
        left_over = self._attach_comments()
        written: list[str] = []
        for line in self._lines:
            for comment in line.above:
                written.append(line.comment_indent + _above(comment))
                if not line.comment_indent and _blank_line_follows(comment):
                    written.append("")
            written.append(line.text + (f"  {line.beside.text}" if line.beside else ""))
        if left_over and written:
            written.append("")
        for comment in left_over:
            written.append(_above(comment))
            if comment is not left_over[-1] and _blank_line_follows(comment):
                written.append("")
        return "\n".join(written) + "\n" if written else ""

    def _attach_comments(self) -> list[tree.Comment]:
        """Give every comment to the line above or beside which it stands; returns those behind all lines.

        A line has one comment beside it; earlier ones move above it. No comment passes another: one that
        stood beside a line follows an earlier one that has gone above a later line.
        """
        placed = [(line.start, line) for line in self._lines if line.start is not None]
        left_over: list[tree.Comment] = []
        reached = 0
        for comment in self._comments:
            begun = bisect_right(placed, comment.span.start, key=_offset)
            if not comment.own_line and begun > reached:
                start, line = placed[begun - 1]
                if line.beside:
                    # Above the doc text of a declaration, which begins where the declaration does.
                    placed[bisect_left(placed, start, key=_offset)][1].above.append(line.beside)
                line.beside = comment
                continue
            reached = max(begun, reached) if comment.own_line else reached
            (placed[reached][1].above if reached < len(placed) else left_over).append(comment)
        return left_over


def _offset(entry: tuple[int, _Line]) -> int:
    return entry[0]


def _above(comment: tree.Comment) -> str:
    """The comment on a line of its own, where two signs would make it the doc text of what follows."""
    return comment.text[1:] if _LIKE_DOC.match(comment.text) else comment.text


def _blank_line_follows(comment: tree.Comment) -> bool:
    return _BLANK_LINE_FOLLOWS.match(comment.span.file.text, comment.span.end) is not None
