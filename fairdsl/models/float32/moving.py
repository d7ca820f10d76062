"""Operators that move numbers about and compute none: shapes, selections, joins, stored values, conversions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdsl.models.float32.arithmetic import as_float32, converted
from fairdsl.models.float32.call import ML, Call, Handlers
from fairdsl.models.float32.values import Choice, Logits, NoBoundError, Rounded, Value, moved, of_file, told_apart
from fairdsl.models.onnx_import.columns import in_order, keys_of
from fairdsl.models.onnx_import.file import numpy_dtype

Positions = NDArray[np.int64]
_LARGEST = 1 << 22


def _same(call: Call) -> list[Value]:
    return [call.value(0)]


def _dropout(call: Call) -> list[Value]:
    if call.optional(2) is not None and call.stored(2).any():
        raise NoBoundError("it drops units at random")
    return [call.value(0)]


def _constant(call: Call) -> list[Value]:
    kinds: tuple[tuple[str, Any], ...] = (
        ("value", None),
        ("value_float", np.float32),
        ("value_floats", np.float32),
        ("value_int", np.int64),
        ("value_ints", np.int64),
        ("value_string", object),
        ("value_strings", object),
    )
    for name, dtype in kinds:
        found = call.attribute(name, None)
        if found is not None:
            return [np.asarray(found, dtype=dtype)]
    raise NoBoundError("it holds no value")


def _constant_of_shape(call: Call) -> list[Value]:
    value = np.asarray(call.attribute("value", np.zeros(1, dtype=np.float32)))
    return [np.full(_checked(call.stored(0).tolist()), value.reshape(-1)[0], dtype=value.dtype)]


def _checked(shape: Sequence[int]) -> tuple[int, ...]:
    if prod(shape) > _LARGEST:
        raise NoBoundError("its tensor is too large")
    return tuple(shape)


def _shape(call: Call) -> list[Value]:
    shape = call.value(0).shape
    return [np.array(shape[slice(call.attribute("start", 0), call.attribute("end", None))], dtype=np.int64)]


def _cast(call: Call) -> list[Value]:
    value = call.value(0)
    dtype = numpy_dtype(int(call.attribute("to", 1)))
    if not isinstance(value, Rounded):
        if dtype is None and value.dtype == object:
            return [value]
        if dtype is None or value.dtype == object:
            raise NoBoundError("it turns numbers into text or back")
        return [value.astype(dtype)]
    if value.texts or dtype is None:
        if value.texts and dtype is None:
            return [value]
        raise NoBoundError("it turns numbers into text or back")
    return [_converted(value, dtype)]


def _converted(value: Rounded, dtype: np.dtype[Any]) -> Rounded:
    if dtype.name == value.dtype:
        return value
    if dtype.kind == "f":
        found = converted(value, dtype.name)
        slip = found.precision.roundoff
        logits = value.logits and Logits(value.logits.scores, value.logits.slip + slip, value.logits.joint)
        return replace(found, logits=logits, choice=value.choice)
    if dtype.kind == "b":
        return _with_labels(_truth(value), value.choice, bool)
    if dtype.kind in "iu":
        return _with_labels(cut(value, dtype), value.choice, int)
    raise NoBoundError(f"it converts to {dtype.name}")


def _with_labels(found: Rounded, choice: Choice | None, convert: Callable[[Any], int | str]) -> Rounded:
    """The labels as what becomes of each, where they stay apart."""
    if choice is None or not np.isfinite(found.error).all():
        return found
    return replace(found, choice=relabelled(choice, [convert(label) for label in choice.labels]))


def relabelled(choice: Choice | None, labels: Sequence[int | str]) -> Choice | None:
    """The choice among other labels; None where some of them are the same."""
    if choice is None or len(set(labels)) != len(labels):
        return None
    return replace(choice, labels=tuple(labels))


def _truth(value: Rounded) -> Rounded:
    """Whether it is not 0."""
    exact = np.where((value.low <= 0) & (value.high >= 0), np.where((value.low == 0) & (value.high == 0), 0, -1), 1)
    least, most = value.reach
    certain = (value.error == 0) | (least > 0) | (most < 0)
    low, high = (exact == 1).astype(np.float64), (exact != 0).astype(np.float64)
    return Rounded(low, high, np.where(certain, 0.0, 1.0), "bool")


def cut(value: Rounded, dtype: np.dtype[Any]) -> Rounded:
    """Without its fraction; numbers that the type does not hold become others."""
    low, high = np.trunc(value.low), np.trunc(value.high)
    least, most = (np.trunc(end) for end in value.reach)
    limits = np.iinfo(dtype)
    held = (least >= max(limits.min, -(2.0**53))) & (most <= min(limits.max, 2.0**53))
    held &= (low >= least) & (high <= most)
    error = np.where(value.error == 0, 0.0, np.where(least == most, 0.0, np.ceil(value.error)))
    return Rounded(low, high, np.where(held, error, np.inf), dtype.name)


def _reshape(call: Call) -> list[Value]:
    value = call.value(0)
    target = call.whole_list("shape", 1)
    if target is None:
        raise NoBoundError("it has no shape")
    if not call.attribute("allowzero", 0):
        target = [value.shape[i] if d == 0 and i < len(value.shape) else d for i, d in enumerate(target)]
    size = prod(value.shape)
    if -1 not in target and prod(target) != size and prod(target[1:]) == size:
        target = [1, *target[1:]]  # the file fixes the number of individuals, and each is one of them
    return [moved(value, lambda positions: positions.reshape(target))]


def _flatten(call: Call) -> list[Value]:
    value = call.value(0)
    axis = call.attribute("axis", 1)
    axis += len(value.shape) if axis < 0 else 0
    shape = (prod(value.shape[:axis]), prod(value.shape[axis:]))
    return [moved(value, lambda positions: positions.reshape(shape))]


def _squeeze(call: Call) -> list[Value]:
    axes = call.whole_list("axes", 1)
    return [moved(call.value(0), lambda positions: np.squeeze(positions, axis=None if axes is None else tuple(axes)))]


def _unsqueeze(call: Call) -> list[Value]:
    axes = tuple(call.whole_list("axes", 1) or ())
    return [moved(call.value(0), lambda positions: np.expand_dims(positions, axes))]


def _transpose(call: Call) -> list[Value]:
    order = call.attribute("perm", None)
    return [moved(call.value(0), lambda positions: np.transpose(positions, order))]


def _expand(call: Call) -> list[Value]:
    value = call.value(0)
    shape = _checked(np.broadcast_shapes(value.shape, tuple(call.stored(1).tolist())))
    return [moved(value, lambda positions: np.broadcast_to(positions, shape))]


def _gather(call: Call) -> list[Value]:
    chosen, axis = call.value(1), int(call.attribute("axis", 0))
    if not isinstance(chosen, Rounded):
        return [moved(call.value(0), lambda source: np.take(source, chosen.astype(np.int64), axis=axis))]
    table = call.value(0)
    if isinstance(table, Rounded) or axis != 0:
        raise NoBoundError("it looks rows up by a value of the individual")
    return [looked_up(chosen, table) if table.ndim == 1 else _rows(chosen, table)]


def _rows(chosen: Rounded, table: NDArray[Any]) -> Rounded:
    """The rows of a table at positions that are certain for each individual; of a box anything between all rows."""
    least, most = chosen.ends
    if chosen.error.any() or table.dtype == object or least.min() < 0 or most.max() > len(table) - 1:
        raise NoBoundError("it looks rows up by a number that is not certain")
    numbers = table.astype(np.float64)
    shape = (*chosen.low.shape, *table.shape[1:])
    if np.array_equal(least, most):
        low = high = numbers[least.astype(np.int64)]
    else:
        low, high = (np.broadcast_to(end, shape) for end in (numbers.min(axis=0), numbers.max(axis=0)))
    return Rounded(low, high, np.zeros(shape), table.dtype.name)


def _gather_nd(call: Call) -> list[Value]:
    chosen, table = call.value(1), call.value(0)
    if call.attribute("batch_dims", 0):
        raise NoBoundError("it picks for each individual of a batch by itself")
    if not isinstance(chosen, Rounded):
        lists = tuple(np.moveaxis(chosen.astype(np.int64), -1, 0))
        return [moved(table, lambda source: source[lists])]
    if isinstance(table, Rounded) or chosen.shape[-1] != 1:
        raise NoBoundError("it looks rows up by several numbers of the individual")
    only = moved(chosen, lambda positions: positions[..., 0])
    assert isinstance(only, Rounded), "so is what is moved"
    return [looked_up(only, table) if table.ndim == 1 else _rows(only, table)]


def _one_hot(call: Call) -> list[Value]:
    """Codes below 0 count from the end; codes beyond the depth have no place."""
    chosen, depth = call.rounded(0), int(call.stored(1).reshape(-1)[0])
    off, on = (float(number) for number in call.stored(2).reshape(-1))
    if chosen.error.any():
        raise NoBoundError("it codes a number that is not certain")
    axis = int(call.attribute("axis", -1))
    place = axis if axis < 0 else axis + 1
    least, most = (np.expand_dims(end, place) for end in chosen.ends)
    places = np.arange(depth).reshape([-1 if i == place % least.ndim else 1 for i in range(least.ndim)])
    inside = [(least <= code) & (most >= code) for code in (places, places - depth)]
    possible, certain = inside[0] | inside[1], (inside[0] | inside[1]) & (least == most)
    hot, cold = max(on, off), min(on, off)
    low = np.where(certain, on, np.where(possible, cold, off))
    high = low if np.array_equal(least, most) else np.where(certain, on, np.where(possible, hot, off))
    return [Rounded(low, high, np.zeros(low.shape), call.stored(2).dtype.name)]


def looked_up(chosen: Rounded, table: NDArray[Any]) -> Rounded:
    """The entries of a table at the positions that the individual has; several where these are not certain."""
    texts: tuple[str, ...] = ()
    written = [str(text) for text in table.tolist()] if table.dtype == object else []
    if written:
        numbers, texts = told_apart(written)
    else:
        numbers = table.astype(np.float64)
    least, most = (np.clip(np.nan_to_num(end), 0, len(numbers) - 1) for end in chosen.reach)
    outside = np.isinf(chosen.error) | (chosen.reach[0] < 0) | (chosen.reach[1] > len(numbers) - 1)
    places = np.arange(len(numbers))
    within = (places >= np.ceil(least)[..., None]) & (places <= np.floor(most)[..., None])
    possible = (places >= np.ceil(chosen.low)[..., None]) & (places <= np.floor(chosen.high)[..., None])
    low, high = _hull(numbers, possible)
    at_run_time = _hull(numbers, within)
    apart = np.maximum(at_run_time[1] - low, high - at_run_time[0])
    error = np.where(outside, np.inf, np.where(chosen.error == 0, 0.0, apart))
    names: list[int | str] = [*written] or [int(number) for number in numbers]
    choice = chosen.choice
    if choice is not None:
        fits = all(isinstance(label, int) and 0 <= label < len(names) for label in choice.labels)
        whole = bool(texts) or bool((numbers == np.floor(numbers)).all())
        choice = relabelled(choice, [names[int(label)] for label in choice.labels]) if fits and whole else None
    return Rounded(low, high, error, "int64" if texts else table.dtype.name, texts, choice=choice)


def _hull(numbers: NDArray[np.float64], chosen: NDArray[np.bool_]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    low, high = np.where(chosen, numbers, np.inf).min(axis=-1), np.where(chosen, numbers, -np.inf).max(axis=-1)
    nothing = ~chosen.any(axis=-1)
    return np.where(nothing, -np.inf, low), np.where(nothing, np.inf, high)


def _array_feature_extractor(call: Call) -> list[Value]:
    chosen, value = call.value(1), call.value(0)
    if isinstance(chosen, Rounded):
        if isinstance(value, Rounded):
            raise NoBoundError("it looks numbers up by a value of the individual")
        found = looked_up(chosen, value.reshape(-1))
        return [moved(found, lambda positions: positions.reshape(1, -1))]
    columns = chosen.reshape(-1).astype(np.int64)
    return [moved(value, lambda source: np.atleast_2d(source)[..., columns])]


def _slice(call: Call) -> list[Value]:
    value = call.value(0)
    starts, ends = call.whole_list("starts", 1), call.whole_list("ends", 2)
    if starts is None or ends is None:
        raise NoBoundError("it has no starts and ends")
    axes = call.whole_list("axes", 3) or list(range(len(starts)))
    steps = call.whole_list("steps", 4) or [1] * len(starts)
    window: list[slice] = [slice(None)] * len(value.shape)
    for axis, start, end, step in zip(axes, starts, ends, steps, strict=True):
        beyond = step < 0 and end < -value.shape[axis]
        window[axis] = slice(start, None if beyond else end, step)
    return [moved(value, lambda positions: positions[tuple(window)])]


def _split(call: Call) -> list[Value]:
    value, axis = call.value(0), int(call.attribute("axis", 0))
    sizes = call.whole_list("split", 1)
    count, length = len(call.node.outputs), value.shape[axis]
    if sizes is None:
        step = -(-length // count)
        sizes = [max(0, min(step, length - i * step)) for i in range(count)]
    borders = np.cumsum(sizes)[:-1]

    def part(index: int) -> Callable[[Positions], Positions]:
        return lambda positions: np.split(positions, borders, axis=axis)[index]

    return [moved(value, part(index)) for index in range(count)]


def _concat(call: Call) -> list[Value]:
    values = [call.value(position) for position in range(len(call.inputs))]
    axis = int(call.attribute("axis", 1))
    if not any(isinstance(value, Rounded) for value in values):
        return [np.concatenate([np.asarray(value) for value in values], axis=axis)]
    return [side_by_side([of_file(value) for value in values], axis)]


def side_by_side(values: Sequence[Rounded], axis: int) -> Rounded:
    """The values one after the other along an axis of one individual's tensor."""
    count = max(len(value.low) for value in values)
    place = axis + 1 if axis >= 0 else axis
    texts = values[0].texts
    if any(value.texts != texts for value in values):
        raise NoBoundError("it joins numbers and text")

    def joined(arrays: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
        full = [np.broadcast_to(array, (count, *array.shape[1:])) for array in arrays]
        return np.concatenate(full, axis=place)

    low = joined([value.low for value in values])
    points = all(value.low is value.high for value in values)
    high = low if points else joined([value.high for value in values])
    error = joined([value.error for value in values])
    behind = [value.logits for value in values if value.logits is not None and not value.logits.joint]
    logits = None
    if len(behind) == len(values):
        slip = max(entry.slip for entry in behind)
        logits = Logits(side_by_side([entry.scores for entry in behind], axis), slip)
    return Rounded(low, high, error, values[0].dtype, texts, logits)


def _feature_vectorizer(call: Call) -> list[Value]:
    """All inputs as one row of float32 numbers."""
    values = [as_float32(call.rounded(position)) for position in range(len(call.inputs))]
    rows = [moved(value, lambda positions: positions.reshape(1, -1)) for value in values]
    return [side_by_side([row for row in rows if isinstance(row, Rounded)], 1)]


def _imputer(call: Call) -> list[Value]:
    replaced = call.attribute("replaced_value_float", None)
    if replaced is None or not np.isnan(replaced):
        raise NoBoundError("it replaces a number by another one")
    return [call.value(0)]


def _zip_map(call: Call) -> list[Value]:
    """Columns with names, in the order of the names."""
    order = in_order(keys_of(call.node.attributes))
    return [moved(call.value(0), lambda positions: positions.reshape(1, -1)[:, order])]


HANDLERS: Handlers = {
    ("", "Identity"): _same,
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
    ("", "GatherND"): _gather_nd,
    ("", "OneHot"): _one_hot,
    ("", "Slice"): _slice,
    ("", "Split"): _split,
    ("", "Concat"): _concat,
    (ML, "ArrayFeatureExtractor"): _array_feature_extractor,
    (ML, "FeatureVectorizer"): _feature_vectorizer,
    (ML, "Imputer"): _imputer,
    (ML, "ZipMap"): _zip_map,
}
