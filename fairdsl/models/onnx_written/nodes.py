"""Nodes and constants that are written around an ONNX file."""

from __future__ import annotations

from typing import Any

import numpy as np


class NotWrappedError(Exception):
    """Why no file can be written around another one."""


class Nodes:
    """Nodes in order, and the constants that they read; tensors are named by what they are, behind a prefix."""

    def __init__(self, prefix: str) -> None:
        """``prefix`` ends with a stroke, and no tensor of the other file begins with it."""
        self._prefix = prefix
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def add(self, operator: str, *inputs: str, output: str | None = None, domain: str = "", **settings: Any) -> str:
        """A node with one output, which is returned."""
        from onnx import helper

        name = output or f"{self._prefix}{operator}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, inputs, [name], name, domain=domain or None, **settings))
        return name

    def stored(self, values: Any) -> str:
        """A constant."""
        from onnx import helper, numpy_helper

        array, name = np.asarray(values), f"{self._prefix}stored_{len(self.constants)}"
        if array.dtype.kind in "OU":
            texts = [str(value).encode() for value in array.ravel()]
            tensor = helper.make_tensor(name, helper.TensorProto.STRING, array.shape, texts)
        else:
            tensor = numpy_helper.from_array(array, name)
        self.constants.append(tensor)
        return name


def operator_set(model: Any, oldest: int) -> None:
    """Raises NotWrappedError where the file's operators are older than those that are written around it."""
    version = max((entry.version for entry in model.opset_import if entry.domain in ("", "ai.onnx")), default=0)
    if version < oldest:
        raise NotWrappedError(f"the file uses operator set {version}, and {oldest} is needed: export it again")
