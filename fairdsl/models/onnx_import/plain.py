"""Whether a graph computes its layers as they are read: nothing of it was folded into anything else.

Then the weights of the layers are the numbers that the file multiplies with, and what float32 makes of them
can be bounded (``backends/intervals/float32.py``). It is a chain from the one input to the one output: a product
with a stored matrix, perhaps the addition of a stored bias, and an activation, again and again; the last
product has none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from fairdsl.models.onnx_import.file import RawGraph, RawNode

__all__ = ["is_plain", "is_plain_machine"]

#: Operators that move no number, for one individual at a time.
_SHAPING = frozenset({"Flatten", "Identity", "Reshape", "Squeeze", "Unsqueeze"})


class _Done(Enum):
    """How much of a layer is computed."""

    NOTHING = "nothing"
    PRODUCT = "product"  # a bias may still come
    SUM = "sum"


def is_plain(raw: RawGraph, nodes: Sequence[RawNode]) -> bool:
    """Whether the needed ``nodes`` are such a chain in float32."""
    if len(raw.inputs) != 1 or raw.inputs[0].dtype != "float32" or len(raw.outputs) != 1:
        return False
    stored: dict[str, NDArray[np.generic]] = dict(raw.constants)
    current, done = raw.inputs[0].name, _Done.NOTHING
    for node in nodes:
        if node.operator == "Constant" and isinstance(node.attributes.get("value"), np.ndarray):
            stored[node.outputs[0]] = node.attributes["value"]
            continue
        following = _after(node, current, done, stored)
        if following is None:
            return False
        current, done = node.outputs[0], following
    return current == raw.outputs[0] and done is not _Done.NOTHING


def is_plain_machine(raw: RawGraph, nodes: Sequence[RawNode]) -> bool:
    """Whether the one input goes into an SVMClassifier with a kernel as it is, in float32, and nowhere else."""
    machines = [node for node in nodes if node.operator == "SVMClassifier"]
    if len(machines) != 1 or len(raw.inputs) != 1 or raw.inputs[0].dtype != "float32":
        return False
    (machine,), name = machines, raw.inputs[0].name
    reading = [node for node in nodes if name in node.inputs]
    return reading == [machine] and machine.attributes.get("kernel_type", "LINEAR") != "LINEAR"


def _after(node: RawNode, current: str, done: _Done, stored: Mapping[str, NDArray[np.generic]]) -> _Done | None:
    """How much of the layer is computed after the node; None where the node is no part of a plain layer."""
    others = [name for name in node.inputs if name != current]
    if node.domain or node.inputs.count(current) != 1 or any(name and name not in stored for name in others):
        return None
    if node.operator in _SHAPING:
        return done
    if not all(stored[name].dtype == np.float32 for name in others if name):
        return None
    match node.operator:
        case "Gemm" if done is _Done.NOTHING and node.inputs[0] == current and _unscaled(node):
            return _Done.SUM if len(node.inputs) > 2 and node.inputs[2] else _Done.PRODUCT
        case "MatMul" if done is _Done.NOTHING and node.inputs[0] == current and stored[others[0]].ndim == 2:
            return _Done.PRODUCT
        case "Add" if done is _Done.PRODUCT:
            return _Done.SUM
        case "Relu" if done is not _Done.NOTHING:
            return _Done.NOTHING
        case "LeakyRelu" if done is not _Done.NOTHING and 0 <= node.attributes.get("alpha", 0.01) <= 1:
            return _Done.NOTHING
    return None


def _unscaled(node: RawNode) -> bool:
    factors = (node.attributes.get(name, 1.0) for name in ("alpha", "beta"))
    return all(factor == 1.0 for factor in factors) and not node.attributes.get("transA", 0)
