"""Tree ensembles: decisions of whole domains equal those of onnxruntime and of naive walks."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from model_files import SPAN, declaration, domain, node, saved
from onnx import TensorProto, numpy_helper
from tree_files import (
    POSITIVE,
    Branch,
    Leaf,
    Tree,
    classifier,
    ensemble,
    everyone,
    forests,
    regressor,
    sums,
    tree_file,
)

from fairdsl.diagnostics import DiagnosticError
from fairdsl.ir.declaration import DecisionClause, Highest, WhenClass, WhenProbability, WhenScore
from fairdsl.ir.domain import Integer, Real
from fairdsl.ir.expr import Relation
from fairdsl.ir.feature import AttributeInput
from fairdsl.ir.model import Model
from fairdsl.models import load_model
from fairdsl.models.running.runtime import Runtime
from fairdsl.numerics.evaluate import BatchEvaluator, points_of
from fairdsl.numerics.exact import decision, exact_inputs, exact_scores
from fairdsl.numerics.predicates import holds_for
from tests.drawing import examples

PEOPLE = domain("age", "hours", "debt", kind=Integer(low=-1, high=5))
ROWS = everyone()
POINTS = points_of(ROWS)
SCORE = WhenScore(outcome=1, relation=Relation.GT, threshold=Fraction(1, 4), span=SPAN)
CLASS = WhenClass.of(1, 1, SPAN)
HIGHEST = Highest(span=SPAN)
QUICK = settings(max_examples=examples(0.2), suppress_health_check=[HealthCheck.function_scoped_fixture])


def probable(q: Fraction, outcome: int = 1) -> WhenProbability:
    return WhenProbability(outcome=outcome, relation=Relation.GE, threshold=q, span=SPAN)


def loaded(
    model: Any, folder: Path, clause: DecisionClause, outcomes: tuple[str, ...] = ("no", "yes"), people: Any = PEOPLE
) -> Model:
    return load_model(declaration(saved(model, folder), clause, outcomes=outcomes), people)


def agreed(model: Model, rows: np.ndarray[Any, Any] = ROWS) -> list[int]:
    """The decisions of all rows, asserted to be the same in batches, exactly and in the deployed file."""
    found = BatchEvaluator(model).settled(rows).decisions
    assert model.deployed is not None
    np.testing.assert_array_equal(found, Runtime(model.deployed).decide_array(rows))
    some = range(0, len(rows), 17)
    assert [decision(model, points_of(rows[i : i + 1])[0]) for i in some] == [int(found[i]) for i in some]
    return [int(outcome) for outcome in found]


@QUICK
@given(forest=forests(), average=st.booleans(), base=st.sampled_from([None, 0.5]))
def test_regressors(forest: list[Tree], average: bool, base: float | None, tmp_path_factory: Any) -> None:
    if average and len(forest) == 3:
        forest = forest[:2]  # a third of a sum is not a float: compared below
    settings_: dict[str, Any] = {"aggregate_function": "AVERAGE" if average else "SUM"}
    if base is not None:
        settings_["base_values"] = [base]
    folder = tmp_path_factory.mktemp("trees")
    model = loaded(tree_file([regressor(forest, **settings_)], ("y",)), folder, SCORE)
    naive = [sums(forest, point, 1)[0] / (len(forest) if average else 1) + Fraction(base or 0) for point in POINTS]
    assert [exact_scores(model, point)[0] for point in POINTS] == naive
    assert agreed(model) == [int(score > Fraction(1, 4)) for score in naive]


@QUICK
@given(forest=forests(), base=st.sampled_from([None, -0.25]), logistic=st.booleans())
def test_two_classes_with_votes_of_both_signs(
    forest: list[Tree], base: float | None, logistic: bool, tmp_path_factory: Any
) -> None:
    forest = [*forest, Leaf(((0, -0.125),))]  # so that some vote is negative
    settings_: dict[str, Any] = {"post_transform": "LOGISTIC" if logistic else "NONE"}
    if base is not None:
        settings_["base_values"] = [base]
    model = tree_file([classifier(forest, **settings_)])
    expected = [int(sums(forest, point, 1)[0] + Fraction(base or 0) > 0) for point in POINTS]
    folder = tmp_path_factory.mktemp("trees")
    assert agreed(loaded(model, folder, CLASS)) == expected
    if logistic:
        assert agreed(loaded(model, folder, probable(Fraction(1, 2)))) == [
            int(sums(forest, point, 1)[0] + Fraction(base or 0) >= 0) for point in POINTS
        ]


@QUICK
@given(forest=forests(weights=POSITIVE), base=st.sampled_from([None, 0.25]), transform=st.sampled_from(["NONE", ""]))
def test_two_classes_whose_votes_are_probabilities(
    forest: list[Tree], base: float | None, transform: str, tmp_path_factory: Any
) -> None:
    settings_: dict[str, Any] = {} if base is None else {"base_values": [base]}
    if transform:
        settings_["post_transform"] = transform
    model = tree_file([classifier(forest, **settings_)])
    folder = tmp_path_factory.mktemp("trees")
    shares = [sums(forest, point, 1)[0] + Fraction(base or 0) for point in POINTS]
    assert agreed(loaded(model, folder, CLASS)) == [int(share > Fraction(1, 2)) for share in shares]
    assert agreed(loaded(model, folder, HIGHEST)) == [int(share > Fraction(1, 2)) for share in shares]
    assert agreed(loaded(model, folder, probable(Fraction(3, 4)))) == [int(s >= Fraction(3, 4)) for s in shares]
    first = agreed(loaded(model, folder, replace(probable(Fraction(3, 4), outcome=0), label=0)))
    assert first == [int(1 - share < Fraction(3, 4)) for share in shares]


@QUICK
@given(
    forest=forests(columns=(0, 1, 2)), base=st.booleans(), transform=st.sampled_from(["NONE", "SOFTMAX", "LOGISTIC"])
)
def test_three_classes(forest: list[Tree], base: bool, transform: str, tmp_path_factory: Any) -> None:
    settings_: dict[str, Any] = {"post_transform": transform}
    offsets = [Fraction(1, 4), Fraction(0), Fraction(-1, 8)] if base else [Fraction(0)] * 3
    if base:
        settings_["base_values"] = [float(offset) for offset in offsets]
    model = tree_file([classifier(forest, labels=(0, 1, 2), **settings_)])
    totals = [[v + o for v, o in zip(sums(forest, point, 3), offsets, strict=True)] for point in POINTS]
    folder = tmp_path_factory.mktemp("trees")
    found = agreed(loaded(model, folder, HIGHEST, ("low", "middle", "high")))
    assert found == [total.index(max(total)) for total in totals]


@QUICK
@given(forest=forests(modes=["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_EQ"]))
def test_exactly_one_leaf_of_every_tree_is_reached(forest: list[Tree], tmp_path_factory: Any) -> None:
    model = loaded(tree_file([regressor(forest)], ("y",)), tmp_path_factory.mktemp("trees"), SCORE)
    for point in POINTS[::5]:
        by_definition = [
            point[item.attribute] if isinstance(item, AttributeInput) else Fraction(holds_for(item.predicate, point))
            for item in model.inputs
        ]
        assert list(exact_inputs(model, point)) == by_definition
        assert all(sum(by_definition[position] for position in group) == 1 for group in model.one_of)
    np.testing.assert_array_equal(
        BatchEvaluator(model).inputs(ROWS[::5]),
        np.array([[float(v) for v in exact_inputs(model, point)] for point in POINTS[::5]]),
    )


SMALL = Branch(
    "BRANCH_LEQ", 0, 1.5, Leaf(((0, 1.0),)), Branch("BRANCH_LT", 1, 3.0, Leaf(((0, -1.0),)), Leaf(((0, 0.5),)))
)


def ml(operator: str, source: str, result: str, **attributes: Any) -> Any:
    return node(operator, [source], [result], domain="ai.onnx.ml", **attributes)


PIPELINES: dict[str, list[Any]] = {
    "scaler": [ml("Scaler", "x", "z", offset=[0.5, 1.0, 0.0], scale=[2.0, 0.5, 1.0]), regressor([SMALL], "z")],
    "one hot": [
        node("Cast", ["x"], ["i"], to=TensorProto.INT64),
        ml("OneHotEncoder", "i", "codes", cats_int64s=[0, 1, 3], zeros=1),
        node("Reshape", ["codes", "shape"], ["z"]),
        regressor([Branch("BRANCH_LEQ", 4, 0.5, Leaf(((0, -1.0),)), Leaf(((0, 2.0),)))], "z"),
    ],
    "one hot of all that may be filled in": [
        ml("OneHotEncoder", "x", "codes", cats_int64s=[5, 4, 3, 2, 1, 0, -1], zeros=0),
        node("Reshape", ["codes", "shape"], ["z"]),
        regressor([Branch("BRANCH_LEQ", 4, 0.5, Leaf(((0, -1.0),)), SMALL)], "z"),
    ],
    "one hot and scaled": [
        node("Cast", ["x"], ["i"], to=TensorProto.INT64),
        ml("OneHotEncoder", "i", "codes", cats_int64s=[0, 3], zeros=1),
        node("Reshape", ["codes", "shape"], ["c"]),
        ml("Scaler", "x", "s", offset=[0.5, 1.0, 0.0], scale=[2.0, 0.5, 1.0]),
        node("Concat", ["s", "c"], ["z"], axis=1),
        regressor([Branch("BRANCH_GT", 5, 0.5, SMALL, Branch("BRANCH_GTE", 3, 1.0, Leaf(((0, 2.0),)), SMALL))], "z"),
    ],
    "one hot of sums": [
        ml("LinearRegressor", "x", "s", coefficients=[1.0, 0.0, 0.0], intercepts=[2.0]),
        ml("OneHotEncoder", "s", "codes", cats_int64s=list(range(1, 8)), zeros=0),
        node("Reshape", ["codes", "shape"], ["z"]),
        ml("LinearRegressor", "z", "y", coefficients=[-1.0, 1.0, 0.5, 2.0, -3.0, 1.0, -0.5], intercepts=[0.25]),
    ],
    "table": [
        node("Cast", ["x"], ["i"], to=TensorProto.INT64),
        ml("LabelEncoder", "i", "z", keys_int64s=[0, 2, 4], values_floats=[1.5, 3.0, -2.0], default_float=0.25),
        ml("LinearRegressor", "z", "y", coefficients=[0.5, 1.0, -1.0], intercepts=[0.25]),
    ],
    "table into trees": [
        node("Cast", ["x"], ["i"], to=TensorProto.INT64),
        ml("LabelEncoder", "i", "z", keys_int64s=[0, 2, 4], values_floats=[1.5, 3.0, -2.0], default_float=0.25),
        regressor([SMALL, Branch("BRANCH_GT", 2, 1.0, Leaf(((0, 2.0),)), SMALL)], "z"),
    ],
    "binarizer": [
        ml("Binarizer", "x", "z", threshold=1.5),
        ml("LinearRegressor", "z", "y", coefficients=[0.5, 1.0, -1.0], intercepts=[0.25]),
    ],
    "vectorizer": [
        ml("Imputer", "x", "k", imputed_value_floats=[0.0], replaced_value_float=float("nan")),
        node("FeatureVectorizer", ["k", "x"], ["z"], domain="ai.onnx.ml", inputdimensions=[3, 3]),
        regressor([Branch("BRANCH_GTE", 5, 2.0, SMALL, Leaf(((0, 2.0),)))], "z"),
    ],
    "trees and a network": [
        regressor([SMALL], "x", "t"),
        ml("LinearRegressor", "x", "l", coefficients=[0.5, 1.0, -1.0], intercepts=[0.25]),
        node("Relu", ["l"], ["r"]),
        node("Add", ["t", "r"], ["u"]),
        node("Relu", ["u"], ["y"]),
    ],
    "two regressors": [
        regressor([SMALL], "x", "t"),
        regressor([Branch("BRANCH_GT", 2, 1.0, Leaf(((0, 2.0),)), SMALL)], "x", "u"),
        node("Sub", ["u", "t"], ["y"]),
    ],
}


@pytest.mark.parametrize("name", PIPELINES)
def test_pipelines(name: str, tmp_path: Path) -> None:
    model = tree_file(PIPELINES[name], ("y",))
    model.graph.initializer.append(numpy_helper.from_array(np.array([1, -1], dtype=np.int64), "shape"))
    read = loaded(model, tmp_path, SCORE)
    assert read.deployed is not None
    rows = ROWS[:: 3 if name != "trees and a network" else 29]
    alone = Runtime(read.deployed).decide(points_of(rows))
    assert alone == [decision(read, point) for point in points_of(rows)]
    assert alone == BatchEvaluator(read).settled(rows).decisions.tolist()
    assert 0 < sum(alone) < len(alone)


def changed(attributes: dict[str, Any], **changes: Any) -> Any:
    from onnx import helper

    return helper.make_node("TreeEnsembleRegressor", ["x"], ["y"], domain="ai.onnx.ml", **{**attributes, **changes})


def looked_up(source: str, codes: list[int], *, zeros: int) -> list[Any]:
    """A tree over the indicators of codes."""
    flat = node("Flatten", ["codes"], ["z"])
    return [ml("OneHotEncoder", source, "codes", cats_int64s=codes, zeros=zeros), flat, regressor([SINGLE], "z")]


PLAIN = {**ensemble([SMALL], "target"), "n_targets": 1}
FOUR = {name: values[: 4 if name.startswith("nodes") else 2] for name, values in PLAIN.items() if name != "n_targets"}
BOTH = Branch("BRANCH_LEQ", 0, 1.5, Leaf(((0, 1.0), (1, 0.5))), Leaf(((0, 0.25), (1, 0.75))))
SINGLE = Branch("BRANCH_LEQ", 0, 0.5, Leaf(((0, 1.0),)), Leaf(((0, 0.25),)))
SOMETIMES = Branch("BRANCH_LEQ", 0, 1.5, Leaf(((0, -1.0),)), Leaf(((1, -0.25),)))
REFUSED: dict[str, tuple[list[Any], tuple[str, ...], str]] = {
    "minimum": ([regressor([SMALL], aggregate_function="MIN")], ("y",), "takes the MIN of its trees"),
    "probit": ([classifier([SMALL], post_transform="PROBIT")], ("scores",), "PROBIT"),
    "softmax without zeros": (
        [classifier([BOTH], (0, 1, 2), base_values=[0.0] * 3, post_transform="SOFTMAX_ZERO")],
        ("scores",),
        "SOFTMAX_ZERO",
    ),
    "classes without votes": ([classifier([SOMETIMES], (0, 1, 2))], ("label", "scores"), "may get no vote"),
    "three base values": ([classifier([SMALL], base_values=[0.5, 0.5, 0.5])], ("label", "scores"), "3 base values"),
    "other base values": (
        [classifier([BOTH], (0, 1, 2), base_values=[0.5, 1.0])],
        ("label", "scores"),
        "2 base values",
    ),
    "after a network": ([node("Relu", ["x"], ["z"]), regressor([SMALL], "z")], ("y",), "units of a network compute"),
    "too wide": ([regressor([Branch("BRANCH_LEQ", 7, 0.5, SMALL, SMALL)])], ("y",), "feature 7 of 3"),
    "unknown mode": ([changed(PLAIN, nodes_modes=["BRANCH_XOR", *PLAIN["nodes_modes"][1:]])], ("y",), "BRANCH_XOR"),
    "cycle": ([changed(PLAIN, nodes_falsenodeids=[0, *PLAIN["nodes_falsenodeids"][1:]])], ("y",), "from its root on"),
    "shared": ([changed(FOUR, nodes_falsenodeids=[2, 0, 3, 0])], ("y",), "below two others"),
    "shared, and one left over": ([changed(PLAIN, nodes_falsenodeids=[2, 0, 3, 0, 0])], ("y",), "below two others"),
    "infinite": ([changed(PLAIN, target_weights=[float("inf"), 0.0, 0.0])], ("y",), "number inf"),
    "vote inside": ([changed(PLAIN, target_nodeids=[0, 3, 4])], ("y",), "is not a leaf"),
    "one class": ([classifier([SMALL], (0,))], ("label", "scores"), "two or more classes"),
    "stacked": (
        [regressor([SMALL], "x", "z"), node("Relu", ["z"], ["r"]), regressor([SINGLE], "r")],
        ("y",),
        "network",
    ),
    "imputer": ([ml("Imputer", "x", "y", imputed_value_floats=[1.0], replaced_value_float=0.0)], ("y",), "replaces"),
    "normalizer": ([ml("Normalizer", "x", "y", norm="L2")], ("y",), "divides by a norm"),
    "encoder after a network": (
        [node("Relu", ["x"], ["z"]), ml("OneHotEncoder", "z", "y", cats_int64s=[1], zeros=1)],
        ("y",),
        "units of a network",
    ),
    "unknown categories": (looked_up("x", [1], zeros=0), ("y",), "-1 may be filled in"),
    "one unknown category": (looked_up("x", [-1, 0, 1, 2, 3, 4], zeros=0), ("y",), "5 may be filled in"),
    "codes of halves": (
        [ml("Scaler", "x", "h", scale=[0.5] * 3), *looked_up("h", [0, 1, 2], zeros=1)],
        ("y",),
        "cuts its fraction off",
    ),
    "codes of sums": (
        [
            ml("LinearRegressor", "x", "s", coefficients=[1.0, 1.0, 0.0]),
            *looked_up("s", list(range(-2, 11)), zeros=0),
        ],
        ("y",),
        "others may be filled in",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_agreed_meaning_is_refused(name: str, tmp_path: Path) -> None:
    nodes, outputs, reason = REFUSED[name]
    with pytest.raises(DiagnosticError) as found:
        loaded(tree_file(nodes, outputs), tmp_path, SCORE)
    (problem,) = found.value.diagnostics
    assert problem.code == "E0504"
    assert problem.primary is not None
    assert reason in problem.primary.text


def test_probabilities_of_trees_are_named_where_a_clause_does_not_fit(tmp_path: Path) -> None:
    with pytest.raises(DiagnosticError) as found:
        loaded(tree_file([classifier([SINGLE])]), tmp_path, SCORE)
    (problem,) = found.value.diagnostics
    assert problem.code == "E0511"
    assert "output `scores`: 2 probabilities" in problem.notes
    assert "`yes when probability(class = 1) > 0.25` if the label `1` means `yes`" in str(problem.help)


def test_features_that_sum_many_indicators_are_refused(tmp_path: Path) -> None:
    nodes = [
        node("Cast", ["x"], ["i"], to=TensorProto.INT64),
        ml("LabelEncoder", "i", "z", keys_int64s=list(range(-1, 5)), values_floats=[float(k % 3) for k in range(6)]),
        ml("LinearRegressor", "z", "w", coefficients=[1.0, 2.0, 4.0]),
        regressor([SINGLE], "w"),
    ]
    with pytest.raises(DiagnosticError) as found:
        loaded(tree_file(nodes, ("y",)), tmp_path, SCORE)
    (problem,) = found.value.diagnostics
    assert problem.code == "E0504"
    assert problem.primary is not None
    assert "a sum of 12 indicators" in problem.primary.text


def test_casts_to_integers_need_integers(tmp_path: Path) -> None:
    model = tree_file(PIPELINES["table"], ("y",))
    with pytest.raises(DiagnosticError, match="Cast") as found:
        loaded(model, tmp_path, SCORE, people=domain("a", "b", "c", kind=Real(low=Fraction(0), high=Fraction(5))))
    assert "integer" in str(found.value.diagnostics[0].help)


def test_codes_of_reals_are_not_looked_up_by_their_whole_part(tmp_path: Path) -> None:
    """A runtime casts 0.7 to 0 and finds the category 0, so an encoder of reals is not a table of equalities."""
    model = tree_file(PIPELINES["one hot of all that may be filled in"], ("y",))
    model.graph.initializer.append(numpy_helper.from_array(np.array([1, -1], dtype=np.int64), "shape"))
    with pytest.raises(DiagnosticError, match="OneHotEncoder"):
        loaded(model, tmp_path, SCORE, people=domain("a", "b", "c", kind=Real(low=Fraction(0), high=Fraction(5))))


def test_leaves_that_nobody_reaches_are_left_out(tmp_path: Path) -> None:
    never = Branch("BRANCH_LEQ", 0, -1.5, Leaf(((0, 7.0),)), Branch("BRANCH_LEQ", 0, 9.0, SMALL, Leaf(((0, 5.0),))))
    model = loaded(tree_file([regressor([never])], ("y",)), tmp_path, SCORE)
    assert len(model.one_of) == 1
    assert len(model.one_of[0]) == 3
    agreed(model)


def test_real_attributes_are_compared_with_the_stored_float(tmp_path: Path) -> None:
    """0.1 as float32 is above 1/10: the individual at 1/10 goes left, as in the file."""
    tree = Branch("BRANCH_LT", 0, float(np.float32(0.1)), Leaf(((0, 1.0),)), Leaf(((0, 0.0),)))
    people = domain("a", "b", "c", kind=Real(low=Fraction(0), high=Fraction(5)))
    model = loaded(tree_file([regressor([tree])], ("y",)), tmp_path, SCORE, people=people)
    stored = Fraction(float(np.float32(0.1)))
    other = (Fraction(0), Fraction(0))
    assert [decision(model, (x, *other)) for x in (Fraction(1, 10), stored, Fraction(2, 10))] == [1, 0, 0]
    rows = np.array([[0.1, 0, 0], [float(stored), 0, 0], [np.nextafter(float(stored), 0), 0, 0]])
    assert BatchEvaluator(model).settled(rows).decisions.tolist() == [1, 0, 1]
