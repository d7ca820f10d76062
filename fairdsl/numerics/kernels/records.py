"""Records of arrays, passed to kernels by reference.

numba passes a named tuple by value: some sixty arrays of seven words each at every call, unpacked and packed again
by every function in between, which made most of the machine code and of the time that it takes to compile it. A
record class is a type of its own instead: a pointer to a table with the address and the shape of each array and the
value of each number, records within it in place. The table is made when a kernel is called from Python; nothing in
it changes while kernels run, and they are told so, so that they read it once and not in every loop.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, reduce
from struct import pack
from typing import Annotated, Any, NamedTuple, cast, get_args, get_origin, get_type_hints

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.typing.templates import AttributeTemplate
from numba.extending import (
    NativeValue,
    infer_getattr,
    lower_getattr_generic,
    models,
    register_model,
    typeof_impl,
    unbox,
)
from numba.np.numpy_support import as_dtype, from_dtype

_WORD = 8
_NUMBERS: dict[type, tuple[types.Type, str]] = {
    float: (types.float64, "d"),
    int: (types.int64, "q"),
    bool: (types.boolean, "q"),
}


class _Field(NamedTuple):
    """A field of a record: its type for numba, and where it lies in the table, in words."""

    name: str
    type: types.Type
    at: int


class RecordType(types.Type):
    """A record class for numba: a pointer to its table."""

    def __init__(self, cls: type) -> None:
        self.fields = {field.name: field for field in _fields_of(cls)}
        super().__init__(name=f"record.{cls.__name__}")


def by_reference(*classes: type) -> None:
    """Pass records of these classes by reference; those within others first.

    They are named tuples of contiguous arrays (``NDArray[dtype]`` has one dimension, ``Annotated[.., n]`` has n),
    ``float``, ``int``, ``bool`` and other such records.
    """
    for cls in classes:
        record = _record_type(cls)
        typeof_impl.register(cls)(lambda _value, _context, record=record: record)


@cache
def _record_type(cls: type) -> RecordType:
    return RecordType(cls)


@cache
def _fields_of(cls: type) -> tuple[_Field, ...]:
    fields, at = [], 0
    for name, hint in get_type_hints(cls, include_extras=True).items():
        fields.append(_Field(name, _field_type(hint), at))
        at += _words(fields[-1].type)
    return tuple(fields)


def _field_type(hint: Any) -> types.Type:
    if hint in _NUMBERS:
        return _NUMBERS[hint][0]
    if isinstance(hint, type) and hasattr(hint, "_fields"):
        return _record_type(hint)
    dimensions = 1
    if get_origin(hint) is Annotated:
        hint, dimensions = get_args(hint)
    scalar = get_args(get_args(hint)[1])[0]
    return types.Array(from_dtype(np.dtype(scalar)), dimensions, "C")


def _words(kind: types.Type) -> int:
    """How much of the table a field takes: an array's address and shape, a number, a record's own table."""
    match kind:
        case types.Array():
            return 1 + int(kind.ndim)
        case RecordType():
            return sum(_words(field.type) for field in kind.fields.values())
    return 1


def _table_of(record: tuple[Any, ...]) -> bytes:
    """The table of a record; it and its arrays must outlive what uses it."""
    return b"".join(_entries(record))


def _entries(record: tuple[Any, ...]) -> Iterator[bytes]:
    for field, value in zip(_fields_of(type(record)), record, strict=True):
        match field.type:
            case types.Array():
                _demand(field, value)
                yield pack(f"{1 + value.ndim}q", value.__array_interface__["data"][0], *value.shape)
            case RecordType():
                yield from _entries(value)
            case types.Float():
                yield pack("d", value)
            case _:
                yield pack("q", value)


def _demand(field: _Field, array: np.ndarray[Any, Any]) -> None:
    """Refuse an array that kernels would read as something else."""
    kind = cast(Any, field.type)
    if from_dtype(array.dtype) != kind.dtype or array.ndim != kind.ndim or not array.flags.c_contiguous:
        raise TypeError(f"{field.name} must be a contiguous array {kind}, not {array.dtype} {array.shape}")


@register_model(RecordType)
class _Pointer(models.OpaqueModel):
    """A record is the address of its table."""


@unbox(RecordType)  # type: ignore[untyped-decorator]
def _unbox(_kind: RecordType, record: Any, c: Any) -> NativeValue:
    """Make the table; it is let go of when the kernel returns."""
    maker = c.pyapi.unserialize(c.pyapi.serialize_object(_table_of))
    table = c.pyapi.call_function_objargs(maker, [record])
    c.pyapi.decref(maker)
    failed = cgutils.is_null(c.builder, table)
    address = cgutils.alloca_once_value(c.builder, ir.Constant(cgutils.voidptr_t, None))
    with c.builder.if_then(c.builder.not_(failed)):
        c.builder.store(c.pyapi.bytes_as_string(table), address)
    return NativeValue(c.builder.load(address), is_error=failed, cleanup=lambda: c.pyapi.decref(table))


@infer_getattr
class _Attributes(AttributeTemplate):
    key = RecordType

    def generic_resolve(self, record: RecordType, name: str) -> types.Type | None:  # type: ignore[override]
        field = record.fields.get(name)
        return None if field is None else field.type


@lower_getattr_generic(RecordType)  # type: ignore[untyped-decorator]
def _attribute(context: Any, builder: Any, record: RecordType, pointer: Any, name: str) -> Any:
    field = record.fields[name]
    word = ir.IntType(64)

    def load(place: int, kind: Any = word) -> Any:
        at = cgutils.gep_inbounds(builder, pointer, (field.at + place) * _WORD)
        loaded = builder.load(builder.bitcast(at, kind.as_pointer()))
        loaded.set_metadata("invariant.load", builder.module.add_metadata([]))
        return loaded

    match field.type:
        case RecordType():
            return cgutils.gep_inbounds(builder, pointer, field.at * _WORD)
        case types.Float():
            return load(0, ir.DoubleType())
        case types.Integer():
            return load(0)
        case types.Boolean():
            return builder.trunc(load(0), ir.IntType(1))
    kind = cast(types.Array, field.type)
    shape, size = [load(1 + axis) for axis in range(kind.ndim)], _item_size(kind)
    strides = [size]
    for extent in reversed(shape[1:]):
        strides.insert(0, builder.mul(strides[0], extent))
    parts = {
        "data": load(0, context.get_data_type(kind.dtype).as_pointer()),
        "itemsize": size,
        "nitems": reduce(builder.mul, shape),
        "shape": cgutils.pack_array(builder, shape),
        "strides": cgutils.pack_array(builder, strides),
    }
    model = context.data_model_manager[kind]
    array = ir.Constant(model.get_value_type(), None)
    for name, part in parts.items():
        array = builder.insert_value(array, part, model.get_field_position(name))
    return array


@cache
def _item_size(kind: types.Array) -> Any:
    return ir.Constant(ir.IntType(64), as_dtype(kind.dtype).itemsize)
