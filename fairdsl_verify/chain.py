"""Networks: chains of affine maps and ReLU, read out of a model's graph. Operators of other domains are rejected."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from operator import add, mul, sub

from fairdsl_verify import reject
from fairdsl_verify.onnx_file import Graph, Node, Tensor

#: What a node makes of a row of numbers.
Step = Callable[[Sequence[Fraction]], list[Fraction]]


@dataclass
class Affine:
    """Rows over what lies below: ``weight @ x + bias``."""

    weight: list[list[Fraction]]
    bias: list[Fraction]

    def of(self, values: Sequence[Fraction]) -> list[Fraction]:
        """What it makes of values."""
        return [sum(map(mul, row, values), bias) for row, bias in zip(self.weight, self.bias, strict=True)]


def affine(steps: Sequence[Step], width: int) -> Affine:
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


@dataclass
class Network:
    """A chain of affine maps with a ReLU between each two; the last has one row, the score."""

    layers: list[Affine]
    sigmoid: bool
    #: The file's own affine nodes, layer by layer.
    nodes: list[list[Affine]]


def network_of(graph: Graph, columns: int) -> Network:
    """The network of a graph over so many columns; rejects whatever is more than a chain of affine maps and ReLU."""
    if len(graph.outputs) != 1 or graph.width not in (0, columns):
        reject(f"the model has several outputs, or reads {graph.width} columns where the question fills {columns}")
    name, constants, sigmoid, width, widths = graph.input, dict(graph.constants), False, columns, [columns]
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
                widths.append(width)
            if node.op in ("Relu", "Sigmoid", "Identity", "Flatten"):
                sigmoid = node.op == "Sigmoid"
                if held or (node.op == "Flatten" and node.one("axis", 1) != 1):
                    reject(f"`{node.op}` reads constants, or puts individuals together")
            else:
                nodes[-1].append(affine([step_of(node, held, node.inputs[0] == name, width)], width))
                width = len(nodes[-1][-1].bias)
            name = node.outputs[0]
        node.all_seen()
    if name != graph.outputs[0] or width != 1:
        reject("the model does not end in one score")
    layers = [affine([node.of for node in each], below) for each, below in zip(nodes, widths, strict=True)]
    return Network(layers, sigmoid, nodes)


def step_of(node: Node, held: list[Tensor], front: bool, width: int) -> Step:
    """What an affine node makes of so many columns: Gemm, MatMul, or an elementwise operation with a constant."""
    if node.op in ("Gemm", "MatMul"):
        return _product(node, held, front, width)
    if node.op not in ("Add", "Sub", "Mul", "Div") or len(held) != 1:
        reject(f"this program does not know the operator `{node.op}`")
    values = _spread(held[0], width)
    if node.op == "Div":
        if not front or not all(values):
            reject("`Div` divides by what is not constant, or by 0")
        values = [1 / value for value in values]
    operation = {"Add": add, "Sub": sub, "Mul": mul, "Div": mul}[node.op]
    return lambda x: list(map(operation, x, values) if front else map(operation, values, x))


def _product(node: Node, held: list[Tensor], front: bool, width: int) -> Step:
    """By a matrix from the right, with a bias or without one."""
    turned = node.one("transB", 0) if node.op == "Gemm" else 0
    if not held or not front or len(held[0][0]) != 2 or len(held) > 1 + (node.op == "Gemm"):
        reject(f"`{node.op}` does not multiply by one matrix from the right")
    if node.one("alpha", Fraction(1)) != 1 or node.one("beta", Fraction(1)) != 1 or node.one("transA", 0):
        reject(f"`{node.op}` multiplies its product or its bias, or transposes the individuals")
    (rows, columns), entries = held[0]
    matrix = [entries[row * columns : (row + 1) * columns] for row in range(rows)]
    weight = matrix if turned else [list(column) for column in zip(*matrix, strict=True)]
    if not weight or len(weight[0]) != width:
        reject(f"`{node.op}` has a matrix of another width than what it multiplies")
    return Affine(weight, _spread(held[1], len(weight)) if len(held) > 1 else [Fraction(0)] * len(weight)).of


def _spread(held: Tensor, width: int) -> list[Fraction]:
    """A constant as one number a column."""
    shape, values = held
    if any(size != 1 for size in shape[:-1]) or len(values) not in (1, width):
        reject("a constant has another shape than one row")
    return values * width if len(values) == 1 else values
