"""Excerpts of the source with labels under them, in the manner of rustc.

::

     14 | protected  sex, marital_status
        |                 ^^^^^^^^^^^^^^ not declared
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from fairdsl.diagnostics.model import Label
from fairdsl.diagnostics.style import Paint, Style, columns, display_width, wrap
from fairdsl.source import SourceFile, Span

#: Marks that would lie beyond the right edge are shown this far from the left one.
_CONTEXT = 12
#: Fewer columns than these are not worth wrapping a label's text into.
_NARROWEST = 24


@dataclass(frozen=True, slots=True)
class Gutter:
    """The column of line numbers, ``width`` wide."""

    width: int
    style: Style

    @classmethod
    def of(cls, spans: Iterable[Span], style: Style) -> Gutter:
        """Wide enough for the line numbers of the spans."""
        numbers = [span.last.line for span in spans]
        return cls(max(3, len(str(max(numbers, default=1))) + 1), style)

    def _paint(self, text: str) -> str:
        return self.style.paint(text, Paint.GUTTER)

    def arrow(self, arrow: str, place: str) -> str:
        """``--> file:line:column``."""
        return self._paint(" " * self.width + arrow) + " " + place

    def numbered(self, number: int, text: str) -> str:
        """A line of the source."""
        return (self._paint(f"{number:>{self.width}} |") + " " + text).rstrip()

    def plain(self, text: str = "") -> str:
        """A line under one of the source."""
        return (self._paint(" " * self.width + " |") + " " + text).rstrip()

    def elided(self) -> str:
        """Lines left out."""
        return self._paint(f"{'...':>{self.width}}")

    def note(self, key: str, text: str) -> str:
        """``= key: text``."""
        lead = self._paint(" " * self.width + " =") + " "
        return lead + (self.style.paint(f"{key}:", Paint.BOLD) + " " if key else "") + text


@dataclass(frozen=True, slots=True)
class Mark:
    """A label on one line: the columns it covers, counted from 0."""

    start: int
    end: int
    paint: Paint
    sign: str
    text: str = ""


@dataclass(slots=True)
class _Row:
    """A row of characters, each with its colour."""

    cells: list[tuple[str, Paint]] = field(default_factory=list)

    def put(self, column: int, text: str, paint: Paint) -> None:
        """Write over what is there."""
        letters = columns(text)
        missing = column + len(letters) - len(self.cells)
        self.cells.extend([(" ", Paint.PLAIN)] * missing)
        for offset, letter in enumerate(letters):
            self.cells[column + offset] = (letter, paint)

    def text(self, style: Style) -> str:
        """The row with as few colour codes as possible."""
        written: list[str] = []
        run, current = "", Paint.PLAIN
        for letter, paint in self.cells:
            if paint is not current:
                written.append(style.paint(run, current))
                run, current = "", paint
            run += letter
        written.append(style.paint(run, current))
        return "".join(written)


def excerpt(labels: Sequence[tuple[Label, Paint, str]], gutter: Gutter, file: SourceFile) -> Iterator[str]:
    """The lines of ``file`` that the labels (each with colour and sign) stand on, and the labels."""
    by_line: dict[int, list[Mark]] = {}
    for label, paint, sign in labels:
        for line, mark in _marks(label, paint, sign, gutter.style):
            by_line.setdefault(line, []).append(mark)
    previous: int | None = None
    for line in sorted(by_line):
        if previous is not None and line == previous + 2:
            yield gutter.numbered(line - 1, source_line(file, line - 1, gutter.style))
        elif previous is not None and line > previous + 2:
            yield gutter.elided()
        yield from _annotated(line, by_line[line], gutter, file)
        previous = line


def source_line(file: SourceFile, number: int, style: Style) -> str:
    """A line as it is written on the terminal."""
    return style.shown(file.line(number))


def _marks(label: Label, paint: Paint, sign: str, style: Style) -> Iterator[tuple[int, Mark]]:
    """One mark for a span within a line; one on its first and one on its last line otherwise."""
    file, first, last = label.span.file, label.span.first, label.span.last
    text = style.shown(label.text)
    if last.column == 1 and last.line > first.line:
        # The span ends with a line break: it is the line before that it covers.
        last = replace(last, line=last.line - 1, column=len(file.line(last.line - 1)) + 1)

    def column(line: int, upto: int) -> int:
        return display_width(style.shown(file.line(line)[: upto - 1]))

    if first.line == last.line:
        start, end = column(first.line, first.column), column(first.line, last.column)
        yield first.line, Mark(start, max(end, start + 1), paint, sign, text)
        return
    start, end = column(first.line, first.column), display_width(source_line(file, first.line, style))
    yield first.line, Mark(start, max(end, start + 1), paint, sign)
    closing = source_line(file, last.line, style)
    indent = len(closing) - len(closing.lstrip(" "))
    end = column(last.line, last.column)
    yield last.line, Mark(min(indent, end - 1), end, paint, sign, text)


def _annotated(line: int, marks: Sequence[Mark], gutter: Gutter, file: SourceFile) -> Iterator[str]:
    """A line of the source, its underlines, and the texts that do not fit beside them."""
    text = source_line(file, line, gutter.style)
    width = gutter.style.width - gutter.width - 3
    text, marks = _cropped(text, marks, width)
    yield gutter.numbered(line, text)
    underline = _Row()
    for mark in sorted(marks, key=lambda mark: mark.sign == "^"):
        underline.put(mark.start, mark.sign * (mark.end - mark.start), mark.paint)
    beside, below = _placed(marks, width)
    rows = [underline]
    if beside is not None:
        first, *more = _wrapped(beside.text, width - beside.end - 1)
        underline.put(beside.end + 1, first, beside.paint)
        rows += _continued(more, beside.end + 1, beside.paint, below)
    rows += _hanging(below, width)
    yield from (gutter.plain(row.text(gutter.style)) for row in rows)


def _wrapped(text: str, width: int) -> list[str]:
    """The text in lines of that width; in one where there is too little room for sense."""
    return list(wrap(text, width)) if width >= _NARROWEST else [text]


def _continued(lines: Sequence[str], column: int, paint: Paint, pending: Sequence[Mark]) -> Iterator[_Row]:
    """The later lines of a text, and the bars of the marks whose texts are still to come."""
    for line in lines:
        row = _bars(pending)
        row.put(column, line, paint)
        yield row


def _placed(marks: Sequence[Mark], width: int) -> tuple[Mark | None, list[Mark]]:
    """The mark whose text fits beside its underline, and those whose texts hang below, right to left."""
    telling = sorted((mark for mark in marks if mark.text), key=lambda mark: (mark.start, mark.sign), reverse=True)
    if not telling or telling[0].end < max(mark.end for mark in marks):
        return None, telling
    room = width - telling[0].end - 1
    fits = room >= min(_NARROWEST, display_width(telling[0].text))
    return (telling[0], telling[1:]) if fits else (None, telling)


def _hanging(marks: Sequence[Mark], width: int) -> Iterator[_Row]:
    """Texts under their marks, the rightmost first, tied to them by bars."""
    if marks:
        yield _bars(marks)
    for index, mark in enumerate(marks):
        pending = [other for other in marks[index + 1 :] if other.start < mark.start]
        yield from _continued(_wrapped(mark.text, width - mark.start), mark.start, mark.paint, pending)


def _bars(marks: Sequence[Mark]) -> _Row:
    row = _Row()
    for mark in marks:
        row.put(mark.start, "|", mark.paint)
    return row


def _cropped(text: str, marks: Sequence[Mark], width: int) -> tuple[str, Sequence[Mark]]:
    """The part of a long line in which the marks lie; ``...`` where something is left out."""
    letters = columns(text)
    if len(letters) <= width or width < 4 * _CONTEXT:
        return text, marks
    left = 0
    if max(mark.end for mark in marks) > width - 3:
        first, last = min(mark.start for mark in marks), max(mark.end for mark in marks)
        left = max(0, min(first - _CONTEXT, last - width + _NARROWEST))
    letters = letters[left:]
    if left:
        letters[:3] = "..."
    if len(letters) > width:
        letters[width - 3 :] = "..."
    moved = [replace(mark, start=min(mark.start - left, width - 1), end=min(mark.end - left, width)) for mark in marks]
    return "".join(letters), moved
