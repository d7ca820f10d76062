"""Tables: columns in the spec's words, and two file formats."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isnan
from pathlib import Path
from typing import Any, BinaryIO, Protocol

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.errors import cannot_write
from fairdsl.counterexamples.errors import unwritable_table
from fairdsl.diagnostics import DiagnosticError
from fairdsl.ir.domain import Attribute, Boolean, Category, Integer
from fairdsl.source.spreadsheets import cell, csv_of
from fairdsl.source.writing import draft

FloatArray = NDArray[np.float64]

_INSTEAD = "name a file in a folder that can be written, with `-o FILE.csv`"


class Column(Protocol):
    """A column of the table."""

    @property
    def name(self) -> str:
        """What it is called in the header."""

    @property
    def cells(self) -> list[Any]:
        """The values, row by row."""

    def texts(self) -> list[str]:
        """The cells of a CSV file, row by row."""

    def arrow(self, library: Any) -> Any:
        """The column as an array of pyarrow, the ``library``."""


@dataclass(frozen=True, slots=True)
class Coded:
    """Row i has the distinct value number ``places[i]``."""

    name: str
    values: tuple[Any, ...]
    places: NDArray[np.int64]

    @classmethod
    def of_attribute(cls, name: str, attribute: Attribute, numbers: FloatArray) -> Coded:
        """Values of an attribute as the spec writes them: names, truth values, whole numbers, reals."""
        distinct, places = np.unique(numbers, return_inverse=True)
        return cls(name, tuple(_value(attribute, number) for number in distinct.tolist()), places.ravel())

    @property
    def cells(self) -> list[Any]:
        """The values row by row."""
        return [self.values[place] for place in self.places.tolist()]

    def texts(self) -> list[str]:
        """The cells of a CSV file, row by row."""
        written = [_text(value) for value in self.values]
        return [written[place] for place in self.places.tolist()]

    def arrow(self, library: Any) -> Any:
        """Names as a dictionary, so that a million rows hold each name once; anything else as it is."""
        if any(isinstance(value, str) for value in self.values):
            return library.DictionaryArray.from_arrays(self.places.astype(np.int32), list(self.values))
        return library.array(self.cells)


@dataclass(frozen=True, slots=True)
class Numbers:
    """A column of numbers, given to nine digits; nan is a number that is not known, and an empty cell."""

    name: str
    numbers: FloatArray

    @property
    def cells(self) -> list[Any]:
        """The rounded numbers, None where one is not known."""
        return [None if isnan(number) else nine_digits(number) for number in self.numbers.tolist()]

    def texts(self) -> list[str]:
        """Nine digits each."""
        return ["" if isnan(number) else f"{number:.9g}" for number in self.numbers.tolist()]

    def arrow(self, library: Any) -> Any:
        """An array of doubles."""
        return library.array(self.cells, type=library.float64())


def nine_digits(number: float) -> float:
    """The number as tables and documents have it."""
    return float(f"{number:.9g}")


def _value(attribute: Attribute, number: float) -> Any:
    if number == attribute.missing:
        return None
    match attribute.type:
        case Boolean():
            return bool(number)
        case Integer():
            return int(number)
        case Category():
            return attribute.show(Fraction(number))
        case _:
            return number


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        value = cell(value)
        if value != value.strip():  # readers may leave out blanks around a cell, but none within quotation marks
            return '"{}"'.format(value.replace('"', '""'))
        return csv_of([[value]]).removesuffix("\n")
    return repr(value)


def check_output(path: str) -> None:
    """DiagnosticError where a table cannot be written there: better known before a long search than after it."""
    suffix = Path(path).suffix.lower()
    if suffix == ".parquet":
        _pyarrow(path)
    elif suffix != ".csv":
        reason = (
            f"tables are written as `.csv` or `.parquet`, not as `{suffix}`" if suffix else "its name has no ending"
        )
        raise DiagnosticError(unwritable_table(path, reason, "name a file that ends in `.csv`, with `-o FILE.csv`"))
    if not Path(path).parent.is_dir():
        raise DiagnosticError(cannot_write(str(Path(path).parent), "there is no such folder", _INSTEAD))


def write_table(columns: Sequence[Column], path: str) -> None:
    """Write the table as the file's name says; raises DiagnosticError where it cannot be written."""
    target = Path(path)
    try:
        with draft(target) as file:
            if target.suffix.lower() == ".parquet":
                _write_parquet(columns, path, file)
            else:
                file.write(_as_csv(columns).encode())
    except OSError as error:
        raise DiagnosticError(cannot_write(str(target.parent), error, _INSTEAD)) from error


def _as_csv(columns: Sequence[Column]) -> str:
    """UTF-8 with one header line; lines end as RFC 4180 allows and every tool reads, in a line feed."""
    header = ",".join(_text(column.name) for column in columns)
    rows = map(",".join, zip(*(column.texts() for column in columns), strict=True))
    return "\n".join([header, *rows]) + "\n"


def _pyarrow(path: str) -> Any:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        reason = "Parquet files need the library pyarrow, which is not installed"
        instead = "install it with `pip install fairdsl[parquet]`, or name a file that ends in `.csv`"
        raise DiagnosticError(unwritable_table(path, reason, instead)) from error
    return pyarrow


def _write_parquet(columns: Sequence[Column], path: str, file: BinaryIO) -> None:
    arrow = _pyarrow(path)
    arrays = [column.arrow(arrow) for column in columns]
    table = arrow.Table.from_arrays(arrays, names=[column.name for column in columns])
    arrow.parquet.write_table(table, file)
