"""Tables and arrays as callers have them, as cells: the one door for pandas, polars, Arrow, numpy and plain Python.

A table is columns with headers, and a cell is the text that a CSV file would have: nothing where there is no value, a
float as the shortest decimal that is read back as it, a whole number without a point. DataFrames and Series of any
library are opened by narwhals, which whoever has one of them mostly has, too; everything else needs nothing.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from fairdsl.dataframes.errors import not_a_table
from fairdsl.diagnostics import DiagnosticError

#: Cells by the headers of their columns, all columns of one length.
Columns = dict[str, list[str]]

#: What libraries call the names of columns.
_FRAMES = ("columns", "column_names")
_PLAIN = (str, bytes, int, float, bool)
#: Larger floats are written with an exponent.
_WHOLE = 1e15
#: Floats of fewer bits than Python's, by what numpy, pandas, polars and Arrow call them.
_NARROW: Mapping[str, type[np.floating[Any]]] = {
    **dict.fromkeys(("float16", "Float16", "halffloat", "halffloat[pyarrow]"), np.float16),
    **dict.fromkeys(("float32", "Float32", "float", "float[pyarrow]"), np.float32),
}
_INSTALL = "install it with `pip install 'fairdsl[frames]'`, or give a dictionary of columns: `{name: values}`"
_TABLE = "give a DataFrame of pandas or polars, an Arrow table, or a dictionary of columns: `{name: values}`"


def is_table(given: object) -> bool:
    """Whether it has columns with names."""
    return isinstance(given, Mapping) or any(hasattr(given, name) for name in _FRAMES)


def columns_of(table: Any, what: str) -> Columns:
    """The columns of a table; ``what`` names it in messages. Raises DiagnosticError (E0680) for what is none."""
    if isinstance(table, Mapping):
        found = {str(name): cells_of(values, f"the column `{name}` of {what}") for name, values in table.items()}
    elif is_table(table):
        frame = _opened(table, what, frames=True)
        found = {name: _cells(_own(frame[name].to_list(), frame[name].to_native())) for name in frame.columns}
    else:
        raise _refused(what, f"it is {_kind(table)}", _TABLE)
    lengths = {len(cells) for cells in found.values()}
    if len(lengths) > 1:
        said = ", ".join(f"`{name}` has {len(cells):,}" for name, cells in found.items())
        raise _refused(what, f"its columns have different lengths: {said}", "give each row a cell in every column")
    if not found or lengths == {0}:
        raise _refused(what, "it has no rows", "each row is an individual")
    return found


def cells_of(values: Any, what: str) -> list[str]:
    """One column: an array, a Series or a list. Raises DiagnosticError (E0680) for what is none."""
    if isinstance(values, _PLAIN) or values is None or is_table(values):
        raise _refused(what, f"it is {_kind(values)}", "give one value a row: a list, an array or a Series")
    if hasattr(values, "to_pylist"):  # Arrow's
        return _cells(_own(values.to_pylist(), values))
    if hasattr(values, "to_list"):
        return _cells(_own(_opened(values, what, frames=False).to_list(), values))
    try:
        array = np.asanyarray(values) if hasattr(values, "__array__") else list(values)
    except TypeError:
        raise _refused(what, f"it is {_kind(values)}", "give one value a row: a list, an array or a Series") from None
    if isinstance(array, np.ndarray):
        if array.ndim == 2 and array.shape[1] == 1:
            array = array[:, 0]
        if array.ndim != 1:
            shape = " x ".join(map(str, array.shape)) or "a single number"
            raise _refused(what, f"its shape is {shape}", "give one value a row, an array [rows]")
        return _cells(_own(array.tolist(), array) if np.ma.isMaskedArray(array) else array)
    return _cells(array)


def series_name(values: Any) -> str | None:
    """The name of a Series, where it has one that is a text."""
    name = getattr(values, "name", None)
    return name if isinstance(name, str) and name.strip() else None


def csv_of(columns: Mapping[str, Sequence[str]]) -> bytes:
    """The columns as a CSV file, which is read back as the same cells."""
    text = io.StringIO()
    # All in quotes: a name may have a semicolon in it, and a cell a carriage return, or a `#` where a line begins.
    written = csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\n")
    written.writerows([list(columns), *zip(*columns.values(), strict=True)])
    return text.getvalue().encode("utf-8")


def _opened(native: Any, what: str, *, frames: bool) -> Any:
    """The DataFrame, or the Series, as narwhals sees it."""
    try:
        import narwhals
    except ImportError as problem:
        reason = f"it is {_kind(native)}, which is read by the library narwhals, which is not installed"
        raise _refused(what, reason, _INSTALL) from problem
    try:
        if frames:
            return narwhals.from_native(native, eager_only=True)
        return narwhals.from_native(native, series_only=True)
    except Exception as problem:  # what narwhals raises of a table with two columns of a name is its library's
        reason = f"it is {_kind(native)}: {str(problem).strip().splitlines()[0][:160]}"
        help_text = _TABLE if frames else "give one value a row: a list, an array or a Series"
        raise _refused(what, reason, f"{help_text}; collect what is lazy first") from problem


def _own(values: Iterable[Any], column: Any) -> Iterable[Any]:
    """The values of a column as it holds them: libraries list a float32 as the float64 that it is, which is another
    decimal."""
    held = getattr(column, "type", None) or getattr(column, "dtype", None)
    for inner in ("value_type", "categories"):  # of Arrow's dictionaries, of pandas' categories
        held = getattr(held, inner, held)
    kind = _NARROW.get(str(getattr(held, "dtype", held)))
    return values if kind is None else [kind(value) if isinstance(value, float) else value for value in values]


def _cells(values: Iterable[Any]) -> list[str]:
    known: dict[Any, str] = {}
    found = []
    for value in values:
        key = (type(value), value) if value.__hash__ is not None else None
        text = known.get(key) if key is not None else None
        if text is None:
            text = _text(value)
            if key is not None:
                known[key] = text
        found.append(text)
    return found


def _text(value: Any) -> str:
    # What pandas has for nothing is compared with nothing, not even with itself: so it is known by its name.
    if value is None or str(value) in ("<NA>", "NaT") or value != value:
        return ""
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, float | np.floating) and float(value).is_integer() and abs(float(value)) < _WHOLE:
        return str(int(value))
    return str(value)


def _kind(value: object) -> str:
    """What was given, in words."""
    return "None" if value is None else f"of the type `{type(value).__module__.split('.')[0]}.{type(value).__name__}`"


def _refused(what: str, reason: str, help_text: str) -> DiagnosticError:
    return DiagnosticError(not_a_table(what, reason, help_text))
