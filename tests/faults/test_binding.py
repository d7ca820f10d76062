"""Wrong orders of inputs, codes and outcomes, made at random: shown, refused by recorded decisions, and named.

The recorded decisions come from onnxruntime, fed by this file's own reading of the rows.
"""

from __future__ import annotations

import csv
import json
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from click.testing import CliRunner
from jsonschema import validate
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

import fairdsl
from fairdsl.cli.app import cli
from fairdsl.diagnostics import Diagnostic

SEEDS = range(8)
ROWS = 240


@dataclass(frozen=True)
class Column:
    """A column of the training data: a category with its encoder's values, or numbers between two ends."""

    name: str
    values: tuple[str, ...] = ()
    low: int = 0
    high: int = 0

    def declared(self) -> str:
        """The attribute of a spec with this order of values."""
        kind = f"category {{ {', '.join(self.values)} }}" if self.values else f"integer {self.low} .. {self.high}"
        return f"  {self.name} : {kind}"

    def number(self, cell: str) -> float:
        """What the training program made of a cell."""
        return float(self.values.index(cell)) if self.values else float(cell)

    def drawn(self, rng: random.Random) -> str:
        """A cell."""
        return rng.choice(self.values) if self.values else str(rng.randint(self.low, self.high))


@dataclass(frozen=True)
class Case:
    """A trained file, its columns in their true order, and rows with what it decides about them.

    ``named``: the file has one input a column, by its name; else one matrix.
    """

    folder: Path
    columns: tuple[Column, ...]
    rows: tuple[dict[str, str], ...]
    decisions: tuple[str, ...]
    named: bool = False

    def spec(
        self, columns: Sequence[Column] | None = None, *, clause: str = "", rule: str = "yes when score > 0"
    ) -> Path:
        """A spec with these columns in this order."""
        listed = columns or self.columns
        path = self.folder / "audit.fair"
        lines = [
            "domain Person {",
            *(column.declared() for column in listed),
            "}",
            f"protected {listed[0].name}",
            "model m : Person -> { no, yes }",
            '  from "m.onnx"',
            f"  {clause}",
            f"  {rule}",
            "  favourable yes",
            f"property p {{ compare a, b : Person differ in {listed[0].name} require same decision }}",
        ]
        path.write_text("\n".join(lines), encoding="utf-8")
        return path

    def decided(self, columns: Sequence[Column]) -> list[str]:
        """What the file decides if it is fed in the order of these columns, and with their codes."""
        matrix = fed(columns, self.rows)
        return decided(self.folder / "m.onnx", matrix, [column.name for column in columns] if self.named else ())


def fed(columns: Sequence[Column], rows: Sequence[dict[str, str]]) -> NDArray[np.float32]:
    return np.array([[column.number(row[column.name]) for column in columns] for row in rows], dtype=np.float32)


def decided(path: Path, matrix: NDArray[np.float32], names: Sequence[str] = ()) -> list[str]:
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    feeds = {name: matrix[:, [place]] for place, name in enumerate(names)} or {"X": matrix}
    (scores,) = session.run(None, feeds)
    return ["yes" if score > 0 else "no" for score in scores[:, 0]]


