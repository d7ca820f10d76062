"""Whom a file and its reading are compared on, what is kept of that, and files that do not answer alike."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from model_files import declaration, domain, network, node, saved
from onnx import TensorProto
from onnx.external_data_helper import set_external_data

from fairdsl.diagnostics import Diagnostic, DiagnosticError
from fairdsl.ir.declaration import Highest, WhenClass
from fairdsl.ir.domain import Attribute, Boolean, Category, CategoryValue, Domain, Integer, Real
from fairdsl.ir.exact_rows import ExactRows
from fairdsl.ir.expr import TRUE
from fairdsl.ir.model import ByThreshold, Model
from fairdsl.models import load, load_model
from fairdsl.models.basis import Affine, Basis, Dense
from fairdsl.models.confirm import confirm_rows, gate
from fairdsl.models.confirm.individuals import INDIVIDUALS, Draw, everybody, how_many
from fairdsl.models.onnx_import import import_onnx
from fairdsl.models.running.runtime import Runtime
from fairdsl.numerics.evaluate import BatchEvaluator
from fairdsl.numerics.exact import decision

SCORE = {"w": np.float32([[1], [2], [-1]])}
LINE = [node("Gemm", ["x", "w"], ["y"])]


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "fairdsl" / "readings"


def opened(path: str, people: Domain | None = None) -> Model:
    return load_model(declaration(path), people or domain("age", "income", "sex"))


def refused(path: str) -> Diagnostic:
    with pytest.raises(DiagnosticError) as caught:
        opened(path)
    (finding,) = caught.value.diagnostics
    return finding


MIXED = Domain(
    name="Applicant",
    attributes=(
        Attribute(
            name="job", type=Category(values=tuple(CategoryValue(name=n, code=c) for n, c in (("a", 7), ("b", 2))))
        ),
        Attribute(name="member", type=Boolean()),
        Attribute(name="age", type=Integer(low=-5, high=10**6)),
        Attribute(name="rate", type=Real(low=Fraction(1, 10), high=Fraction(7, 10))),
        Attribute(name="open", type=Real(low=None, high=Fraction(0))),
    ),
    where=TRUE,
)


def test_individuals_have_values_of_their_attributes() -> None:
    draw = Draw(MIXED, {2: [17.5, 40.0], 3: [0.25], 4: [-(2.0**40)]})
    rows = np.concatenate([draw.corners(40), draw.each_value(), draw.random(200), draw.changed(draw.random(200))])
    for row in rows.tolist():
        assert all(attribute.contains(Fraction(value)) for attribute, value in zip(MIXED.attributes, row, strict=True))
    assert {17.0, 18.0, 39.0, 40.0, 41.0, -5.0, 10.0**6} <= set(rows[:, 2].tolist())
    below, above = (float(np.nextafter(np.float32(0.25), np.float32(end))) for end in (0, 1))
    assert {below, 0.25, above} <= set(rows[:, 3].tolist())
    assert {7.0, 2.0} == set(rows[:, 0].tolist())
    assert (rows[:, 4] < -(2.0**40)).any()


def test_few_individuals_are_all_tried() -> None:
    people = domain("age", "income", kind=Integer(low=0, high=9))
    found = everybody(people)
    assert found is not None
    assert sorted(map(tuple, found.tolist())) == [(float(i), float(j)) for i in range(10) for j in range(10)]
    assert everybody(domain("age", "income", "sex")) is None


def test_a_reading_says_on_how_many(tmp_path: Path) -> None:
    path = saved(network(LINE, SCORE), tmp_path)
    reading = opened(path).reading
    assert reading is not None
    assert (reading.individuals, reading.bounded) == (INDIVIDUALS, True)
    few = opened(path, domain("age", "income", "sex", kind=Boolean())).reading
    assert few is not None
    assert few.individuals == 8


def test_of_wide_networks_fewer_are_tried() -> None:
    basis = Basis()
    value = basis.input((1, 4096))
    assert how_many(basis.blocks) == INDIVIDUALS
    basis.bend(Affine((1, 2048), {0: Dense(np.ones((2048, 4096)))}, np.zeros(2048)), np.zeros(2048))
    assert (value.size, how_many(basis.blocks)) == (4096, 256)


def test_a_network_may_be_deeper_than_calls(tmp_path: Path) -> None:
    """Each layer is read through the one before it, and Python allows a thousand calls within calls."""
    deep, names = 600, ["start", *(f"r{number}" for number in range(600))]
    nodes = [node("Gemm", ["x", "w"], ["start"])]
    nodes += [node("Relu", [names[number]], [names[number + 1]]) for number in range(deep)]
    model = opened(saved(network([*nodes, node("Identity", [names[-1]], ["y"])], SCORE), tmp_path))
    assert len(model.layers) == deep + 1
    assert model.reading is not None


def test_a_confirmation_is_kept_and_checked(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = saved(network(LINE, SCORE), tmp_path)
    first = opened(path).reading
    (entry,) = cache.iterdir()
    assert (cache.stat().st_mode & 0o777, json.loads(entry.read_text())) == (
        0o700,
        {"individuals": 2048, "bounded": True, "alone": False},
    )
    confirmed = gate._Gate.confirmed
    made: list[object] = []
    monkeypatch.setattr(gate._Gate, "confirmed", lambda *given: made.append(given) or confirmed(*given))
    assert opened(path).reading == first
    assert not made, "it was remembered"
    for damaged in (
        "",
        "[]",
        "{",
        '{"individuals": true, "bounded": true}',
        '{"individuals": -1, "bounded": 1}',
        "9" * 5000,
    ):
        entry.write_text(damaged)
        made.clear()
        assert opened(path).reading == first
        assert made, "it was made anew"
    made.clear()
    assert opened(path, domain("age", "income", "sex", kind=Integer(low=-10, high=11))).reading == first
    assert made, "another domain"


def test_nothing_is_kept_where_others_may_write(tmp_path: Path, cache: Path) -> None:
    path = saved(network(LINE, SCORE), tmp_path)
    cache.mkdir(parents=True)
    os.chmod(cache, 0o777)
    assert opened(path).reading is not None
    assert list(cache.iterdir()) == []


def test_a_refusal_is_not_kept(tmp_path: Path, cache: Path) -> None:
    path = saved(network(LINE, {"w": np.float32([[3e38], [3e38], [1]])}), tmp_path)
    assert refused(path).code == "E0519"
    assert list(cache.iterdir()) == []


def test_files_that_take_one_at_a_time(tmp_path: Path) -> None:
    """Flattened from the first axis on, a batch is one long individual that the weights do not fit."""
    nodes = [node("Flatten", ["x"], ["f"], axis=0), node("Gemm", ["f", "w"], ["y"])]
    model = opened(saved(network(nodes, SCORE), tmp_path))
    assert model.reading is not None
    assert model.deployed is not None
    assert (model.reading.individuals, model.reading.alone) == (INDIVIDUALS, True)
    rows = np.array([[1.0, 2.0, 3.0], [0.0, 0.0, 1.0], [4.0, 0.0, 0.0]])
    assert Runtime(model.deployed).scores_array(rows)[:, 0].tolist() == [2.0, -1.0, 4.0]


def test_files_whose_batch_is_the_last_axis(tmp_path: Path) -> None:
    weights = {"w": np.float32([[1, 2, -1], [0, 1, 1]])}
    path = saved(network([node("Gemm", ["w", "x"], ["y"], transB=1)], weights), tmp_path)
    rule = WhenClass.of(1, 1, declaration(path).span)
    model = load_model(declaration(path, rule), domain("age", "income", "sex"))
    assert model.deployed is not None
    rows = np.array([[1.0, 2.0, 3.0], [0.0, 0.0, 1.0], [4.0, 0.0, 0.0]])
    assert Runtime(model.deployed).decide_array(rows).tolist() == [1, 1, 0]


def test_answers_that_depend_on_the_batch(tmp_path: Path) -> None:
    """The first individual of the batch is subtracted from everybody: alone that is 0."""
    nodes = [
        node("Gather", ["x", "first"], ["f"], axis=0),
        node("Sub", ["x", "f"], ["d"]),
        node("Add", ["d", "c"], ["e"]),
        node("Gemm", ["e", "w"], ["y"]),
    ]
    path = saved(network(nodes, {**SCORE, "first": np.array([0]), "c": np.float32([1, 2, 3])}), tmp_path)
    finding = refused(path)
    assert finding.code == "E0518"
    assert "among others" in finding.notes[0]


def test_the_first_step_that_differs_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from fairdsl.models.onnx_import import walk

    nodes = [
        node("Gemm", ["x", "w"], ["h"]),
        node("Abs", ["h"], ["r"]),
        node("Relu", ["r"], ["s"]),
        node("Gemm", ["s", "v"], ["y"]),
    ]
    path = saved(network(nodes, {"w": np.eye(3), "v": np.ones((3, 1))}), tmp_path)
    monkeypatch.setitem(walk.HANDLERS, ("", "Abs"), walk.HANDLERS["", "Neg"])
    finding = refused(path)
    individual, step = finding.notes
    assert individual.startswith("individual: age = ")
    assert step.startswith("first tensor that differs: `r` [")
    assert "of node `Abs_r` (Abs): " in step


def test_weights_that_begin_in_the_middle_of_a_number(tmp_path: Path) -> None:
    model = network(LINE, SCORE)
    (weights,) = model.graph.initializer
    (tmp_path / "w.bin").write_bytes(bytes(2) + np.float32([3e38, 3e38, 3e38]).tobytes())
    set_external_data(weights, "w.bin", offset=2)
    weights.ClearField("raw_data")
    finding = refused(saved(model, tmp_path))
    assert finding.notes[-1] == "`w` begins at byte 2 of `w.bin`, and a number has 4 bytes"
    assert "export the model again" in finding.help


@pytest.mark.parametrize("problem", [KeyError(0), AssertionError(), ValueError("shapes"), ZeroDivisionError()])
def test_a_reading_that_cannot_be_evaluated(
    problem: Exception, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise problem

    monkeypatch.setattr(load, "lay_out", fail)
    finding = refused(saved(network(LINE, SCORE), tmp_path))
    assert finding.code == "E0519"
    assert type(problem).__name__ in str(finding.primary)


def test_what_is_decided_of_right_outputs_is_compared_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Outputs are read rightly, and the layers that are laid out of them are others."""
    lay_out = load.lay_out
    monkeypatch.setattr(load, "lay_out", lambda blocks, value: lay_out(blocks, load_scaled(value)))
    finding = refused(saved(network(LINE, SCORE), tmp_path))
    assert finding.code == "E0519"
    assert "the decision: " in str(finding.primary)
    assert "every tensor on the way agrees" in finding.notes[-1]


