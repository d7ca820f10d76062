"""Which tensors hold integers: with those the runtime computes in integers, so a division cuts fractions off."""

from __future__ import annotations

import numpy as np

from fairdsl.models.onnx_import.file import RawNode, numpy_dtype

__all__ = ["gives_integers"]

#: Operators of ai.onnx.ml that give what they are given; the others give floats, or classes.
_KEEPING = frozenset({"ArrayFeatureExtractor", "Imputer"})


def gives_integers(node: RawNode, whole: bool) -> bool:
    """Whether the node's outputs are tensors of integers; ``whole``: whether its first input is one."""
    match node.domain, node.operator:
        case "", "Cast":
            dtype = numpy_dtype(int(node.attributes.get("to", 1)))
            return dtype is not None and dtype.kind in "iu"
        case "", "Shape" | "ArgMax":
            return True
        case "", "Constant" | "ConstantOfShape":
            value = node.attributes.get("value")
            of_array = isinstance(value, np.ndarray) and value.dtype.kind in "iu"
            return of_array or "value_int" in node.attributes or "value_ints" in node.attributes
        case _, "LabelEncoder":
            return "values_int64s" in node.attributes
        case domain, operator:
            return whole and (domain == "" or operator in _KEEPING)
