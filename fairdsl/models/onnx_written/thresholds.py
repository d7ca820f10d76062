"""A file that decides as another one scores, with a threshold of its own for each group of people.

Groups follow each other along a number that is a sum of the file's inputs: a column, or a key made of several. The
favourable class is given where the score is above the threshold of the group (Hardt, Price and Srebro, "Equality of
Opportunity in Supervised Learning", NeurIPS 2016, without their draws). Everything around the wrapped file is linear in
comparisons of its inputs, so whatever could be read of it exactly still can.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdsl.ir.declaration import Label
from fairdsl.models.onnx_import.file import whole_model
from fairdsl.models.onnx_written.nodes import Nodes, NotWrappedError, operator_set

#: The oldest operator set with ``GreaterOrEqual``; the operators used are alike since.
_OLDEST = 12
_OWN, _LABEL = "thresholds/", "thresholds/label_before"
#: Numbers of ``TensorProto.DataType``.
_FLOAT, _INT64 = 1, 7


@dataclass(frozen=True, slots=True, eq=False)
class GroupKey:
    """The number by which groups follow each other: ``factors`` [columns] of the file's input.

    Group g is where it is ``begins[g]`` or more, and below the next; ``begins`` ascends, and nobody is below the first.
    """

    factors: NDArray[np.float32]
    begins: NDArray[np.float32]

    def groups(self, features: NDArray[np.float32]) -> NDArray[np.int64]:
        """The group of each of the file's inputs [n, columns]."""
        return np.searchsorted(self.begins, features @ self.factors, side="right") - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """How a file scores: its input, its output with the class, and that with scores.

    ``column`` of the scores is that of the favourable class; None: there is one column, that of the second class, which
    is ``favourable`` or not. ``labels`` are the classes, the favourable one behind the other.
    """

    path: str
    input: str
    label: str
    scores: str
    column: int | None
    favourable: bool
    labels: tuple[Label, Label]

    def numbers(self, table: NDArray[Any]) -> NDArray[np.float32]:
        """The scores of the favourable class [n], of what the file gives."""
        if self.column is not None:
            return np.asarray(table[:, self.column], dtype=np.float32)
        single = np.asarray(table.reshape(len(table)), dtype=np.float32)
        return single if self.favourable else -single


def scored_file(path: str, label: str, classes: tuple[Label, Label], favourable: int) -> Scored:
    """How the file at ``path`` scores, whose output ``label`` has one of two ``classes``, as outcomes are numbered.

    Raises NotWrappedError where it has no one input, or no one output of scores beside the class.
    """
    graph = whole_model(path).graph
    stored = {tensor.name for tensor in graph.initializer}
    inputs = [value for value in graph.input if value.name not in stored]
    others = [value for value in graph.output if value.name != label]
    if len(inputs) != 1 or inputs[0].type.tensor_type.elem_type != _FLOAT:
        raise NotWrappedError("the file takes several inputs, or no matrix of float32 numbers")
    if len(others) != 1 or others[0].type.tensor_type.elem_type != _FLOAT:
        raise NotWrappedError("the file has no output of scores beside the class")
    # Columns are in the order of the classes, which estimators sort.
    second = classes[favourable] == max(classes, key=lambda each: (isinstance(each, str), each))
    wide = others[0].type.tensor_type.shape.dim[-1].dim_value
    if wide not in (1, 2):
        raise NotWrappedError(f"the scores have {wide} columns for two classes")
    return Scored(
        path=path,
        input=inputs[0].name,
        label=label,
        scores=others[0].name,
        column=int(second) if wide == 2 else None,
        favourable=second,
        labels=(classes[1 - favourable], classes[favourable]),
    )


def thresholds_file(scored: Scored, key: GroupKey, thresholds: NDArray[np.float32]) -> bytes:
    """The file as ONNX, with the input of the other one, and its class where the score is above that of the group."""
    from onnx import helper

    model = whole_model(scored.path)
    operator_set(model, _OLDEST)
    for node in model.graph.node:
        for names in (node.input, node.output):
            names[:] = [_LABEL if name == scored.label else name for name in names]
    graph = Nodes(_OWN)
    number = graph.add("MatMul", scored.input, graph.stored(key.factors.reshape(-1, 1)))
    reached = graph.add("GreaterOrEqual", number, graph.stored(key.begins.reshape(1, -1)))
    steps = np.diff(thresholds, prepend=np.float32(0)).astype(np.float32).reshape(-1, 1)
    limit = graph.add("MatMul", graph.add("Cast", reached, to=_FLOAT), graph.stored(steps))
    if scored.column is not None:
        score = graph.add("Gather", scored.scores, graph.stored(np.array([scored.column])), axis=1)
    else:
        score = graph.add("Reshape", scored.scores, graph.stored(np.array([-1, 1])))
        score = score if scored.favourable else graph.add("Neg", score)
    above = graph.add("Greater", graph.add("Sub", score, limit), graph.stored(np.zeros((1, 1), dtype=np.float32)))
    place = graph.add("Reshape", graph.add("Cast", above, to=_INT64), graph.stored(np.array([-1])))
    graph.add("Gather", graph.stored(np.array(scored.labels)), place, axis=0, output=scored.label)
    answer = next(value for value in model.graph.output if value.name == scored.label)
    kept = helper.make_tensor_value_info(scored.label, answer.type.tensor_type.elem_type, [None])
    del model.graph.output[:], model.graph.value_info[:]
    model.graph.output.append(kept)
    model.graph.node.extend(graph.nodes)
    model.graph.initializer.extend(graph.constants)
    model.producer_name = "fairdsl"
    content: bytes = model.SerializeToString(deterministic=True)
    return content
