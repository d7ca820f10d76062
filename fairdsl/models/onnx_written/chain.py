"""Chains of ReLU layers as ONNX files, the form that every verifier of neural networks reads: written, and read back.

One input ``X`` [1, n], one output ``Y`` [1, m], and for each layer one ``Gemm`` (the weight as stored,
transposed by the operator) followed, except after the last, by one ``Relu``. The bytes depend on the numbers alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdsl.diagnostics import DiagnosticError
from fairdsl.models import errors
from fairdsl.models.onnx_import.file import RawNode, read_file

#: The oldest opset whose ``Gemm`` and ``Relu`` are those of today; verifiers lag behind.
_OPSET = 13
_IR_VERSION = 8

#: A weight [out, in] and a bias [out] a layer, as stored: every float64 is the number in the file.
Layers = tuple[tuple[NDArray[np.float64], NDArray[np.float64]], ...]

_PLAIN = "it is not a chain of `Gemm` (with `transB`, and nothing scaled) and `Relu` alone"


def relu_chain(
    layers: Sequence[tuple[NDArray[np.floating[Any]], NDArray[np.floating[Any]]]], name: str, *, single: bool
) -> bytes:
    """The network ``x -> W_n relu(... relu(W_1 x + b_1) ...) + b_n`` as an ONNX file, checked.

    ``layers`` are the weights [out, in] and biases [out]; ``single``: stored as float32, otherwise as float64.
    The numbers must be representable there: they are stored, not rounded. ValueError where they are not.
    """
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    kind, element = (np.float32, TensorProto.FLOAT) if single else (np.float64, TensorProto.DOUBLE)
    nodes, tensors = [], []
    current = "X"
    for depth, parts in enumerate(layers, start=1):
        for letter, array in zip("Wb", parts, strict=True):
            stored = array.astype(kind)
            if not np.array_equal(stored.astype(np.float64), array):
                raise ValueError(f"layer {depth} has numbers that {np.dtype(kind)} does not store")
            tensors.append(numpy_helper.from_array(stored, f"{letter}{depth}"))
        last = depth == len(layers)
        before = "Y" if last else f"z{depth}"
        nodes.append(
            helper.make_node("Gemm", [current, f"W{depth}", f"b{depth}"], [before], f"linear{depth}", transB=1)
        )
        if not last:
            current = f"h{depth}"
            nodes.append(helper.make_node("Relu", [before], [current], f"relu{depth}"))
    graph = helper.make_graph(
        nodes,
        name,
        [helper.make_tensor_value_info("X", element, [1, layers[0][0].shape[1]])],
        [helper.make_tensor_value_info("Y", element, [1, layers[-1][0].shape[0]])],
        tensors,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", _OPSET)], producer_name="fairdsl")
    model.ir_version = _IR_VERSION
    onnx.checker.check_model(model)
    content: bytes = model.SerializeToString(deterministic=True)
    return content


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
