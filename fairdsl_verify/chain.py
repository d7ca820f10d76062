"""Networks: chains of affine maps and ReLU, read out of a model's graph. Operators of other domains are rejected."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from operator import add, mul

from fairdsl_verify import reject
from fairdsl_verify.onnx_file import Graph, Node, Tensor

#: Operators that read nothing else.
_ALONE = ("Relu", "Sigmoid", "Identity", "Flatten")


@dataclass
class Affine:
    """Rows over what lies below: ``weight @ x + bias``."""

    weight: list[list[Fraction]]
    bias: list[Fraction]
    #: What a sum is multiplied by once it is summed up, if that is more than 1.
    factor: Fraction = Fraction(1)

    def times(self, values: Sequence[Fraction]) -> list[Fraction]:
        """What the rows make of values, without the bias."""
        return [sum(map(mul, row, values), Fraction(0)) for row in self.weight]

    def then(self, other: Affine) -> Affine:
        """This map, then another one."""
        rows = zip(*(other.times(column) for column in zip(*self.weight, strict=True)), strict=True)
        return Affine(list(map(list, rows)), list(map(add, other.times(self.bias), other.bias)))


def diagonal(factors: Sequence[Fraction], added: Sequence[Fraction]) -> Affine:
    """Each column times its factor, plus its constant."""
    rows = [[factor * (at == row) for at in range(len(factors))] for row, factor in enumerate(factors)]
    return Affine(rows, list(added))


def identity(width: int) -> Affine:
    """Each column as it is."""
    return diagonal([Fraction(1)] * width, [Fraction(0)] * width)


@dataclass
class Network:
    """A chain of affine maps with a ReLU between each two; the last has one row, the score."""

    layers: list[Affine]
    sigmoid: bool
    #: The file's own nodes, with None for ReLU.
    nodes: list[Affine | None]


def network_of(graph: Graph, columns: int) -> Network:
    """The network of a graph over so many columns; rejects whatever is more than a chain of affine maps and ReLU."""
    if len(graph.outputs) != 1:
        reject("the model has several outputs")
    if graph.width not in (0, columns):
        reject(f"the file reads {graph.width} columns, the question fills {columns}")
    layers, name, constants, sigmoid = [identity(columns)], graph.input, graph.constants, False
    nodes: list[Affine | None] = []
    for node in graph.nodes:
        if len(node.outputs) != 1 or node.domain != "ai.onnx":
            reject(f"`{node.op}` is of another domain than ONNX's own, or makes several tensors")
        if node.op == "Constant":
            constants[node.outputs[0]] = node.one("value", ((0,), []))
            node.all_seen()
            continue
        if sigmoid or name not in node.inputs or (node.op in _ALONE and len(node.inputs) > 1):
            reject(f"`{node.op}` reads another tensor than the one before it: this program follows chains only")
        if node.op == "Relu":
            layers.append(identity(len(layers[-1].weight)))
            nodes.append(None)
        elif node.op == "Sigmoid":
            sigmoid = True
        elif node.op == "Flatten" and node.one("axis", 1) != 1:
            reject("`Flatten` puts individuals together")
        elif node.op not in _ALONE:
            step = step_of(node, constants, name, len(layers[-1].weight))
            layers[-1] = layers[-1].then(step)
            nodes.append(step)
        node.all_seen()
        name = node.outputs[0]
    if name != graph.outputs[0] or len(layers[-1].weight) != 1:
        reject("the model does not end in one score")
    return Network(layers, sigmoid, nodes)


def step_of(node: Node, constants: dict[str, Tensor], name: str, width: int) -> Affine:
    """What an affine node makes of so many columns: Gemm, MatMul, or an elementwise operation with a constant."""
    held = [constants[other] for other in node.inputs if other in constants]
    if len(held) + 1 != len(node.inputs) or node.inputs.count(name) != 1:
        reject(f"`{node.op}` is not of one tensor and constants")
    if node.op in ("Gemm", "MatMul"):
        return _product(node, held, name, width)
    if node.op not in ("Add", "Sub", "Mul", "Div") or len(held) != 1:
        reject(f"this program does not know the operator `{node.op}`")
    values, front = _spread(held[0], width), node.inputs[0] == name
    if node.op in ("Mul", "Div"):
        if node.op == "Div" and not (front and all(values)):
            reject("`Div` divides by what is not constant, or by 0")
        return diagonal([1 / v for v in values] if node.op == "Div" else values, [Fraction(0)] * width)
    sign, other = (1 if front or node.op == "Add" else -1), (-1 if front and node.op == "Sub" else 1)
    return diagonal([Fraction(sign)] * width, [other * v for v in values])


def _product(node: Node, held: list[Tensor], name: str, width: int) -> Affine:
    """The matrix and the bias of a Gemm or MatMul."""
    if not held or node.inputs[0] != name or len(held[0][0]) != 2 or len(held) > 1 + (node.op == "Gemm"):
        reject(f"`{node.op}` does not multiply by one matrix from the right")
    alpha, beta, turned = Fraction(1), Fraction(1), 0
    if node.op == "Gemm":
        alpha, beta, turned = node.one("alpha", alpha), node.one("beta", beta), node.one("transB", 0)
        if node.one("transA", 0):
            reject("`Gemm` transposes the individuals")
    (rows, columns), entries = held[0]
    matrix = [[alpha * entry for entry in entries[row * columns : (row + 1) * columns]] for row in range(rows)]
    weight = matrix if turned else [list(column) for column in zip(*matrix, strict=True)]
    if not weight or len(weight[0]) != width:
        reject(f"`{node.op}` has a matrix of another width than what it multiplies")
    bias = _spread(held[1], len(weight)) if len(held) > 1 else [Fraction(0)] * len(weight)
    return Affine(weight, [beta * entry for entry in bias], max(abs(alpha), abs(beta), Fraction(1)))


def _spread(held: Tensor, width: int) -> list[Fraction]:
    """A constant as one number a column."""
    shape, values = held
    if any(size != 1 for size in shape[:-1]) or len(values) not in (1, width):
        reject("a constant has another shape than one row")
    return values * width if len(values) == 1 else values
