"""Rows of numbers that are exactly what was written: floats where a float is the number, scaled integers elsewhere.

A cell ``0.1`` is one tenth, and no float64 is. So a column of decimals is held as integers over one denominator
(:class:`Scaled`), and whoever compares, counts or sorts rows goes by those. ``ExactRows.floats`` are the nearest
float64, for running a model in floating point; where a column is scaled they are off by half a unit in the last place.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import lcm
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from fairdsl.ir.domain import Point

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]
BoolArray = NDArray[np.bool_]
#: Which rows: their numbers, a mark for each, or a range.
Some = NDArray[Any] | slice

#: Integers below it are float64 numbers, and sums of two below the next are int64 numbers.
_EVERY, _FITS = 2**53, 2**62
#: Powers of two that a column of floats is scaled by in int64; other floats are scaled one by one.
_POWERS = (0, 8, 16, 32, 48)


@dataclass(frozen=True, slots=True, eq=False)
class Scaled:
    """A column of exact numbers: ``numerators[i] / denominator``, int64 where they fit, Python's integers elsewhere."""

    numerators: NDArray[Any]
    denominator: int

    @classmethod
    def of_integers(cls, numerators: Sequence[int], denominator: int) -> Scaled:
        """A column of these numbers over the denominator."""
        small = max(map(abs, numerators), default=0) < _FITS
        return cls(np.array(numerators, dtype=np.int64 if small else object), denominator)

    @classmethod
    def of_fractions(cls, values: Sequence[Fraction]) -> Scaled:
        """A column of rationals, over their common denominator."""
        common = lcm(*(value.denominator for value in values))
        return cls.of_integers([value.numerator * (common // value.denominator) for value in values], common)

    @classmethod
    def of_floats(cls, values: NDArray[Any]) -> Scaled:
        """A column of finite floats or integers, taken as exactly these numbers."""
        if values.dtype.kind in "iu":
            return cls(values.astype(np.int64), 1)
        with np.errstate(over="ignore"):
            for power in _POWERS:
                raised = values * 2.0**power
                if (np.abs(raised) < _EVERY).all() and (np.floor(raised) == raised).all():
                    return cls(raised.astype(np.int64), 2**power)
        return cls.of_fractions([Fraction(value) for value in values.tolist()])

    def __len__(self) -> int:
        return len(self.numerators)

    def at(self, rows: Some) -> Scaled:
        """Some of the numbers."""
        return Scaled(self.numerators[rows], self.denominator)

    @property
    def floats(self) -> FloatArray:
        """The float64 nearest to each number."""
        plain = self.numerators.dtype != object and int(float(self.denominator)) == self.denominator
        if plain and bool(np.all(np.abs(self.numerators) <= _EVERY)):
            # Both are float64 numbers, so their quotient is rounded once.
            return np.asarray(self.numerators / float(self.denominator), dtype=np.float64)
        # Python divides integers to the nearest float, however long they are.
        return np.array([number / self.denominator for number in self.numerators.tolist()], dtype=np.float64)

    @property
    def fractions(self) -> list[Fraction]:
        """The numbers as rationals."""
        return [Fraction(number, self.denominator) for number in self.numerators.tolist()]


#: A column: float64 numbers that are taken as exact, or scaled integers.
Column = FloatArray | Scaled


@dataclass(frozen=True, slots=True, eq=False)
class ExactRows:
    """Exact numbers [rows, columns]: ``scaled`` has the columns in which some number is not a float64.

    ``floats`` [rows, columns] are the nearest float64, and of the other columns the numbers themselves.
    """

    floats: FloatArray
    scaled: Mapping[int, Scaled] = field(default_factory=dict)

    @classmethod
    def of_floats(cls, values: Any) -> ExactRows:
        """Rows of floats [rows, columns], taken as exactly these numbers."""
        return cls(np.asarray(values, dtype=np.float64))

    @classmethod
    def of(cls, rows: FloatArray | ExactRows) -> ExactRows:
        """Rows of either kind."""
        return rows if isinstance(rows, ExactRows) else cls(rows)

    @classmethod
    def of_columns(cls, columns: Sequence[Column], rows: int) -> ExactRows:
        """The columns side by side; ``rows`` is their length."""
        floats = np.empty((rows, len(columns)))
        for place, column in enumerate(columns):
            floats[:, place] = column.floats if isinstance(column, Scaled) else column
        scaled = {place: column for place, column in enumerate(columns) if isinstance(column, Scaled)}
        return cls(floats, scaled)

    def __len__(self) -> int:
        return len(self.floats)

    def __array__(self, *_: object, **__: object) -> NoReturn:
        raise TypeError("rows are exact: take `.floats` to run a model in floating point, and a column to compare it")

    @property
    def width(self) -> int:
        """How many columns there are."""
        return int(self.floats.shape[1])

    def column(self, place: int) -> Column:
        """One column's exact numbers."""
        return self.scaled.get(place, self.floats[:, place])

    def at(self, rows: Some) -> ExactRows:
        """Some of the rows."""
        return ExactRows(self.floats[rows], {place: column.at(rows) for place, column in self.scaled.items()})

    def keep(self, columns: Sequence[int]) -> ExactRows:
        """Some of the columns, in this order."""
        places = {place: number for number, place in enumerate(columns)}
        scaled = {places[place]: column for place, column in self.scaled.items() if place in places}
        return ExactRows(np.ascontiguousarray(self.floats[:, list(columns)]), scaled)

    def replaced(self, columns: Sequence[int], values: Any) -> ExactRows:
        """The same rows with other floats in some columns: one for all rows, or one each."""
        floats = self.floats.copy()
        floats[:, list(columns)] = values
        return ExactRows(floats, {place: column for place, column in self.scaled.items() if place not in columns})

    @classmethod
    def joined(cls, parts: Sequence[ExactRows]) -> ExactRows:
        """Several rows one after the other."""
        floats = np.concatenate([part.floats for part in parts])
        mixed = {place for part in parts for place in part.scaled}
        return cls(floats, {place: _joined([part.column(place) for part in parts]) for place in sorted(mixed)})

    def distinct(self) -> tuple[ExactRows, IntArray]:
        """Every row that occurs, once, in order; and of each row which of them it is."""
        key = np.zeros(len(self), dtype=np.int64)
        for place in range(self.width):
            column = self.column(place)
            numbers = column.numerators if isinstance(column, Scaled) else column
            values, codes = np.unique(numbers, return_inverse=True)
            # Both numberings have no gaps, so their product is at most the square of the number of rows.
            _, key = np.unique(key * len(values) + codes.reshape(-1), return_inverse=True)
            key = key.reshape(-1)
        first = np.zeros(int(key.max(initial=-1)) + 1, dtype=np.intp)
        first[key[::-1]] = np.arange(len(key))[::-1]
        return self.at(first), key

    def points(self) -> list[Point]:
        """Every row as rationals."""
        columns = [fractions_of(column) for column in map(self.column, range(self.width))]
        return list(zip(*columns, strict=True)) if columns else [()] * len(self)

    @property
    def rounding(self) -> FloatArray | None:
        """How far the floats [rows, columns] may be from the numbers; None where they are the numbers."""
        if not self.scaled:
            return None
        found = np.zeros_like(self.floats)
        for place in self.scaled:
            found[:, place] = np.spacing(np.abs(self.floats[:, place]))
        return found


def fractions_of(column: Column) -> list[Fraction]:
    """The numbers of a column as rationals."""
    return column.fractions if isinstance(column, Scaled) else [Fraction(value) for value in column.tolist()]


def _joined(columns: Sequence[Column]) -> Scaled:
    parts = [column if isinstance(column, Scaled) else Scaled.of_floats(column) for column in columns]
    common = lcm(*(part.denominator for part in parts))
    if all(part.denominator == common and part.numerators.dtype != object for part in parts):
        return Scaled(np.concatenate([part.numerators for part in parts]), common)
    scaled = [number * (common // part.denominator) for part in parts for number in part.numerators.tolist()]
    return Scaled.of_integers(scaled, common)
