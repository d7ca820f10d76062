"""A CSV file as individuals of a domain.

A column belongs to the attribute that names it with ``column "..."``, or to the one of its own name; other
columns are left alone. Every cell is checked against the attribute's values and every row against the
domain's ``where``: nothing is dropped, filled in or clipped. Only who asks what is *near* given rows
(:func:`read_inside`) gets those that fit, and is told how many do not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fairdsl.data import errors
from fairdsl.data.cells import cell_value, values_in_words
from fairdsl.data.text import Records, read_records
from fairdsl.diagnostics import Diagnostic, DiagnosticError
from fairdsl.ir.domain import Attribute, Domain
from fairdsl.ir.expr import TRUE, Who
from fairdsl.numerics.predicates import mask
from fairdsl.source import SourceFile

__all__ = ["Table", "TableInside", "read_inside", "read_table"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Table:
    """Individuals and, where a label was asked for, what became of them.

    ``values`` is [rows, attributes] in the order of the domain, ``labels`` is [rows]: the numbers that stand
    for the values, each the float64 nearest to what the file says. ``sha256`` is the file's.
    """

    path: str
    sha256: str
    values: FloatArray
    labels: FloatArray | None = None

    @property
    def rows(self) -> int:
        """How many individuals there are."""
        return int(self.values.shape[0])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TableInside:
    """The rows of a file that describe individuals of a domain, and how many do not.

    ``values`` is [rows, attributes]; ``numbers`` is [rows], the place of each in the file, from 1 for the row below the
    header. ``outside`` rows have a cell that is no value of its attribute, ``excluded`` ones are barred by ``where``.
    """

    path: str
    sha256: str
    values: FloatArray
    numbers: NDArray[np.int64]
    outside: int
    excluded: int


def read_inside(path: str, domain: Domain) -> TableInside:
    """The rows of the CSV file at ``path`` that lie in the domain; the others are counted, none is changed.

    For what looks *near* given people, where a table of somebody else's need not fit the domain; a count over people
    is made by :func:`read_table`. Raises DiagnosticError where there is no table, or an attribute has no one column
    (E0530, E0531).
    """
    source = _source(path)
    records = read_records(source)
    columns = [_read(attribute, place, records) for attribute, place in _attributes(domain, records)]
    values = np.array([[np.nan if cell is None else cell for cell in column] for column in columns], dtype=np.float64).T
    numbers = np.flatnonzero(~np.isnan(values).any(axis=1))
    kept = numbers[mask(domain.where, {Who.EACH: values[numbers]})]
    return TableInside(
        path=path,
        sha256=source.sha256,
        values=values[kept],
        numbers=kept + 1,
        outside=len(values) - len(numbers),
        excluded=len(numbers) - len(kept),
    )


def _attributes(domain: Domain, records: Records) -> list[tuple[Attribute, int]]:
    return list(zip(domain.attributes, _places(domain.attributes, records), strict=True))


def _read(attribute: Attribute, place: int, records: Records) -> list[float | None]:
    """The numbers of a column's cells, None for those that are no values; each distinct text is read once."""
    cells = [row[place] for row in records.rows]
    read = {text: cell_value(text, attribute) for text in dict.fromkeys(cells)}
    return [read[text] for text in cells]


def read_table(path: str, domain: Domain, label: Attribute | None = None) -> Table:
    """The individuals that the CSV file at ``path`` lists, with their ``label`` (None: without).

    Raises DiagnosticError with the first wrong cell of every column (E0530 to E0533).
    """
    source = _source(path)
    records = read_records(source)
    wanted = domain.attributes if label is None else (*domain.attributes, label)
    places = _places(wanted, records)
    columns: list[FloatArray] = []
    found: list[Diagnostic] = []
    for attribute, place in zip(wanted, places, strict=True):
        try:
            columns.append(_column(attribute, place, records))
        except DiagnosticError as problem:
            found.extend(problem.diagnostics)
    if found:
        raise DiagnosticError(*found)
    values = np.column_stack(columns[: len(domain.attributes)])
    _check_where(domain, values, records)
    return Table(path=path, sha256=source.sha256, values=values, labels=None if label is None else columns[-1])


def _source(path: str) -> SourceFile:
    try:
        content = Path(path).read_bytes()
        text = content.decode("utf-8-sig")
    except OSError as problem:
        reason = (problem.strerror or str(problem)).lower()
        help_text = "check the path; it counts from the folder where the command runs"
        raise DiagnosticError(errors.file_not_read(path, reason, None, help_text)) from problem
    except UnicodeDecodeError as problem:
        reason = f"byte {problem.start} is no UTF-8 text"
        help_text = "save the table as CSV in UTF-8"
        raise DiagnosticError(errors.file_not_read(path, reason, None, help_text)) from problem
    return SourceFile(path, text, sha256(content).hexdigest())


def _places(wanted: Sequence[Attribute], records: Records) -> list[int]:
    """The column of each attribute, counted from 0."""
    header = records.header
    keys = [_key(attribute, header) for attribute in wanted]
    missing = [key for key in keys if key not in header]
    twice = [key for key in keys if header.count(key) > 1]
    if missing:
        raise DiagnosticError(errors.column_not_found(missing, header, records.header_span()))
    if twice:
        raise DiagnosticError(errors.column_not_found(twice, header, records.header_span(), twice=True))
    return [header.index(key) for key in keys]


def _key(attribute: Attribute, header: Sequence[str]) -> str:
    """The name of the attribute's column: the one that the spec gives, or else the attribute's own."""
    given = attribute.column
    return given if given is not None and (given in header or attribute.name not in header) else attribute.name


def _column(attribute: Attribute, place: int, records: Records) -> FloatArray:
    """The numbers of a column, [rows]."""
    cells = [row[place] for row in records.rows]
    read = _read(attribute, place, records)
    rows = [row for row, value in enumerate(read) if value is None]
    if rows:
        raise DiagnosticError(
            errors.value_not_in_domain(
                cells[rows[0]].strip(),
                attribute.name,
                values_in_words(attribute),
                records.cell_span(rows[0], place),
                attribute.span,
                len(rows) - 1,
            )
        )
    return np.array(read, dtype=np.float64)


def _check_where(domain: Domain, values: FloatArray, records: Records) -> None:
    """Every row satisfies the domain's ``where``."""
    if domain.where == TRUE:
        return
    outside = np.flatnonzero(~mask(domain.where, {Who.EACH: values}))
    if outside.size:
        place = records.row_span(int(outside[0]))
        raise DiagnosticError(errors.row_excluded(domain.name, place, int(outside.size) - 1))
