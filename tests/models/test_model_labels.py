"""The idioms by which exporters turn scores into classes, ties included, against onnxruntime."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from model_files import SPAN, declaration, domain, ml, network, node, saved
from onnx import TensorProto
from onnxruntime import InferenceSession

from fairdsl.diagnostics import DiagnosticError
from fairdsl.ir.declaration import ByAnswer, ClassOf, DecisionClause, Highest, WhenClass, WhenProbability, WhenScore
from fairdsl.ir.expr import Relation
from fairdsl.ir.model import ByHighest, ByThreshold, Model, Readout
from fairdsl.models import load_model
from fairdsl.models.running.runtime import Runtime
from fairdsl.numerics.exact import decision

PEOPLE = domain("age", "hours", "debt")
LOGIT = [node("MatMul", ["x", "w"], ["m"]), node("Add", ["m", "b"], ["z"])]
ONE = {"w": np.float32([[1], [2], [-1]]), "b": np.float32([-3])}
TWO = {"w": np.float32([[1, 0], [2, 1], [-1, 1]]), "b": np.float32([-3, 0])}
THREE = {"w": np.float32([[1, 0, 0], [2, 1, 0], [-1, 1, 3]]), "b": np.float32([-3, 0, 1])}
FLOAT, INT = TensorProto.FLOAT, TensorProto.INT64

SCIKIT = [
    *LOGIT,
    node("Sigmoid", ["z"], ["p"]),
    node("Sub", ["unity", "p"], ["not_p"]),
    node("Concat", ["not_p", "p"], ["probabilities"], axis=1),
    node("ArgMax", ["probabilities"], ["best"], axis=1),
    ml("ArrayFeatureExtractor", ["classes", "best"], ["value"]),
    node("Reshape", ["value", "flat"], ["row"]),
    node("Cast", ["row"], ["label"], to=INT),
]
CLASSES = {**ONE, "unity": np.float32(1), "flat": np.array([-1], dtype=np.int64)}

POINTS = [
    tuple(Fraction(v) for v in row)
    for row in ((0, 0, 0), (3, 0, 0), (1, 1, 0), (4, 0, 1), (5, 5, 0), (-4, 2, 7), (10, -10, 3), (0, 2, 1))
]


def when_class(label: int | str, outcome: int = 1) -> WhenClass:
    return WhenClass.of(outcome, label, SPAN)


def when_probability(q: str, relation: Relation = Relation.GE) -> WhenProbability:
    return WhenProbability(outcome=1, relation=relation, threshold=Fraction(q), span=SPAN)


def load(tmp_path: Path, model: Any, clause: DecisionClause, outcomes: tuple[str, ...] = ("reject", "grant")) -> Model:
    return load_model(declaration(saved(model, tmp_path), clause, outcomes=outcomes), PEOPLE)


def check(model: Model) -> list[int]:
    """Exact decisions, asserted to be those of the file."""
    assert model.deployed is not None
    exact = [decision(model, point) for point in POINTS]
    runtime = Runtime(model.deployed)
    assert runtime.decide(POINTS) == exact
    assert runtime.decide_array(np.array(POINTS, dtype=np.float64)).tolist() == exact
    return [d for d in exact if d is not None]


OUTCOMES = ("low", "middle", "high")
LABELLED = {"label": INT, "probabilities": FLOAT}


def test_scikit_binary_idiom_with_a_tie_at_logit_zero(tmp_path: Path) -> None:
    constants = {**CLASSES, "classes": np.array([0, 1], dtype=np.int64)}
    model = load(tmp_path, network(SCIKIT, constants, outputs=LABELLED), when_class(1))
    assert model.deployed is not None
    assert model.deployed.readout is Readout.LABEL
    assert isinstance(model.rule, ByThreshold)
    assert model.score_count == 1
    assert check(model)[1] == 0  # logit 0: ArgMax takes class 0


def test_class_of_the_other_outcome_keeps_the_tie(tmp_path: Path) -> None:
    constants = {**CLASSES, "classes": np.array([0, 1], dtype=np.int64)}
    model = load(tmp_path, network(SCIKIT, constants, outputs=LABELLED), when_class(0, outcome=1))
    assert check(model)[1] == 1


def test_class_values_of_the_file_are_used(tmp_path: Path) -> None:
    constants = {**CLASSES, "classes": np.array([-1, 1], dtype=np.int64)}
    file = network(SCIKIT, constants, outputs=LABELLED)
    assert check(load(tmp_path, file, when_class(1))) == check(load(tmp_path, file, Highest(span=SPAN)))
    with pytest.raises(DiagnosticError) as caught:
        load(tmp_path, file, when_class(0))
    assert caught.value.diagnostics[0].title == "the file has no class `0`"


def test_probability_of_the_scikit_idiom(tmp_path: Path) -> None:
    constants = {**CLASSES, "classes": np.array([0, 1], dtype=np.int64)}
    file = network(SCIKIT, constants, outputs=LABELLED)
    model = load(tmp_path, file, when_probability("1/2"))
    assert model.deployed is not None
    assert (model.deployed.readout, model.deployed.channel) == (Readout.CHANNEL, 1)
    assert check(model)[1] == 1  # probability >= 1/2 at logit 0
    check(load(tmp_path, file, when_probability("0.7", Relation.GT)))


def test_zip_map(tmp_path: Path) -> None:
    nodes = [*SCIKIT, ml("ZipMap", ["probabilities"], ["named"], classlabels_int64s=[0, 1])]
    from onnx import helper

    model = network(nodes, {**CLASSES, "classes": np.array([0, 1], dtype=np.int64)}, outputs={"label": INT})
    entry = helper.make_map_type_proto(INT, helper.make_tensor_type_proto(FLOAT, []))
    model.graph.output.append(helper.make_value_info("named", helper.make_sequence_type_proto(entry)))
    check(load(tmp_path, model, when_probability("0.8")))
    check(load(tmp_path, model, when_class(1)))


@pytest.mark.parametrize("squash", [[], ["Softmax"]])
def test_two_scores_and_argmax(squash: list[str], tmp_path: Path) -> None:
    nodes = [*LOGIT, *(node(s, ["z"], ["p"], axis=1) for s in squash)]
    nodes.append(node("ArgMax", ["p" if squash else "z"], ["label"], axis=-1, keepdims=0))
    check(load(tmp_path, network(nodes, TWO, outputs={"label": INT}), when_class(1)))
    check(load(tmp_path, network(nodes, TWO, outputs={"label": INT}), Highest(span=SPAN)))


@pytest.mark.parametrize(("chooses", "channel"), [("ArgMax", 1), ("ArgMin", 0)])
def test_a_column_belongs_to_the_label_that_it_rises_with(chooses: str, channel: int, tmp_path: Path) -> None:
    """Of what the lowest column decides, the other column is the label's: costs, or distances."""
    nodes = [*LOGIT, node("Softmax", ["z"], ["p"], axis=1), node(chooses, ["p"], ["label"], axis=1, keepdims=0)]
    clause = replace(when_probability("0.7"), label=1)
    model = load(tmp_path, network(nodes, TWO, outputs={"label": INT, "p": FLOAT}), clause)
    assert model.deployed is not None
    assert model.deployed.channel == channel
    check(model)


