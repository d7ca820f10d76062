"""A CSV or Parquet file as individuals of a domain.

A column belongs to the attribute that names it with ``column "..."``, or to the one of its own name; other
columns are left alone. Every cell is checked against the attribute's values and every row against the
domain's ``where``: nothing is dropped, filled in or clipped. Only who asks what is *near* given rows
(:func:`read_inside`) gets those that fit, and is told how many do not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

from fairdsl.data import errors
from fairdsl.data.cells import BLANKS
from fairdsl.data.columns import ReadColumn, read_column
from fairdsl.data.parquet import ParquetRecords, read_parquet
from fairdsl.data.text import Records, read_records
from fairdsl.diagnostics import Diagnostic, DiagnosticError
from fairdsl.ir.domain import Attribute, Domain
from fairdsl.ir.exact_rows import Column, ExactRows, Scaled
from fairdsl.ir.expr import TRUE, Who
from fairdsl.numerics.predicates import mask
from fairdsl.source import SourceFile
from fairdsl.source.reading import NamedPath, content_of

#: A file's cells, and where they stand.
Cells = Records | ParquetRecords


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Table:
    """Individuals and, where a label was asked for, what became of them.

    ``values`` is [rows, attributes] in the order of the domain, ``labels`` is [rows]: the numbers that stand
    for the values, exactly as the file says. ``sha256`` is the file's.
    """

    path: str
    sha256: str
    values: ExactRows
    labels: Column | None = None

    @property
    def rows(self) -> int:
        """How many individuals there are."""
        return len(self.values)

    @property
    def label_codes(self) -> NDArray[np.float64]:
        """The labels of a category or a boolean, [rows]."""
        if self.labels is None or isinstance(self.labels, Scaled):
            raise ValueError("the table was read without a label that has codes")
        return self.labels

    @property
    def with_labels(self) -> ExactRows:
        """The values, with the labels (where there are some) as the last column."""
        if self.labels is None:
            return self.values
        columns = [self.values.column(place) for place in range(self.values.width)]
        return ExactRows.of_columns([*columns, self.labels], self.rows)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TableInside:
    """The rows of a file that describe individuals of a domain, and how many do not.

    ``values`` is [rows, attributes]; ``numbers`` is [rows], the place of each in the file, from 1 for the row below the
    header. ``outside`` rows have a cell that is not a value of its attribute; ``where`` bars ``excluded`` ones.
    """

    path: str
    sha256: str
    values: ExactRows
    numbers: NDArray[np.int64]
    outside: int
    excluded: int


def read_inside(path: str, domain: Domain) -> TableInside:
    """The rows of the CSV file at ``path`` that lie in the domain; the others are counted, none is changed.

    For what looks *near* given people, where a table of somebody else's need not fit the domain; a count over people
    is made by :func:`read_table`. Raises DiagnosticError where there is no table, or an attribute has no one column
    (E0530, E0531).
    """
    records = open_records(path)
    read = _columns(domain.attributes, records)
    fit = np.all([column.fit for column in read], axis=0)
    numbers = np.flatnonzero(fit)
    values = ExactRows.of_columns([column.numbers for column in read], len(fit)).at(numbers)
    kept = mask(domain.where, {Who.EACH: values})
    return TableInside(
        path=path,
        sha256=records.source.sha256,
        values=values.at(kept),
        numbers=numbers[kept] + 1,
        outside=len(fit) - len(numbers),
        excluded=len(numbers) - int(kept.sum()),
    )


def _columns(wanted: Sequence[Attribute], records: Cells) -> list[ReadColumn]:
    places = _places(wanted, records)
    return [
        read_column(records.cells(place, as_stored=attribute.as_stored), attribute)
        for attribute, place in zip(wanted, places, strict=True)
    ]


def read_table(path: str, domain: Domain, label: Attribute | None = None) -> Table:
    """The individuals that the CSV file at ``path`` lists, with their ``label`` (None: without).

    Raises DiagnosticError with all that is wrong with the cells of every column, or else with the rows (E0530 to
    E0533).
    """
    records = open_records(path)
    wanted = domain.attributes if label is None else (*domain.attributes, label)
    read = _columns(wanted, records)
    each = zip(wanted, read, _places(wanted, records), strict=True)
    found = [
        _not_values(attribute, column, records, place, label=attribute is label) for attribute, column, place in each
    ]
    if any(found):
        raise DiagnosticError(*(finding for finding in found if finding is not None))
    numbers = [column.numbers for column in read]
    values = ExactRows.of_columns(numbers[: len(domain.attributes)], records.count)
    _check_where(domain, values, records)
    labels = None if label is None else numbers[-1]
    return Table(path=path, sha256=records.source.sha256, values=values, labels=labels)


def open_records(path: str) -> Cells:
    """The cells of a file: of Parquet by its name's ending, of CSV else; raises DiagnosticError (E0530)."""
    try:
        content = content_of(path)
        if path.lower().endswith(".parquet"):
            return read_parquet(path, content, sha256(content).hexdigest())
        text = content.decode("utf-8-sig")
    except OSError as problem:
        reason = (problem.strerror or str(problem)).lower()
        folder = "of the file that names it" if isinstance(path, NamedPath) else "where the command runs"
        help_text = f"check the path; it counts from the folder {folder}"
        raise DiagnosticError(errors.file_not_read(path, reason, None, help_text)) from problem
    except UnicodeDecodeError as problem:
        reason = f"byte {problem.start} is not UTF-8 text{_looks_like(content)}"
        help_text = "save the table as CSV in UTF-8, or as Parquet in a file that ends in `.parquet`"
        raise DiagnosticError(errors.file_not_read(path, reason, None, help_text)) from problem
    return read_records(SourceFile(path, text, sha256(content).hexdigest()))


