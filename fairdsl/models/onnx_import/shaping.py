"""Operators that only move elements about: shapes, selections, concatenations, casts, constants."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdsl.ir.expr import Relation
from fairdsl.models import exact
from fairdsl.models.basis import Affine, Comparison, Indicators, Whole, apply, stack, take
from fairdsl.models.onnx_import.chosen import slopes
from fairdsl.models.onnx_import.exponentials import whole_part
from fairdsl.models.onnx_import.file import numpy_dtype
from fairdsl.models.onnx_import.labels import cast, looked_up
from fairdsl.models.onnx_import.values import (
    Constant,
    Exponential,
    Handlers,
    Labelled,
    Logistic,
    NodeCall,
    Probabilities,
    Text,
    Unread,
    UnreadableError,
    Value,
    as_affine,
    rearrange,
)

Positions = NDArray[np.int64]
_SIZE_LIMIT = 1 << 22


def _identity(call: NodeCall) -> Value:
    return call.value(0)


def _dropout(call: NodeCall) -> Value:
    training = call.optional(2)
    if training is not None and np.any(call.constant(2, "the training mode").array):
        raise UnreadableError("it is in training mode: it drops units at random")
    return call.value(0)


def _constant(call: NodeCall) -> Value:
    attributes = call.node.attributes
    for name in ("value", "value_float", "value_floats", "value_int", "value_ints"):
        if name in attributes:
            dtype = {"f": np.float32, "i": np.int64}.get(name[6:7]) if name != "value" else None
            return constant(np.asarray(attributes[name], dtype=dtype))
    if "value_string" in attributes or "value_strings" in attributes:
        text = attributes.get("value_string", attributes.get("value_strings"))
        return Constant(np.array(text, dtype=object), text=True)
    raise UnreadableError("it holds no value that is read here")


def constant(array: NDArray[Any]) -> Constant:
    """A constant as it lies in the file."""
    return Constant(array, text=array.dtype == object)


def _constant_of_shape(call: NodeCall) -> Value:
    shape = _checked(call.constant(0, "the shape").integers)
    value = np.asarray(call.attribute("value", np.zeros(1, dtype=np.float32)))
    return Constant(np.full(shape, value.reshape(-1)[0], dtype=value.dtype))


def _shape(call: NodeCall) -> Value:
    shape = call.value(0).shape
    start, end = call.attribute("start", 0), call.attribute("end", None)
    return Constant(np.array(shape[slice(start, end)], dtype=np.int64))


def _cast(call: NodeCall) -> Value:
    """Casts between floats change nothing in real arithmetic; constants are rounded as at run time."""
    value = call.value(0)
    dtype = numpy_dtype(int(call.attribute("to", 1)))
    text = dtype is None
    if isinstance(value, Labelled):
        return cast(call, value, dtype)
    if isinstance(value, Unread) or (text and _is_text(value)):
        return value
    if dtype is None:
        raise UnreadableError("it turns numbers into text")
    if isinstance(value, Constant):
        if value.array.dtype == object:
            return Constant(value.numbers.astype(np.float64).astype(dtype))
        return Constant(value.array.astype(dtype))
    if isinstance(value, Exponential) and dtype.kind in "iu":
        return whole_part(call, value)
    if dtype.kind in "iub":
        return _whole(call, value, dtype)
    return value


def _is_text(value: Value) -> bool:
    return isinstance(value, Text) or (isinstance(value, Constant) and value.text)


def _whole(call: NodeCall, value: Value, dtype: np.dtype[Any]) -> Value:
    """What an individual fills in may be read as integers where it is known to be one: binding checks that."""
    if dtype.kind == "b" and isinstance(value, Affine) and _is_truth(call, value):
        return value
    wide = dtype.name in ("int32", "int64")
    if not wide or not isinstance(value, Affine) or not call.basis.early(value):
        raise UnreadableError("it turns a computed number into an integer, which cuts its fraction off")
    call.basis.whole.append(Whole(call.node.operator, call.node.where, value))
    return value


def _is_truth(call: NodeCall, value: Affine) -> bool:
    """Whether every element is an indicator as it stands, or 0: as a truth value it is itself."""
    if not all(call.basis.blocks[block].indicators is not None for block in value.parts):
        return False
    rows = slopes(value)
    return exact.is_zero(value.bias) and all(len(row) <= 1 and all(factor == 1 for _, factor in row) for row in rows)


def _reshape(call: NodeCall) -> Value:
    value = call.value(0)
    target = call.integer_list("shape", 1)
    if target is None:
        raise UnreadableError("it has no shape")
    if not call.attribute("allowzero", 0):
        target = [value.shape[i] if d == 0 and i < len(value.shape) else d for i, d in enumerate(target)]
    size = prod(value.shape)
    if -1 not in target and prod(target) != size and prod(target[1:]) == size:
        target = [1, *target[1:]]  # a batch size is fixed in the file; one individual is read
    return rearrange(value, lambda positions: positions.reshape(target))


def _flatten(call: NodeCall) -> Value:
    value = call.value(0)
    axis = call.attribute("axis", 1)
    axis = axis + len(value.shape) if axis < 0 else axis
    shape = (prod(value.shape[:axis]), prod(value.shape[axis:]))
    return rearrange(value, lambda positions: positions.reshape(shape))


def _squeeze(call: NodeCall) -> Value:
    axes = call.integer_list("axes", 1)
    chosen = None if axes is None else tuple(axes)
    return rearrange(call.value(0), lambda positions: np.squeeze(positions, axis=chosen))


def _unsqueeze(call: NodeCall) -> Value:
    axes = call.integer_list("axes", 1)
    return rearrange(call.value(0), lambda positions: np.expand_dims(positions, tuple(axes or ())))


def _transpose(call: NodeCall) -> Value:
    order = call.attribute("perm", None)
    return rearrange(call.value(0), lambda positions: np.transpose(positions, order))


def _expand(call: NodeCall) -> Value:
    value = call.value(0)
    shape = np.broadcast_shapes(value.shape, _checked(call.constant(1, "the shape").integers))
    return rearrange(value, lambda positions: np.broadcast_to(positions, _checked(shape)))


def _gather(call: NodeCall) -> Value:
    chosen = call.value(1)
    axis = call.attribute("axis", 0)
    if isinstance(chosen, Labelled):
        table = call.constant(0, "the table of classes")
        if len(table.shape) != 1:
            raise UnreadableError("its table of classes has more than one dimension")
        return looked_up(call, chosen, table, axis, chosen.shape, from_the_end=True)
    source = call.value(0)
    if isinstance(source, Constant) and isinstance(chosen, Affine) and not source.text:
        return embedded(call, np.moveaxis(source.numbers, axis, 0), chosen, axis)
    if not isinstance(chosen, Constant):
        raise UnreadableError("it picks numbers of the individual by another one")
    positions = np.array(chosen.integers, dtype=np.int64).reshape(chosen.shape)
    return rearrange(call.value(0), lambda source: np.take(source, positions, axis=axis))


def embedded(call: NodeCall, table: NDArray[Any], chosen: Affine, axis: int) -> Affine:
    """The rows of a table (along its first axis) at positions that the individual has: an indicator for each of them.

    ``axis`` is where the positions' axes come in the result. The positions have to be whole numbers that are there,
    for the runtime fails on others.
    """
    if not call.basis.early(chosen):
        raise UnreadableError("it looks rows up by a number that units of a network compute")
    rows = len(table)
    if chosen.size * rows > _SIZE_LIMIT:
        raise UnreadableError(f"it looks up {chosen.size} rows of {rows}")
    call.basis.whole.append(Whole(call.node.operator, call.node.where, chosen, frozenset(range(rows))))
    tests = [Comparison(place, Relation.EQ, Fraction(row)) for place in range(chosen.size) for row in range(rows)]
    units = call.basis.indicate(Indicators(call.node.operator, call.node.where, chosen, tuple(tests)))
    columns = table.reshape(rows, -1).T
    found = [
        apply(columns, take(units, np.arange(place * rows, (place + 1) * rows)), (len(columns),), call.basis)
        for place in range(chosen.size)
    ]
    vector = stack(found, call.basis)
    positions = np.arange(vector.size, dtype=np.int64).reshape(*chosen.shape, *table.shape[1:])
    rank = len(chosen.shape)
    return take(vector, np.moveaxis(positions, range(rank), range(axis, axis + rank)))


def _slice(call: NodeCall) -> Value:
    value = call.value(0)
    starts, ends = call.integer_list("starts", 1), call.integer_list("ends", 2)
    if starts is None or ends is None:
        raise UnreadableError("it has no starts and ends")
    axes = call.integer_list("axes", 3) or list(range(len(starts)))
    steps = call.integer_list("steps", 4) or [1] * len(starts)
    window: list[slice] = [slice(None)] * len(value.shape)
    for axis, start, end, step in zip(axes, starts, ends, steps, strict=True):
        size = value.shape[axis]
        stop = None if step < 0 and end < -size else end
        window[axis] = slice(start, stop, step)
    return rearrange(value, lambda positions: positions[tuple(window)])


def split(call: NodeCall) -> list[Value]:
    """All outputs of a Split node."""
    value = call.value(0)
    axis = call.attribute("axis", 0)
    pieces = call.integer_list("split", 1)
    count = len(call.node.outputs)
    if pieces is None:
        piece = -(-value.shape[axis] // count)
        pieces = [min(piece, value.shape[axis] - i * piece) for i in range(count)]
    borders = np.cumsum(pieces)[:-1]

    def part(index: int) -> Callable[[Positions], Positions]:
        return lambda positions: np.split(positions, borders, axis=axis)[index]

    return [rearrange(value, part(index)) for index in range(count)]


def _concat(call: NodeCall) -> Value:
    values = [call.value(i) for i in range(len(call.inputs))]
    axis = call.attribute("axis", 1)
    if all(isinstance(value, Constant) for value in values):
        constants = [value for value in values if isinstance(value, Constant)]
        return Constant(np.concatenate([c.array for c in constants], axis=axis), constants[0].text)
    if all(isinstance(value, Text) for value in values):
        parts = [value for value in values if isinstance(value, Text)]
        positions = _side_by_side(parts, axis)
        codes = take(stack([part.codes for part in parts], call.basis), positions)
        texts = [table for part in parts for table in part.texts]
        return Text(codes, tuple(texts[place] for place in positions.reshape(-1).tolist()))
    if all(isinstance(value, Probabilities) for value in values):
        return Probabilities(joined(call, [as_affine(value) for value in values], axis))
    if all(isinstance(value, Logistic) for value in values):
        logits = joined(call, [v.logits for v in values if isinstance(v, Logistic)], axis)
        return Logistic(logits, joined(call, [as_affine(value) for value in values], axis))
    return joined(call, [as_affine(value) for value in values], axis)


def joined(call: NodeCall, values: list[Affine], axis: int) -> Affine:
    """The values one after the other along an axis."""
    return take(stack(values, call.basis), _side_by_side(values, axis))


def _side_by_side(values: Sequence[Affine | Text], axis: int) -> Positions:
    """Where each element of the joined tensor lies in the vector of all elements."""
    positions, start = [], 0
    for value in values:
        size = prod(value.shape)
        positions.append(np.arange(start, start + size, dtype=np.int64).reshape(value.shape))
        start += size
    return np.concatenate(positions, axis=axis)


def _checked(shape: list[int] | tuple[int, ...]) -> tuple[int, ...]:
    if prod(shape) > _SIZE_LIMIT:
        raise UnreadableError("it makes a tensor of " + " x ".join(str(d) for d in shape) + " numbers")
    return tuple(shape)


#: Operators that move the elements of one tensor about.
MOVING = ("Expand", "Flatten", "Reshape", "Slice", "Split", "Squeeze", "Transpose", "Unsqueeze")

HANDLERS: Handlers = {
    ("", "Identity"): _identity,
    ("", "Dropout"): _dropout,
    ("", "Constant"): _constant,
    ("", "ConstantOfShape"): _constant_of_shape,
    ("", "Shape"): _shape,
    ("", "Cast"): _cast,
    ("", "Reshape"): _reshape,
    ("", "Flatten"): _flatten,
    ("", "Squeeze"): _squeeze,
    ("", "Unsqueeze"): _unsqueeze,
    ("", "Transpose"): _transpose,
    ("", "Expand"): _expand,
    ("", "Gather"): _gather,
    ("", "Slice"): _slice,
    ("", "Concat"): _concat,
}
