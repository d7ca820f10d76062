"""Networks: chains of affine maps and ReLU, read out of a model's graph. Operators of other domains are rejected."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from operator import mul

from fairdsl_verify import reject
from fairdsl_verify.onnx_file import Graph, Message, Node, Tensor, tensor


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


@dataclass
class Network:
    """A chain of affine maps with a ReLU between each two; the last has one row, the score."""

    first: Affine
    above: list[Affine]
    sigmoid: bool


def network_of(graph: Graph) -> Network:
    """The network of a graph; rejects whatever is more than a chain of affine maps and ReLU."""
    if len(graph.outputs) != 1:
        reject("the model has several outputs")
    closed: list[Affine] = []
    current: Affine | None = None
    name, constants, sigmoid = graph.input, graph.constants, False
    for node in graph.nodes:
        if len(node.outputs) != 1 or node.domain != "ai.onnx":
            reject(f"`{node.op}` is of another domain than ONNX's own, or makes several tensors")
        if node.op == "Constant":
            constants[node.outputs[0]] = tensor(node.attributes.pop("value", Message(b"")).one(5, 2, b""))[1]
            node.all_seen()
            continue
        if sigmoid or name not in node.inputs:
            reject(f"`{node.op}` reads another tensor than the one before it: this program follows chains only")
        if node.op == "Relu" and current is not None:
            closed, current = [*closed, current], None
        elif node.op == "Flatten" and node.integer("axis", 1) == 1:
            pass
        elif node.op == "Sigmoid":
            sigmoid = True
        elif node.op != "Identity":
            width = len(current.weight) if current else len(closed[-1].weight) if closed else graph.width
            current = _affine(node, constants, name, current, width)
        node.all_seen()
        name = node.outputs[0]
    if name != graph.outputs[0] or current is None or len(current.weight) != 1:
        reject("the model does not end in one score after an affine map")
    layers = [*closed, current]
    return Network(layers[0], layers[1:], sigmoid)


def _affine(node: Node, constants: dict[str, Tensor], name: str, current: Affine | None, width: int) -> Affine:
    """One more affine node: Gemm, MatMul, or an elementwise operation with a constant."""
    others = [constants.get(other) for other in node.inputs if other != name]
    if any(other is None for other in others) or node.inputs.count(name) != 1:
        reject(f"`{node.op}` is not of one tensor and constants")
    tensors = [other for other in others if other is not None]
    if node.op in ("Gemm", "MatMul"):
        weight, bias = _product(node, tensors, name, width)
        return Affine(weight, bias) if current is None else current.after(weight, bias)
    if node.op not in ("Add", "Sub", "Mul", "Div") or len(tensors) != 1:
        reject(f"this program does not know the operator `{node.op}`")
    width = width or prod(tensors[0][0])
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


def _product(node: Node, tensors: list[Tensor], name: str, width: int) -> tuple[list[list[Fraction]], list[Fraction]]:
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
    if not weight or len(weight[0]) != (width or len(weight[0])):
        reject(f"`{node.op}` has a matrix of another width than what it multiplies")
    return weight, bias


def _spread(tensor: Tensor, width: int) -> list[Fraction]:
    """A constant as one number a column."""
    shape, values = tensor
    if any(size != 1 for size in shape[:-1]) or len(values) not in (1, width):
        reject("a constant has another shape than one row")
    return values * width if len(values) == 1 and width != 1 else values
