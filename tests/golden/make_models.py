"""The model files of the golden errors E05 and W07; run it to write them again (they are the same bytes).

Every network is about the same domain, sex and age; each has one thing wrong with it.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from numpy.typing import ArrayLike
from onnx import TensorProto, helper, numpy_helper

ERRORS = Path(__file__).parent / "errors"
FLOAT = TensorProto.FLOAT


def tensor(name: str, values: ArrayLike) -> onnx.TensorProto:
    return numpy_helper.from_array(np.asarray(values, dtype=np.float32), name)


def model(
    nodes: list[onnx.NodeProto],
    weights: list[onnx.TensorProto],
    *,
    inputs: dict[str, int] | None = None,
    width: int = 1,
    opset: int = 17,
) -> onnx.ModelProto:
    """A graph from ``x`` (or the inputs given, by width) to ``y``."""
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info(name, FLOAT, [None, size]) for name, size in (inputs or {"x": 2}).items()],
        [helper.make_tensor_value_info("y", FLOAT, [None, width])],
        weights,
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    made.ir_version = 8
    return made


def gemm(width: int = 2, *, outputs: int = 1, out: str = "y", weight: ArrayLike | None = None) -> onnx.ModelProto:
    values = np.ones((width, outputs)) if weight is None else weight
    nodes = [helper.make_node("Gemm", ["x", "w", "b"], [out], name="dense")]
    weights = [tensor("w", values), tensor("b", [-30.0] * outputs)]
    return model(nodes, weights, inputs={"x": width}, width=outputs)


def then(operator: str, *more_inputs: str, **attributes: float) -> onnx.ModelProto:
    """A dense layer and then one operator named `last`."""
    made = gemm(out="h")
    made.graph.node.append(helper.make_node(operator, ["h", *more_inputs], ["y"], name="last", **attributes))
    return made


def batch_normalisation() -> onnx.ModelProto:
    made = gemm(out="h")
    names = ["scale", "shift", "mean", "variance"]
    made.graph.node.append(helper.make_node("BatchNormalization", ["h", *names], ["y"], name="last"))
    made.graph.initializer.extend(tensor(name, [2.0]) for name in names)
    return made


def weights_elsewhere() -> onnx.ModelProto:
    made = gemm()
    weight = made.graph.initializer[0]
    weight.data_location = TensorProto.EXTERNAL
    weight.ClearField("raw_data")
    weight.external_data.add(key="location", value="weights.bin")
    return made


def one_input_a_column(*names: str) -> onnx.ModelProto:
    nodes = [
        helper.make_node("Concat", list(names), ["x"], name="join", axis=1),
        helper.make_node("Gemm", ["x", "w", "b"], ["y"], name="dense"),
    ]
    return model(nodes, [tensor("w", [[1.0], [1.0]]), tensor("b", [-30.0])], inputs=dict.fromkeys(names, 1))


def hidden(operator: str = "Relu") -> onnx.ModelProto:
    """Two hidden units: one active for everybody over 30, one for women of 90 alone."""
    nodes = [
        helper.make_node("Gemm", ["x", "w1", "b1"], ["z"], name="first"),
        helper.make_node(operator, ["z", "low", "high"] if operator == "Clip" else ["z"], ["h"], name="bend"),
        helper.make_node("Gemm", ["h", "w2", "b2"], ["y"], name="second"),
    ]
    weights = [tensor("w1", [[0.0, 1.0], [1.0, 1.0]]), tensor("b1", [-30.0, -90.0])]
    weights += [tensor("w2", [[1.0], [-100.0]]), tensor("b2", [0.0])]
    weights += [tensor("low", 0.0), tensor("high", 6.0)] if operator == "Clip" else []
    return model(nodes, weights)


def pruned() -> onnx.ModelProto:
    """A network that says that it was cut out of another one."""
    made = hidden()
    made.metadata_props.add(key="fairdsl.pruned_from_sha256", value="ab" * 32)
    made.metadata_props.add(key="fairdsl.removed_units", value="14 units of layer 1")
    return made


def machine(classes: int = 2) -> onnx.ModelProto:
    """A support vector machine of a Gaussian kernel, a vector for each class."""
    node = helper.make_node(
        "SVMClassifier",
        ["x"],
        ["label", "scores"],
        name="machine",
        domain="ai.onnx.ml",
        kernel_type="RBF",
        kernel_params=[0.01, 0.0, 3.0],
        classlabels_ints=list(range(classes)),
        vectors_per_class=[1] * classes,
        support_vectors=[float(10 * row * column) for row in range(classes) for column in range(2)],
        coefficients=[1.0, -1.0] * (classes * (classes - 1) // 2),
        rho=[0.0] * (classes * (classes - 1) // 2),
    )
    outputs = [helper.make_tensor_value_info(name, kind, None) for name, kind in (("label", 7), ("scores", FLOAT))]
    graph = helper.make_graph([node], "g", [helper.make_tensor_value_info("x", FLOAT, [None, 2])], outputs)
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 1)])
    made.ir_version = 8
    return made


def classes(*labels: str) -> onnx.ModelProto:
    """A linear classifier whose labels are texts."""
    node = helper.make_node(
        "LinearClassifier",
        ["x"],
        ["label", "scores"],
        name="classifier",
        domain="ai.onnx.ml",
        classlabels_strings=labels,
        coefficients=[-1.0, -1.0, 1.0, 1.0],
        intercepts=[30.0, -30.0],
        post_transform="LOGISTIC",
    )
    outputs = [helper.make_tensor_value_info(name, kind, None) for name, kind in (("label", 8), ("scores", FLOAT))]
    graph = helper.make_graph([node], "g", [helper.make_tensor_value_info("x", FLOAT, [None, 2])], outputs)
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 1)])
    made.ir_version = 8
    return made


def encoded(*known: str) -> onnx.ModelProto:
    """A category by its names, one-hot, with nothing for others, and weighed with the age."""
    nodes = [
        helper.make_node("OneHotEncoder", ["sex"], ["hot"], "encode", domain="ai.onnx.ml", cats_strings=known),
        helper.make_node("Reshape", ["hot", "shape"], ["flat"], name="flat"),
        helper.make_node("Concat", ["flat", "age"], ["x"], name="join", axis=1),
        helper.make_node("Gemm", ["x", "w", "b"], ["y"], name="dense"),
    ]
    shape = numpy_helper.from_array(np.array([-1, len(known)]), "shape")
    weights = [shape, tensor("w", [[10.0], *[[0.0]] * (len(known) - 1), [1.0]]), tensor("b", [-30.0])]
    made = model(nodes, weights, inputs={"sex": 1, "age": 1})
    made.graph.input[0].type.tensor_type.elem_type = onnx.TensorProto.STRING
    made.opset_import.add(domain="ai.onnx.ml", version=2)
    return made


def at_random() -> onnx.ModelProto:
    """A dense layer over noise."""
    made = gemm()
    made.graph.node[0].input[0] = "noise"
    made.graph.node.insert(0, helper.make_node("RandomNormalLike", ["x"], ["noise"], name="draw"))
    return made


def waves(sex: float) -> onnx.ModelProto:
    """The sine of a weighted sum, which no importer reads exactly."""
    made = gemm(weight=[[sex], [1.0]], out="h")
    made.graph.node.append(helper.make_node("Sin", ["h"], ["y"], name="last"))
    return made


MODELS = {
    "E0503-unknown-operator": then("Sin"),
    "E0504-no-straight-pieces": then("Mul", "h"),
    "E0504-votes-of-classes": machine(3),
    "E0505-weights-elsewhere": weights_elsewhere(),
    "E0506-infinite-weights": gemm(weight=[[1.0], [np.inf]]),
    "E0507-another-file": gemm(),
    "E0508-another-width": gemm(3),
    "E0509-input-without-attribute": one_input_a_column("sex", "years"),
    "E0511-one-score-of-two": gemm(outputs=2),
    "E0511-no-class-of-a-black-box": then("Sin"),
    "E0511-number-for-a-name": classes("grant", "reject"),
    "E0511-whose-probability": classes("bad risk", "good risk"),
    "E0512-probability-against-zero": then("Sigmoid"),
    "E0514-cannot-run": then("Relu"),
    "E0517-score-for-a-probability": then("Softplus"),
    "E0518-drawn-at-random": at_random(),
    "E0519-overflow": gemm(weight=[[1.0], [3e38]]),
    "E0521-blanks-around-names": encoded(" Female", " Male"),
    "E0530-cells-left-over": hidden(),
    "E0531-column-missing": hidden(),
    "E0532-value-outside": hidden(),
    "E0533-row-excluded": hidden(),
    "E0551-score-gap-of-several-scores": gemm(outputs=3),
    "E0554-four-rows": gemm(weight=[[10.0], [1.0]]),
    "E0555-neither-of-the-two": gemm(),
    "E0560-clipped-units": hidden("Clip"),
    "E0562-no-label": hidden(),
    "E0601-black-box": then("Sin"),
    "E0602-black-box": then("Sin"),
    "E0637-gradient-of-a-black-box": then("Sin"),
    "E0602-support-vector-machine": machine(),
    "E0603-support-vector-machine": machine(),
    "W0701-square-root": batch_normalisation(),
    "W0702-raw-score-as-logit": gemm(),
    "W0703-pruned-network": pruned(),
    "W0812-two-columns": gemm(),
    "W0813-codes-the-other-way-round": gemm(weight=[[10.0], [1.0]]),
    "W0814-exchanged": one_input_a_column("sex", "age"),
    "W0818-scaled-in-training": gemm(weight=[[-1.0], [1.0]]),
    "W0707-operator-not-read": then("Sin"),
    "W0710-nobody-in-training": encoded("female", "male"),
}


def main() -> None:
    MODELS["E0514-cannot-run"].ir_version = 999  # newer than any runtime
    for folder, made in MODELS.items():
        (ERRORS / folder / "approve.onnx").write_bytes(made.SerializeToString(deterministic=True))
    for case, name, sex in (("", "waves", 2.0), ("", "blind", 0.0), ("-unknown", "blind", 0.0)):
        place = ERRORS.parent / "check" / f"black-box{case}" / f"{name}.onnx"
        place.write_bytes(waves(sex).SerializeToString(deterministic=True))
    (ERRORS / "E0502-not-onnx" / "approve.onnx").write_bytes(b"PK\x03\x04 a zip archive, as torch.save writes\n")
    (ERRORS / "E0513-unknown-format" / "approve.pkl").write_bytes(b"never opened\n")
    (ERRORS / "E0510-not-a-linear-model" / "approve.json").write_text('{"weights": [1, 2]}\n', encoding="utf-8")


if __name__ == "__main__":
    main()
