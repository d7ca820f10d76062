"""The model's file: just enough of protobuf and ONNX for chains of affine maps and ReLU, as exact numbers.

What might be read in two ways is rejected: singular fields that stand there twice, data in other files, initializers
that callers may replace, operators of other domains, attributes and fields that are not known here.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from operator import mul
from typing import Any

from fairdsl_verify import reject


class Message:
    """A protobuf message: the fields by number, each a list of what stands there; nothing is merged."""

    def __init__(self, data: bytes) -> None:
        self.fields: dict[int, list[tuple[int, Any]]] = {}
        at = 0
        while at < len(data):
            tag, at = _varint(data, at)
            kind, number = tag & 7, tag >> 3
            value: Any
            if kind == 0:
                value, at = _varint(data, at)
            elif kind in (1, 5):
                size = 8 if kind == 1 else 4
                value, at = data[at : at + size], at + size
            elif kind == 2:
                size, at = _varint(data, at)
                value, at = data[at : at + size], at + size
            else:
                reject(f"the model's file has a field of wire type {kind}")
            if at > len(data):
                reject("the model's file ends within a field")
            self.fields.setdefault(number, []).append((kind, value))

    def only(self, known: Sequence[int], where: str) -> None:
        """Reject fields that are not known here: they might mean something."""
        for number in self.fields:
            if number not in known:
                reject(f"{where} has a field {number}, which this program does not know")

    def one(self, number: int, kind: int, default: Any) -> Any:
        """The value of a field that may stand there once."""
        found = self.fields.get(number, [])
        if len(found) > 1:
            reject(f"a field {number} stands there {len(found)} times; which one counts depends on the reader")
        if found and found[0][0] != kind:
            reject(f"a field {number} is of another wire type than ONNX says")
        return found[0][1] if found else default

    def text(self, number: int) -> str:
        """A field of text."""
        return bytes(self.one(number, 2, b"")).decode("utf-8", "replace")

    def each(self, number: int) -> list[bytes]:
        """The values of a repeated field of bytes."""
        found = self.fields.get(number, [])
        if any(kind != 2 for kind, _ in found):
            reject(f"a field {number} is of another wire type than ONNX says")
        return [value for _, value in found]

    def integers(self, number: int) -> list[int]:
        """A repeated field of integers, packed or not."""
        found: list[int] = []
        for kind, value in self.fields.get(number, []):
            if kind == 0:
                found.append(_signed(value))
            elif kind == 2:
                at = 0
                while at < len(value):
                    number_, at = _varint(value, at)
                    found.append(_signed(number_))
            else:
                reject(f"a field {number} is of another wire type than ONNX says")
        return found


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        if at >= len(data) or shift > 63:
            reject("the model's file is damaged: an integer does not end")
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value & (2**64 - 1), at


def _signed(value: int) -> int:
    return value - 2**64 if value >= 2**63 else value


def _dyadic(data: bytes, code: str, size: int) -> list[Fraction]:
    """Little-endian floats as the exact numbers they are."""
    if len(data) % size:
        reject("a tensor's data is not a whole number of entries")
    found = []
    for (value,) in struct.iter_unpack("<" + code, data):
        if value != value or value in (float("inf"), float("-inf")):
            reject("a tensor has an entry that is not a number")
        found.append(Fraction(value))
    return found


Tensor = tuple[tuple[int, ...], list[Fraction]]


def _tensor(data: bytes) -> tuple[str, Tensor]:
    message = Message(data)
    message.only((1, 2, 4, 7, 8, 9, 10, 12, 14), "a tensor")
    if message.one(14, 0, 0):
        reject("a tensor's data lies in another file")
    dims, kind = tuple(message.integers(1)), message.one(2, 0, 0)
    raw, name = message.one(9, 2, None), message.text(8)
    field, code, size = {1: (4, "f", 4), 11: (10, "d", 8)}.get(kind, (0, "", 0))
    if not field:
        reject(f"the tensor `{name}` is of data type {kind}; this program reads float32 and float64")
    typed = [bytes(value) for _, value in message.fields.get(field, []) if isinstance(value, bytes)]
    if any(number in message.fields for number in (4, 7, 10) if number != field or raw is not None):
        reject(f"the tensor `{name}` has its data twice, or as another type")
    values = _dyadic(raw if raw is not None else b"".join(typed), code, size)
    if any(size < 0 for size in dims) or prod(dims) != len(values):
        reject(f"the tensor `{name}` has {len(values)} entries where its shape has {prod(dims)}")
    return name, (dims, values)


@dataclass
class Affine:
    """Rows over what lies below: ``weight @ x + bias``."""

    weight: list[list[Fraction]]
    bias: list[Fraction]

    def after(self, weight: list[list[Fraction]], bias: list[Fraction]) -> Affine:
        """This map, then another one."""
        columns = list(zip(*self.weight, strict=True))
        rows = [[sum(map(mul, row, column), Fraction(0)) for column in columns] for row in weight]
        moved = [sum(map(mul, row, self.bias), Fraction(0)) + own for row, own in zip(weight, bias, strict=True)]
        return Affine(rows, moved)

    def scaled(self, factors: Sequence[Fraction], added: Sequence[Fraction]) -> Affine:
        """Each row times its factor, plus its constant."""
        rows = [[f * w for w in row] for f, row in zip(factors, self.weight, strict=True)]
        return Affine(rows, [f * b + a for f, b, a in zip(factors, self.bias, added, strict=True)])


class _Node:
    """A node of the graph: its operator, what it reads and makes, and its attributes."""

    def __init__(self, data: bytes) -> None:
        message = Message(data)
        message.only((1, 2, 3, 4, 5, 6, 7, 9), "a node")
        self.op = message.text(4)
        if message.text(7) not in ("", "ai.onnx"):
            reject(f"the operator `{self.op}` is of another domain than ONNX's own")
        self.inputs = [name.decode("utf-8", "replace") for name in message.each(1)]
        self.outputs = [name.decode("utf-8", "replace") for name in message.each(2)]
        self.attributes: dict[str, Message] = {}
        for item in map(Message, message.each(5)):
            name = item.text(1)
            if name in self.attributes or 21 in item.fields:
                reject(f"`{self.op}` has its attribute `{name}` twice, or by reference")
            self.attributes[name] = item

    def integer(self, name: str, default: int) -> int:
        """An integer attribute, taken off the list of those not looked at."""
        item = self.attributes.pop(name, None)
        return default if item is None else _signed(item.one(3, 0, 0))

    def number(self, name: str) -> Fraction:
        """A float attribute whose default is 1."""
        item = self.attributes.pop(name, None)
        return Fraction(1) if item is None else _dyadic(item.one(2, 5, b"\0\0\0\0"), "f", 4)[0]


@dataclass
class Network:
    """A chain of affine maps with a ReLU between each two; the last has one row, the score."""

    first: Affine
    above: list[Affine]
    sha256: str
    sigmoid: bool


def network_of(content: bytes) -> Network:
    """The network of an ONNX file's bytes; rejects whatever is more than a chain of affine maps and ReLU."""
    model = Message(content)
    model.only((1, 2, 3, 4, 5, 6, 7, 8, 14), "the model")
    if any(Message(item).text(1) not in ("", "ai.onnx", "ai.onnx.ml") for item in model.each(8)):
        reject("the model uses operators of a domain that is not ONNX's")
    graph = Message(model.one(7, 2, b""))
    graph.only((1, 2, 5, 10, 11, 12, 13), "the graph")
    constants: dict[str, Tensor] = {}
    for data in graph.each(5):
        name, tensor = _tensor(data)
        if name in constants:
            reject(f"the tensor `{name}` stands there twice")
        constants[name] = tensor
    inputs = [Message(item).text(1) for item in graph.each(11)]
    outputs = [Message(item).text(1) for item in graph.each(12)]
    if len(inputs) != 1 or inputs[0] in constants:
        reject("the model has several inputs, or an initializer that callers may replace")
    if len(outputs) != 1:
        reject("the model has several outputs")
    return _chain(list(map(_Node, graph.each(1))), constants, inputs[0], outputs[0], content)


