"""The columns of a `ZipMap`: onnxruntime gives an individual's dictionary in the order of its keys, sorted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdsl.models.onnx_import.file import RawNode

__all__ = ["keys_of", "zipped"]


def keys_of(attributes: Mapping[str, Any]) -> list[int] | list[str]:
    """The keys of a ZipMap's attributes, as the file lists them."""
    texts = attributes.get("classlabels_strings", None)
    return (
        [str(key) for key in texts] if texts else [int(key) for key in attributes.get("classlabels_int64s", None) or []]
    )


def zipped(nodes: tuple[RawNode, ...], output: str) -> tuple[tuple[int | str, ...], NDArray[np.int64]] | None:
    """The names of an output's columns in the order in which it gives them, and which column of its input each one is.

    None where the output is not that of a ZipMap.
    """
    node = next((node for node in nodes if output in node.outputs and node.operator == "ZipMap"), None)
    if node is None:
        return None
    keys = keys_of(node.attributes)
    order = sorted(range(len(keys)), key=lambda place: keys[place])
    return tuple(keys[place] for place in order), np.array(order, dtype=np.int64)
