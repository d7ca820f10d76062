"""Functions of one number that has few values, as tables: powers, logarithms, and what files compute with them.

A whole number of a domain has so few values that any function of it is a sum of indicators, one a value, times what
the file's operators give there. That holds whatever the function is, so powers need no curve of their own; exporters
write them with parts that are NaN, which an ``Imputer`` takes out again, and a table has NaN as any other number.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from fairdsl.ir.expr import Relation
from fairdsl.ir.model import Curve
from fairdsl.models import exact
from fairdsl.models.basis import Affine, Basis, Comparison, Dense, Indicators, Part, Pick, Unit, apply, stack
from fairdsl.models.onnx_import.chosen import slopes
from fairdsl.models.onnx_import.values import (
    Constant,
    Handler,
    Handlers,
    Labelled,
    NodeCall,
    Tabulated,
    UnreadableError,
    Value,
    as_affine,
)

FloatArray = NDArray[np.float64]

_ML = "ai.onnx.ml"


def _picked(condition: FloatArray, first: FloatArray, second: FloatArray) -> FloatArray:
    return np.where(condition != 0, first, second)


def _cut(dividend: FloatArray, divisor: FloatArray) -> FloatArray:
    """A division of integers, which cuts the fraction off."""
    return np.trunc(dividend / divisor)


#: What operators give of float64 numbers: those that go on with a table, or begin one where they are not affine.
_GOING_ON: dict[tuple[str, str], Callable[..., FloatArray]] = {
    ("", "Add"): np.add,
    ("", "Sub"): np.subtract,
    ("", "Mul"): np.multiply,
    ("", "Div"): np.divide,
    ("", "Neg"): np.negative,
    ("", "Abs"): np.abs,
    ("", "IsNaN"): np.isnan,
    ("", "Not"): np.logical_not,
    ("", "Less"): np.less,
    ("", "LessOrEqual"): np.less_equal,
    ("", "Greater"): np.greater,
    ("", "GreaterOrEqual"): np.greater_equal,
    ("", "Where"): _picked,
}
#: Those that are never affine.
_BEGINNING: dict[tuple[str, str], Callable[..., FloatArray]] = {("", "Pow"): np.power, ("", "Log"): np.log}
_REMEDY = (
    "declare the numbers that are raised as integers of few values, or train without this step: trees decide alike "
    "without steps that only grow"
)


def with_tables(handlers: Handlers) -> dict[tuple[str, str], Handler]:
    """The handlers, which go on with tables, and those of operators that begin one."""
    found: dict[tuple[str, str], Handler] = dict(handlers)
    for key, function in _GOING_ON.items():
        found[key] = _going_on(function, handlers[key])
    for key, function in _BEGINNING.items():
        found[key] = _beginning(function, handlers.get(key))
    found["", "Cast"] = _unless_tabulated(handlers["", "Cast"], _cast)
    found[_ML, "Imputer"] = _unless_tabulated(handlers[_ML, "Imputer"], _filled)
    return found


def _unless_tabulated(plain: Handler, of_table: Callable[[NodeCall, Tabulated], Value]) -> Handler:
    def handler(call: NodeCall) -> Value:
        value = call.value(0)
        return of_table(call, value) if isinstance(value, Tabulated) else plain(call)

    return handler


def _going_on(function: Callable[..., FloatArray], plain: Handler) -> Handler:
    def handler(call: NodeCall) -> Value:
        found = _computed(call, function) if any(isinstance(value, Tabulated) for value in call.inputs) else None
        if found is not None:
            return found
        try:
            return plain(call)
        except UnreadableError:
            found = _computed(call, function)
            if found is None:
                raise
            call.rounded.append(call.node.where)
            return found

    return handler


def _beginning(function: Callable[..., FloatArray], plain: Handler | None) -> Handler:
    def handler(call: NodeCall) -> Value:
        constant = all(isinstance(value, Constant) for value in call.inputs)
        found = None if constant and plain is not None else _computed(call, function)
        if found is None and plain is not None:
            return plain(call)
        if found is None:
            reason = "it takes a power of several numbers, or of one that has many values"
            raise UnreadableError(reason, _REMEDY)
        call.rounded.append(call.node.where)
        return found

    return handler


def _computed(call: NodeCall, function: Callable[..., FloatArray]) -> Tabulated | None:
    """The function of the inputs element by element; None where one of them needs more than one number."""
    given = [_columns(call, call.value(place)) for place in range(len(call.inputs))]
    if any(columns is None for columns in given):
        return None
    known = [columns for columns in given if columns is not None]
    function = _cut if function is np.divide and call.whole else function
    shape = np.broadcast_shapes(*(np.shape(value) for value in known))
    spread = [np.broadcast_to(columns, shape).reshape(-1) for columns in known]
    units, numbers = [], []
    for element in zip(*spread, strict=True):
        read = {unit for unit, _ in element if unit is not None}
        if len(read) > 1:
            return None
        with np.errstate(all="ignore"):
            found = np.asarray(function(*(column for _, column in element)), dtype=np.float64)
        if (np.isfinite(found) & (np.abs(found) > np.finfo(np.float32).max)).any():
            raise UnreadableError("it computes a number that float32 does not hold", _REMEDY)
        units.append(next(iter(read), None))
        numbers.append(found)
    return _tabulated(call.basis, shape, units, numbers)


def _columns(call: NodeCall, value: Value) -> NDArray[np.object_] | None:
    """For each element the number of the individual that it is a function of, and what it is at its values."""
    entries: list[tuple[Unit | None, FloatArray]]
    match value:
        case Tabulated():
            entries = list(zip(value.units, value.columns, strict=True))
        case Constant():
            entries = [(None, np.array([float(number)])) for number in value.numbers.reshape(-1).tolist()]
        case Labelled(scores=scores, labels=labels) if not isinstance(labels[0], str):
            rows = [column_of(call.basis, scores, place) for place in range(scores.size)]
            chosen = _chosen([row for row in rows if row is not None], value)
            if None in rows or chosen is None:
                return None
            entries = [chosen]
        case _:
            affine = as_affine(value)
            found = [column_of(call.basis, affine, place) for place in range(affine.size)]
            if None in found:
                return None
            entries = [(unit, np.array([float(x) for x in column])) for unit, column in filter(None, found)]
    array = np.empty(len(entries), dtype=object)
    array[:] = entries
    return array.reshape(value.shape)


def _chosen(
    rows: Sequence[tuple[Unit | None, list[Fraction]]], value: Labelled
) -> tuple[Unit | None, FloatArray] | None:
    """Which label has the highest score at each value of the one number that all scores depend on."""
    read = {unit for unit, _ in rows if unit is not None}
    if len(read) > 1:
        return None
    length = max(len(column) for _, column in rows)
    table = [column * (length if len(column) == 1 else 1) for _, column in rows]
    order = range(len(rows))[:: -1 if value.ties_last else 1]
    places = [max(order, key=lambda row: table[row][at]) for at in range(length)]
    return next(iter(read), None), np.array([float(value.labels[place]) for place in places])


def column_of(basis: Basis, value: Affine, element: int) -> tuple[Unit | None, list[Fraction]] | None:
    """The number of the individual that an element is a function of, and what it is at each of its values, exactly.

    None where it depends on several numbers, or on one that has many values.
    """
    one = Affine((1,), {block: _row(part, element) for block, part in value.parts.items()}, value.bias[[element]])
    (slope,) = slopes(one)
    start = Fraction(value.bias[element])
    read: set[Unit] = set()
    columns: list[tuple[Fraction, list[Fraction]]] = []
    for (block, unit), factor in slope:
        found = _unit(basis, block, unit)
        if found is None:
            return None
        read.add(found[0])
        columns.append((factor, found[1]))
    if len(read) > 1:
        return None
    if not columns:
        return None, [start]
    totals = [start + sum(factor * column[at] for factor, column in columns) for at in range(len(columns[0][1]))]
    return read.pop(), totals


def _row(part: Part, element: int) -> Part:
    if isinstance(part, Dense):
        return Dense(part.matrix[[element]])
    return Pick(part.units[[element]], part.scale[[element]])


def _unit(basis: Basis, number: int, unit: int) -> tuple[Unit, list[Fraction]] | None:
    """The same of a unit: a number that the individual has, a comparison with one, or a leaky unit over one."""
    if (number, unit) in basis.few:
        return (number, unit), list(basis.few[number, unit])
    block = basis.blocks[number]
    if block.indicators is not None:
        test = block.indicators.tests[unit]
        found = column_of(basis, block.indicators.features, test.feature)
        if found is None or found[0] is None:
            return None
        return found[0], [Fraction(test.relation.compares(value, test.threshold)) for value in found[1]]
    if block.argument is None or block.curve is not Curve.LEAKY:
        return None
    found, slope = column_of(basis, block.argument, unit), Fraction(block.slope[unit])
    if found is None or found[0] is None:
        return None
    return found[0], [max(value, Fraction(0)) + slope * min(value, Fraction(0)) for value in found[1]]


def _tabulated(
    basis: Basis, shape: tuple[int, ...], units: Sequence[Unit | None], columns: Sequence[FloatArray]
) -> Tabulated:
    """The table, with its numbers as sums of indicators where all of them are numbers."""
    if not all(np.isfinite(column).all() for column in columns):
        return Tabulated(shape, tuple(units), tuple(columns), None)
    rows = [
        Affine.constant(column[:1]) if unit is None else apply(column[None, :], _values_of(basis, unit), (1,), basis)
        for unit, column in zip(units, columns, strict=True)
    ]
    numbers = stack(rows, basis)
    return Tabulated(shape, tuple(units), tuple(columns), Affine(shape, numbers.parts, numbers.bias))


def _values_of(basis: Basis, unit: Unit) -> Affine:
    """An indicator for each value of a number of the individual; the same ones whenever they are asked for."""
    if unit not in basis.tables:
        block, place = unit
        one = Affine((1,), {block: Pick(np.array([place]), np.ones(1))}, exact.zeros((1,)))
        tests = tuple(Comparison(0, Relation.EQ, value) for value in basis.few[unit])
        basis.tables[unit] = basis.indicate(Indicators("Pow", "table", one, tests))
    return basis.tables[unit]


def _cast(call: NodeCall, value: Tabulated) -> Value:
    """Truth values and numbers with a fraction alike stay what they are; a fraction is never cut off."""
    if call.attribute("to", 1) not in (1, 10, 11):
        raise UnreadableError("it turns a computed number into an integer, which cuts its fraction off")
    return value


def _filled(call: NodeCall, value: Tabulated) -> Value:
    """An imputer, of NaN or of a number: exporters of powers have infinity and NaN replaced by 0."""
    numbers, replaced = call.attribute("imputed_value_floats", None), call.number("replaced_value_float", np.nan)
    width = value.shape[-1]
    if numbers is None or width % len(numbers):
        raise UnreadableError("it does not say which numbers are filled in")
    filling = np.resize(np.asarray(numbers, dtype=np.float64), width)
    columns = []
    for place, column in enumerate(value.columns):
        lacking = np.isnan(column) if np.isnan(replaced) else column == replaced
        columns.append(np.where(lacking, filling[place % width], column))
    return _tabulated(call.basis, value.shape, value.units, columns)