@pytest.mark.parametrize("chooses", ["ArgMax", "ArgMin"])
@pytest.mark.parametrize("labels", [[2, 0, 1], [7, 3, 5]])
def test_three_labels_are_bound_whatever_chooses_them(chooses: str, labels: list[int], tmp_path: Path) -> None:
    """Costs beside the label, in another order than the classes: each outcome is that of the label it was given."""
    nodes = [
        *LOGIT,
        node(chooses, ["z"], ["place"], axis=1, keepdims=0),
        node("Gather", ["classes", "place"], ["label"]),
        node("Gather", ["z", "order"], ["costs"], axis=1),
    ]
    constants = THREE | {"classes": np.array(labels), "order": np.array([1, 2, 0])}
    file = network(nodes, constants, outputs={"costs": FLOAT, "label": INT})
    given = InferenceSession(file.SerializeToString()).run(["label"], {"x": np.float32(np.array(POINTS, dtype=float))})
    for wanted in permutations(labels):
        lines = tuple(ClassOf(outcome=place, label=label, span=SPAN) for place, label in enumerate(wanted))
        model = load(tmp_path, file, WhenClass(classes=lines, span=SPAN), OUTCOMES)
        assert [wanted[OUTCOMES.index(model.outcomes[found])] for found in check(model)] == given[0].tolist()


