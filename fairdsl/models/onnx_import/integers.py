"""Which tensors hold integers: with those the runtime computes in integers, so a division cuts fractions off."""

from __future__ import annotations

from collections.abc import Container

import numpy as np

from fairdsl.models.onnx_import.file import RawNode, numpy_dtype

#: Operators of ai.onnx.ml that give what they are given; the others give floats, or classes.
_KEEPING = frozenset({"ArrayFeatureExtractor", "Imputer"})


#: Operators that give truth values.
_TRUTHS = frozenset({"Equal", "Greater", "GreaterOrEqual", "IsNaN", "Less", "LessOrEqual", "Not"})


def gives_integers(node: RawNode, integers: Container[str]) -> bool:
    """Whether the node's outputs are tensors of integers, as ``integers`` are among the tensors before it."""
    typed = node.inputs[1:] if (node.domain, node.operator) == ("", "Where") else node.inputs
    whole = bool(typed) and typed[0] in integers
    match node.domain, node.operator:
        case "", "Cast":
            dtype = numpy_dtype(int(node.attributes.get("to", 1)))
            return dtype is not None and dtype.kind in "iu"
        case "", "Shape" | "ArgMax" | "ArgMin":
            return True
        case "", operator if operator in _TRUTHS:
            return False
        case "", "Constant" | "ConstantOfShape":
            value = node.attributes.get("value")
            of_array = isinstance(value, np.ndarray) and value.dtype.kind in "iu"
            return of_array or "value_int" in node.attributes or "value_ints" in node.attributes
        case _, "LabelEncoder":
            return "values_int64s" in node.attributes
        case domain, operator:
            return whole and (domain == "" or operator in _KEEPING)