def _looks_like(content: bytes) -> str:
    """What files begin with that are often taken for CSV."""
    kinds = {
        b"PAR1": "Parquet",
        b"\xff\xfe": "UTF-16 text",
        b"\xfe\xff": "UTF-16 text",
        b"PK\x03\x04": "a workbook or an archive",
    }
    return next((f"; it looks like {kind}" for start, kind in kinds.items() if content.startswith(start)), "")


def _places(wanted: Sequence[Attribute], records: Cells) -> list[int]:
    """The column of each attribute, counted from 0."""
    header = records.header
    keys = _keys(wanted, header)
    missing = [key for key in keys if key not in header]
    twice = [key for key in keys if header.count(key) > 1]
    if missing:
        raise DiagnosticError(errors.column_not_found(missing, header, records.header_span()))
    if twice:
        raise DiagnosticError(errors.column_not_found(twice, header, records.header_span(), twice=True))
    return [header.index(key) for key in keys]


def _keys(wanted: Sequence[Attribute], header: Sequence[str]) -> list[str]:
    """The headers of the attributes' columns: those that the spec gives, or all attributes' own names.

    Own names stand in tables that commands write, which have none of those that are given. Taking some of each, a
    misspelt header would be read of a column that means something else.
    """
    own = [attribute.name for attribute in wanted]
    given = [attribute.name if attribute.column is None else attribute.column for attribute in wanted]
    theirs = [key for key, name in zip(given, own, strict=True) if key != name]
    return own if set(own) <= set(header) and not set(theirs) & set(header) else given


def _not_values(
    attribute: Attribute, column: ReadColumn, records: Cells, place: int, *, label: bool
) -> Diagnostic | None:
    """What is said of the cells of a column that are not values."""
    if not column.wrong:
        return None
    wrong: Counter[str] = Counter()
    for text, rows in column.wrong.items():
        wrong[text.strip(BLANKS)] += rows
    first = int(np.flatnonzero(~column.fit)[0])
    return errors.value_not_in_domain(
        wrong,
        attribute,
        records.cell_span(first, place),
        mixed=column.mixed,
        label=label,
    )


def _check_where(domain: Domain, values: ExactRows, records: Cells) -> None:
    """Every row satisfies the domain's ``where``."""
    if domain.where == TRUE:
        return
    outside = np.flatnonzero(~mask(domain.where, {Who.EACH: values}))
    if outside.size:
        place = records.row_span(int(outside[0]))
        raise DiagnosticError(errors.row_excluded(domain.name, place, int(outside.size) - 1))