def test_two_raw_scores(tmp_path: Path) -> None:
    nodes = [*LOGIT, node("Identity", ["z"], ["y"])]
    model = load(tmp_path, network(nodes, TWO), Highest(span=SPAN))
    assert model.deployed is not None
    assert model.deployed.readout is Readout.DIFFERENCE
    decisions = check(model)
    assert Runtime(model.deployed).scores(POINTS).shape == (len(POINTS), 1)
    assert check(load(tmp_path, network(nodes, TWO), when_class(0))) == [1 - d for d in decisions]


def test_softmax_of_two_gives_the_probability_of_the_outcome(tmp_path: Path) -> None:
    nodes = [*LOGIT, node("Softmax", ["z"], ["y"], axis=1)]
    for clause in (when_probability("1/2"), when_probability("3/4"), Highest(span=SPAN), when_class(0)):
        check(load(tmp_path, network(nodes, TWO), clause))


@pytest.mark.parametrize("last", ["Identity", "Softmax"])
def test_three_outcomes(last: str, tmp_path: Path) -> None:
    model = load(
        tmp_path, network([*LOGIT, node(last, ["z"], ["y"])], THREE), Highest(span=SPAN), ("low", "middle", "high")
    )
    assert isinstance(model.rule, ByHighest)
    assert set(check(model)) == {0, 1, 2}


@pytest.mark.parametrize("operator", ["Greater", "Less", "GreaterOrEqual", "LessOrEqual"])
@pytest.mark.parametrize("probability", [True, False])
def test_comparisons(operator: str, probability: bool, tmp_path: Path) -> None:
    squash = [node("Sigmoid", ["z"], ["p"])] if probability else []
    sides = ["p" if probability else "z", "limit"]
    constants = {**ONE, "limit": np.float32(0.5 if probability else 0)}
    for order in (sides, sides[::-1]):
        nodes = [*LOGIT, *squash, node(operator, order, ["t"]), node("Cast", ["t"], ["label"], to=INT)]
        check(load(tmp_path, network(nodes, constants, outputs={"label": INT}), when_class(1)))


def test_binarizer(tmp_path: Path) -> None:
    nodes = [*LOGIT, ml("Binarizer", ["z"], ["label"], threshold=1.0)]
    check(load(tmp_path, network(nodes, ONE, outputs=["label"]), when_class(1)))


LINEAR = {"coefficients": [1.0, 2.0, -1.0], "intercepts": [-3.0]}
TWINS = {"coefficients": [-1.0, -2.0, 1.0, 1.0, 2.0, -1.0], "intercepts": [3.0, -3.0]}


@pytest.mark.parametrize("shape", [LINEAR, TWINS])
@pytest.mark.parametrize("transform", ["NONE", "LOGISTIC", "SOFTMAX"])
def test_linear_classifier(shape: dict[str, Any], transform: str, tmp_path: Path) -> None:
    if shape is LINEAR and transform == "SOFTMAX":
        return
    classifier = ml(
        "LinearClassifier", ["x"], ["label", "scores"], classlabels_ints=[0, 1], post_transform=transform, **shape
    )
    file = network([classifier], {}, outputs={"label": INT, "scores": FLOAT})
    check(load(tmp_path, file, when_class(1)))
    check(load(tmp_path, file, Highest(span=SPAN)))
    if transform != "NONE":
        check(load(tmp_path, file, when_probability("0.6")))


