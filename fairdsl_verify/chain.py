"""Networks: chains of affine maps and ReLU, read out of a model's graph. Operators of other domains are rejected."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from operator import add, mul, sub

from fairdsl_verify import reject, require
from fairdsl_verify.onnx_file import Graph, Node, Tensor, tensor


@dataclass
class Affine:
    """Rows over what lies below: ``weight @ x + bias``."""

    weight: list[list[Fraction]]
    bias: list[Fraction]

    def of(self, values: Sequence[Fraction]) -> list[Fraction]:
        """What it makes of values."""
        return [sum(map(mul, row, values), bias) for row, bias in zip(self.weight, self.bias, strict=True)]


def affine(steps: Sequence[Callable[[Sequence[Fraction]], list[Fraction]]], width: int) -> Affine:
    """The map that affine steps are one after the other: what they make of nothing, and of each column alone."""
    found = []
    for column in range(-1, width):
        values = [Fraction(at == column) for at in range(width)]
        for step in steps:
            values = step(values)
        found.append(values)
    bias, *columns = found
    rows = zip(*(map(sub, column, bias) for column in columns), strict=True)
    return Affine(list(map(list, rows)), bias)


def merged(nodes: Sequence[Affine]) -> Affine:
    """Nodes one after the other as one map."""
    return nodes[0] if len(nodes) == 1 else affine([node.of for node in nodes], len(nodes[0].weight[0]))


@dataclass
class Network:
    """The file's affine nodes, with a ReLU before each further list of them; the last makes one number, the score."""

    nodes: list[list[Affine]]
    sigmoid: bool


def network_of(graph: Graph, columns: int) -> Network:
    """The network of a graph over so many columns; rejects whatever is more than a chain of affine maps and ReLU."""
    if len(graph.outputs) != 1 or graph.width not in (0, columns):
        reject(f"the model has several outputs, or reads {graph.width} columns where the question fills {columns}")
    list(map(tensor, graph.others.values()))  # which rejects them
    name, constants, sigmoid, width = graph.input, dict(graph.constants), False, columns
    nodes: list[list[Affine]] = [[]]
    for node in graph.nodes:
        if len(node.outputs) != 1 or node.domain != "ai.onnx":
            reject(f"`{node.op}` is of another domain than ONNX's own, or makes several tensors")
        if node.op == "Constant":
            constants[node.outputs[0]] = node.one("value", ((0,), []))
        else:
            held = [constants[other] for other in node.inputs if other in constants]
            if sigmoid or len(held) + 1 != len(node.inputs) or name not in node.inputs:
                reject(f"`{node.op}` reads more than what is before it and constants: this program follows chains only")
            if node.op == "Relu":
                nodes.append([])
            if node.op in ("Relu", "Sigmoid", "Identity", "Flatten"):
                sigmoid = node.op == "Sigmoid"
                if held or (node.op == "Flatten" and node.one("axis", 1) != 1):
                    reject(f"`{node.op}` reads constants, or puts individuals together")
            else:
                nodes[-1].append(affine_of(node, held, node.inputs[0] == name, width))
                width = len(nodes[-1][-1].bias)
            name = node.outputs[0]
        node.all_seen()
    if name != graph.outputs[0] or width != 1 or not all(nodes):
        reject("the model does not end in one score, or what a ReLU reads is not an affine map's")
    return Network(nodes, sigmoid)


def affine_of(node: Node, held: list[Tensor], front: bool, width: int) -> Affine:
    """What an affine node makes of so many columns: Gemm, MatMul, or an elementwise operation with a constant."""
    if node.op in ("Gemm", "MatMul") and front and 0 < len(held) <= 1 + (node.op == "Gemm"):
        return _product(node, *held, width=width)
    if node.op not in ("Add", "Sub", "Mul", "Div") or len(held) != 1:
        reject(f"this program does not know the operator `{node.op}`, or not of what it reads here")
    values = _spread(held[0], width)
    if node.op == "Div":
        require(front and all(values), "`Div` divides by what is not constant, or by 0")
        values = [1 / value for value in values]
    operation = {"Add": add, "Sub": sub, "Mul": mul, "Div": mul}[node.op]
    return affine([lambda x: list(map(operation, x, values) if front else map(operation, values, x))], width)


def _product(node: Node, matrix: Tensor, *added: Tensor, width: int) -> Affine:
    """By a matrix from the right, with a bias or without one."""
    turned = node.one("transB", 0) if node.op == "Gemm" else 0
    if node.one("alpha", Fraction(1)) != 1 or node.one("beta", Fraction(1)) != 1 or node.one("transA", 0):
        reject(f"`{node.op}` multiplies its product or its bias, or transposes the individuals")
    (rows, columns), entries = matrix
    weight = [entries[column::columns] for column in range(columns)]
    weight = [entries[row * columns : (row + 1) * columns] for row in range(rows)] if turned else weight
    require(bool(weight) and len(weight[0]) == width, f"`{node.op}` has a matrix of another width")
    return Affine(weight, _spread(added[0], len(weight)) if added else [Fraction(0)] * len(weight))


def _spread(held: Tensor, width: int) -> list[Fraction]:
    """A constant as one number a column."""
    shape, values = held
    if len(shape) > 2 or any(size != 1 for size in shape[:-1]) or len(values) not in (1, width):
        reject("a constant has another shape than one row")
    return values * width if len(values) == 1 else values
