"""Which columns of its inputs a file takes at all, whatever it computes with them.

A file that begins by choosing columns gives the others to nobody, so individuals who differ only in those are computed
alike, number by number, with any operator behind. That needs no reading of the operators: it is seen from the nodes
that take an input whole.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Columns = NDArray[np.int64]

#: Operators, by domain and name, that give on each number by itself, at its place.
_PASSING = frozenset({("", "Cast"), ("", "Identity")})
#: Operators that read how many individuals there are, and no number of them.
_COUNTING = frozenset({("", "Shape"), ("", "Size")})
_GATHER, _EXTRACTOR = ("", "Gather"), ("ai.onnx.ml", "ArrayFeatureExtractor")


def columns_taken(graph: Any, widths: Mapping[str, int]) -> Mapping[str, frozenset[int]]:
    """Of each input in ``widths`` (columns of [individuals, columns]) those from which some way leads on.

    ``graph`` is a ``GraphProto``. An input that is used in another way than by choosing its columns, at positions that
    are stored in the graph itself, is taken whole.
    """
    constants = {tensor.name: tensor for tensor in graph.initializer}
    readers: dict[str, list[Any]] = defaultdict(list)
    for node in graph.node:
        for name in dict.fromkeys(_read_by(node)):
            readers[name].append(node)
        if _operator(node) == ("", "Constant") and len(node.output) == 1:
            constants.update((node.output[0], each.t) for each in node.attribute if each.name == "value")
    outputs = {item.name for item in graph.output}
    return {name: frozenset(_taken(name, width, readers, constants, outputs)) for name, width in widths.items()}


def _taken(
    name: str, width: int, readers: Mapping[str, Sequence[Any]], constants: Mapping[str, Any], outputs: set[str]
) -> list[int]:
    found = np.zeros(width, dtype=np.bool_)
    tensors: list[tuple[str, Columns]] = [(name, np.arange(width))]
    while tensors:
        tensor, columns = tensors.pop()
        ways = [
            (node, _chosen(node, tensor, columns, constants))
            for node in readers.get(tensor, ())
            if _operator(node) not in _COUNTING
        ]
        if tensor in outputs or any(left is None for _, left in ways):
            found[columns] = True
        else:
            tensors += [(node.output[0], left) for node, left in ways if left is not None]
    return np.flatnonzero(found).tolist()


def _operator(node: Any) -> tuple[str, str]:
    return "" if node.domain == "ai.onnx" else node.domain, node.op_type


def _chosen(node: Any, tensor: str, columns: Columns, constants: Mapping[str, Any]) -> Columns | None:
    """What is in the columns of the node's output; None where they are not columns of this tensor."""
    operator, inputs = _operator(node), list(node.input)
    if inputs[:1] != [tensor] or inputs.count(tensor) != 1 or len(node.output) != 1 or any(_inside(node)):
        return None
    if operator in _PASSING:
        return columns
    if operator == _EXTRACTOR or (operator == _GATHER and _axis(node) in (1, -1)):
        return _at(columns, constants.get(inputs[-1]), lists=operator == _EXTRACTOR)
    return None


def _axis(node: Any) -> int:
    return next((int(attribute.i) for attribute in node.attribute if attribute.name == "axis"), 0)


def _at(columns: Columns, stored: Any, *, lists: bool) -> Columns | None:
    """The columns at stored positions; None where these are computed, or are not a list (``lists``: or list of one)."""
    from onnx import numpy_helper

    if stored is None or stored.data_location == stored.EXTERNAL:
        return None
    try:
        places = numpy_helper.to_array(stored)
    except Exception:  # it raises what it likes on damaged content, which whoever runs the file will refuse
        return None
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
