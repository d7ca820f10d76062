"""Where file and reading part: the first tensor, in the file's order, that is not what was read of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdsl.models.basis import Affine
from fairdsl.models.confirm.compare import Bounds, Difference
from fairdsl.models.confirm.expected import Numbers, expect
from fairdsl.models.confirm.units import Units
from fairdsl.models.float32 import Rounded
from fairdsl.models.graph import GraphOutput, ImportedGraph, OutputKind
from fairdsl.models.onnx_import.file import RawNode
from fairdsl.models.onnx_import.values import (
    Constant,
    Exponential,
    Labelled,
    Logistic,
    Power,
    Probabilities,
    Softmaxed,
    Tabulated,
    Text,
    Unread,
    UnreadableError,
    Value,
)


@dataclass(frozen=True, slots=True)
class Step:
    """A node, the tensor that it makes, the position in it, and both values."""

    node: str
    operator: str
    tensor: str
    place: int
    file: Any
    reading: Any


def first_difference(
    graph: ImportedGraph, units: Units, bounds: Bounds, steps: Callable[[Sequence[str]], Mapping[str, NDArray[Any]]]
) -> Step | None:
    """The first step at which the individual of ``units`` has another number in the file than in the reading.

    ``steps`` gives the file's own tensors. None where every tensor that can be compared agrees.
    """
    nodes = [] if graph.raw is None else [(node, name) for node in graph.raw.nodes for name in node.outputs]
    known = [(node, name) for node, name in nodes if name and name in graph.values]
    found = steps([name for _, name in known])
    for node, name in known:
        if name in found:
            step = _compared(node, name, graph.values[name], units, found[name], bounds.get(name))
            if step is not None:
                return step
    return None


def made_by(graph: ImportedGraph, different: Difference) -> Step | None:
    """The step that makes the output in which the two differ, where that is no matter of one number that is off."""
    for node in graph.raw.nodes if graph.raw is not None else ():
        if different.tensor is not None and different.tensor in node.outputs:
            return Step(node.where, node.operator, different.tensor, different.place, different.file, different.reading)
    return None


def _compared(
    node: RawNode, name: str, value: Value, units: Units, table: NDArray[Any], bound: Rounded | None
) -> Step | None:
    output = _as_output(name, value)
    if output is None:
        return None
    wanted = expect(output, units, bound)
    rows = table.reshape(-1, wanted.values.shape[1])[:1] if table.size % wanted.values.shape[1] == 0 else None
    if rows is None or not table.size:
        size = f"{table.size} numbers"
        return Step(node.where, node.operator, name, 0, size, f"{wanted.values.shape[1]} numbers")
    wrong = wanted.disagree(rows)
    if isinstance(wanted, Numbers) and units.unsure.any():
        return None
    if not wrong.any():
        return None
    place = int(np.flatnonzero(wrong[0])[0])
    return Step(node.where, node.operator, name, place, rows[0, place], wanted.values[0, place])


def _as_output(name: str, value: Value) -> GraphOutput | None:
    """The tensor as if the file gave it; None for texts, what is not read, and what nobody depends on."""
    match value:
        case Affine():
            return GraphOutput(name=name, kind=OutputKind.SCORE, scores=value) if value.size else None
        case Logistic(logits=logits):
            return GraphOutput(name=name, kind=OutputKind.SIGMOID, scores=logits)
        case Probabilities(shares=shares):
            return GraphOutput(name=name, kind=OutputKind.PROBABILITY, scores=shares)
        case Softmaxed(logits):
            return GraphOutput(name=name, kind=OutputKind.SOFTMAX, scores=logits)
        case Exponential(Power.LOG_SHARE, scores):
            return GraphOutput(name=name, kind=OutputKind.LOG_SOFTMAX, scores=scores)
        case Labelled(scores=scores, labels=labels, ties_last=ties_last):
            return GraphOutput(name=name, kind=OutputKind.LABEL, scores=scores, labels=labels, ties_last=ties_last)
        case Constant(array, text) if not text and array.size:
            try:
                return GraphOutput(name=name, kind=OutputKind.SCORE, scores=Affine.constant(value.numbers))
            except UnreadableError:
                return None
        case Constant() | Exponential() | Tabulated() | Text() | Unread():
            return None
