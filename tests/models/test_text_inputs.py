"""Files that take text: a category goes in by its names, and what the file makes of them is read exactly."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper

from fairdsl.diagnostics import DiagnosticError, Reporter
from fairdsl.ir.declaration import WhenScore
from fairdsl.ir.domain import Attribute, Category, CategoryValue, Domain, Integer
from fairdsl.ir.expr import TRUE, Relation
from fairdsl.ir.model import Model
from fairdsl.models.float32.decision import analysis_of, attributes_read
from fairdsl.models.load import load_model
from fairdsl.models.running.runtime import Runtime
from fairdsl.numerics.evaluate import BatchEvaluator
from fairdsl.numerics.narrow import narrow
from tests.models.model_files import SPAN, declaration, ml, network, node, saved

JOBS = ("clerk", "nurse", "self-employed", "none of these")


def category(*names: str) -> Category:
    """Codes that are not positions, and do not rise with the names."""
    return Category(values=tuple(CategoryValue(name=name, code=7 - 2 * i) for i, name in enumerate(names)))


PEOPLE = Domain(
    name="People",
    attributes=(
        Attribute(name="job", type=category(*JOBS)),
        Attribute(name="sex", type=category("female", "male")),
        Attribute(name="age", type=Integer(low=0, high=4)),
    ),
    where=TRUE,
)
EVERYBODY = np.array(
    [[7 - 2 * job, 7 - 2 * sex, age] for job in range(4) for sex in range(2) for age in range(5)], dtype=np.float64
)


def file(
    nodes: list[Any], folder: Path, columns: Sequence[str] = ("job", "sex"), numbers: Sequence[str] = ("age",)
) -> str:
    """One tensor a column, in a file whose output is `y`."""
    texts = [helper.make_tensor_value_info(name, TensorProto.STRING, ["N", 1]) for name in columns]
    graph = helper.make_graph(
        nodes,
        "test",
        [*texts, *(helper.make_tensor_value_info(name, TensorProto.FLOAT, ["N", 1]) for name in numbers)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 2)]
    return saved(helper.make_model(graph, opset_imports=opsets, ir_version=8), folder)


def load(path: str) -> Model:
    clause = WhenScore(outcome=1, relation=Relation.GT, threshold=1, span=SPAN)
    return load_model(declaration(path, clause, format="onnx"), PEOPLE)


def same(model: Model) -> None:
    """The reading, which was compared with the file when it was opened, decides as the file does about everybody."""
    assert model.opaque is None
    assert model.deployed is not None
    decided, close = BatchEvaluator(model).decisions(EVERYBODY)
    assert not close.any()
    assert decided.tolist() == Runtime(model.deployed).decide_array(EVERYBODY).tolist()
    assert 0 < decided.sum() < len(decided)


def encoded(zeros: int, *categories: str) -> list[Any]:
    """Both columns side by side, one-hot, weighed; of both columns the same texts are looked for."""
    return [
        node("Concat", ["job", "sex"], ["both"], axis=1),
        ml("OneHotEncoder", ["both"], ["hot"], cats_strings=list(categories), zeros=zeros),
        node("Flatten", ["hot"], ["flat"]),
        node("Concat", ["flat", "age"], ["row"], axis=1),
        ml(
            "LinearRegressor",
            ["row"],
            ["y"],
            coefficients=[float(2 * i % 5) - 1.5 for i in range(2 * len(categories))] + [0.5],
            intercepts=[0.25],
        ),
    ]


def test_one_hot_of_several_columns_at_once(tmp_path: Path) -> None:
    model = load(file(encoded(1, "male", "nurse", "nobody", "clerk"), tmp_path))
    same(model)
    assert model.reading is not None
    assert model.reading.bounded
    analysis = analysis_of(model, narrow(PEOPLE, TRUE))
    assert analysis is not None
    assert attributes_read(analysis) == {0, 1, 2}


def test_an_encoder_that_fails_for_a_name_of_the_domain(tmp_path: Path) -> None:
    with pytest.raises(DiagnosticError) as caught:
        load(file(encoded(0, "female", "male", "clerk", "nurse"), tmp_path))
    (finding,) = caught.value.diagnostics
    assert finding.code == "E0504"
    assert "`none of these` may be filled in" in str(finding.primary)


@pytest.mark.parametrize(
    ("known", "said"),
    [
        ([7, 5, 3, 1], []),
        ([5, 3, 1, 9], ["W0710", "does not know `clerk = 7` of `job`"]),
        ([0, 2, 4, 6], ["E0521", '`"none of these" = 1`, `"self-employed" = 3`, `nurse = 5`, `clerk = 7` of `job`']),
    ],
)
def test_codes_that_an_encoder_does_not_know(known: list[int], said: list[str], tmp_path: Path) -> None:
    """Of a category; of an integer, here the age from 0 to 4, it may well have met some values alone."""
    nodes = [
        node("Cast", [name], [f"{name} whole"], to=TensorProto.INT64)
        if name != "sex"
        else node("Identity", ["sex"], ["s"])
        for name in ("job", "sex", "age")
    ]
    for name, codes in (("job", known), ("age", [2])):
        nodes.append(ml("OneHotEncoder", [f"{name} whole"], [f"{name} hot"], cats_int64s=codes, zeros=1))
        nodes.append(node("Flatten", [f"{name} hot"], [f"{name} flat"]))
    nodes.append(node("Concat", ["job flat", "age flat", "s"], ["row"], axis=1))
    weights = [float(place) for place in range(len(known) + 2)]
    nodes.append(ml("LinearRegressor", ["row"], ["y"], coefficients=weights, intercepts=[0.0]))
    path, found = file(nodes, tmp_path, columns=(), numbers=("job", "sex", "age")), Reporter()
    clause = WhenScore(outcome=1, relation=Relation.GT, threshold=1, span=SPAN)
    try:
        load_model(declaration(path, clause, format="onnx"), PEOPLE, reporter=found)
    except DiagnosticError as problem:
        found.extend(problem.diagnostics)
    told = "\n".join(f"{each.code} {each.title} {each.primary}" for each in found)
    assert len(list(found)) == bool(said)
    assert all(text in told for text in said)


def test_tables_from_text_to_text_to_numbers(tmp_path: Path) -> None:
    """An imputer of texts is a table of texts; what no key is gets the default, a number or a text."""
    nodes = [
        ml(
            "LabelEncoder",
            ["job"],
            ["known"],
            keys_strings=["none of these"],
            values_strings=["nurse"],
            default_string="x",
        ),
        ml("LabelEncoder", ["known"], ["code"], keys_strings=["x", "nurse"], values_int64s=[3, -2], default_int64=9),
        ml("LabelEncoder", ["sex"], ["share"], keys_strings=["male"], values_floats=[0.75], default_float=-0.5),
        node("Cast", ["code"], ["number"], to=TensorProto.FLOAT),
        node("Add", ["number", "share"], ["sum"]),
        node("Add", ["sum", "age"], ["y"]),
    ]
    same(load(file(nodes, tmp_path)))


def test_a_text_that_is_missing_is_filled_in(tmp_path: Path) -> None:
    """As an imputer of texts is exported: a table finds the text that stands for nothing, and `Where` fills it in."""
    nodes = [
        ml("LabelEncoder", ["zero"], ["usual"], keys_int64s=[0], values_strings=["nurse"], default_string="nurse"),
        ml("LabelEncoder", ["job"], ["gone"], keys_strings=[JOBS[-1]], values_int64s=[1], default_int64=0),
        node("Cast", ["gone"], ["missing"], to=TensorProto.BOOL),
        node("Where", ["missing", "usual", "job"], ["known"]),
        ml("LabelEncoder", ["known"], ["y"], keys_strings=["nurse"], values_floats=[2.0], default_float=-1.0),
    ]
    nodes.insert(0, node("Constant", [], ["zero"], value_ints=[0]))
    model = load(file(nodes, tmp_path))
    same(model)
    decided = BatchEvaluator(model).settled(EVERYBODY).decisions
    assert decided.tolist() == [int(row[0] in (5, 1)) for row in EVERYBODY.tolist()]


def test_trees_over_the_code_of_many_names(tmp_path: Path) -> None:
    """An ordinal encoder of more values than cases can be made of: a test of its code is a set of names."""
    names = tuple(f"v{i:02}" for i in range(30))
    people = Domain(name="People", attributes=(Attribute(name="job", type=category(*names)),), where=TRUE)
    shuffled = [names[7 * i % 30] for i in range(30)]
    trees = {
        "nodes_treeids": [0] * 5,
        "nodes_nodeids": [0, 1, 2, 3, 4],
        "nodes_featureids": [0] * 5,
        "nodes_modes": ["BRANCH_LEQ", "BRANCH_LEQ", "LEAF", "LEAF", "LEAF"],
        "nodes_values": [20.5, 4.5, 0.0, 0.0, 0.0],
        "nodes_truenodeids": [1, 2, 0, 0, 0],
        "nodes_falsenodeids": [4, 3, 0, 0, 0],
        "target_treeids": [0, 0, 0],
        "target_nodeids": [2, 3, 4],
        "target_ids": [0, 0, 0],
        "target_weights": [0.0, 3.0, 1.0],
    }
    nodes = [
        ml("LabelEncoder", ["job"], ["code"], keys_strings=shuffled, values_floats=[float(i) for i in range(30)]),
        ml("TreeEnsembleRegressor", ["code"], ["y"], n_targets=1, **trees),
    ]
    path = file(nodes, tmp_path, ["job"], [])
    clause = WhenScore(outcome=1, relation=Relation.GT, threshold=1, span=SPAN)
    read = load_model(declaration(path, clause, format="onnx"), people)
    everybody = np.array([[7.0 - 2 * place] for place in range(len(names))])
    decided, _ = BatchEvaluator(read).decisions(everybody)
    expected = [4.5 < shuffled.index(name) <= 20.5 for name in names]
    assert decided.tolist() == expected


def test_only_categories_have_names(tmp_path: Path) -> None:
    encoder = ml("LabelEncoder", ["age"], ["y"], keys_strings=["1"], values_floats=[1.0])
    model = network([encoder], inputs={"age": ["N", 1]}, dtype=TensorProto.STRING)
    with pytest.raises(DiagnosticError) as caught:
        load(saved(model, tmp_path))
    assert [finding.code for finding in caught.value.diagnostics] == ["E0509"]
