"""Files that are only run: bound, read and answered as onnxruntime answers, whatever their operators."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest
from model_files import SPAN, declaration, ml, network, node, saved
from onnx import TensorProto, helper, numpy_helper

from fairdsl.diagnostics import Diagnostic, DiagnosticError
from fairdsl.ir.declaration import ByAnswer, Highest, WhenClass, WhenProbability, WhenScore
from fairdsl.ir.domain import Attribute, Boolean, Category, CategoryValue, Domain, Integer
from fairdsl.ir.expr import TRUE, Relation
from fairdsl.ir.feature import AttributeInput, Form
from fairdsl.ir.model import Model, read_attributes
from fairdsl.ir.opaque import BlackBox
from fairdsl.models import load_model
from fairdsl.models.black_boxes.asked import BlackBoxEvaluator

Array = np.ndarray[Any, Any]

COLOURS = Category(values=(CategoryValue(name="red", code=7), CategoryValue(name="blue", code=3)))
PEOPLE = Domain(
    name="Applicant",
    attributes=(
        Attribute(name="age", type=Integer(low=0, high=6)),
        Attribute(name="member", type=Boolean()),
        Attribute(name="colour", type=COLOURS),
    ),
    where=TRUE,
)
EVERYBODY = np.array(list(product(range(7), (0, 1), (7, 3))), dtype=np.float64)
WAVES = [node("Sin", ["x"], ["s"]), node("MatMul", ["s", "w"], ["y"])]
W = {"w": np.float32([[1.5], [0.9], [-1]])}

SCORE = WhenScore(outcome=1, relation=Relation.GE, threshold=Fraction(1, 10), span=SPAN)


def load(path: str, people: Domain = PEOPLE, **settings: Any) -> Model:
    return load_model(declaration(path, format="black_box", **settings), people)


def found(action: Callable[[], object]) -> list[Diagnostic]:
    with pytest.raises(DiagnosticError) as caught:
        action()
    return list(caught.value.diagnostics)


def codes(action: Callable[[], object]) -> list[str]:
    return [diagnostic.code for diagnostic in found(action)]


def run(path: str, output: str, feeds: Mapping[str, Array]) -> Array:
    return np.asarray(onnxruntime.InferenceSession(path).run([output], dict(feeds))[0])


def answers(model: Model, points: Array = EVERYBODY) -> tuple[list[int], Array]:
    """The answers in a batch, which are those about everybody alone and those asked for again, too."""
    evaluator = BlackBoxEvaluator(model)
    batch, alone, again = evaluator.ask(points), evaluator.ask(points, alone=True), evaluator.ask_again(points)
    assert batch.decisions.tolist() == alone.decisions.tolist() == again.decisions.tolist()
    assert np.allclose(batch.scores, alone.scores, atol=1e-6)
    assert (alone.scores == again.scores).all()
    return batch.decisions.tolist(), batch.scores


def test_scores_and_decisions_are_the_files_own(tmp_path: Path) -> None:
    path = saved(network(WAVES, W), tmp_path)
    model = load(path, decision=SCORE)
    numbers = run(path, "y", {"x": EVERYBODY.astype(np.float32)})
    decisions, scores = answers(model)
    assert (scores == numbers).all()
    assert decisions == (numbers[:, 0] >= np.float32(0.1)).astype(int).tolist()
    assert isinstance(model.opaque, BlackBox)
    assert model.layers == ()
    assert model.score_count == 1
    assert not model.rational
    assert read_attributes(model) == {0, 1, 2}


def test_the_importer_refuses_such_a_file_and_says_what_to_write(tmp_path: Path) -> None:
    path = saved(network(WAVES, W), tmp_path)
    (refusal,) = found(lambda: load_model(declaration(path), PEOPLE))
    assert refusal.code == "E0503"
    assert 'from black_box "..."' in (refusal.help or "")


def test_reads_computes_features(tmp_path: Path) -> None:
    """A third of the age is rounded once, where the individual is alone."""
    errors = [node("Erf", ["x"], ["e"]), node("ReduceSum", ["e"], ["y"])]
    path = saved(network(errors, inputs={"x": ["N", 2]}), tmp_path)
    third = Form.of(AttributeInput(0)).scaled(Fraction(1, 3))
    (refusal,) = found(lambda: load(path, reads=(third, Form.of(AttributeInput(1)))))
    assert (refusal.code, refusal.notes) == ("E0517", ("it answers 1 time for 16 individuals",))  # the sum of all
    errors[1] = node("ReduceSum", ["e", "axes"], ["y"], keepdims=1)
    path = saved(network(errors, {"axes": np.int64([1])}, inputs={"x": ["N", 2]}), tmp_path, "rows.onnx")
    model = load(path, reads=(third, Form.of(AttributeInput(1))))
    _, scores = answers(model)
    thirds = np.float32([[float(np.float32(age / 3)), member] for age, member, _ in EVERYBODY])
    assert np.allclose(scores, run(path, "y", {"x": thirds}), atol=1e-6)
    assert read_attributes(model) == {0, 1}


def test_several_inputs_by_name_with_text_and_integers(tmp_path: Path) -> None:
    """One tensor a column, as skl2onnx writes them: a category goes in by its names."""
    encoder = ml("LabelEncoder", ["colour"], ["code"], keys_strings=["red", "blue"], values_floats=[1.0, -2.0])
    graph = helper.make_graph(
        [
            encoder,
            node("Cast", ["age"], ["years"], to=TensorProto.FLOAT),
            node("Cos", ["years"], ["c"]),
            node("Add", ["c", "code"], ["y"]),
        ],
        "test",
        [
            helper.make_tensor_value_info("colour", TensorProto.STRING, ["N", 1]),
            helper.make_tensor_value_info("age", TensorProto.INT64, ["N", 1]),
        ],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 2)]
    path = saved(helper.make_model(graph, opset_imports=opsets, ir_version=8), tmp_path)
    # Text is read as well: it is the cosine that is not.
    assert codes(lambda: load_model(declaration(path, SCORE), PEOPLE)) == ["E0503"]
    decisions, scores = answers(load(path, decision=SCORE))
    expected = np.cos(EVERYBODY[:, 0]) + np.where(EVERYBODY[:, 2] == 7, 1.0, -2.0)
    assert np.allclose(scores[:, 0], expected, atol=1e-6)
    assert decisions == (scores[:, 0] >= 0.1).astype(int).tolist()


def test_text_is_only_for_categories(tmp_path: Path) -> None:
    encoder = ml("LabelEncoder", ["age"], ["y"], keys_strings=["1"], values_floats=[1.0])
    model = network([encoder], inputs={"age": ["N", 1]}, dtype=TensorProto.STRING)
    assert codes(lambda: load(saved(model, tmp_path))) == ["E0509"]


def classes(*extra: Any, outputs: Mapping[str, int]) -> Any:
    """Two columns, their softmax, and the class whose column is higher."""
    nodes = [
        node("Sin", ["x"], ["s"]),
        node("MatMul", ["s", "w"], ["columns"]),
        node("Softmax", ["columns"], ["shares"], axis=1),
        node("ArgMax", ["columns"], ["label"], axis=1, keepdims=0),
        *extra,
    ]
    return network(nodes, {"w": np.float32([[1, -1], [0.5, 1], [-1, 0.25]])}, outputs=outputs)


def test_every_clause_reads_the_output_that_fits(tmp_path: Path) -> None:
    outputs = {"label": TensorProto.INT64, "shares": TensorProto.FLOAT}
    path = saved(classes(outputs=outputs), tmp_path)
    feeds = {"x": EVERYBODY.astype(np.float32)}
    label, shares = run(path, "label", feeds), run(path, "shares", feeds)
    assert 0 < label.sum() < len(label)

    of_class = load(path, decision=WhenClass.of(0, 1, SPAN))
    assert answers(of_class)[0] == (1 - label).tolist()
    assert of_class.score_count == 0

    assert codes(lambda: load(path, decision=ByAnswer(span=SPAN))) == ["E0511"]  # numbers are nobody's names

    two_fifths = WhenProbability(outcome=1, relation=Relation.GT, threshold=Fraction(2, 5), span=SPAN)
    of_share = load(path, decision=two_fifths)
    decisions, scores = answers(of_share)
    assert np.allclose(scores[:, 0], shares[:, 1], atol=1e-6)
    assert decisions == (scores[:, 0] > 0.4).astype(int).tolist()

    highest = load(path, decision=Highest(span=SPAN))
    decisions, scores = answers(highest)
    assert decisions == label.tolist()
    assert scores.shape == (len(EVERYBODY), 2)


def test_columns_stand_for_classes_where_there_is_no_label(tmp_path: Path) -> None:
    path = saved(classes(outputs={"columns": TensorProto.FLOAT}), tmp_path)
    columns = run(path, "columns", {"x": EVERYBODY.astype(np.float32)})
    higher = np.argmax(columns, axis=1)
    assert answers(load(path, decision=WhenClass.of(1, 1, SPAN)))[0] == higher.tolist()
    assert answers(load(path, decision=WhenClass.of(1, 0, SPAN)))[0] == (1 - higher).tolist()


def test_labels_may_be_the_names_of_outcomes(tmp_path: Path) -> None:
    encoder = ml("LabelEncoder", ["label"], ["name"], classes_strings=["grant", "reject"])
    path = saved(classes(encoder, outputs={"name": TensorProto.STRING}), tmp_path)
    names = run(path, "name", {"x": EVERYBODY.astype(np.float32)})
    decisions, _ = answers(load(path, decision=ByAnswer(span=SPAN)))
    assert decisions == [int(name == "grant") for name in names.tolist()]
    (refusal,) = found(lambda: load(path, decision=ByAnswer(span=SPAN), outcomes=("no", "yes")))
    assert refusal.code == "E0511"
    assert refusal.help is not None
    assert '`yes when class = "grant"` if the label `"grant"` means `yes`' in refusal.help


def test_a_batch_of_fixed_size(tmp_path: Path) -> None:
    path = saved(network(WAVES, W, inputs={"x": [4, 3]}), tmp_path)
    free = saved(network(WAVES, W), tmp_path, "free.onnx")
    assert answers(load(path, decision=SCORE))[0] == answers(load(free, decision=SCORE))[0]


@pytest.mark.parametrize(
    ("decision", "outputs"),
    [
        (SCORE, {"columns": TensorProto.FLOAT}),
        (Highest(span=SPAN), {"label": TensorProto.INT64}),
        (ByAnswer(span=SPAN), {"shares": TensorProto.FLOAT}),
        (WhenClass.of(1, 2, SPAN), {"shares": TensorProto.FLOAT}),
    ],
)
def test_a_clause_that_no_output_fits(tmp_path: Path, decision: Any, outputs: Mapping[str, int]) -> None:
    assert codes(lambda: load(saved(classes(outputs=outputs), tmp_path), decision=decision)) == ["E0511"]


def test_a_score_that_is_taken_for_a_probability(tmp_path: Path) -> None:
    clause = WhenProbability(outcome=1, relation=Relation.GE, threshold=Fraction(1, 2), span=SPAN)
    (refusal,) = found(lambda: load(saved(network(WAVES, W), tmp_path), decision=clause))
    assert refusal.code == "E0517"
    assert "outside 0 .. 1" in refusal.notes[0]


def test_a_number_that_is_not_finite(tmp_path: Path) -> None:
    nodes = [node("Log", ["x"], ["s"]), node("MatMul", ["s", "w"], ["y"])]
    assert codes(lambda: load(saved(network(nodes, W), tmp_path))) == ["E0517"]


def test_drawing_at_random_is_refused(tmp_path: Path) -> None:
    nodes = [node("RandomNormalLike", ["x"], ["r"]), *WAVES[1:]]
    nodes = [nodes[0], node("MatMul", ["r", "w"], ["y"])]
    (refusal,) = found(lambda: load(saved(network(nodes, W), tmp_path)))
    assert refusal.code == "E0518"
    assert "RandomNormalLike" in refusal.notes[0]


def test_an_answer_that_depends_on_the_others_in_the_batch(tmp_path: Path) -> None:
    nodes = [
        node("Sin", ["x"], ["s"]),
        node("MatMul", ["s", "w"], ["z"]),
        node("ReduceMean", ["z"], ["m"], axes=[0], keepdims=1),
        node("Sub", ["z", "m"], ["y"]),
    ]
    assert codes(lambda: load(saved(network(nodes, W), tmp_path))) == ["E0518"]


def test_what_binding_refuses(tmp_path: Path) -> None:
    path = saved(network(WAVES, {"w": np.float32([[1.5], [0.9]])}, inputs={"x": ["N", 2]}), tmp_path)
    assert codes(lambda: load(path)) == ["E0508"]
    assert codes(lambda: load(str(tmp_path / "none.onnx"))) == ["E0501"]
    whole = saved(network(WAVES, W), tmp_path, "whole.onnx")
    assert codes(lambda: load(whole, sha256="0" * 64)) == ["E0507"]


def test_a_batch_is_filled_up_with_people_of_the_domain(tmp_path: Path) -> None:
    """Five at a time: what fills the last batch must not be what the file refuses, a text that is nobody's."""
    encoder = ml("OneHotEncoder", ["colour"], ["hot"], cats_strings=["red", "blue"], zeros=0)
    nodes = [encoder, node("Reshape", ["hot", "shape"], ["flat"]), node("MatMul", ["flat", "weight"], ["y"])]
    constants = {"shape": np.int64([-1, 2]), "weight": np.float32([[1], [-1]])}
    path = saved(network(nodes, constants, inputs={"colour": [5, 1]}, dtype=TensorProto.STRING), tmp_path)
    decisions, _ = answers(load(path, decision=SCORE))
    assert decisions == (EVERYBODY[:, 2] == 7).astype(int).tolist()


