"""Where the hidden units of a model's layers are in an ONNX graph.

A *stage* is what makes a row of units: a product with a stored matrix (``Gemm``, or ``MatMul`` with the matrix on
the right), perhaps the addition of a stored bias, and ``Relu``. Its units are the columns of the matrix. The
importer lays units out by level, which is the number of activations from the input, and within a level in the
order of the nodes; units that only ride along come last (:mod:`fairdsl.models.schedule`). So the stages of
level k, one after another, are the first units of layer k - 1.

What this reading of the graph says is never trusted: whoever cuts by it imports the cut file and compares.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdsl.ir.model import Layer

_SMOOTH = frozenset({"Softplus", "Erf", "Celu", "Gelu", "Swish", "HardSwish"})
_BENDING = _SMOOTH | {
    *("Relu", "LeakyRelu", "PRelu", "Sigmoid", "Tanh", "Clip", "HardSigmoid", "Abs", "Max", "Min", "Elu", "Selu"),
}
#: Activations that make one unit of each number; the others need a reading of their own.
_ROWS_OF_UNITS = _SMOOTH | {"Relu", "LeakyRelu", "Sigmoid", "Tanh"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """A row of ``width`` units: the numbers of its nodes in the graph.

    ``addition`` is None where the product adds the bias or there is none. ``readers`` are the products that
    read the units; None where something else reads them too, so that units can be silenced and not cut out.
    """

    product: int
    addition: int | None
    width: int
    readers: tuple[int, ...] | None


class Graph:
    """A parsed graph with what its nodes read and make at hand."""

    def __init__(self, graph: Any, constants: Mapping[str, NDArray[Any]]) -> None:
        """``graph`` is a GraphProto, ``constants`` the arrays of its initializers and Constant nodes."""
        self.nodes: Sequence[Any] = list(graph.node)
        self.constants = constants
        self.outputs = {value.name for value in graph.output}
        self.maker = {name: number for number, node in enumerate(self.nodes) for name in node.output if name}
        self.readers: dict[str, list[int]] = {}
        for number, node in enumerate(self.nodes):
            for name in node.input:
                self.readers.setdefault(name, []).append(number)

    def needed(self) -> list[int]:
        """The nodes that the outputs depend on, in the file's order."""
        wanted, chosen = set(self.outputs), []
        for number in reversed(range(len(self.nodes))):
            if wanted.intersection(name for name in self.nodes[number].output if name):
                wanted.update(self.nodes[number].input)
                chosen.append(number)
        return chosen[::-1]

    def attribute(self, number: int, name: str) -> Any:
        """An integer or float attribute of a node; None where it is not written."""
        import onnx

        found = next((item for item in self.nodes[number].attribute if item.name == name), None)
        return None if found is None else onnx.helper.get_attribute_value(found)

    def unit_axis(self, number: int) -> int | None:
        """Which axis of a product's matrix counts what the product makes; None where it is no such product."""
        node = self.nodes[number]
        matrix = self.constants.get(node.input[1]) if len(node.input) > 1 else None
        if node.domain not in ("", "ai.onnx") or matrix is None or matrix.ndim != 2 or node.input[0] in self.constants:
            return None
        match node.op_type:
            case "MatMul":
                return 1
            case "Gemm" if not self.attribute(number, "transA"):
                bias = node.input[2] if len(node.input) > 2 else ""
                return None if bias and bias not in self.constants else 0 if self.attribute(number, "transB") else 1
        return None

    def stage(self, activation: int) -> Stage | None:
        """The stage that ends in this activation, if it is one."""
        below = self._only_source(self.nodes[activation].input[0])
        addition = None
        if below is not None and self.nodes[below].op_type == "Add":
            addition = below
            varying = [name for name in self.nodes[below].input if name not in self.constants]
            below = self._only_source(varying[0]) if len(varying) == 1 else None
        axis = None if below is None else self.unit_axis(below)
        if below is None or axis is None:
            return None
        width = self.constants[self.nodes[below].input[1]].shape[axis]
        if addition is not None and self._bias(addition).size not in (1, width):
            return None
        return Stage(
            product=below,
            addition=addition,
            width=width,
            readers=self._readers_of(self.nodes[activation].output[0]),
        )

    def _bias(self, addition: int) -> NDArray[Any]:
        return next(self.constants[name] for name in self.nodes[addition].input if name in self.constants)

    def _only_source(self, name: str) -> int | None:
        """The node that makes the tensor, if nothing but one node reads it."""
        single = len(self.readers.get(name, ())) == 1 and name not in self.outputs
        return self.maker.get(name) if single else None

    def _readers_of(self, name: str) -> tuple[int, ...] | None:
        """The products that read the tensor as their left side; None where it is read in another way too."""
        readers = tuple(dict.fromkeys(self.readers.get(name, ())))
        fits = all(self.unit_axis(number) is not None and self.nodes[number].input[0] == name for number in readers)
        return readers if fits and name not in self.outputs else None

    def activations(self) -> Iterator[tuple[int, int]]:
        """The activations that the outputs depend on, with their levels, in the file's order."""
        levels: dict[str, int] = {}
        for number in self.needed():
            node = self.nodes[number]
            level = max((levels.get(name, 0) for name in node.input), default=0)
            if node.op_type in _BENDING:
                level += 1
                yield number, level
            levels.update(dict.fromkeys(node.output, level))


def stages_by_layer(graph: Graph, layers: Sequence[Layer]) -> dict[int, list[tuple[int, Stage]]]:
    """For each hidden layer the stages of ReLU units in it, each with the position of its first unit.

    A layer is left out where some activation of its level is not a stage, or where the widths do not add up.
    """
    levels: dict[int, list[int]] = {}
    for number, level in graph.activations():
        levels.setdefault(level, []).append(number)
    found: dict[int, list[tuple[int, Stage]]] = {}
    for index, layer in enumerate(layers[:-1]):
        read = [(number, graph.stage(number)) for number in levels.get(index + 1, [])]
        placed: list[tuple[int, Stage]] = []
        start = 0
        for number, stage in read:
            if stage is None or graph.nodes[number].op_type not in _ROWS_OF_UNITS:
                break
            if graph.nodes[number].op_type == "Relu":
                placed.append((start, stage))
            start += stage.width
        else:
            riding = int(np.count_nonzero(layer.linear[start:]))
            if start + riding == layer.width:
                found[index] = placed
    return found
