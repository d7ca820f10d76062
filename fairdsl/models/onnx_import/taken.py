"""Which columns of its inputs a file takes at all, whatever it computes with them.

A file that begins by choosing columns gives the others to nobody, so individuals who differ only in those are computed
alike, number by number, with any operator behind. That needs no reading of the operators: it is seen from the nodes
that take an input whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["columns_taken"]

Columns = NDArray[np.int64]

#: Operators that give on each number by itself, at its place.
_PASSING = frozenset({"Cast", "Identity"})
#: Operators that read how many individuals there are, and no number of them.
_COUNTING = frozenset({"Shape", "Size"})


def columns_taken(graph: Any, widths: Mapping[str, int]) -> Mapping[str, frozenset[int]]:
    """Of each input in ``widths`` (columns of [individuals, columns]) those from which some way leads on.

    ``graph`` is a ``GraphProto`` with all its constants inside. An input that is used in another way than by choosing
    its columns is taken whole.
    """
    constants = {tensor.name: tensor for tensor in graph.initializer}
    for node in graph.node:
        if node.op_type == "Constant" and node.attribute[0].name == "value":
            constants[node.output[0]] = node.attribute[0].t
    outputs = {item.name for item in graph.output}
    return {name: frozenset(_taken(graph, name, width, constants, outputs)) for name, width in widths.items()}


def _taken(graph: Any, name: str, width: int, constants: Mapping[str, Any], outputs: set[str]) -> set[int]:
    found: set[int] = set()
    tensors: list[tuple[str, Columns]] = [(name, np.arange(width))]
    while tensors:
        tensor, columns = tensors.pop()
        if tensor in outputs:
            found.update(columns.tolist())
        for node in graph.node:
            if tensor not in _read_by(node) or (node.op_type in _COUNTING and not node.domain):
                continue
            left = _chosen(node, tensor, columns, constants)
            if left is None:
                found.update(columns.tolist())
            else:
                tensors.append((node.output[0], left))
    return found


def _chosen(node: Any, tensor: str, columns: Columns, constants: Mapping[str, Any]) -> Columns | None:
    """What is in the columns of the node's output; None where they are not columns of this tensor."""
    if list(node.input).count(tensor) != 1 or node.input[0] != tensor:
        return None
    if node.op_type in _PASSING and not node.domain:
        return columns
    if node.op_type == "ArrayFeatureExtractor" or (node.op_type == "Gather" and _axis(node) in (1, -1)):
        return _at(columns, constants.get(node.input[1]), lists=node.op_type == "ArrayFeatureExtractor")
    return None


def _axis(node: Any) -> int:
    return next((int(attribute.i) for attribute in node.attribute if attribute.name == "axis"), 0)


def _at(columns: Columns, stored: Any, *, lists: bool) -> Columns | None:
    """The columns at stored positions; None where these are computed, or are no list (``lists``: or list of one)."""
    from onnx import numpy_helper

    if stored is None or stored.data_location == stored.EXTERNAL:
        return None
    places = numpy_helper.to_array(stored)
    if places.dtype.kind != "i" or not (places.ndim == 1 or (lists and places.ndim == 2 and len(places) == 1)):
        return None
    flat = places.reshape(-1)
    return columns[flat] if ((flat >= -len(columns)) & (flat < len(columns))).all() else None


def _read_by(node: Any) -> Sequence[str]:
    """The tensors that a node reads, those in its bodies included."""
    return (*node.input, *_inside(node))


def _inside(node: Any) -> Iterator[str]:
    for attribute in node.attribute:
        for body in (*([attribute.g] if attribute.HasField("g") else []), *attribute.graphs):
            for inner in body.node:
                yield from _read_by(inner)
            yield from (item.name for item in body.output)
