"""Files, and for each an operator that the importer is made to misread.

What is planted changes only what the importer sees: an attribute of a node, the order of its inputs, or what it makes
of them. The file itself is right and runs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from onnx import TensorProto

from fairdsl.ir.declaration import DecisionClause, Highest, WhenClass, WhenScore
from fairdsl.ir.domain import Attribute, Category, CategoryValue, Domain, Integer
from fairdsl.ir.expr import TRUE, Relation
from fairdsl.models.basis import scale, take
from fairdsl.models.onnx_import import walk
from fairdsl.models.onnx_import.values import Logistic, NodeCall, Softmaxed, Value, as_affine
from tests.models.model_files import SPAN, ml, node

Wrong = Callable[[Callable[[NodeCall], Any], NodeCall], Any]
R = np.random.default_rng(12)


def numbers(*shape: int) -> np.ndarray[Any, Any]:
    return (R.integers(-8, 9, shape) / 4).astype(np.float32)


def ints(*values: int) -> np.ndarray[Any, Any]:
    return np.array(values, dtype=np.int64)


SCORE = WhenScore(outcome=1, relation=Relation.GT, threshold=Fraction(0), span=SPAN)
HIGHEST, CLASS_1 = Highest(span=SPAN), WhenClass.of(1, 1, SPAN)


# What the importer may get wrong: the node that it is shown, or what it makes of the right one.


def attributes(**changed: Any) -> Wrong:
    """It reads other attributes; None leaves one out."""

    def wrong(handler: Callable[[NodeCall], Any], call: NodeCall) -> Any:
        held = {**call.node.attributes, **changed}
        held = {name: value for name, value in held.items() if value is not None}
        return handler(replace(call, node=replace(call.node, attributes=held)))

    return wrong


def inputs(*order: int) -> Wrong:
    """It takes the inputs in another order; -1 is none."""

    def wrong(handler: Callable[[NodeCall], Any], call: NodeCall) -> Any:
        return handler(replace(call, inputs=[None if place < 0 else call.inputs[place] for place in order]))

    return wrong


def constant(place: int, change: Callable[[np.ndarray[Any, Any]], np.ndarray[Any, Any]]) -> Wrong:
    """It reads another constant."""

    def wrong(handler: Callable[[NodeCall], Any], call: NodeCall) -> Any:
        held = list(call.inputs)
        held[place] = replace(held[place], array=change(held[place].array))  # type: ignore[type-var, union-attr]
        return handler(replace(call, inputs=held))

    return wrong


def made(change: Callable[[NodeCall, Any], Any]) -> Wrong:
    """It makes something else of what it read."""
    return lambda handler, call: change(call, handler(call))


def as_if(operator: str) -> Wrong:
    """It takes the node for one of another operator."""
    return lambda handler, call: walk.HANDLERS["", operator](call)


def _ties_last(_: NodeCall, value: Any) -> Any:
    return replace(value, ties_last=True)


def _both_mirrored(_: NodeCall, outputs: list[Value]) -> list[Value]:
    single = take(as_affine(outputs[1]), np.array([[1, 1]]))
    return [outputs[0], scale(single, np.array([-1.0, 1.0]))]


def _no_curve(_: NodeCall, outputs: list[Value]) -> list[Value]:
    (label, found) = outputs
    return [label, found.logits if isinstance(found, Logistic | Softmaxed) else found]


def _swapped(_: NodeCall, value: Any) -> Any:
    assert isinstance(value, Softmaxed)
    return Softmaxed(take(value.logits, np.array([[1, 0, 2]])))


def _halved(_: NodeCall, value: Any) -> Any:
    return scale(value, np.full(value.size, 0.5))


def _turned(_: NodeCall, value: Any) -> Any:
    return take(value, np.arange(value.size).reshape(value.shape)[..., ::-1])


def _shifted(handler: Callable[[NodeCall], Any], call: NodeCall) -> Any:
    moved = [replace(held, array=held.array - 1) if place in (1, 2) else held for place, held in enumerate(call.inputs)]  # type: ignore[union-attr, type-var]
    return handler(replace(call, inputs=moved))


def _transposed(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return array.T


def _modes(array: list[Any]) -> list[Any]:
    return ["BRANCH_LT" if mode == "BRANCH_LEQ" else mode for mode in array]


@dataclass(frozen=True, kw_only=True)
class Planted:
    """A file, the operator that is misread in it, and how."""

    operator: tuple[str, str]
    wrong: Wrong
    nodes: tuple[Any, ...]
    constants: dict[str, Any]
    decision: DecisionClause = SCORE
    outputs: Any = ("y",)
    people: Domain | None = None
    outcomes: tuple[str, ...] = ("reject", "grant")
    opset: int = 17


def of_scores(operator: str, wrong: Wrong, body: Any, constants: dict[str, Any] | None = None, **more: Any) -> Planted:
    """The node reads x or h, and one score is made of what it gives in r."""
    head = (node("Gemm", ["x", "w", "b"], ["h"], transB=1),)
    tail = (node("Gemm", ["r", "v"], ["y"]),)
    width = more.pop("width", 3)
    held = {"w": numbers(3, 3) + 3 * np.eye(3, dtype=np.float32), "b": numbers(3), "v": np.float32([[1], [-2], [0.5]])}
    held["v"] = np.resize(held["v"], (width, 1)).astype(np.float32)
    body = body if isinstance(body, tuple) else (body,)
    domain_of = "ai.onnx.ml" if operator in _ML else ""
    return Planted(
        operator=(domain_of, operator),
        wrong=wrong,
        nodes=(*head, *body, *tail),
        constants=held | (constants or {}),
        **more,
    )


_ML = {"Scaler", "ArrayFeatureExtractor", "OneHotEncoder", "LabelEncoder", "Binarizer"}

TREE = {
    "nodes_treeids": [0, 0, 0, 1, 1, 1],
    "nodes_nodeids": [0, 1, 2, 0, 1, 2],
    "nodes_featureids": [0, 0, 0, 2, 0, 0],
    "nodes_modes": ["BRANCH_LEQ", "LEAF", "LEAF", "BRANCH_LEQ", "LEAF", "LEAF"],
    "nodes_values": [3.0, 0.0, 0.0, -2.0, 0.0, 0.0],
    "nodes_truenodeids": [1, 0, 0, 1, 0, 0],
    "nodes_falsenodeids": [2, 0, 0, 2, 0, 0],
}
REGRESSOR = {
    **TREE,
    "n_targets": 1,
    "target_treeids": [0, 0, 1, 1],
    "target_nodeids": [1, 2, 1, 2],
    "target_ids": [0, 0, 0, 0],
    "target_weights": [-1.0, 2.0, 0.5, -0.25],
}
CLASSIFIER = {
    **TREE,
    "class_treeids": [0, 0, 1, 1],
    "class_nodeids": [1, 2, 1, 2],
    "class_ids": [0, 0, 0, 0],
    "class_weights": [-1.0, 2.0, 0.5, -0.25],
    "classlabels_int64s": [0, 1],
}
LINEAR = {"coefficients": [1.0, -0.5, 2.0], "intercepts": [0.25], "classlabels_ints": [0, 1]}
BOTH = {"label": TensorProto.INT64, "y": TensorProto.FLOAT}


#: Three whole numbers, each of which may be missing.
LACKING = Domain(
    name="Applicant",
    attributes=tuple(
        Attribute(name=f"x{i}", type=Integer(low=-10, high=11), present=Integer(low=-10, high=10)) for i in range(3)
    ),
    where=TRUE,
)


def of_missing(operator: str, wrong: Wrong, *nodes: Any) -> Planted:
    """What becomes of numbers that may be missing."""
    weights = {"v": np.float32([[1], [-2], [0.5]])}
    return Planted(operator=("ai.onnx.ml", operator), wrong=wrong, nodes=nodes, constants=weights, people=LACKING)


def regressor(wrong: Wrong, **changed: Any) -> Planted:
    tree = ml("TreeEnsembleRegressor", ["x"], ["y"], **{**REGRESSOR, **changed})
    return Planted(operator=("ai.onnx.ml", "TreeEnsembleRegressor"), wrong=wrong, nodes=(tree,), constants={})


def classifier(operator: str, wrong: Wrong, held: dict[str, Any], decision: DecisionClause = CLASS_1) -> Planted:
    made = ml(operator, ["x"], ["label", "y"], **held)
    return Planted(
        operator=("ai.onnx.ml", operator), wrong=wrong, nodes=(made,), constants={}, decision=decision, outputs=BOTH
    )


def argmax(wrong: Wrong) -> Planted:
    nodes = (node("Gemm", ["x", "w"], ["s"], transB=1), node("ArgMax", ["s"], ["y"], axis=1, keepdims=0))
    weights = np.float32([[1, 0, 0], [0, 1, 0]])
    return Planted(
        operator=("", "ArgMax"),
        wrong=wrong,
        nodes=nodes,
        constants={"w": weights},
        decision=CLASS_1,
        outputs={"y": TensorProto.INT64},
    )


BATCH = {"g": np.float32([1, 2, 0.5]), "o": numbers(3), "m": numbers(3), "u": np.float32([0.01, 0.02, 1])}
#: A unit that is below 0 for one individual in twenty thousand, of x1 .. x3 in -10 .. 10.
RARE = {"w": np.float32([[1, 1, 1]] * 3), "b": np.float32([27.5] * 3)}
CODED = Domain(
    name="Applicant",
    attributes=(
        Attribute(name="age", type=Integer(low=0, high=9)),
        Attribute(
            name="job",
            type=Category(values=tuple(CategoryValue(name=n, code=i) for i, n in enumerate(("none", "part", "full")))),
        ),
    ),
    where=TRUE,
)
#: Codes of two columns, whose places are weighed differently.
CODED_TWICE = Domain(
    name="Applicant",
    attributes=tuple(Attribute(name=f"x{i}", type=Integer(low=0, high=2)) for i in range(2)),
    where=TRUE,
)


def of_code(operator: str, wrong: Wrong, *body: Any) -> Planted:
    """The node makes e of the codes k of two columns, each of 0 .. 2."""
    head, tail = node("Cast", ["x"], ["k"], to=TensorProto.INT64), node("Reshape", ["e", "shape"], ["f"])
    held = {"depth": ints(3), "values": np.float32([0.25, 2]), "last": ints(2), "shape": ints(-1, 6)}
    held |= {"table": np.float32([[1, 2, -1], [0.5, -3, 2], [4, 0, -0.25]])}
    return Planted(
        operator=("", operator),
        wrong=wrong,
        nodes=(head, *body, tail, node("Gemm", ["f", "w"], ["y"])),
        constants={**held, "w": np.float32([[1], [-2], [0.5], [3], [-1], [0.25]])},
        people=CODED_TWICE,
    )


ENCODED = (
    ml("ArrayFeatureExtractor", ["x", "which"], ["j"]),
    ml("OneHotEncoder", ["j"], ["e"], cats_int64s=[0, 1, 2], zeros=1),
    node("Reshape", ["e", "shape"], ["f"]),
    node("Gemm", ["f", "v"], ["y"]),
)
ENCODING = {"which": ints(1), "shape": ints(-1, 3), "v": np.float32([[-1], [0.5], [2]])}

PLANTED: dict[str, Planted] = {
    "gemm_alpha_left_out": of_scores(
        "Gemm", attributes(alpha=None), node("Gemm", ["h", "k"], ["r"], alpha=0.5), {"k": numbers(3, 3)}
    ),
    "gemm_beta_left_out": of_scores(
        "Gemm", attributes(beta=None), node("Gemm", ["h", "k", "b"], ["r"], beta=-2.0), {"k": numbers(3, 3)}
    ),
    "gemm_not_transposed": of_scores(
        "Gemm", attributes(transB=0), node("Gemm", ["h", "k"], ["r"], transB=1), {"k": numbers(3, 3)}
    ),
    "matmul_transposed": of_scores(
        "MatMul", constant(1, _transposed), node("MatMul", ["h", "k"], ["r"]), {"k": numbers(3, 3)}
    ),
    "leaky_alpha": of_scores("LeakyRelu", attributes(alpha=None), node("LeakyRelu", ["h"], ["r"], alpha=0.1)),
    "leaky_alpha_of_a_unit_that_is_rarely_off": of_scores(
        "LeakyRelu", attributes(alpha=0.0), node("LeakyRelu", ["h"], ["r"], alpha=0.5), RARE
    ),
    "prelu_slopes_reversed": of_scores(
        "PRelu", constant(1, np.flip), node("PRelu", ["h", "s"], ["r"]), {"s": np.float32([0.25, 0.5, 0])}
    ),
    "clip_without_its_upper_end": of_scores(
        "Clip", inputs(0, 1), node("Clip", ["h", "lo", "hi"], ["r"]), {"lo": np.float32(-1), "hi": np.float32(4)}
    ),
    "clip_with_a_lower_end_of_0": of_scores(
        "Clip",
        constant(1, np.zeros_like),
        node("Clip", ["h", "lo", "hi"], ["r"]),
        {"lo": np.float32(-1), "hi": np.float32(4)},
    ),
    "hard_sigmoid_alpha": of_scores(
        "HardSigmoid", attributes(alpha=None), node("HardSigmoid", ["h"], ["r"], alpha=0.25)
    ),
    "absolute_value_as_relu": of_scores("Abs", as_if("Relu"), node("Abs", ["h"], ["r"])),
    "tanh_as_sigmoid": of_scores("Tanh", as_if("Sigmoid"), node("Tanh", ["h"], ["r"])),
    "elu_alpha": of_scores("Elu", attributes(alpha=None), node("Elu", ["h"], ["r"], alpha=0.9)),
    "selu_gamma": of_scores("Selu", attributes(gamma=1.0), node("Selu", ["h"], ["r"])),
    "celu_as_elu": of_scores("Celu", as_if("Elu"), node("Celu", ["h"], ["r"], alpha=0.5)),
    "softplus_as_relu": of_scores("Softplus", as_if("Relu"), node("Softplus", ["h"], ["r"])),
    "erf_as_tanh": of_scores("Erf", as_if("Tanh"), node("Erf", ["h"], ["r"])),
    "gelu_by_tanh_as_gelu": of_scores(
        "Gelu", attributes(approximate="none"), node("Gelu", ["h"], ["r"], approximate="tanh"), opset=20
    ),
    "gelu_as_swish": of_scores("Gelu", as_if("Swish"), node("Gelu", ["h"], ["r"]), opset=20),
    "hard_swish_as_swish": of_scores("HardSwish", as_if("Swish"), node("HardSwish", ["h"], ["r"])),
    "swish_alpha": of_scores("Swish", attributes(alpha=None), node("Swish", ["h"], ["r"], alpha=1.02), opset=24),
    "gate_of_the_number_without_its_gate": of_scores(
        "Mul", made(_halved), (node("Sigmoid", ["h"], ["g"]), node("Mul", ["h", "g"], ["r"]))
    ),
    "greatest_as_least": of_scores("Max", as_if("Min"), node("Max", ["h", "k"], ["r"]), {"k": numbers(3)}),
    "subtraction_turned_round": of_scores("Sub", inputs(1, 0), node("Sub", ["k", "h"], ["r"]), {"k": numbers(3)}),
    "division_as_product": of_scores(
        "Div", as_if("Mul"), node("Div", ["h", "k"], ["r"]), {"k": np.float32([3, 7, 0.5])}
    ),
    "concatenated_the_other_way": of_scores(
        "Concat", inputs(1, 0), node("Concat", ["h", "x"], ["r"], axis=1), {"v": numbers(6, 1)}
    ),
    "slice_off_by_one": of_scores(
        "Slice",
        _shifted,
        node("Slice", ["h", "from", "to", "axes"], ["r"]),
        {"from": ints(1), "to": ints(3), "axes": ints(1)} | {"v": numbers(2, 1)},
    ),
    "gather_index": of_scores(
        "Gather",
        constant(1, lambda which: which - 1),
        node("Gather", ["h", "which"], ["r"], axis=1),
        {"which": ints(2, 0, 1)},
    ),
    "extracted_columns": of_scores(
        "ArrayFeatureExtractor",
        constant(1, np.flip),
        ml("ArrayFeatureExtractor", ["h", "which"], ["r"]),
        {"which": ints(2, 0, 1)},
    ),
    "split_sizes": of_scores(
        "Split",
        constant(1, np.flip),
        (node("Split", ["h", "sizes"], ["p", "q"], axis=1), node("Concat", ["q", "p"], ["r"], axis=1)),
        {"sizes": ints(1, 2)},
    ),
    "normalised_with_another_epsilon": of_scores(
        "BatchNormalization",
        attributes(epsilon=None),
        node("BatchNormalization", ["h", "g", "o", "m", "u"], ["r"], epsilon=1e-3),
        BATCH,
    ),
    "normalised_by_the_deviation_itself": of_scores(
        "BatchNormalization",
        constant(4, np.square),
        node("BatchNormalization", ["h", "g", "o", "m", "u"], ["r"]),
        BATCH,
    ),
    "scaler_offset_left_out": of_scores(
        "Scaler", attributes(offset=[]), ml("Scaler", ["h"], ["r"], offset=[1.5, 2.0, -1.0], scale=[0.5, 0.25, 2.0])
    ),
    "scaler_divides": of_scores(
        "Scaler",
        attributes(scale=[2.0, 4.0, 0.5]),
        ml("Scaler", ["h"], ["r"], offset=[1.5, 2.0, -1.0], scale=[0.5, 0.25, 2.0]),
    ),
    "branch_less_than": regressor(attributes(nodes_modes=_modes(REGRESSOR["nodes_modes"]))),
    "base_values_left_out": regressor(attributes(base_values=None), base_values=[0.75]),
    "average_of_trees_as_their_sum": regressor(attributes(aggregate_function="SUM"), aggregate_function="AVERAGE"),
    "feature_off_by_one": regressor(attributes(nodes_featureids=[1, 0, 0, 0, 0, 0])),
    "logistic_of_another_output_left_out": classifier(
        "TreeEnsembleClassifier", made(_no_curve), {**CLASSIFIER, "post_transform": "LOGISTIC"}
    ),
    "two_scores_mirrored_at_0": classifier("LinearClassifier", made(_both_mirrored), LINEAR),
    "labels_in_another_order": classifier("LinearClassifier", attributes(classlabels_ints=[1, 0]), LINEAR),
    "argmax_gives_ties_to_the_last": argmax(made(_ties_last)),
    "less_for_less_or_equal": Planted(
        operator=("", "LessOrEqual"),
        wrong=as_if("Less"),
        nodes=(
            node("Gemm", ["x", "w"], ["s"]),
            node("LessOrEqual", ["s", "k"], ["t"]),
            node("Cast", ["t"], ["y"], to=TensorProto.INT64),
        ),
        constants={"w": np.float32([[1], [2], [-1]]), "k": np.float32([3])},
        decision=CLASS_1,
        outputs={"y": TensorProto.INT64},
    ),
    "softmax_in_another_order": Planted(
        operator=("", "Softmax"),
        wrong=made(_swapped),
        nodes=(node("Gemm", ["x", "w"], ["s"]), node("Softmax", ["s"], ["y"], axis=1)),
        constants={"w": numbers(3, 3)},
        decision=HIGHEST,
        outcomes=("a", "b", "c"),
    ),
    "categories_in_another_order": Planted(
        operator=("ai.onnx.ml", "OneHotEncoder"),
        wrong=attributes(cats_int64s=[1, 0, 2]),
        nodes=ENCODED,
        constants=ENCODING,
        people=CODED,
    ),
    "one_hot_with_its_values_exchanged": of_code(
        "OneHot", constant(2, np.flip), node("OneHot", ["k", "depth", "values"], ["e"])
    ),
    "one_hot_along_another_axis": of_code(
        "OneHot", attributes(axis=None), node("OneHot", ["k", "depth", "values"], ["e"], axis=1)
    ),
    "one_hot_in_another_order": of_code("OneHot", made(_turned), node("OneHot", ["k", "depth", "values"], ["e"])),
    "rows_of_a_table_off_by_one": of_code(
        "GatherND",
        constant(0, lambda table: np.roll(table, 1, axis=0)),
        node("Unsqueeze", ["k", "last"], ["l"]),
        node("GatherND", ["table", "l"], ["e"]),
    ),
    "embedding_transposed": of_code("Gather", constant(0, _transposed), node("Gather", ["table", "k"], ["e"])),
    "default_of_a_table": Planted(
        operator=("ai.onnx.ml", "LabelEncoder"),
        wrong=attributes(default_float=None),
        nodes=(
            ml("LabelEncoder", ["x"], ["e"], keys_floats=[0.0, 1.0], values_floats=[2.0, -1.0], default_float=0.5),
            node("Gemm", ["e", "v"], ["y"]),
        ),
        constants={"v": np.float32([[1], [1], [-1]])},
    ),
    "another_number_in_the_place_of_nan": of_missing(
        "Imputer",
        attributes(imputed_value_floats=[1.0, 2.0, -4.0]),
        ml("Imputer", ["x"], ["r"], imputed_value_floats=[1.0, 2.0, -3.0], replaced_value_float=float("nan")),
        node("Gemm", ["r", "v"], ["y"]),
    ),
    "nan_the_other_way_down_a_tree": of_missing(
        "TreeEnsembleRegressor",
        attributes(nodes_missing_value_tracks_true=None),
        ml("TreeEnsembleRegressor", ["x"], ["y"], **REGRESSOR, nodes_missing_value_tracks_true=[0, 0, 0, 1, 0, 0]),
    ),
    "binarizer_threshold": of_scores(
        "Binarizer", attributes(threshold=None), (ml("Binarizer", ["x"], ["r"], threshold=1.0),)
    ),
}