@pytest.mark.parametrize(
    ("dtype", "form"),
    [
        (TensorProto.UINT8, Form.of(AttributeInput(0)).scaled(Fraction(50))),
        (TensorProto.INT8, Form.of(AttributeInput(0)).scaled(Fraction(-50))),
        (TensorProto.UINT64, Form.of(AttributeInput(0)).scaled(Fraction(-1))),
    ],
)
def test_integers_that_the_input_cannot_hold_are_refused(tmp_path: Path, dtype: int, form: Form) -> None:
    """In a batch 300 would become 44 in silence."""
    nodes = [node("Cast", ["age"], ["years"], to=TensorProto.FLOAT), node("Sin", ["years"], ["y"])]
    path = saved(network(nodes, inputs={"age": ["N", 1]}, dtype=dtype), tmp_path)
    assert codes(lambda: load(path, reads=(form,), decision=SCORE)) == ["E0509"]
    small = Form.of(AttributeInput(0)).scaled(Fraction(1 if dtype != TensorProto.INT8 else -21))
    load(path, reads=(small,), decision=SCORE)


NAMED = ("reject", "grant")


@pytest.mark.parametrize("zipped", [True, False])
def test_columns_and_labels_are_bound_by_name(tmp_path: Path, zipped: bool) -> None:
    """scikit-learn sorts the names of classes, so the first column is that of `grant`."""
    label = ml("LabelEncoder", ["place"], ["label"], keys_int64s=[0, 1], values_strings=["grant", "reject"])
    nodes = [
        node("Sin", ["x"], ["s"]),
        node("MatMul", ["s", "w"], ["columns"]),
        node("Softmax", ["columns"], ["shares"], axis=1),
        node("ArgMax", ["columns"], ["place"], axis=1, keepdims=0),
        ml("ZipMap", ["shares"], ["y"], classlabels_strings=["grant", "reject"]) if zipped else label,
    ]
    graph = helper.make_graph(
        nodes,
        "test",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 3])],
        [helper.ValueInfoProto(name="y")]
        if zipped
        else [
            helper.make_tensor_value_info("label", TensorProto.STRING, None),
            helper.make_tensor_value_info("shares", TensorProto.FLOAT, None),
        ],
        [numpy_helper.from_array(np.float32([[1.5, 0], [0.9, 0], [-1, 0]]), "w")],
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 2)]
    path = saved(helper.make_model(graph, opset_imports=opsets, ir_version=8), tmp_path)
    feeds = {"x": EVERYBODY.astype(np.float32)}
    columns = [[*row.values()] for row in run_zipped(path, feeds)] if zipped else run(path, "shares", feeds)
    granted = np.array(columns)[:, 0]  # `grant` is the first by name
    half = WhenProbability(outcome=1, relation=Relation.GE, threshold=Fraction(1, 2), span=SPAN)
    for outcomes in (NAMED, NAMED[::-1]):
        of_grant = replace(half, outcome=outcomes.index("grant"))
        for decision in (
            of_grant,
            replace(of_grant, label="grant"),
            WhenClass.of(outcomes.index("grant"), "grant", SPAN),
            Highest(span=SPAN),
            ByAnswer(span=SPAN),
        ):
            model = load(path, decision=decision, outcomes=outcomes)
            decided = [model.outcomes[place] for place in answers(model)[0]]
            assert decided == ["grant" if share >= 0.5 else "reject" for share in granted.tolist()]
    for decision in (half, WhenClass.of(1, 1, SPAN), Highest(span=SPAN), ByAnswer(span=SPAN)):
        assert codes(lambda decision=decision: load(path, decision=decision, outcomes=("no", "yes"))) == ["E0511"]


def run_zipped(path: str, feeds: Mapping[str, Any]) -> Any:
    (output,) = onnxruntime.InferenceSession(path).run(None, feeds)
    return output


def test_outputs_that_are_no_tables_are_passed_over(tmp_path: Path) -> None:
    """A sequence of tensors comes first, and is nobody's answer."""
    model = network([node("SequenceConstruct", ["x"], ["all"]), *WAVES], W)
    model.graph.output.insert(0, helper.make_tensor_sequence_value_info("all", TensorProto.FLOAT, None))
    path = saved(model, tmp_path)
    decisions, _ = answers(load(path, decision=SCORE))
    numbers = run(path, "y", {"x": EVERYBODY.astype(np.float32)})
    assert decisions == (numbers[:, 0] >= np.float32(0.1)).astype(int).tolist()
