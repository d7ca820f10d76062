"""Predicates on many individuals at once, with exact answers.

Where the values are integers, or decimals as scaled integers (:mod:`fairdsl.ir.exact_rows`), the linear forms are
scaled to integer coefficients and summed in int64 if the sum provably fits, otherwise in Python integers. Other floats
are summed in float64 with an error bound, and the rows that the bound leaves in doubt are settled in rational
arithmetic.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdsl.ir.domain import Point
from fairdsl.ir.exact_rows import ExactRows, Scaled
from fairdsl.ir.expr import And, Compare, Linear, Member, Not, Or, Predicate, Relation, Variable, Who
from fairdsl.ir.expr import holds as holds_exactly

BoolArray = NDArray[np.bool_]
#: Per individual of a predicate exact rows, or an array [n, attributes]: float64, an integer type, or exact objects.
Columns = Mapping[Who, NDArray[Any] | ExactRows]

_FITS = 2**62
_LARGEST_FACTOR = Fraction(10) ** 300
#: Smaller factors might be no multiple of their float that rounding explains.
_SMALLEST_FACTOR = Fraction(1, 10**290)
_UNIT_ROUNDOFF = 2.0**-53


def mask(predicate: Predicate, columns: Columns) -> BoolArray:
    """Row by row, whether the predicate holds; all arrays have the same number of rows."""
    rows = len(next(iter(columns.values())))
    return _mask(predicate, columns, rows)


def holds_for(predicate: Predicate, point: Point) -> bool:
    """Whether a predicate over ``Who.EACH`` holds for one exact point."""
    return holds_exactly(predicate, lambda variable: point[variable.attribute])


def holds_for_pair(predicate: Predicate, a: Point, b: Point) -> bool:
    """Whether a predicate over ``Who.A`` and ``Who.B`` holds for an ordered pair of exact points."""
    return holds_exactly(predicate, lambda variable: (a if variable.who is Who.A else b)[variable.attribute])


def holds_together(predicate: Predicate, people: Mapping[Who, Point]) -> bool:
    """Whether a predicate holds for a tuple of exact points."""
    return holds_exactly(predicate, lambda variable: people[variable.who][variable.attribute])


def _mask(predicate: Predicate, columns: Columns, rows: int) -> BoolArray:
    match predicate:
        case Compare(left=left, relation=relation):
            return _compare(left, relation, columns, rows)
        case Member(variable=variable, values=values):
            return _member(_column(variable, columns), values)
        case And(parts):
            result = np.ones(rows, dtype=np.bool_)
            for part in parts:
                result &= _mask(part, columns, rows)
            return result
        case Or(parts):
            result = np.zeros(rows, dtype=np.bool_)
            for part in parts:
                result |= _mask(part, columns, rows)
            return result
        case Not(part):
            return ~_mask(part, columns, rows)


def _column(variable: Variable, columns: Columns) -> NDArray[Any] | Scaled:
    found = columns[variable.who]
    if isinstance(found, ExactRows):
        return found.column(variable.attribute)
    column: NDArray[Any] = found[:, variable.attribute]
    return column


def _member(column: NDArray[Any] | Scaled, values: frozenset[Fraction]) -> BoolArray:
    if isinstance(column, Scaled):
        over = [value * column.denominator for value in values]
        return _member(column.numerators, frozenset(value for value in over if value.denominator == 1))
    if column.dtype == object:
        return np.fromiter((value in values for value in column), dtype=np.bool_, count=len(column))
    if np.issubdtype(column.dtype, np.integer):
        whole = [int(value) for value in values if value.denominator == 1 and abs(value) < _FITS]
        return np.isin(column, np.array(whole, dtype=np.int64))
    # A rational that no float equals cannot be the value of a float column.
    return np.isin(column, [float(v) for v in values if abs(v) < _LARGEST_FACTOR and Fraction(float(v)) == v])


def _compare(left: Linear, relation: Relation, columns: Columns, rows: int) -> BoolArray:
    if not left.terms:
        return np.full(rows, relation.compares(left.constant, Fraction(0)))
    found = [_column(variable, columns) for variable, _ in left.terms]
    if rows == 0:
        return np.zeros(0, dtype=np.bool_)
    arrays = [column for column in found if not isinstance(column, Scaled)]
    if any(array.dtype == object for array in arrays):
        return _compare_exactly(left, relation, found)
    if len(arrays) == len(found) and not all(_is_whole(array) for array in arrays):
        return _compare_floats(left, relation, arrays)
    return _compare_scaled(left, relation, [c if isinstance(c, Scaled) else Scaled.of_floats(c) for c in found])


def _compare_scaled(left: Linear, relation: Relation, columns: list[Scaled]) -> BoolArray:
    """In integers: the whole form is multiplied by the common denominator."""
    parts = [c / column.denominator for (_, c), column in zip(left.terms, columns, strict=True)]
    scale = lcm(left.constant.denominator, *(part.denominator for part in parts))
    factors = [int(part * scale) for part in parts]
    constant = int(left.constant * scale)
    reach = abs(constant) + sum(
        abs(factor) * max(1, int(np.abs(column.numerators).max()))
        for factor, column in zip(factors, columns, strict=True)
    )
    kind = np.int64 if reach < _FITS else object
    total = np.full(len(columns[0]), constant, dtype=kind)
    for factor, column in zip(factors, columns, strict=True):
        total += factor * column.numerators.astype(kind)
    return _against_zero(total, relation)


def _is_whole(array: NDArray[Any]) -> bool:
    if array.dtype.kind in "iu":
        return True
    return bool(np.isfinite(array).all() and (np.floor(array) == array).all())


def _compare_exactly(left: Linear, relation: Relation, arrays: Sequence[NDArray[Any] | Scaled]) -> BoolArray:
    columns = [
        array.fractions if isinstance(array, Scaled) else [Fraction(value) for value in array.tolist()]
        for array in arrays
    ]
    coefficients = [coefficient for _, coefficient in left.terms]
    return np.array(
        [
            relation.compares(sum((c * v for c, v in zip(coefficients, row, strict=True)), left.constant), Fraction(0))
            for row in zip(*columns, strict=True)
        ],
        dtype=np.bool_,
    )


def _compare_floats(left: Linear, relation: Relation, arrays: list[NDArray[Any]]) -> BoolArray:
    coefficients = [coefficient for _, coefficient in left.terms]
    numbers = (*coefficients, left.constant)
    if any(abs(number) > _LARGEST_FACTOR or 0 < abs(number) < _SMALLEST_FACTOR for number in numbers):
        return _compare_exactly(left, relation, arrays)
    with np.errstate(all="ignore"):
        total = np.full(len(arrays[0]), float(left.constant))
        magnitude = np.abs(total)
        for coefficient, array in zip(coefficients, arrays, strict=True):
            product = float(coefficient) * array
            total += product
            magnitude += np.abs(product)
        # Per term: its coefficient, its product and at most all the additions round; the bound is
        # doubled against its own rounding, and 1e-300 covers underflow.
        error = 2 * (len(arrays) + 4) * _UNIT_ROUNDOFF * magnitude + 1e-300
        in_doubt = ~(np.abs(total) > error)
        result = _against_zero(total, relation)
    if in_doubt.any():
        result[in_doubt] = _compare_exactly(left, relation, [array[in_doubt] for array in arrays])
    return result


def _against_zero(total: NDArray[Any], relation: Relation) -> BoolArray:
    match relation:
        case Relation.EQ:
            result = total == 0
        case Relation.NE:
            result = total != 0
        case Relation.LT:
            result = total < 0
        case Relation.LE:
            result = total <= 0
        case Relation.GT:
            result = total > 0
        case Relation.GE:
            result = total >= 0
    return np.asarray(result, dtype=np.bool_)
