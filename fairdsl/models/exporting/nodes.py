"""Nodes and constants of a file that skl2onnx writes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

#: The oldest sets of operators that say what is written here.
_VERSIONS = {"Neg": 6, "Cast": 9, "IsNaN": 9, "Log": 6, "Sqrt": 6, "Exp": 6, "Abs": 6}
#: And of the domain ``ai.onnx.ml``.
_ML = {"ArrayFeatureExtractor": 1, "Imputer": 1, "LabelEncoder": 2, "OneHotEncoder": 1, "TreeEnsembleRegressor": 1}


class Nodes:
    """Writes nodes one by one; tensors are named by what makes them."""

    def __init__(self, scope: Any, container: Any) -> None:
        self._scope, self._container = scope, container

    def add(self, operator: str, inputs: Sequence[str], output: str | None = None, **settings: Any) -> str:
        """A node with one output, which is returned."""
        name = output or str(self._scope.get_unique_variable_name(operator.lower()))
        if operator in _ML:
            settings |= {"op_domain": "ai.onnx.ml", "op_version": _ML[operator]}
        else:
            settings["op_version"] = _VERSIONS.get(operator, 13)
        self._container.add_node(operator, list(inputs), [name], **settings)
        return name

    def stored(self, values: Any) -> str:
        """A constant: texts, integers, or numbers as float32."""
        from onnx import TensorProto

        array, name = np.asarray(values), str(self._scope.get_unique_variable_name("stored"))
        listed: list[Any]
        if array.dtype.kind in "OU":
            kind, listed = TensorProto.STRING, [str(value).encode() for value in array.ravel()]
        elif array.dtype.kind in "iub":
            kind, listed = TensorProto.INT64, array.astype(np.int64).ravel().tolist()
        else:
            kind, listed = TensorProto.FLOAT, array.ravel().tolist()
        self._container.add_initializer(name, kind, list(array.shape), listed)
        return name

    def cast(self, value: str) -> str:
        """The value as float32."""
        from onnx import TensorProto

        return self.add("Cast", [value], to=TensorProto.FLOAT)

    def row(self, inputs: Sequence[str]) -> str:
        """All inputs side by side, as float32; there is one at least."""
        parts = [self.cast(each) for each in inputs]
        return parts[0] if len(parts) == 1 else self.add("Concat", parts, axis=1)
