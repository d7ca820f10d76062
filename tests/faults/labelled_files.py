"""Classifiers whose labels may be anything, and what they say of everybody, by the names and values of labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

Label = int | str

#: Attributes of everybody: sex (female 0, male 1) and income (0 to 9).
EVERYBODY = [(sex, income) for sex in (0, 1) for income in range(10)]

#: Files with a class each: a label, columns, or both.
FORMS = ("classifier", "label", "columns", "zip", "table", "swapped")
#: Files with one number, alone or beside a label.
SINGLES = ("score", "sigmoid", "score and label", "sigmoid and label")


@dataclass(frozen=True, kw_only=True)
class File:
    """``score = 2 weights . (sex, income) + offset``, an odd number; above 0 the file gives ``labels[high]``.

    ``form``: which outputs there are. ``listed``: the order in which the file lists its labels.
    """

    path: str
    form: str
    labels: tuple[Label, ...]
    high: int
    weights: tuple[int, int]
    offset: int

    @property
    def named(self) -> bool:
        """Whether the file says what its classes are called."""
        return self.form not in ("columns", "score", "sigmoid")

    def scores(self) -> list[int]:
        """The score of everybody, by the formula."""
        return [2 * (self.weights[0] * sex + self.weights[1] * income) + self.offset for sex, income in EVERYBODY]

    def given(self) -> list[Label]:
        """The label of everybody, by the formula; of columns alone the position of the higher one."""
        names: Sequence[Label] = self.labels if self.named else (0, 1)
        return [names[self.high if score > 0 else 1 - self.high] for score in self.scores()]

    def probability(self, label: Label) -> list[float]:
        """The probability of a label for everybody, by the formula."""
        names: Sequence[Label] = self.labels if self.named else (0, 1)
        sign = 1 if names.index(label) == self.high else -1
        return [1 / (1 + float(np.exp(-sign * score / 8))) for score in self.scores()]


def answered(file: File) -> list[Label] | None:
    """The labels that onnxruntime gives everybody; None where the file has no label."""
    session = onnxruntime.InferenceSession(file.path, providers=["CPUExecutionProvider"])
    if "label" not in [output.name for output in session.get_outputs()]:
        return None
    (labels,) = session.run(["label"], {"x": np.array(EVERYBODY, dtype=np.float32)})
    return list(labels.ravel().tolist())


def written(
    path: Path, *, form: str, labels: tuple[Label, ...], high: int, weights: tuple[int, int], offset: int
) -> File:
    """Write the model to ``path``; the one number of a file rises with the second label."""
    texts = isinstance(labels[0], str)
    sign = 1.0 if high == 1 else -1.0
    row = sign * np.array([2 * weights[0], 2 * weights[1], offset]) / 8
    nodes, constants = _nodes(form, labels, row, texts)
    kinds = {
        "label": TensorProto.STRING if texts else TensorProto.INT64,
        "probabilities": TensorProto.FLOAT,
        "number": TensorProto.FLOAT,
    }
    outputs = {"columns": ["probabilities"], "label": ["label"], "zip": ["label"]}.get(form, ["label", "probabilities"])
    if form in SINGLES:
        outputs = ["number", "label"] if "label" in form else ["number"]
    values = [helper.make_tensor_value_info(name, kinds[name], None) for name in outputs]
    if form == "zip":
        key = TensorProto.STRING if texts else TensorProto.INT64
        entry = helper.make_map_type_proto(key, helper.make_tensor_type_proto(TensorProto.FLOAT, []))
        values.append(helper.make_value_info("named", helper.make_sequence_type_proto(entry)))
    graph = helper.make_graph(
        nodes, "labels", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 2])], values, constants
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 2)]
    path.write_bytes(helper.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString())
    return File(path=str(path), form=form, labels=labels, high=high, weights=weights, offset=offset)


def _nodes(form: str, labels: tuple[Label, ...], row: Any, texts: bool) -> tuple[list[Any], list[Any]]:
    """The graph: the second column of the probabilities rises with the row's score."""
    ml = "ai.onnx.ml"
    if form == "table":  # as exporters write it: the position of the higher column, looked up in a table
        table = np.array(labels, dtype=object if texts else np.int64)
        nodes = [
            helper.make_node("Gemm", ["x", "w", "b"], ["z"]),
            helper.make_node("Softmax", ["z"], ["probabilities"], axis=1),
            helper.make_node("ArgMax", ["probabilities"], ["best"], axis=1),
            helper.make_node("ArrayFeatureExtractor", ["classes", "best"], ["value"], domain=ml),
            helper.make_node("Reshape", ["value", "flat"], ["label"]),
        ]
        constants = {
            "w": np.stack([0 * row[:2], row[:2]], axis=1).astype(np.float32),
            "b": np.array([0, row[2]], dtype=np.float32),
            "classes": table,
            "flat": np.array([-1], dtype=np.int64),
        }
        return nodes, [numpy_helper.from_array(value, name) for name, value in constants.items()]
    single = []
    constants = []
    if form in SINGLES:
        single = [helper.make_node("Gemm", ["x", "w", "b"], ["z" if "sigmoid" in form else "number"])]
        single += [helper.make_node("Sigmoid", ["z"], ["number"])] if "sigmoid" in form else []
        constants = [numpy_helper.from_array(row[:2, None].astype(np.float32), "w")]
        constants.append(numpy_helper.from_array(row[2:].astype(np.float32), "b"))
        if "label" not in form:
            return single, constants
    listed: dict[str, Any] = {"classlabels_strings" if texts else "classlabels_ints": list(labels)}
    classifier = helper.make_node(
        "LinearClassifier",
        ["x"],
        ["label", "probabilities"],
        domain=ml,
        coefficients=[*(-row[:2]).tolist(), *row[:2].tolist()],
        intercepts=[float(-row[2]), float(row[2])],
        post_transform="LOGISTIC",
        **listed,
    )
    if form == "swapped":  # the columns come in another order than the labels are listed in
        classifier.output[1] = "listed"
        swap = helper.make_node("Gather", ["listed", "turned"], ["probabilities"], axis=1)
        return [classifier, swap], [numpy_helper.from_array(np.array([1, 0], dtype=np.int64), "turned")]
    if form != "zip":
        return [classifier, *single], constants
    keys: dict[str, Any] = {"classlabels_strings" if texts else "classlabels_int64s": list(labels)}
    return [classifier, helper.make_node("ZipMap", ["probabilities"], ["named"], domain=ml, **keys)], []
