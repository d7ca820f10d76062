"""The records of a CSV text, and where in the text each cell stands.

Records and cells follow RFC 4180: separated by commas, in double quotes where they hold a comma, a quote
(doubled) or a line break. A header without a comma may be separated by semicolons, tabs or bars, and then all records
are. Blanks between a separator and quotes are not a part of a cell, blank lines are not records, and there are no
comments.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass

from fairdsl.data import errors
from fairdsl.diagnostics import DiagnosticError
from fairdsl.source import SourceFile, Span

_SEPARATORS = {";": "semicolons", "\t": "tabs", "|": "bars"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Records:
    """A header and the rows below it, all of the header's length.

    ``separator`` stands between cells. ``ends[i]`` is the number (from 1) of the line on which row i ends, and
    ``starts[i]`` of that where it begins.
    """

    source: SourceFile
    separator: str
    header: tuple[str, ...]
    header_line: int
    rows: Sequence[Sequence[str]]
    starts: Sequence[int]
    ends: Sequence[int]

    @property
    def count(self) -> int:
        """How many rows there are."""
        return len(self.rows)

    def cells(self, column: int, *, as_stored: bool = False) -> list[str]:
        """All cells of a column; what is written is what is stored."""
        return [row[column] for row in self.rows]

    def header_span(self) -> Span:
        """The place of the header."""
        return _lines(self.source, self.header_line, self.header_line)

    def row_span(self, row: int) -> Span:
        """The place of a row."""
        return _lines(self.source, self.starts[row], self.ends[row])

    def cell_span(self, row: int, column: int) -> Span:
        """The place of a cell; of an empty one, that of its row."""
        whole = self.row_span(row)
        start, end = _cell(whole.text, column, self.separator)
        return Span(self.source, whole.start + start, whole.start + end) if end > start else whole


def read_records(source: SourceFile) -> Records:
    """Split the text; raises DiagnosticError (E0530) where it is not a table with rows."""
    lines = _split(source.text)
    separator = _separator(source, lines)
    # Blanks before a cell may be a name's own (the raw table of Adult has ` Male`), and are kept unless quotes follow.
    start = rf"(^|(?<=\r)|{re.escape(separator)})"
    if re.search(rf'{start} +"', source.text, re.MULTILINE):
        quoted = rf'{start} *("(?:[^"]|"")*+"?)'
        lines = _split(re.sub(quoted, r"\1\2", source.text, flags=re.MULTILINE))
    reader = csv.reader(lines, strict=True, delimiter=separator)
    rows: list[list[str]] = []
    starts: list[int] = []
    ends: list[int] = []
    before = 0
    try:
        for row in reader:
            if row:
                rows.append(row)
                starts.append(before + 1)
                ends.append(reader.line_num)
            before = reader.line_num
    except csv.Error as problem:
        span = _lines(source, before + 1, before + 1) if before < len(lines) else None
        help_text = "write cells with quotes in double quotes, and each quote inside twice"
        raise DiagnosticError(errors.file_not_read(source.path, _named(problem), span, help_text)) from problem
    if len(rows) < 2:
        what = "there is no row below the header" if rows else "the file is empty"
        help_text = "the first line names the columns, each further one is an individual"
        raise DiagnosticError(errors.file_not_read(source.path, what, None, help_text))
    records = Records(
        source=source,
        separator=separator,
        header=tuple(name.strip() for name in rows[0]),
        header_line=ends[0],
        rows=rows[1:],
        starts=starts[1:],
        ends=ends[1:],
    )
    _check_comments(records, lines)
    _check_lengths(records)
    return records


def _separator(source: SourceFile, lines: Sequence[str]) -> str:
    """What stands between the header's cells; raises DiagnosticError (E0530) where that cannot be told."""
    header = ""
    for line in lines:
        header += line
        if header.strip() and header.count('"') % 2 == 0:
            break
    outside = "".join(header.split('"')[::2])
    found = [separator for separator in _SEPARATORS if separator in outside]
    if "," in outside or not found:
        return ","
    if len(found) > 1:
        what = " and ".join(_SEPARATORS[separator] for separator in found)
        reason = f"its header has {what} and no comma, so what separates columns is not known"
        raise DiagnosticError(errors.file_not_read(source.path, reason, None, "save it with commas between columns"))
    return found[0]


def _named(problem: csv.Error) -> str:
    """What is wrong, for whoever wrote the file."""
    said = str(problem)
    if "field limit" in said:
        return f"a cell has more than {csv.field_size_limit():,} characters, as where a quote is never closed"
    return "a quote is opened and never closed" if "unexpected end" in said else said


def _check_comments(records: Records, lines: Sequence[str]) -> None:
    """No line begins with `#`: a comment would be taken for an individual, or for the header."""
    first = [(records.header[0], records.header_line)]
    for cell, line in (*first, *((row[0], start) for row, start in zip(records.rows, records.starts, strict=True))):
        if cell.startswith("#") and lines[line - 1].lstrip().startswith("#"):
            reason = "a line that begins with `#` is a comment in some programs and a row in others"
            help_text = "remove the line, or write its first cell in double quotes if the `#` belongs to it"
            span = _lines(records.source, line, line)
            raise DiagnosticError(errors.file_not_read(records.source.path, reason, span, help_text))


def _check_lengths(records: Records) -> None:
    """Every row has as many cells as the header."""
    width = len(records.header)
    others = [number for number, row in enumerate(records.rows) if len(row) != width]
    if others:
        reason = f"{len(records.rows[others[0]])} cells here, {width} in the header"
        means = _SEPARATORS.get(records.separator, "commas")
        help_text = f"separate cells by {means} as in the header, and put those that hold one into double quotes"
        span = records.row_span(others[0])
        raise DiagnosticError(errors.file_not_read(records.source.path, reason, span, help_text, len(others) - 1))


def _split(text: str) -> list[str]:
    """The lines with their breaks; only line feeds and carriage returns break lines, as in files."""
    return list(io.StringIO(text, newline=""))


def _lines(source: SourceFile, first: int, last: int) -> Span:
    """The lines from ``first`` to ``last``, without the last one's line break."""
    lines = _split(source.text)
    start = sum(len(line) for line in lines[: first - 1])
    covered = "".join(lines[first - 1 : last])
    return Span(source, start, start + len(covered.rstrip("\r\n")))


def _cell(record: str, column: int, separator: str) -> tuple[int, int]:
    """Where in a record's text the cell of that number (from 0) stands, with its quotes."""
    start, number, quoted = 0, 0, False
    for place, character in enumerate(record):
        if character == '"':
            quoted = not quoted
        elif character == separator and not quoted:
            if number == column:
                return _without_blanks(record, start, place)
            start, number = place + 1, number + 1
    return _without_blanks(record, start, len(record))


def _without_blanks(record: str, start: int, end: int) -> tuple[int, int]:
    cell = record[start:end]
    return start + len(cell) - len(cell.lstrip()), end - len(cell) + len(cell.rstrip())
