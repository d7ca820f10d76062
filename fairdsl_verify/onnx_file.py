"""The model's file: just enough of protobuf and ONNX for its graph, with all numbers exact.

What might be read in two ways is rejected: singular fields that stand there twice, data in other files, initializers
that callers may replace, operators of other domains, attributes and fields that are not known here.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from math import isfinite, prod
from typing import Any

from fairdsl_verify import reject, require

#: A tensor's shape and its entries, row by row.
Tensor = tuple[tuple[int, ...], list[Fraction]]


class Message:
    """A protobuf message: the fields by number, each a list of what stands there; nothing is merged."""

    def __init__(self, data: bytes) -> None:
        self.fields: dict[int, list[tuple[int, Any]]] = {}
        at = 0
        while at < len(data):
            tag, at = _varint(data, at)
            kind, number = tag & 7, tag >> 3
            if kind not in (0, 1, 2, 5) or not 0 < number < 1 << 29:  # some readers cut a larger number off
                reject(f"the model's file has a field {number} of wire type {kind}")
            value: Any
            value, at = (8, at) if kind == 1 else (4, at) if kind == 5 else _varint(data, at)
            if kind:  # so far it is a size
                value, at = data[at : at + value], at + value
            require(at <= len(data), "the model's file ends within a field")
            self.fields.setdefault(number, []).append((kind, value))

    def only(self, known: Sequence[int], where: str) -> None:
        """Reject fields that are not known here: they might mean something."""
        for number in self.fields:
            require(number in known, f"{where} has a field {number}, which this program does not know")

    def values(self, number: int, *kinds: int) -> list[tuple[int, Any]]:
        """All that stands there of a field, with its wire type, which is one of these."""
        found = self.fields.get(number, [])
        require(all(kind in kinds for kind, _ in found), f"a field {number} is of another wire type than ONNX says")
        return found

    def one(self, number: int, kind: int, default: Any) -> Any:
        """The value of a field that may stand there once."""
        found = self.values(number, kind)
        require(len(found) <= 1, f"a field {number} stands there {len(found)} times")
        return found[0][1] if found else default

    def each(self, number: int) -> list[bytes]:
        """The values of a repeated field of bytes."""
        return [value for _, value in self.values(number, 2)]

    def texts(self, number: int) -> list[str]:
        """The values of a repeated field of text; what is no text stands for itself."""
        return [data.decode("utf-8", "replace") for data in self.each(number)]

    def text(self, number: int) -> str:
        """A field of text that may stand there once."""
        return str(self.one(number, 2, b"").decode("utf-8", "replace"))

    def floats(self, number: int, code: str) -> list[Fraction]:
        """A field of floats (`f`) or doubles (`d`), packed or not."""
        return dyadic(b"".join(value for _, value in self.values(number, 2, 5 if code == "f" else 1)), code)

    def integers(self, number: int) -> list[int]:
        """A field of integers, packed or not."""
        found = self.values(number, 0, 2)
        return [_signed(one) for kind, value in found for one in (_varints(value) if kind == 2 else [value])]


def _varints(data: bytes) -> Iterator[int]:
    at = 0
    while at < len(data):
        value, at = _varint(data, at)
        yield value


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        require(at < len(data) and shift <= 63, "the model's file is damaged: an integer does not end")
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value & (2**64 - 1), at


def _signed(value: int) -> int:
    return value - 2**64 if value >= 2**63 else value


def dyadic(data: bytes, code: str) -> list[Fraction]:
    """Little-endian floats as the exact numbers they are."""
    require(len(data) % struct.calcsize("<" + code) == 0, "a tensor's data is not a whole number of entries")
    found = [value for (value,) in struct.iter_unpack("<" + code, data)]
    require(all(map(isfinite, found)), "a tensor has an entry that is not a number")
    return list(map(Fraction, found))


def tensor(data: bytes) -> tuple[str, Tensor]:
    """A tensor's name, shape and entries."""
    message = Message(data)
    dims, kind, name = tuple(message.integers(1)), message.one(2, 0, 0), message.text(8)
    field, code = {1: (4, "f"), 11: (10, "d")}.get(kind, (0, ""))
    require(bool(field), f"the tensor `{name}` is of data type {kind}; this program reads float32 and float64")
    message.only((1, 2, field, 8, 9, 12, 14), f"the tensor `{name}`")
    if message.one(14, 0, 0) or {9, field} <= set(message.fields):
        reject(f"the tensor `{name}` has its data twice, or elsewhere")
    values = dyadic(message.one(9, 2, b""), code) or message.floats(field, code)
    require(min(dims, default=0) >= 0 and prod(dims) == len(values), f"the tensor `{name}` is not of its shape's size")
    return name, (dims, values)