def test_classes_with_names(tmp_path: Path) -> None:
    classifier = ml("LinearClassifier", ["x"], ["label", "scores"], classlabels_strings=["bad", "good"], **TWINS)
    file = network([classifier], {}, outputs={"label": TensorProto.STRING, "scores": FLOAT})
    model = load(tmp_path, file, when_class("good"))
    assert model.deployed is not None
    assert model.deployed.labels == ("bad", "good")
    decisions = check(model)
    assert check(load(tmp_path, file, when_class("good", outcome=0))) == [1 - d for d in decisions]
    for clause in (when_class(1), when_class("god"), Highest(span=SPAN), ByAnswer(span=SPAN)):
        with pytest.raises(DiagnosticError) as caught:
            load(tmp_path, file, clause)
        (found,) = caught.value.diagnostics
        assert found.code == "E0511"
        assert '`grant when class = "bad"` if the label `"bad"` means `grant`' in (found.help or "")


def test_classes_that_are_the_outcomes_are_bound_by_name(tmp_path: Path) -> None:
    """scikit-learn sorts its classes: the first one is `grant`, whatever is declared first."""
    shape = {"post_transform": "LOGISTIC", **TWINS}
    classifier = ml("LinearClassifier", ["x"], ["label", "scores"], classlabels_strings=["grant", "reject"], **shape)
    file = network([classifier], {}, outputs={"label": TensorProto.STRING, "scores": FLOAT})
    named = check(load(tmp_path, file, ByAnswer(span=SPAN)))
    for clause in (when_class("grant"), when_class("reject", outcome=0), when_probability("1/2"), Highest(span=SPAN)):
        assert check(load(tmp_path, file, clause)) == named
    turned = check(load(tmp_path, file, ByAnswer(span=SPAN), outcomes=("grant", "reject")))
    assert turned == [1 - decided for decided in named]
    for clause in (when_class("reject"), when_class(0), when_probability("0.6", Relation.LT)):
        with pytest.raises(DiagnosticError) as caught:
            load(tmp_path, file, clause)
        (found,) = caught.value.diagnostics
        assert found.code == "E0511"
        assert ("reject" in (found.help or "")) == (clause != when_class(0))


def test_score_of_a_sigmoid_is_folded(tmp_path: Path) -> None:
    nodes = [*LOGIT, node("Sigmoid", ["z"], ["y"])]
    clause = WhenScore(outcome=1, relation=Relation.GT, threshold=Fraction(1, 2), span=SPAN)
    model = load(tmp_path, network(nodes, ONE), clause)
    assert isinstance(model.rule, ByThreshold)
    assert (model.rule.low, model.rule.relation) == (0, Relation.GT)
    assert check(model)[1] == 0
    for threshold in (0, 1):
        clause = WhenScore(outcome=1, relation=Relation.GT, threshold=Fraction(threshold), span=SPAN)
        with pytest.raises(DiagnosticError) as caught:
            load(tmp_path, network(nodes, ONE), clause)
        assert caught.value.diagnostics[0].code == "E0512"


@pytest.mark.parametrize(
    ("constants", "last", "clause", "outcomes"),
    [
        (TWO, "Identity", WhenScore(outcome=1, relation=Relation.GT, threshold=Fraction(0), span=SPAN), 2),
        (ONE, "Identity", Highest(span=SPAN), 2),
        (TWO, "Softmax", Highest(span=SPAN), 3),
        (ONE, "Sigmoid", when_class(1), 2),
        (THREE, "Softmax", when_class(1), 2),
        (THREE, "Softmax", when_probability("1/2"), 2),
        (ONE, "Identity", when_probability("1/2"), 3),
    ],
)
def test_rules_that_do_not_fit(
    constants: dict[str, Any], last: str, clause: DecisionClause, outcomes: int, tmp_path: Path
) -> None:
    file = network([*LOGIT, node(last, ["z"], ["y"])], constants)
    with pytest.raises(DiagnosticError) as caught:
        load(tmp_path, file, clause, tuple("abc"[:outcomes]))
    assert [d.code for d in caught.value.diagnostics] == ["E0511"]