def load_scaled(value: object) -> object:
    from fairdsl.models.basis import scale

    return scale(value, np.array([-1.0]))  # type: ignore[arg-type]


def test_labels_at_ties_are_compared_where_the_file_rounds_nothing(tmp_path: Path) -> None:
    nodes = [node("Gemm", ["x", "w"], ["s"]), node("ArgMax", ["s"], ["y"], axis=1, keepdims=0, select_last_index=0)]
    path = saved(
        network(nodes, {"w": np.float32([[1, 0], [0, 1], [0, 0]])}, outputs={"y": TensorProto.INT64}), tmp_path
    )
    rule = WhenClass.of(1, 1, declaration(path).span)
    model = load_model(declaration(path, rule), domain("age", "income", "sex"))
    assert model.reading is not None
    assert import_onnx(path).outputs[0].ties_last is False


@pytest.mark.parametrize(("chooses", "bias"), [("ArgMin", [5, 0, 0]), ("ArgMax", [0, 1, 1])])
def test_what_a_curve_draws_level_with_a_tie_is_no_misreading(chooses: str, bias: list[float], tmp_path: Path) -> None:
    """20 and 25 both have the logistic 1 in float32: of three that are level the file takes the first."""
    nodes = [
        node("Gemm", ["x", "w", "b"], ["s"]),
        node("Sigmoid", ["s"], ["p"]),
        node(chooses, ["p"], ["y"], axis=1, keepdims=0),
    ]
    constants = {"w": np.float32([[2, 2, 2], [0, 0, 0], [0, 0, 0]]), "b": np.float32(bias)}
    path = saved(network(nodes, constants, outputs={"y": TensorProto.INT64}), tmp_path)
    rule = Highest(span=declaration(path).span)
    people = domain("age", "income", "sex", kind=Integer(low=-12, high=12))
    model = load_model(declaration(path, rule, outcomes=("low", "middle", "high")), people)
    assert model.reading is not None
    assert decision(model, (Fraction(10), Fraction(0), Fraction(0))) == 1