def _chain(nodes: list[_Node], constants: dict[str, Tensor], name: str, output: str, content: bytes) -> Network:
    """Follow one tensor through the graph."""
    closed: list[Affine] = []
    current: Affine | None = None
    sigmoid = False
    for node in nodes:
        if len(node.outputs) != 1 or node.outputs[0] in constants or node.outputs[0] == name:
            reject(f"`{node.op}` makes a tensor that there is already, or several")
        if node.op == "Constant":
            constants[node.outputs[0]] = _tensor(node.attributes.pop("value", Message(b"")).one(5, 2, b""))[1]
            _all_seen(node)
            continue
        if sigmoid or name not in node.inputs:
            reject(f"`{node.op}` reads another tensor than the one before it: this program follows chains only")
        if node.op == "Relu":
            if current is None:
                reject("a ReLU of the inputs themselves")
            closed, current = [*closed, current], None
        elif node.op == "Sigmoid":
            sigmoid = True
        elif node.op == "Flatten":
            if node.integer("axis", 1) != 1:
                reject("`Flatten` along another axis than the individuals'")
        elif node.op != "Identity":
            current = _affine(node, constants, name, current, closed)
        _all_seen(node)
        name = node.outputs[0]
    if name != output or current is None or len(current.weight) != 1:
        reject("the model does not end in one score after an affine map")
    layers = [*closed, current]
    return Network(layers[0], layers[1:], hashlib.sha256(content).hexdigest(), sigmoid)


