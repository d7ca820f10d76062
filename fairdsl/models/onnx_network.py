"""An ONNX file as a function of real numbers: one input tensor, one output tensor, ReLU units between them.

Nothing of a spec takes part: no attributes, no outcomes. It is read by the importer of models, so exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdsl.diagnostics import DiagnosticError
from fairdsl.ir.model import Layer
from fairdsl.models import errors
from fairdsl.models.graph import ImportedGraph, OutputKind
from fairdsl.models.onnx_import import import_onnx
from fairdsl.models.schedule import first_blocks, lay_out

#: Operators of which such networks are made; every one is read of all others that the importer knows, too.
OPERATORS = (
    "Add",
    "Clip",
    "Concat",
    "Constant",
    "Div",
    "Flatten",
    "Gemm",
    "Identity",
    "LeakyRelu",
    "MatMul",
    "Mul",
    "Neg",
    "Relu",
    "Reshape",
    "Sub",
)


@dataclass(frozen=True, slots=True, eq=False)
class Network:
    """The function: its layers, of which the last is linear, and the file."""

    path: str
    layers: tuple[Layer, ...]
    graph: ImportedGraph

    @property
    def inputs(self) -> int:
        """How many numbers it reads."""
        return self.layers[0].weight.shape[1]

    @property
    def outputs(self) -> int:
        """How many numbers it computes."""
        return self.layers[-1].width

    def at(self, point: Sequence[Fraction]) -> list[Fraction]:
        """Its outputs at a point, exactly."""
        values = np.array(point, dtype=object)
        for layer in self.layers:
            inner = layer.weight.exact @ values + layer.bias.exact
            slopes = layer.slope.exact
            values = np.array([z if z >= 0 else s * z for z, s in zip(inner, slopes, strict=True)], dtype=object)
        return [Fraction(value) for value in values]

    def near(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """Its outputs at many points, [points, outputs], as floats come out."""
        for layer in self.layers:
            inner = points @ layer.weight.floats.T + layer.bias.floats
            points = np.maximum(inner, 0) + layer.slope.floats * np.minimum(inner, 0)
        return points

    def run(self, point: Sequence[float]) -> list[float] | None:
        """What onnxruntime computes of the file, at a point that is rounded to what its input takes; None if it fails.

        Dimensions that the file leaves open are 1.
        """
        from fairdsl.models.onnx_import.file import whole_content
        from fairdsl.models.running.session import session_here

        content = whole_content(self.path, self.graph.sha256)
        if content is None:
            return None
        try:
            session: Any = session_here(content, 1)
            (feed,) = session.get_inputs()
            shape = [size if isinstance(size, int) and size > 0 else 1 for size in feed.shape]
            kind = np.float64 if feed.type == "tensor(double)" else np.float32
            given = np.array(point, dtype=kind).reshape(shape)
            return [float(value) for value in np.ravel(session.run(None, {feed.name: given})[0])]
        except Exception:  # onnxruntime raises classes of its own per failure
            return None


def read_network(path: str) -> Network:
    """The network in a file; DiagnosticError where it cannot be read exactly, or is not such a function."""
    graph = import_onnx(path)
    why = _unfit(graph)
    if why is not None:
        raise DiagnosticError(errors.not_onnx(path, why, None))
    blocks, scores = graph.basis.blocks, graph.outputs[0].scores
    layers = lay_out(blocks, scores)
    assert first_blocks(blocks, scores) == [0], "there is one input, and nothing that tests"
    return Network(path, layers, graph)


def _unfit(graph: ImportedGraph) -> str | None:
    """Why it is not a function of one tensor with leaky units alone; None where it is."""
    if len(graph.inputs) != 1 or len(graph.outputs) != 1:
        return f"it has {len(graph.inputs)} inputs and {len(graph.outputs)} outputs, and one of each is read here"
    if graph.outputs[0].kind is not OutputKind.SCORE:
        return f"its output is a {graph.outputs[0].kind.value} and not a piecewise linear function of its input"
    if graph.rounded or graph.basis.whole or graph.basis.absent is not None:
        return "it is read exactly for some inputs only, or with constants that are rounded"
    for block in graph.basis.blocks:
        if block.testing is not None or block.terms is not None:
            return "it has steps, trees or kernels, and is not piecewise linear"
        if block.curve.value != 0:
            return f"it has nonlinear units ({block.curve.name.lower()})"
    return None


def newest_opset() -> int:
    """The newest version of ONNX's operators that is read."""
    import onnx

    return int(onnx.defs.onnx_opset_version())