#: How the values of an attribute are read, by its type: one float, integer, text or tensor, or several.
_READ: dict[int, Callable[[Message], list[Any]]] = {
    1: lambda item: dyadic(item.one(2, 5, b"\0\0\0\0"), "f"),
    2: lambda item: [_signed(item.one(3, 0, 0))],
    3: lambda item: [item.text(4)],
    4: lambda item: [tensor(item.one(5, 2, b""))[1]],
    6: lambda item: item.floats(7, "f"),
    7: lambda item: item.integers(8),
    8: lambda item: item.texts(9),
}


class Node:
    """A node of the graph: its operator, what it reads and makes, and its attributes that nobody has looked at yet."""

    def __init__(self, data: bytes) -> None:
        message = Message(data)
        message.only((1, 2, 3, 4, 5, 6, 7, 9), "a node")
        self.op, self.domain = message.text(4), message.text(7) or "ai.onnx"
        self.inputs, self.outputs = message.texts(1), message.texts(2)
        self.attributes: dict[str, list[Any]] = {}
        for item in map(Message, message.each(5)):
            name, kind = item.text(1), item.one(20, 0, 0)
            if name in self.attributes or kind not in _READ:
                reject(f"`{self.op}` has `{name}` twice, or of an unknown type")
            item.only((1, 13, 20, kind + 1), f"the attribute `{name}`")
            self.attributes[name] = _READ[kind](item)

    def listed(self, name: str) -> list[Any]:
        """An attribute's values, none where it is not there; it counts as looked at."""
        return self.attributes.pop(name, [])

    def one(self, name: str, default: Any) -> Any:
        """An attribute of one value, which is of the default's type."""
        found = self.listed(name) or [default]
        require(len(found) == 1 and type(found[0]) is type(default), f"the attribute `{name}` is of another type")
        return found[0]

    def all_seen(self) -> None:
        """Reject attributes that nobody looked at: they might mean something."""
        if self.attributes:
            reject(f"`{self.op}` has an attribute `{min(self.attributes)}`, which this program does not know")


class Graph:
    """The graph of an ONNX file's bytes: its nodes, its constants, and the names of its inputs and outputs."""

    def __init__(self, content: bytes) -> None:
        model = Message(content)
        model.only((1, 2, 3, 4, 5, 6, 7, 8, 14), "the model")
        if any(Message(item).text(1) not in ("", "ai.onnx", "ai.onnx.ml") for item in model.each(8)):
            reject("the model uses operators of a domain that is not ONNX's")
        graph = Message(model.one(7, 2, b""))
        graph.only((1, 2, 5, 10, 11, 12, 13), "the graph")
        stored = [(Message(item).text(8), item) for item in graph.each(5)]
        #: Initializers of whole numbers and texts, as bytes: `classifiers` alone reads any.
        self.others = {name: item for name, item in stored if Message(item).one(2, 0, 0) in (6, 7, 8)}
        tensors = [tensor(item) for name, item in stored if name not in self.others]
        self.constants: dict[str, Tensor] = dict(tensors)
        given, self.nodes = [Message(item) for item in graph.each(11)], list(map(Node, graph.each(1)))
        self.outputs = [Message(item).text(1) for item in graph.each(12)]
        made = [name for name, _ in stored] + [name for node in self.nodes for name in node.outputs]
        if len(given) != 1 or given[0].text(1) in self.constants:
            reject("the model has several inputs, or an initializer that callers may replace")
        self.input = given[0].text(1)
        require(len({*made, self.input, ""}) == len(made) + 2, "a tensor is made twice, or has no name")
        kind = Message(Message(given[0].one(2, 2, b"")).one(1, 2, b""))
        shape, self.kind = Message(kind.one(2, 2, b"")), kind.one(1, 0, 0)
        sizes = [Message(size).one(1, 0, 0) for size in shape.each(1)]
        require(len(sizes) in (0, 2), "the model's input is not a table, with a row for each individual")
        #: How many columns the input is declared to have; 0 where the file leaves that open.
        self.width: int = sizes[1] if sizes else 0
