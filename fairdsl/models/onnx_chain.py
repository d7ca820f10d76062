"""Chains of linear maps with a ReLU between them, read back from the ONNX files that `onnx_export` writes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdsl.diagnostics import DiagnosticError
from fairdsl.models import errors
from fairdsl.models.onnx_import.file import RawNode, read_file

__all__ = ["Layers", "read_relu_chain"]

#: A weight [out, in] and a bias [out] a layer, as stored: every float64 is the number in the file.
Layers = tuple[tuple[NDArray[np.float64], NDArray[np.float64]], ...]

_PLAIN = "it is not a chain of `Gemm` (with `transB`, and nothing scaled) and `Relu` alone"


def read_relu_chain(path: str) -> Layers:
    """The layers of a chain, a ReLU between each and the next; raises DiagnosticError for any other network."""
    graph = read_file(path, None)
    layers = []
    current = graph.inputs[0].name if len(graph.inputs) == 1 else ""
    for place, node in enumerate(graph.nodes):
        if not node.inputs or node.inputs[0] != current or node.operator != ("Gemm", "Relu")[place % 2]:
            raise DiagnosticError(errors.not_onnx(path, _PLAIN, None))
        if node.operator == "Gemm":
            layers.append(_linear(path, node, graph.constants))
        current = node.outputs[0]
    if len(graph.nodes) % 2 == 0 or graph.outputs != (current,):
        raise DiagnosticError(errors.not_onnx(path, _PLAIN, None))
    return tuple(layers)


def _linear(
    path: str, node: RawNode, constants: Mapping[str, NDArray[Any]]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    names = node.inputs[1:]
    attributes = {"alpha": 1.0, "beta": 1.0, "transA": 0, "transB": 0} | dict(node.attributes)
    plain = attributes == {"alpha": 1.0, "beta": 1.0, "transA": 0, "transB": 1}
    if not plain or len(names) != 2 or any(name not in constants for name in names):
        raise DiagnosticError(errors.not_onnx(path, _PLAIN, None))
    weight, bias = (constants[name] for name in names)
    fits = weight.ndim == 2 and bias.shape == weight.shape[:1]
    if not fits or any(array.dtype not in (np.float32, np.float64) for array in (weight, bias)):
        raise DiagnosticError(errors.not_onnx(path, _PLAIN, None))
    if not (np.isfinite(weight).all() and np.isfinite(bias).all()):
        raise DiagnosticError(errors.not_onnx(path, "it stores what is not a number", None))
    return weight.astype(np.float64), bias.astype(np.float64)