def test_rows_of_tables_are_tried_as_well(tmp_path: Path) -> None:
    """A reading that is wrong for a few individuals only, who are in the table."""
    people = domain("age", "income", "sex")
    model = opened(saved(network(LINE, SCORE), tmp_path))
    rows = ExactRows.of_floats(np.random.default_rng(3).integers(0, 9, size=(400, 3)))
    confirm_rows(model, people, rows)
    assert isinstance(model.rule, ByThreshold)
    few = replace(model, rule=replace(model.rule, low=Fraction(1, 2), high=Fraction(3, 2)))
    wrong = replace(model, rule=replace(model.rule, low=Fraction(1), high=Fraction(1)))
    with pytest.raises(DiagnosticError) as caught:
        confirm_rows(wrong, people, rows)
    (finding,) = caught.value.diagnostics
    assert finding.code == "E0519"
    assert finding.notes[0].startswith("individual: age = ")
    confirm_rows(replace(wrong, reading=None), people, rows)  # nothing was read
    confirm_rows(few, people, rows.at(np.zeros(0, dtype=np.int64)))


def test_what_float32_rounds_on_a_row_is_no_misreading(tmp_path: Path) -> None:
    people = domain("age", "income", "sex")
    weights = {"w": np.float32([[0.1], [0.2], [-0.3]]), "b": np.float32([-0.7])}
    model = opened(
        saved(network([node("MatMul", ["x", "w"], ["z"]), node("Add", ["z", "b"], ["y"])], weights), tmp_path)
    )
    assert model.deployed is not None
    rows = ExactRows.of_floats(np.array(np.meshgrid(*[np.arange(30)] * 3)).reshape(3, -1).T)
    exact, file = BatchEvaluator(model).settled(rows).decisions, Runtime(model.deployed).decide_array(rows.floats)
    differing = np.flatnonzero(exact != file)
    assert len(differing) > 5
    confirm_rows(model, people, rows.at(differing))
