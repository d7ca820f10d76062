"""Parquet tables: floats mean their shortest decimal in their own type, unless they are taken as stored."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairdsl.data.table import read_inside, read_table
from fairdsl.diagnostics import DiagnosticError
from fairdsl.ir.domain import Attribute, Boolean, Category, CategoryValue, Domain
from fairdsl.ir.expr import TRUE
from tests.builders import integer, real

pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

SEX = Category(values=(CategoryValue(name="f", code=0), CategoryValue(name="m", code=1)))


def people(*, as_stored: bool = False) -> Domain:
    columns = (
        Attribute(name="sex", type=SEX),
        Attribute(name="rate", type=real(), column="rate", as_stored=as_stored),
        Attribute(name="age", type=integer(0, 99)),
        Attribute(name="member", type=Boolean()),
    )
    return Domain(name="P", attributes=columns, where=TRUE)


def write(folder: Path, rates: Any, **columns: list[Any]) -> str:
    count = len(rates)
    given_ = {"sex": ["f"] * count, "age": [30] * count, "member": [True] * count} | columns
    path = str(folder / "people.parquet")
    parquet.write_table(pyarrow.table({"rate": rates, **given_}), path)
    return path


def rates(path: str, *, as_stored: bool = False) -> list[Fraction]:
    return [row[1] for row in read_table(path, people(as_stored=as_stored)).values.points()]


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
def test_a_float_means_its_shortest_decimal_in_its_own_type(kind: Any, tmp_path: Path) -> None:
    path = write(tmp_path, np.array([0.1, 0.5, -0.7], dtype=kind))
    assert rates(path) == [Fraction("0.1"), Fraction("0.5"), Fraction("-0.7")]
    assert rates(path, as_stored=True) == [Fraction(float(kind(x))) for x in (0.1, 0.5, -0.7)]


@pytest.mark.parametrize("kind", ["float32", "float64"])
def test_floats_in_a_dictionary_are_as_others(kind: str, tmp_path: Path) -> None:
    values = np.array([0.1, 0.5, 0.1], dtype=kind)
    path = write(tmp_path, pyarrow.array(values).dictionary_encode())
    assert rates(path) == [Fraction("0.1"), Fraction("0.5"), Fraction("0.1")]
    assert rates(path, as_stored=True) == [Fraction(float(value)) for value in values]


def shortest(value: Any) -> Fraction:
    """The decimal with the fewest digits that is rounded to the value in its type."""
    for digits in range(1, 18):
        text = f"{float(value):.{digits - 1}e}"
        if type(value)(text) == value:
            return Fraction(text)
    raise AssertionError(value)


@given(st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=1, max_size=8))
def test_decimals_of_random_floats(values: list[float]) -> None:
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        singles = np.array(values, dtype=np.float32)
        got = rates(write(Path(folder), singles))
        for value, decimal in zip(singles, got, strict=True):
            assert np.float32(decimal) == value
            assert len(str(decimal.numerator).strip("-0")) <= 9 or decimal.denominator == 1
        doubles = np.array(values, dtype=np.float64) / 3
        assert [float(decimal) for decimal in rates(write(Path(folder), doubles))] == doubles.tolist()


@pytest.mark.parametrize("value", [0.1, 0.3, 1 / 3, 123.456, 2.5e-7, 16777216.0])
def test_no_shorter_decimal_is_read_as_the_float(value: float, tmp_path: Path) -> None:
    for kind in (np.float32, np.float64):
        assert rates(write(tmp_path, np.array([value], dtype=kind))) == [shortest(kind(value))]


def test_other_columns_are_read_like_cells(tmp_path: Path) -> None:
    sexes = pyarrow.array(["m", "f"]).dictionary_encode()
    table = read_table(write(tmp_path, [0.25, 1.0], sex=sexes, age=[18, 99], member=[False, True]), people())
    assert table.values.points() == [(1, Fraction(1, 4), 18, 0), (0, 1, 99, 1)]
    inside = read_inside(write(tmp_path, [0.25, None, 1.0], age=[18, 18, 100]), people())
    assert (len(inside.values), inside.outside, inside.numbers.tolist()) == (1, 2, [1])


def test_wrong_cells_are_pointed_at_by_their_row(tmp_path: Path) -> None:
    path = write(tmp_path, [0.5, float("nan"), None, 0.1], age=[18, 19, 20, 120])
    with pytest.raises(DiagnosticError) as caught:
        read_table(path, people())
    rate, age = caught.value.diagnostics
    assert (rate.primary.span.text, rate.primary.span.first.line) == ("nan", 3)
    assert rate.notes == ("not values: `nan` (1 row), empty (1 row)",)
    assert (age.primary.span.text, age.primary.span.first.line) == ("120", 5)


def test_what_is_not_a_parquet_table(tmp_path: Path) -> None:
    (tmp_path / "people.parquet").write_text("sex,rate\nf,0.1\n")
    with pytest.raises(DiagnosticError, match="not a Parquet file"):
        read_table(str(tmp_path / "people.parquet"), people())
    with pytest.raises(DiagnosticError, match="timestamp"):
        read_table(write(tmp_path, np.array(["2020-01-01"], dtype="datetime64[ms]")), people())
    parquet.write_table(pyarrow.table({"sex": ["f"]}), tmp_path / "people.parquet")
    with pytest.raises(DiagnosticError, match="E0531"):
        read_table(str(tmp_path / "people.parquet"), people())
