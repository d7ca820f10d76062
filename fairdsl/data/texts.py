"""One column of a data file as it is written, for whoever decides by the texts what they stand for."""

from __future__ import annotations

from dataclasses import dataclass

from fairdsl.data import errors
from fairdsl.data.cells import BLANKS
from fairdsl.data.table import open_records
from fairdsl.diagnostics import DiagnosticError
from fairdsl.source import Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Texts:
    """The cells of a column without blanks around them, one a row, and the file's digest; ``heading`` is its place."""

    cells: tuple[str, ...]
    sha256: str
    heading: Span


def read_texts(path: str, column: str) -> Texts:
    """The column of the file at ``path``; raises DiagnosticError (E0530, E0531)."""
    records = open_records(path)
    times = records.header.count(column)
    if times != 1:
        raise DiagnosticError(errors.column_not_found([column], records.header, records.header_span(), twice=times > 1))
    place = records.header.index(column)
    cells = tuple(cell.strip(BLANKS) for cell in records.cells(place))
    return Texts(cells=cells, sha256=records.source.sha256, heading=records.header_span())
