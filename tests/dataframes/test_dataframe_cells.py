"""Tables as libraries have them are the same cells, and written as CSV they are read back as these."""

from __future__ import annotations

from contextlib import suppress
from datetime import date
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

import fairdsl
from fairdsl.data.text import read_records
from fairdsl.dataframes.tables import cells_of, columns_of, csv_of
from fairdsl.diagnostics import DiagnosticError
from fairdsl.source import SourceFile

VALUES: dict[str, list[Any]] = {
    "text": ["a, b", 'said "x"', "", "ü;|"],
    "whole": [1, -2, 30, 4],
    "real": [0.1, 2.0, -0.5, 1e-7],
    "gaps": [1.5, None, 2.0, None],
    "truth": [True, False, True, True],
}
CELLS = {
    "text": ["a, b", 'said "x"', "", "ü;|"],
    "whole": ["1", "-2", "30", "4"],
    "real": ["0.1", "2", "-0.5", "1e-07"],
    "gaps": ["1.5", "", "2", ""],
    "truth": ["true", "false", "true", "true"],
}


def test_plain_python_and_numpy() -> None:
    assert columns_of(VALUES, "it") == CELLS
    arrays = {name: np.array(values) for name, values in VALUES.items() if name != "gaps"}
    assert columns_of(arrays, "it") == {name: cells for name, cells in CELLS.items() if name != "gaps"}
    assert cells_of(np.array([0.1, np.nan], dtype=np.float32), "it") == ["0.1", ""]
    assert cells_of(np.ma.array([1, 2], mask=[False, True]), "it") == ["1", ""]
    assert cells_of([Decimal("1.50"), date(2026, 1, 2), float("inf"), 2**60], "it")[:2] == ["1.50", "2026-01-02"]
    assert cells_of(np.array([[1], [0]]), "it") == ["1", "0"]


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_tables_of_libraries(library: str) -> None:
    made = pytest.importorskip(library)
    frame = made.table(VALUES) if library == "pyarrow" else made.DataFrame(VALUES)
    assert columns_of(frame, "it") == CELLS
    assert cells_of(frame["gaps"], "it") == CELLS["gaps"]


@pytest.mark.parametrize("gap", [None, 0.25], ids=["gaps", "none"])
@pytest.mark.parametrize("bits", [16, 32, 64])
def test_a_float_is_the_decimal_of_its_own_type_also_beside_gaps(bits: int, gap: float | None) -> None:
    cells, values = ["0.1", "" if gap is None else "0.25", "1e-07"], [0.1, gap, 1e-7]
    array = np.array([np.nan if value is None else value for value in values], dtype=f"float{bits}")
    columns: list[Any] = [array, np.ma.masked_invalid(array), list(array)]
    with suppress(ImportError):
        import pandas

        columns.append(pandas.Series(array))
        columns += [] if bits == 16 else [columns[-1].astype("category"), pandas.Series(values, dtype=f"Float{bits}")]
    with suppress(ImportError):
        import polars

        columns += [] if bits == 16 else [polars.Series(values, dtype=getattr(polars, f"Float{bits}"))]
    with suppress(ImportError):
        import pyarrow

        columns.append(pyarrow.array(values, type=getattr(pyarrow, f"float{bits}")()))
        columns.append(pyarrow.chunked_array([columns[-1]]))
    assert [cells_of(column, "it") for column in columns] == [cells] * len(columns)


@pytest.mark.parametrize("dtype", ["category", "string", "Int64", "boolean"])
def test_what_pandas_has_for_nothing_is_an_empty_cell(dtype: str) -> None:
    pandas = pytest.importorskip("pandas")
    values = {"category": ["x", pandas.NA], "string": ["x", None], "Int64": [1, None], "boolean": [True, None]}[dtype]
    series = pandas.Series(values, dtype=dtype)
    assert cells_of(series, "it")[1] == columns_of(pandas.DataFrame({"c": series}), "it")["c"][1] == ""
    assert cells_of([1, pandas.NA, pandas.NaT], "it") == ["1", "", ""]


@pytest.mark.parametrize("table", [VALUES, {"only": ["", "x"]}, {"a;b": ["1", "2"], "#c": ["#3", "4\r5"]}])
def test_what_is_written_is_read_back(table: dict[str, list[Any]]) -> None:
    columns = columns_of(table, "it")
    records = read_records(SourceFile("it.csv", csv_of(columns).decode("utf-8")))
    read = {name: records.cells(place) for place, name in enumerate(records.header)}
    assert read == {name: list(cells) for name, cells in columns.items()}


@pytest.mark.parametrize("table", [[1, 2], "people.csv", None, {"a": "text"}, {}, {"a": []}, {"a": [1], "b": [1, 2]}])
def test_what_is_no_table_is_said(table: Any) -> None:
    with pytest.raises(DiagnosticError, match="E0680"):
        columns_of(table, "it")


def test_a_violated_report_raises_and_another_does_not() -> None:
    spec = """
        domain P {{ sex : boolean  age : integer 0 .. 3 }}
        protected sex
        model m : P -> {{ no, yes }}  score = age + {weight} * sex  yes when score > 2
        property same {{ compare a, b : P  differ in sex  require same decision }}
    """
    fairdsl.check(spec.format(weight=0)).raise_for_violation()
    unfair = fairdsl.check(spec.format(weight=1))
    with pytest.raises(fairdsl.ViolationError, match="same: violated") as raised:
        unfair.raise_for_violation()
    assert raised.value.report is unfair
