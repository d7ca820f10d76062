"""The columns of a `ZipMap`: onnxruntime gives an individual's dictionary in the order of its keys, sorted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fairdsl.models.onnx_import.file import RawNode


def keys_of(attributes: Mapping[str, Any]) -> list[int] | list[str]:
    """The keys of a ZipMap's attributes, as the file lists them."""
    texts = attributes.get("classlabels_strings", None)
    return (
        [str(key) for key in texts] if texts else [int(key) for key in attributes.get("classlabels_int64s", None) or []]
    )


def in_order(keys: list[int] | list[str]) -> list[int]:
    """Which column of a ZipMap's input each column of its output is."""
    return sorted(range(len(keys)), key=lambda place: keys[place])


def named_columns(nodes: tuple[RawNode, ...], output: str) -> tuple[int | str, ...] | None:
    """The names of an output's columns in the order in which it gives them; None where it is not that of a ZipMap."""
    node = next((node for node in nodes if output in node.outputs and node.operator == "ZipMap"), None)
    if node is None:
        return None
    keys = keys_of(node.attributes)
    return tuple(keys[place] for place in in_order(keys))
