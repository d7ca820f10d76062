"""Parquet files as tables of cells.

A float is the shortest decimal that is read back as it, in its own type: float32 holds ``0.1`` as 0.100000001490116,
and whoever wrote it meant 0.1. A column that is read ``as_stored`` keeps the binary number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from io import BytesIO
from typing import Any

import numpy as np

from fairdsl.data import errors
from fairdsl.data.written import decimal_text
from fairdsl.diagnostics import DiagnosticError
from fairdsl.source import SourceFile, Span


@dataclass(frozen=True, slots=True, kw_only=True)
class ParquetRecords:
    """A table of pyarrow, read column by column."""

    source: SourceFile
    header: tuple[str, ...]
    table: Any

    @property
    def count(self) -> int:
        """How many rows there are."""
        return int(self.table.num_rows)

    def cells(self, column: int, *, as_stored: bool = False) -> list[str]:
        """All cells of a column as texts; an empty one where there is no value."""
        found = self.table.column(column)
        if str(found.type).startswith("dictionary"):
            found = found.cast(found.type.value_type)
        kind = str(found.type)
        if kind in ("float", "double", "halffloat"):
            return _floats(found, as_stored=as_stored)
        if kind.startswith(("int", "uint", "bool", "string", "large_string", "decimal")):
            return ["" if value is None else _text(value) for value in found.to_pylist()]
        reason = f"its column `{self.header[column]}` holds values of the type `{kind}`"
        raise DiagnosticError(errors.file_not_read(self.source.path, reason, None, "write numbers, texts or booleans"))

    def header_span(self) -> Span:
        """A place that shows the names of the columns."""
        return _shown(self.source, 0, self.header)

    def row_span(self, row: int) -> Span:
        """A place that shows a row; its line is the row's number, with the header as the first line."""
        cells = [self.cells(place) for place in range(len(self.header))]
        return _shown(self.source, row + 1, [column[row] for column in cells])

    def cell_span(self, row: int, column: int) -> Span:
        """A place that shows a cell."""
        return _shown(self.source, row + 1, [self.cells(column)[row]])


def read_parquet(path: str, content: bytes, digest: str) -> ParquetRecords:
    """The table in a file; raises DiagnosticError (E0530)."""
    failed = partial(errors.file_not_read, path, span=None)
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as problem:
        help_text = "install it with `pip install fairdsl[parquet]`, or save the table as CSV"
        reason = "Parquet files need the library pyarrow, which is not installed"
        raise DiagnosticError(failed(reason=reason, help_text=help_text)) from problem
    try:
        table = parquet.read_table(BytesIO(content))
    except (pyarrow.ArrowException, OSError, ValueError) as problem:
        said = str(problem).strip().splitlines()[0][:160]
        raise DiagnosticError(
            failed(reason=f"it is not a Parquet file: {said}", help_text="save it again")
        ) from problem
    if not table.num_rows:
        raise DiagnosticError(failed(reason="it has no rows", help_text="each row is an individual"))
    names = tuple(str(name) for name in table.column_names)
    return ParquetRecords(source=SourceFile(path, "", digest), header=names, table=table)


def _floats(column: Any, *, as_stored: bool) -> list[str]:
    values = column.to_numpy(zero_copy_only=False) if hasattr(column, "chunks") else np.asarray(column)
    present = np.asarray(column.is_valid())
    numbers, place = np.unique(values, return_inverse=True)
    texts = [_stored(number) if as_stored else str(number) for number in numbers]
    found = [texts[number] for number in place.reshape(-1).tolist()]
    return found if present.all() else [text if known else "" for text, known in zip(found, present, strict=True)]


def _stored(number: Any) -> str:
    return decimal_text(Fraction(float(number))) if np.isfinite(number) else str(number)


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _shown(source: SourceFile, line: int, cells: Sequence[str]) -> Span:
    """Text that stands for a row, on its own line, since the file itself has none."""
    shown = ",".join(cells)
    return Span(SourceFile(source.path, "\n" * line + shown, source.sha256), line, line + len(shown))