def linear(weights: Sequence[float], bias: float, path: Path, names: Sequence[str] = ()) -> None:
    """A score of one matrix without names of its columns, or of an input for each name."""
    constants = {"w": np.array([weights], dtype=np.float32).T, "b": np.array([bias], dtype=np.float32)}
    join = [helper.make_node("Concat", list(names), ["X"], axis=1)] if names else []
    inputs = dict.fromkeys(names, 1) or {"X": len(weights)}
    graph = helper.make_graph(
        [*join, helper.make_node("Gemm", ["X", "w", "b"], ["score"])],
        "g",
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, [None, width]) for name, width in inputs.items()],
        [helper.make_tensor_value_info("score", TensorProto.FLOAT, [None, 1])],
        [numpy_helper.from_array(value, name) for name, value in constants.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    onnx.save(model, path)


def case_of(seed: int, folder: Path, *, named: bool = False) -> Case:
    """Columns, a file and rows; the sum is odd and the threshold even, so no score is near it."""
    rng = random.Random(seed)
    columns = [Column("group", values=("west", "east"))]
    for number in range(rng.randint(3, 5)):
        if rng.random() < 0.4:
            values = [f"v{number}_{letter}" for letter in "abcd"[: rng.randint(3, 4)]]
            columns.append(Column(f"c{number}", values=tuple(rng.sample(values, len(values)))))
        else:
            low = rng.randint(-5, 5)
            columns.append(Column(f"n{number}", low=low, high=low + rng.randint(6, 30)))
    if sum(not column.values for column in columns) < 2:
        columns += [Column("x", low=0, high=9), Column("y", low=2, high=11)]
    rng.shuffle(columns)
    weights = [2 * rng.choice((-1, 1)) * rng.randint(1, 9) for _ in columns]
    rows = tuple({column.name: column.drawn(rng) for column in columns} for _ in range(ROWS))
    middle = int(np.median(fed(columns, rows) @ np.array(weights)))
    names = [column.name for column in columns] if named else []
    linear(weights, -(middle | 1), folder / "m.onnx", names)
    decisions = tuple(decided(folder / "m.onnx", fed(columns, rows), names))
    case = Case(folder, tuple(columns), rows, decisions, named)
    with (folder / "recorded.csv").open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow([*rows[0], "decision", "turned", "label"])
        for row, decision in zip(rows, decisions, strict=True):
            turned = "no" if decision == "yes" else "yes"
            table.writerow([*row.values(), decision, turned, "01"[decision == "yes"]])
    return case


def changed(case: Case, rng: random.Random) -> tuple[list[Column], set[str]]:
    """Two columns exchanged or the values of a category in another order, and the names of what was changed."""
    columns = list(case.columns)
    categories = [place for place, column in enumerate(columns) if column.values]
    if rng.random() < 0.5:
        first, second = rng.sample(range(len(columns)), 2)
        columns[first], columns[second] = columns[second], columns[first]
        return columns, {columns[first].name, columns[second].name}
    place = rng.choice(categories)
    values = list(columns[place].values)
    while tuple(values) == columns[place].values:
        rng.shuffle(values)
    columns[place] = replace(columns[place], values=tuple(values))
    return columns, {columns[place].name}


def only(findings: Sequence[Diagnostic], code: str) -> Diagnostic:
    (found,) = [finding for finding in findings if finding.code == code]
    return found


def codes(findings: Sequence[Diagnostic]) -> set[str]:
    return {finding.code for finding in findings}


@pytest.mark.parametrize("seed", SEEDS)
def test_columns_without_names_are_warned_about_with_their_table(seed: int, tmp_path: Path) -> None:
    case = case_of(seed, tmp_path)
    columns, _ = changed(case, random.Random(seed))
    table = []
    for place, column in enumerate(columns):
        written = ", ".join(f"{value} = {code}" for code, value in enumerate(column.values))
        table.append([f"X[{place}]", column.name, written or f"{column.low} .. {column.high}"])
    found = only(fairdsl.lint(case.spec(columns), files=True), "W0812")
    assert [note.split(maxsplit=2) for note in found.notes] == table
    # What the help says to write is the order in force, and it is not an order alone any more.
    names = ", ".join(column.name for column in columns)
    assert found.help is not None
    assert f"`reads {names}`" in found.help
    assert "W0812" not in codes(fairdsl.lint(case.spec(columns, clause=f"reads {names}"), files=True))


@pytest.mark.parametrize("seed", SEEDS)
def test_recorded_decisions_accept_the_right_order_and_refuse_wrong_ones(seed: int, tmp_path: Path) -> None:
    """Of a file with names, the order of the attributes changes nothing, and that of a category's values does."""
    case, rng = case_of(seed, tmp_path, named=seed % 2 == 1), random.Random(seed)
    clause = 'agrees with column "decision" in "recorded.csv"'
    assert not codes(fairdsl.lint(case.spec(clause=clause), files=True)) & {"E0554", "W0812", "W0813"}
    for _ in range(3):
        columns, touched = changed(case, rng)
        same = sum(one == other for one, other in zip(case.decided(columns), case.decisions, strict=True))
        findings = fairdsl.lint(case.spec(columns, clause=clause), files=True)
        if same == ROWS:  # the file hardly reads what was changed
            assert "E0554" not in codes(findings)
            continue
        assert f"agrees on {same} of {ROWS} rows" in only(findings, "E0554").notes[0]
        better = [finding for finding in findings if finding.code == "W0813"]
        if same < ROWS - 20:
            assert f"{ROWS} of {ROWS} rows would agree" in better[0].notes[0]
        if same < ROWS - 20 and len(touched) == 1:
            assert f"the codes of `{touched.pop()}`" in better[0].notes[0]
        # As many as agree may be asked for, and not one more.
        enough = case.spec(columns, clause=f"{clause} on {100 * same / ROWS - 0.1:.1f}%")
        assert "E0554" not in codes(fairdsl.lint(enough, files=True))
        too_many = case.spec(columns, clause=f"{clause} on {min(100, 100 * same / ROWS + 0.1):.1f}%")
        assert "E0554" in codes(fairdsl.lint(too_many, files=True))


@pytest.mark.parametrize("seed", SEEDS[:4])
def test_a_list_of_features_that_contradicts_the_names_of_the_file_is_pointed_at(seed: int, tmp_path: Path) -> None:
    case, rng = case_of(seed, tmp_path, named=True), random.Random(seed)
    names = [column.name for column in case.columns]
    listed = rng.sample(names, len(names))
    findings = fairdsl.lint(case.spec(clause=f"reads {', '.join(listed)}"), files=True)
    displaced = {(mine, its) for mine, its in zip(listed, names, strict=True) if mine != its}
    titles = {finding.title for finding in findings if finding.code == "W0814"}
    assert titles == {f"`m` reads `{mine}` as what its file calls `{its}`" for mine, its in displaced}


@pytest.mark.parametrize("seed", SEEDS[:4])
def test_outcomes_the_other_way_round_are_named(seed: int, tmp_path: Path) -> None:
    case = case_of(seed, tmp_path)
    names = ", ".join(column.name for column in case.columns)
    spec = case.spec(clause=f"reads {names}")
    found = fairdsl.agreement(spec, data=tmp_path / "recorded.csv", column="turned")
    assert (found.agreeing, found.kept) == (0, False)
    assert found.better is not None
    assert "labels look inverted" in found.better
    assert f"{ROWS} of {ROWS} rows would agree" in found.better
    # Recorded 0 and 1 are the outcomes in their order.
    assert fairdsl.agreement(spec, data=tmp_path / "recorded.csv", column="label").agreeing == ROWS
    # They may be either where 1 is the outcome of low scores.
    low = case.spec(rule="no when score > 0")
    with pytest.raises(fairdsl.SpecError) as problem:
        fairdsl.agreement(low, data=tmp_path / "recorded.csv", column="label")
    assert codes(problem.value.diagnostics) == {"E0555"}


@pytest.mark.parametrize("seed", SEEDS[:3])
@pytest.mark.parametrize("source", ["onnx", "black_box", "document", "formula"])
def test_models_of_every_source_are_held_against_the_record(source: str, seed: int, tmp_path: Path) -> None:
    case, rng = case_of(seed, tmp_path), random.Random(seed)
    if source == "formula":
        rows = " + ".join(weighed(case))
        spec = case.spec()
        text = spec.read_text(encoding="utf-8").replace('from "m.onnx"', f"score = {rows}")
    elif source == "document":
        weights, bias = constants(case)
        names = [column.name for column in case.columns]
        document = {"features": names, "coefficients": weights, "intercept": bias}
        (tmp_path / "m.json").write_text(json.dumps(document), encoding="utf-8")
        shuffled = rng.sample(list(case.columns), len(case.columns))  # its features have names
        text = case.spec(shuffled).read_text(encoding="utf-8").replace("m.onnx", "m.json")
    else:
        text = case.spec().read_text(encoding="utf-8")
        text = text.replace('from "m', 'from black_box "m') if source == "black_box" else text
    path = tmp_path / "other.fair"
    path.write_text(text, encoding="utf-8")
    right = fairdsl.agreement(path, data=tmp_path / "recorded.csv", column="decision")
    assert (right.agreeing, right.kept, right.better) == (ROWS, True, None)
    assert right.agreeing_exactly == (None if source == "black_box" else ROWS)
    assert not fairdsl.agreement(path, data=tmp_path / "recorded.csv", column="turned").kept


def constants(case: Case) -> tuple[list[float], float]:
    """The weights and the bias of the case's file."""
    stored = {item.name: numpy_helper.to_array(item) for item in onnx.load(case.folder / "m.onnx").graph.initializer}
    return [float(weight) for weight in stored["w"][:, 0]], float(stored["b"][0])


def weighed(case: Case) -> list[str]:
    """The sum that the case's file computes, in the language: a category by its values."""
    weights, bias = constants(case)
    terms = [f"({bias:.0f})"]
    for column, weight in zip(case.columns, weights, strict=True):
        coded = [f"({weight * code:.0f}) * ({column.name} = {value})" for code, value in enumerate(column.values)]
        terms += coded or [f"({weight:.0f}) * {column.name}"]
    return terms


def test_the_highest_of_three_is_held_against_names_in_any_order(tmp_path: Path) -> None:
    weights = np.array([[1.0, 0.0, -1.0], [0.0, 1.0, 0.0]], dtype=np.float32)
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["X", "w"], ["scores"])],
        "g",
        [helper.make_tensor_value_info("X", TensorProto.FLOAT, [None, 2])],
        [helper.make_tensor_value_info("scores", TensorProto.FLOAT, [None, 3])],
        [numpy_helper.from_array(weights, "w")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    onnx.save(model, tmp_path / "m.onnx")
    points = [(x, y) for x in range(-5, 6) for y in range(-3, 6)]
    names = ("low", "middle", "high")
    recorded = [names[int(np.argmax(np.array(point) @ weights))] for point in points]
    lines = [f"{x},{y},{name}\n" for (x, y), name in zip(points, recorded, strict=True)]
    (tmp_path / "recorded.csv").write_text("x,y,decision\n" + "".join(lines), encoding="utf-8")
    for order in (names, ("high", "low", "middle")):
        spec = tmp_path / "audit.fair"
        spec.write_text(
            "domain Person {\n  x : integer -5 .. 5\n  y : integer -3 .. 5\n}\n"
            f'model m : Person -> {{ {", ".join(order)} }}\n  from "m.onnx"\n  decide by highest score\n',
            encoding="utf-8",
        )
        found = fairdsl.agreement(spec, data=tmp_path / "recorded.csv", column="decision")
        same = sum(order[names.index(name)] == name for name in recorded)
        assert found.agreeing == same
        assert found.kept == (order == names)


def test_a_score_on_the_threshold_is_told_apart(tmp_path: Path) -> None:
    linear([1.0, 0.0], -3.0, tmp_path / "m.onnx")
    rows = [(value, "yes" if value >= 3 else "no") for value in range(7)]  # recorded with >=, and the file has >
    text = "x,y,decision\n" + "".join(f"{value},0,{decision}\n" for value, decision in rows)
    (tmp_path / "recorded.csv").write_text(text, encoding="utf-8")
    case = Case(tmp_path, (Column("x", low=0, high=6), Column("y", low=0, high=1)), (), ())
    spec = case.spec(clause='agrees with column "decision" in "recorded.csv"')
    assert "E0554" not in codes(fairdsl.lint(spec, files=True))
    found = fairdsl.agreement(spec, data=tmp_path / "recorded.csv", column="decision")
    assert (found.agreeing, found.ties, found.rows, found.kept) == (6, 1, 7, True)
    assert [(row.row, row.recorded, row.computed, row.tie) for row in found.disagreements] == [(4, "yes", "no", True)]
    assert found.in_words().endswith("(85.71%); 1 more tie")


def test_numbers_are_compared_as_they_were_rounded(tmp_path: Path) -> None:
    linear([0.37, -0.21], 0.1, tmp_path / "m.onnx")
    case = Case(tmp_path, (Column("x", low=0, high=6), Column("y", low=0, high=6)), (), ())
    points = [(x, y) for x in range(7) for y in range(7)]
    score = {(x, y): 0.37 * x - 0.21 * y + 0.1 for x, y in points}
    wrong = points[5]
    lines = [f"{x},{y},{score[x, y] + 0.02 * ((x, y) == wrong):.2f}\n" for x, y in points]
    (tmp_path / "recorded.csv").write_text("x,y,score\n" + "".join(lines), encoding="utf-8")
    found = fairdsl.agreement(case.spec(), data=tmp_path / "recorded.csv", column="score", share=0.97)
    assert (found.agreeing, found.kept, found.reading) == (48, True, "the score, within 0.0051")
    assert [row.row for row in found.disagreements] == [6]


def test_the_report_shows_what_was_bound_and_held(tmp_path: Path) -> None:
    case = case_of(3, tmp_path)
    spec = case.spec(clause='agrees with column "decision" in "recorded.csv" on 99%')
    result = CliRunner().invoke(cli, ["check", str(spec), "--json"])
    (model,) = json.loads(result.stdout)["models"]
    schema = Path(fairdsl.__file__).parent / "schemas" / "report.schema.json"
    validate(json.loads(result.stdout), json.loads(schema.read_text(encoding="utf-8")))
    assert model["binding"]["by"] == "order"
    for place, (column, bound) in enumerate(zip(case.columns, model["binding"]["inputs"], strict=True)):
        assert (bound["input"], bound["feature"]) == (f"X[{place}]", column.name)
        assert bound.get("codes", {}) == {value: code for code, value in enumerate(column.values)}
    assert [item["when"] for item in model["binding"]["outcomes"]] == ["otherwise", "`score` > 0"]
    assert (model["agreement"]["agreeing"], model["agreement"]["rows"]) == (ROWS, ROWS)
    shown = CliRunner().invoke(cli, ["check", str(spec)]).stdout
    assert f"on {ROWS} of {ROWS} rows of `decision`" in shown
    explained = CliRunner().invoke(cli, ["explain", str(spec)]).stdout
    assert all(f"X[{place}]" in explained for place in range(len(case.columns)))
    assert "on at least 99% of the rows, ties aside" in " ".join(explained.split())


def test_the_command_compares_predictions(tmp_path: Path) -> None:
    case = case_of(5, tmp_path)
    arguments = ["lint", str(case.spec()), "--data", str(tmp_path / "recorded.csv"), "--predictions"]
    right = CliRunner().invoke(cli, [*arguments, "decision"])
    assert right.exit_code == 0
    assert f"m agrees on {ROWS} of {ROWS} rows" in right.stdout
    turned = CliRunner().invoke(cli, [*arguments, "turned"])
    assert turned.exit_code == 2
    assert "error[E0554]" in turned.stderr
    assert "labels look inverted" in " ".join(turned.stderr.split())
    written = json.loads(CliRunner().invoke(cli, [*arguments, "turned", "--json"]).stdout)
    assert written["agreement"]["agreeing"] == 0
    assert "E0554" in {finding["code"] for finding in written["diagnostics"]}
    alone = CliRunner().invoke(cli, ["lint", str(case.spec()), "--predictions", "decision"])
    assert alone.exit_code == 2
    assert "belong together" in alone.stderr
    other = CliRunner().invoke(cli, [*arguments, "decision", "--model-name", "other"])
    assert other.exit_code == 2
    assert "--model-name" in other.stderr
