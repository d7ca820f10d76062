"""`init` beside a model: several classes, inputs by name, files that are not read, and columns that are not there."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from click.testing import CliRunner
from test_init import people, written

import fairdsl
from fairdsl.cli.app import cli
from tests.models.model_files import ml, network, node, saved

TABLE = {name: people()[name] for name in ("age", "debt", "Geschlecht")}
#: Scores of three classes for each age and debt.
WEIGHTS = ((-1.0, 0.0), (0.0, 0.0), (0.0, 1.0))
BIASES = (30.0, 0.0, -45.0)


def classifier(folder: Path, labels: Sequence[int | str]) -> str:
    """A file that chooses among the labels by age and debt."""
    named: dict[str, Any] = {"classlabels_ints": labels}
    if isinstance(labels[0], str):
        named = {"classlabels_strings": labels}
    flat, intercepts = [each for row in WEIGHTS[: len(labels)] for each in row], BIASES[: len(labels)]
    chosen = ml("LinearClassifier", ["x"], ["label", "scores"], coefficients=flat, intercepts=intercepts, **named)
    kind = onnx.TensorProto.STRING if isinstance(labels[0], str) else onnx.TensorProto.INT64
    outputs = {"label": kind, "scores": onnx.TensorProto.FLOAT}
    return saved(network([chosen], inputs={"x": ["N", 2]}, outputs=outputs), folder, "m.onnx")


def chosen() -> list[int]:
    """What it chooses for each row of the table."""
    rows = np.array([[float(each) for each in TABLE[name]] for name in ("age", "debt")]).T
    return [int(place) for place in np.argmax(rows @ np.array(WEIGHTS).T + BIASES, axis=1)]


def test_two_classes_in_words_of_their_own_are_tried(tmp_path: Path) -> None:
    """The draft had no rule for them, and `init` failed at a line that nobody had written."""
    table = {name: TABLE[name] for name in ("age", "debt")}
    table["repaid"] = ["Yes" if float(age) <= 30 else "no" for age in TABLE["age"]]
    model = classifier(tmp_path, ["Y", "N"])
    drafted = fairdsl.init(written(tmp_path, table), model=model, label="repaid", protected="age")
    assert 'positive when class = "Y"' in drafted.text
    assert "agrees with the label on 100.0%" in drafted.text


@pytest.mark.parametrize(
    ("labels", "cells", "declared", "favourable"),
    [
        (["fired", "ok", "promoted"], ["fired", "ok", "promoted"], "{ fired, ok, promoted }", "promoted"),
        ([0, 1, 2], ["0", "1", "2"], "{ class_0, class_1, class_2 }", "class_2"),
        ([0, 1, 2], ["a low one", "b", "c"], "{ class_a_low_one, class_b, class_c }", "class_c"),
        (["a low one", "b", "c"], None, "{ class_a_low_one, class_b, class_c }", "class_c"),
    ],
)
def test_the_outcomes_of_several_classes_are_those_of_the_file(
    labels: list[int | str], cells: list[str] | None, declared: str, favourable: str, tmp_path: Path
) -> None:
    model, table = classifier(tmp_path, labels), {name: TABLE[name] for name in ("age", "debt")}
    if cells is not None:
        table["became"] = [cells[place] for place in chosen()]
    label = None if cells is None else "became"
    drafted = fairdsl.init(written(tmp_path, table), model=model, label=label, protected="age")
    assert f"model decide : Person -> {declared}" in drafted.text
    assert f"  favourable {favourable}\n" in drafted.text
    assert "counts as favourable" in (drafted.outcome or "")
    assert f"# {drafted.outcome}." in drafted.text
    if cells is not None:
        assert "agrees with the label on 100.0% of 400 rows" in (drafted.binding or "")
    report = fairdsl.check(drafted.path, timeout=20, properties="rates_by_age")
    rates = report.table("groups")
    bound = sum(value * rows for value, rows in zip(rates["value"], rates["rows"], strict=True) if rows)
    assert bound / sum(rates["rows"]) == pytest.approx(chosen().count(2) / 400)


def by_name(folder: Path, names: Sequence[str]) -> str:
    """A file that has an input for each column, and adds them up."""
    added, nodes = names[0], []
    for place, name in enumerate(names[1:]):
        nodes.append(node("Add", [added, name], [f"s{place}"]))
        added = f"s{place}"
    inputs = {name: ["N", 1] for name in names}
    return saved(network([*nodes, node("Identity", [added], ["y"])], inputs=inputs), folder, "m.onnx")


def test_inputs_by_name_are_said_to_be(tmp_path: Path) -> None:
    table = {name: people()[name] for name in ("age", "debt", "repaid")}
    path = written(tmp_path, table)
    drafted = fairdsl.init(path, model=by_name(tmp_path, ["debt", "age"]), label="repaid", protected="age")
    assert (drafted.binding or "").startswith("inputs: by name; the model agrees with the label on")
    assert "NOT CONFIRMED" not in drafted.text
    plain = fairdsl.init(path, model=tmp_path / "m.onnx", protected="age", output=tmp_path / "o.fair")
    assert plain.binding is None or "code" not in plain.binding


@pytest.mark.parametrize(
    ("inputs", "said"),
    [
        (["age", "debt", "repaid"], "it reads its own label `repaid`"),
        (["age", "wage", "debt"], "the model wants `wage`, which this table lacks"),
        (["age", "income (thousands)", "debt"], "numbers with decimal commas"),
    ],
)
def test_what_the_model_wants_and_the_table_lacks(inputs: list[str], said: str, tmp_path: Path) -> None:
    table = {name: people()[name] for name in ("age", "income (thousands)", "debt", "repaid")}
    table["income (thousands)"] = [each.replace(".", ",") for each in table["income (thousands)"]]
    with pytest.raises(fairdsl.SpecError, match="E0509") as problem:
        fairdsl.init(written(tmp_path, table), model=by_name(tmp_path, inputs), label="repaid", protected="age")
    assert said in str(problem.value)


def test_a_matrix_with_the_label_in_it_is_pointed_out(tmp_path: Path) -> None:
    table = {name: people()[name] for name in ("age", "debt", "repaid")}
    arrays = {"w": [[1.0], [1.0], [1.0]], "b": [0.0]}
    nodes = [node("Gemm", ["x", "w", "b"], ["y"])]
    model = saved(network(nodes, arrays, inputs={"x": ["N", 3]}), tmp_path, "m.onnx")
    with pytest.raises(fairdsl.SpecError, match="E0508") as problem:
        fairdsl.init(written(tmp_path, table), model=model, label="repaid", protected="age")
    assert "with the label `repaid` among its inputs it would fit" in str(problem.value)


@pytest.mark.parametrize("ending", [".joblib", ".pkl", ".PICKLE"])
def test_a_pickle_is_not_opened_and_the_way_around_is_shown(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"m{ending}"
    path.write_bytes(b"cos\nsystem\n(S'touch opened'\ntR.")
    with pytest.raises(fairdsl.SpecError, match="E0513") as problem:
        fairdsl.init(written(tmp_path, TABLE), model=path, protected="age")
    assert f'fairdsl.init(frame, model=joblib.load("m{ending}"), output="mine.fair")' in str(problem.value)
    spec = (
        "domain P { age : integer 1 .. 5 }\nmodel m : P -> { a, b }\n"
        f'  from "m{ending}"\n  b when class = 1\n  favourable b\n'
        "property p { compare a, b : P\n differ in age\n require same decision }\n"
    )
    (tmp_path / "s.fair").write_text(spec, encoding="utf-8")
    ran = CliRunner().invoke(cli, ["check", str(tmp_path / "s.fair")])
    assert "which is not opened" in ran.output
    assert not (tmp_path / "opened").exists()


def test_a_file_that_takes_float64_says_so(tmp_path: Path) -> None:
    nodes = [
        node("ReduceSum", ["x"], ["t"], keepdims=1),
        node("Div", ["x", "t"], ["d"]),
        node("ReduceMax", ["d"], ["y"], axes=[1], keepdims=1),
    ]
    table = written(tmp_path, {name: people()[name] for name in ("age", "debt", "repaid")})
    for kind, expected in ((onnx.TensorProto.DOUBLE, True), (onnx.TensorProto.FLOAT, False)):
        outputs = {"y": kind}
        model = saved(network(nodes, inputs={"x": ["N", 2]}, outputs=outputs, dtype=kind), tmp_path, "m.onnx")
        with pytest.raises(fairdsl.SpecError, match=r"E050[34]") as problem:
            fairdsl.init(table, model=model, label="repaid", protected="age")
        assert ("export it with float32 inputs" in str(problem.value)) is expected


def test_a_file_whose_steps_nobody_runs_in_float64_says_so(tmp_path: Path) -> None:
    nodes = [
        ml("Imputer", ["x"], ["i"], imputed_value_floats=[0.0, 0.0], replaced_value_float=float("nan")),
        node("Cast", ["i"], ["f"], to=onnx.TensorProto.FLOAT),
        node("Gemm", ["f", "w", "b"], ["y"]),
    ]
    arrays = {"w": [[1.0], [1.0]], "b": [0.0]}
    graph = network(nodes, arrays, inputs={"x": ["N", 2]}, dtype=onnx.TensorProto.DOUBLE)
    table = written(tmp_path, {name: people()[name] for name in ("age", "debt", "repaid")})
    with pytest.raises(fairdsl.SpecError, match="E0514") as problem:
        fairdsl.init(table, model=saved(graph, tmp_path, "m.onnx"), label="repaid", protected="age")
    assert "export it with float32 inputs" in str(problem.value)


def test_titles_are_requirements_and_questions(tmp_path: Path) -> None:
    table = {name: people()[name] for name in ("age", "debt", "repaid")}
    path, model = written(tmp_path, table), by_name(tmp_path, ["age", "debt"])
    drafted = fairdsl.init(path, model=model, label="repaid", protected=["age", "debt"])
    assert '"Nobody should be decided otherwise for age or debt alone"' in drafted.text
    assert '"How many are decided alike, whatever their age or debt?"' in drafted.text


def test_a_column_that_is_not_there_brings_those_that_look_protected(tmp_path: Path) -> None:
    path = written(tmp_path, people())
    look = "these look protected: `Geschlecht`, `age`"
    with pytest.raises(fairdsl.SpecError, match=look):
        fairdsl.init(path, protected="sex")
    with pytest.raises(fairdsl.SpecError, match=look):
        fairdsl.audit_table(path, protected="sex", prediction="repaid")


def test_columns_in_one_text_are_told_apart(tmp_path: Path) -> None:
    path = written(tmp_path, people())
    with pytest.raises(fairdsl.SpecError, match="several columns: write `protected="):
        fairdsl.init(path, protected="Geschlecht age")


def test_a_column_named_twice_is_protected_once(tmp_path: Path) -> None:
    path = written(tmp_path, people())
    drafted = fairdsl.init(path, protected=["age", "age"])
    assert drafted.protected == ("age",)


def test_the_label_is_not_protected(tmp_path: Path) -> None:
    path = written(tmp_path, people())
    with pytest.raises(fairdsl.SpecError, match="as label and as protected"):
        fairdsl.init(path, label="repaid", protected=["repaid"])


def test_decimal_commas_are_said_and_never_a_category(tmp_path: Path) -> None:
    rows = [f"{row % 60},5;{'fm'[row % 2]};{'3,1' if row % 5 else '4'};{row % 3 % 2}" for row in range(200)]
    (tmp_path / "t.csv").write_text("\n".join(["age;sex;grade;ok", *rows]) + "\n", encoding="utf-8")
    drafted = fairdsl.init(tmp_path / "t.csv", label="ok")
    assert {each.column: each.why.split(" (")[0] for each in drafted.left_out} == dict.fromkeys(
        ("age", "grade"), "numbers with decimal commas, separators or currencies"
    )
    with pytest.raises(fairdsl.SpecError, match="decimal commas"):
        fairdsl.init(tmp_path / "t.csv", protected="age", output=tmp_path / "o.fair")


@pytest.mark.parametrize(("fed", "confirmed"), [((0, 1, 2), True), ((1, 0, 2), False)])
def test_an_order_that_nearly_fits_is_no_confirmation(fed: tuple[int, ...], confirmed: bool, tmp_path: Path) -> None:
    """Two columns that weigh alike are exchanged in the file: four of five labels agree, and the model is another."""
    drawn = np.random.default_rng(3)
    matrix = drawn.integers(0, 100, (600, 3))
    noise = drawn.normal(0, 15, 600)
    score = matrix[:, fed] @ [2.0, 1.0, 0.2] - 160
    table = {name: [str(each) for each in matrix[:, place]] for place, name in enumerate(("wages", "rents", "age"))}
    table["repaid"] = ["yes" if each > 0 else "no" for each in (score + noise).tolist()]
    nodes = [node("Gemm", ["x", "w", "b"], ["s"]), node("Sigmoid", ["s"], ["y"])]
    arrays = {"w": [[2.0], [1.0], [0.2]], "b": [-160.0]}
    saved(network(nodes, arrays, inputs={"x": ["N", 3]}, outputs=("y",)), tmp_path, "m.onnx")
    drafted = fairdsl.init(written(tmp_path, table), model=tmp_path / "m.onnx", label="repaid", protected=["age"])
    assert drafted.binding is not None
    assert ("NOT CONFIRMED" in drafted.binding) != confirmed, drafted.binding
    assert ("with `wages` and `rents` exchanged" in drafted.binding) != confirmed