def _all_seen(node: _Node) -> None:
    if node.attributes:
        reject(f"`{node.op}` has an attribute `{min(node.attributes)}`, which this program does not know")


def _affine(
    node: _Node, constants: dict[str, Tensor], name: str, current: Affine | None, closed: list[Affine]
) -> Affine:
    """One more affine node: Gemm, MatMul, or an elementwise operation with a constant."""
    others = [constants.get(other) for other in node.inputs if other != name]
    if any(other is None for other in others) or node.inputs.count(name) != 1:
        reject(f"`{node.op}` is not of one tensor and constants")
    tensors = [other for other in others if other is not None]
    width = None if current is None else len(current.weight)
    if width is None and closed:
        width = len(closed[-1].weight)
    if node.op in ("Gemm", "MatMul"):
        weight, bias = _product(node, tensors, name, width)
        return Affine(weight, bias) if current is None else current.after(weight, bias)
    if node.op not in ("Add", "Sub", "Mul", "Div") or len(tensors) != 1:
        reject(f"this program does not know the operator `{node.op}`")
    if width is None:
        width = prod(tensors[0][0])
    values, front = _spread(tensors[0], width), node.inputs[0] == name
    one, zero = [Fraction(1)] * width, [Fraction(0)] * width
    if current is None:
        current = Affine([[Fraction(i == j) for j in range(width)] for i in range(width)], zero)
    if node.op == "Add":
        return current.scaled(one, values)
    if node.op == "Sub":
        return current.scaled(one, [-v for v in values]) if front else current.scaled([-v for v in one], values)
    if node.op == "Mul":
        return current.scaled(values, zero)
    if not front or not all(values):
        reject("`Div` divides by what is not constant, or by 0")
    return current.scaled([1 / v for v in values], zero)


def _product(
    node: _Node, tensors: list[Tensor], name: str, width: int | None
) -> tuple[list[list[Fraction]], list[Fraction]]:
    """The matrix and the bias of a Gemm or MatMul."""
    if not tensors or node.inputs[0] != name or len(tensors[0][0]) != 2 or len(tensors) > 1 + (node.op == "Gemm"):
        reject(f"`{node.op}` does not multiply by one matrix from the right")
    if node.op == "Gemm" and node.integer("transA", 0):
        reject("`Gemm` transposes the individuals")
    alpha, beta, turned = Fraction(1), Fraction(1), 0
    if node.op == "Gemm":
        alpha, beta, turned = node.number("alpha"), node.number("beta"), node.integer("transB", 0)
    (rows, columns), entries = tensors[0]
    matrix = [entries[row * columns : (row + 1) * columns] for row in range(rows)]
    weight = matrix if turned else [list(column) for column in zip(*matrix, strict=True)]
    weight = [[alpha * entry for entry in row] for row in weight]
    bias = [beta * entry for entry in _spread(tensors[1], len(weight))] if len(tensors) > 1 else []
    bias = bias or [Fraction(0)] * len(weight)
    if not weight or (width is not None and len(weight[0]) != width):
        reject(f"`{node.op}` has a matrix of another width than what it multiplies")
    return weight, bias


def _spread(tensor: Tensor, width: int) -> list[Fraction]:
    """A constant as one number a column."""
    shape, values = tensor
    if any(size != 1 for size in shape[:-1]) or len(values) not in (1, width):
        reject("a constant has another shape than one row")
    return values * width if len(values) == 1 and width != 1 else values
