"""`init`: what it writes checks at once, says what the rows say, and finds how a model reads the columns."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fairdsl
from fairdsl.data.table import read_table
from fairdsl.drafting import Drafted
from fairdsl.semantics import front_end
from tests.drawing import examples
from tests.models.model_files import network, node, saved

COUNTRIES = ("Chile", "Ghana", "Nepal")


def people(rows: int = 400) -> dict[str, list[str]]:
    """An invented table, seeded: texts, gaps, dates, free text, a key, a constant, a copy, rules that all rows obey."""
    drawn = np.random.default_rng(7)
    age = drawn.integers(19, 68, rows)
    income = np.round(drawn.uniform(10, 90, rows), 2)
    debt = np.round(income * drawn.uniform(0, 1, rows), 2)
    country = [COUNTRIES[place] for place in drawn.integers(0, 3, rows)]
    return {
        "id": [str(1000 + row) for row in range(rows)],
        "Geschlecht": ["weiblich" if each else "männlich" for each in drawn.integers(0, 2, rows)],
        "age": [str(each) for each in age],
        "income (thousands)": [f"{each:.2f}" for each in income],
        "debt": [f"{each:.2f}" for each in debt],
        "country": country,
        "capital": [{"Chile": "Santiago", "Ghana": "Accra", "Nepal": "Kathmandu"}[each] for each in country],
        "children": ["" if each > 4 else str(each) for each in drawn.integers(0, 6, rows)],
        "job": ["" if each > 4 else f"job {each}" for each in drawn.integers(0, 6, rows)],
        "since": [f"20{each:02d}-03-01" for each in drawn.integers(10, 25, rows)],
        "remarks": [f'said "{each:.9f}"' for each in drawn.uniform(0, 1, rows)],
        "currency": ["EUR"] * rows,
        "country again": country,
        "repaid": ["yes" if each else "no" for each in drawn.integers(0, 2, rows)],
    }


def written(folder: Path, table: dict[str, list[str]], name: str = "people.csv") -> Path:
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(table)
    writer.writerows(zip(*table.values(), strict=True))
    (folder / name).write_text(text.getvalue(), encoding="utf-8")
    return folder / name


@pytest.fixture
def drafted(tmp_path: Path) -> Drafted:
    return fairdsl.init(written(tmp_path, people()), label="repaid")


def test_it_checks_at_once(drafted: Drafted) -> None:
    report = fairdsl.check(drafted.path, timeout=60)
    judged = {judgement for each in report.properties for judgement in [each.judgement.value]}
    assert [each.name for each in report.properties] == [
        "rates_by_Geschlecht",
        "rates_by_age",
        "rates_of_intersections",
    ]
    assert judged <= {"holds", "violated", "measured"}


def test_a_draft_in_words_is_what_the_command_prints(drafted: Drafted) -> None:
    said = str(drafted)
    assert said.startswith(f"wrote {drafted.path}\n    attributes ")
    assert drafted.outcome is None or drafted.outcome in said
    assert all(each.why in said for each in drafted.left_out)
    assert repr(drafted).startswith(f"<Drafted {drafted.path}: ")


def test_every_column_is_an_attribute_or_says_why_not(drafted: Drafted) -> None:
    assert drafted.attributes == (
        *("Geschlecht", "age", "income_thousands", "debt", "country", "capital", "children", "job", "repaid"),
    )
    assert {each.column: each.why.split(":")[0] for each in drafted.left_out} == {
        "id": "a number of its own for every row, which looks like a key",
        "since": "dates (`2010-03-01`, `2011-03-01` and 13 more)",
        "remarks": drafted.left_out[2].why.split(":")[0],
        "currency": "every row has the same value, `EUR`",
        "country again": "its cells are those of `country`",
    }
    assert "too many for a category" in drafted.left_out[2].why


def test_types_and_ranges_are_those_of_the_rows(drafted: Drafted) -> None:
    lines = {line.split()[0]: " ".join(line.split()) for line in drafted.text.splitlines() if " : " in line}
    seen = [int(age) for age in people()["age"]]
    assert lines["age"] == f"age : integer 15 .. 70 bins by quantiles 4 # {min(seen)} .. {max(seen)} in the rows"
    assert lines["income_thousands"].startswith('income_thousands : real 10 .. 90 column "income (thousands)" # 1')
    assert lines["job"].startswith('job : category { "", "job 0", "job 1", "job 2", "job 3", "job 4" }')
    assert "not known: empty in" in lines["job"]
    lacking = f"{people()['children'].count('')} of 400 rows have no number (empty)"
    assert lines["children"] == f"children : integer 0 .. 4 or missing # {lacking}"
    assert lines["repaid"] == "repaid : boolean"
    assert drafted.protected == ("Geschlecht", "age")
    assert "# Geschlecht: proposed: sex, by its name" in drafted.text
    for rule in ("where debt <= income_thousands", "where country != Chile or capital = Santiago"):
        assert f"# {rule}" in drafted.text


def test_values_that_differ_in_blanks_alone_are_said_to_be_one(tmp_path: Path) -> None:
    rows = "".join(f"{sex},{number % 2}\n" for number in range(20) for sex in (" f", "f", "m"))
    (tmp_path / "rows.csv").write_text(f"sex,paid\n{rows}", encoding="utf-8")
    text = fairdsl.init(tmp_path / "rows.csv", label="paid").text
    assert "sex : category { f, m }  # blanks around cells mean nothing: ` f`, `f`" in text


def test_other_capitals_are_said_and_amounts_of_money_are_not_taken_for_texts(tmp_path: Path) -> None:
    rows = "".join(f"{['f', 'm', 'F'][row % 3]};{row}.{100 + row},50 €;{row % 2}\n" for row in range(1, 31))
    (tmp_path / "rows.csv").write_text(f"sex;amount;paid\n{rows}", encoding="utf-8")
    drafted = fairdsl.init(tmp_path / "rows.csv", label="paid")
    assert "# different values, which differ in capitals alone: `F`, `f`" in drafted.text
    assert [each.why.split("(")[0] for each in drafted.left_out] == [
        "numbers with decimal commas, separators or currencies "
    ]


def test_nothing_is_overwritten(drafted: Drafted, tmp_path: Path) -> None:
    with pytest.raises(fairdsl.SpecError, match="E0671"):
        fairdsl.init(tmp_path / "people.csv")
    assert Path(drafted.path).read_text(encoding="utf-8") == drafted.text


def test_what_is_named_is_protected_and_nothing_else(tmp_path: Path) -> None:
    path = written(tmp_path, people())
    drafted = fairdsl.init(path, label="repaid", protected=["country"], output=tmp_path / "other.fair")
    assert drafted.protected == ("country",)
    with pytest.raises(fairdsl.SpecError, match="E0670"):
        fairdsl.init(path, protected=["since"], output=tmp_path / "third.fair")


def test_a_data_frame_is_written_beside_its_spec(tmp_path: Path) -> None:
    text = written(tmp_path, people()).read_text(encoding="utf-8")
    frame = SimpleNamespace(to_csv=lambda index: text)
    drafted = fairdsl.init(frame, label="repaid", output=tmp_path / "frame.fair")
    assert (tmp_path / "frame.csv").read_text(encoding="utf-8") == text
    assert drafted.rows == 400


def scores(table: dict[str, list[str]]) -> tuple[np.ndarray, list[float]]:
    """Numbers scaled to mean 0 and variance 1, then the countries one-hot: a matrix, and weights for its columns."""
    numbers = [np.array(list(map(float, table[name]))) for name in ("age", "income")]
    scaled = [(column - column.mean()) / column.std() for column in numbers]
    one_hot = [np.array([float(each == name) for each in table["country"]]) for name in COUNTRIES]
    return np.stack([*scaled, *one_hot], axis=1), [0.3, 2.0, -1.5, 0.5, 1.0]


@pytest.mark.parametrize("label", ["repaid", None])
def test_how_a_model_reads_the_columns_is_found(label: str | None, tmp_path: Path) -> None:
    plain = people()
    table = {"country": plain["country"], "age": plain["age"], "income": plain["income (thousands)"]}
    matrix, weights = scores(table)
    if label is not None:
        table[label] = ["yes" if score > 0 else "no" for score in (matrix @ weights).tolist()]
    nodes = [node("Gemm", ["x", "w", "b"], ["s"]), node("Sigmoid", ["s"], ["y"])]
    arrays = {"w": [[weight] for weight in weights], "b": [0.0]}
    saved(network(nodes, arrays, inputs={"x": ["N", 5]}, outputs=("y",)), tmp_path, "m.onnx")
    drafted = fairdsl.init(written(tmp_path, table), model=tmp_path / "m.onnx", label=label, protected=["country"])
    assert drafted.binding is not None
    if label is None:
        assert "GUESS" in drafted.binding
        return
    assert "numbers first, categories one-hot, numbers scaled to mean 0 and variance 1" in drafted.binding
    assert "agrees with the label on 100.0% of 400 rows" in drafted.binding
    assert "NOT CONFIRMED" not in drafted.binding


@pytest.mark.parametrize(
    ("fed", "reads"),
    [
        (("z age", "z income", "country"), "(age - .*) / .*, (income_thousands - .*) / .*, country"),
        (("country", "z age", "z income"), "country, (age - .*) / .*, (income_thousands - .*) / .*"),
        (("age", "income", "country"), "age, income_thousands, country"),
        (("income", "country", "age"), None),
    ],
)
def test_codes_may_stand_behind_numbers_and_beside_scaled_ones(
    fed: tuple[str, ...], reads: str | None, tmp_path: Path
) -> None:
    """An order that is not tried never passes for a model that does without what is protected."""
    plain = people(150)
    table = {name: plain[name] for name in ("country", "age", "income (thousands)")}
    columns = {name.split()[0]: np.array(list(map(float, table[name]))) for name in ("age", "income (thousands)")}
    columns |= {f"z {name}": (column - column.mean()) / column.std() for name, column in columns.items()}
    columns["country"] = np.array([sorted(COUNTRIES).index(each) for each in table["country"]], dtype=float)
    matrix = np.stack([columns[name] for name in fed], axis=1)
    weights = np.array([1.0, -0.7, 0.4]) / matrix.std(axis=0)
    bias = -float(np.median(matrix @ weights))
    table["repaid"] = ["yes" if score > 0 else "no" for score in (matrix @ weights + bias).tolist()]
    nodes = [node("Gemm", ["x", "w", "b"], ["s"]), node("Sigmoid", ["s"], ["y"])]
    arrays = {"w": [[weight] for weight in weights], "b": [bias]}
    saved(network(nodes, arrays, inputs={"x": ["N", 3]}, outputs=("y",)), tmp_path, "m.onnx")
    drafted = fairdsl.init(written(tmp_path, table), model=tmp_path / "m.onnx", label="repaid", protected=["country"])
    assert drafted.binding is not None
    assert ("NOT CONFIRMED" in drafted.binding) == (reads is None), drafted.binding
    if reads is not None:
        assert re.search(f"^  reads {re.escape(reads).replace(re.escape('.*'), '.*')}$", drafted.text, re.MULTILINE)


def test_of_a_bad_outcome_the_other_value_is_positive(tmp_path: Path) -> None:
    """A model that was trained on defaults is sure of defaults."""
    plain = people()
    age, debt = (np.array(list(map(float, plain[name]))) for name in ("age", "debt"))
    defaults = ["1" if each else "0" for each in debt - age > 0]
    table = {"age": plain["age"], "debt": plain["debt"], "default": defaults}
    nodes = [node("Gemm", ["x", "w", "b"], ["s"]), node("Sigmoid", ["s"], ["y"])]
    weights = {"w": [[-1.0], [1.0]], "b": [0.0]}
    saved(network(nodes, weights, inputs={"x": ["N", 2]}, outputs=("y",)), tmp_path, "m.onnx")
    drafted = fairdsl.init(written(tmp_path, table), model=tmp_path / "m.onnx", label="default", protected=["age"])
    assert drafted.outcome == "`0` counts as positive (the header names a bad outcome): write the one that does"
    assert "agrees with the label on 100.0%" in (drafted.binding or "")
    assert "positive when probability < 50%" in drafted.text
    assert "deserving no" in drafted.text


def test_rows_without_a_label_are_in_no_rate_of_errors(tmp_path: Path) -> None:
    """A model that is right about everybody of whom it is known what became of them."""
    plain = people()
    age, debt = (np.array(list(map(float, plain[name]))) for name in ("age", "debt"))
    known = ["" if place % 10 == 0 else "1" if each else "0" for place, each in enumerate(debt - age > 0)]
    group = ["" if place % 7 == 0 else str(place % 2) for place in range(len(known))]
    table = {"age": plain["age"], "debt": plain["debt"], "default": known}
    nodes = [node("Gemm", ["x", "w", "b"], ["s"]), node("Sigmoid", ["s"], ["y"])]
    weights = {"w": [[-1.0], [1.0]], "b": [0.0]}
    saved(network(nodes, weights, inputs={"x": ["N", 2]}, outputs=("y",)), tmp_path, "m.onnx")
    path = written(tmp_path, table)
    drafted = fairdsl.init(path, model=tmp_path / "m.onnx", label="default", protected=["age"])
    assert drafted.outcome == "`0` counts as positive (the header names a bad outcome): write the one that does"
    assert "agrees with the label on 100.0% of 360 rows" in (drafted.binding or "")
    assert 'label default : category { "", "0", "1" }  # not known: empty in 40 rows' in drafted.text
    (errors,) = (each for each in fairdsl.check(drafted.path, timeout=60).properties if each.name == "errors_by_age")
    assert [demand.value and demand.value.high for demand in errors.demands] == [0, 0]
    recorded = fairdsl.init(
        written(tmp_path, table | {"group": group}, "group.csv"), label="default", protected=["age"]
    )
    assert "group : integer 0 .. 1 or missing" in recorded.text
    assert "Who has none counts as negative (not known: empty in 40 rows)" in recorded.text


def test_words_of_the_language_are_values_and_names_like_others(tmp_path: Path) -> None:
    rows = 60
    table = {
        "rows": ["protected veteran", "fair 1", "no column"] * (rows // 3),
        "decide": ["a", "b"] * (rows // 2),
        "Person": [str(row % 7) for row in range(rows)],
        "protected group": [f"protected {row}" for row in range(rows)],
        "share": ["yes", "no", "no"] * (rows // 3),
    }
    path = written(tmp_path, table)
    drafted = fairdsl.init(path, label="share", protected=["rows", "decide"])
    report = fairdsl.check(drafted.path, timeout=60)
    answered = {"holds", "violated", "measured", "unknown", "vacuous"}
    assert {each.judgement.value for each in report.properties} <= answered
    assert "protected rows, decide" in drafted.text


@pytest.mark.parametrize("header", ["score", "score_", "probability", "class", "not", "over"])
def test_a_column_may_have_a_name_that_conditions_take_for_something_else(header: str, tmp_path: Path) -> None:
    table = {"sex": ["f", "m"] * 100, "score": ["1", "0"] * 100, "score_": ["x", "y"] * 100}
    path = written(tmp_path, table | {header: ["0", "1", "1", "1"] * 50})
    drafted = fairdsl.init(str(path), label=header, protected=["sex"])
    assert not [finding for finding in fairdsl.lint(drafted.path) if finding.code.startswith("E")]
    rates = fairdsl.audit_table(path, protected=["sex"], prediction=header, metrics=["parity_gap"])
    assert rates.metric("parity_gap").exact == 0.5


def test_a_header_is_meant_before_the_name_of_another_column(tmp_path: Path) -> None:
    table = {"sex": ["f", "m"] * 50, "a-b": ["0", "1"] * 50, "a_b": ["yes", "no", "no", "no"] * 25}
    drafted = fairdsl.init(written(tmp_path, table), label="a_b", protected=["sex"])
    assert 'a_b_2 : boolean column "a_b"' in re.sub(" +", " ", drafted.text)
    assert "positive when a_b_2" in drafted.text


def test_a_model_that_no_label_speaks_for_is_not_confirmed(tmp_path: Path) -> None:
    table = {name: people()[name] for name in ("age", "debt", "repaid")}
    nodes = [node("Gemm", ["x", "w", "b"], ["s"]), node("Sigmoid", ["s"], ["y"])]
    saved(
        network(nodes, {"w": [[1.0], [-1.0]], "b": [0.0]}, inputs={"x": ["N", 2]}, outputs=("y",)), tmp_path, "m.onnx"
    )
    drafted = fairdsl.init(written(tmp_path, table), model=tmp_path / "m.onnx", label="repaid", protected=["age"])
    assert drafted.binding is not None
    assert "NOT CONFIRMED" in drafted.binding
    assert f"# {drafted.binding}" in drafted.text


CELLS = st.one_of(
    st.sampled_from(["", "?", "NA", "yes", "no", "male", "female", "0", "1", "-3", "2.5", "1e3", "x\ny", 'a "b"', "ü"]),
    st.integers(-5, 120).map(str),
    st.text(max_size=6),
)
HEADERS = st.one_of(
    st.sampled_from(["sex", "age", "a-b", "a_b", "", "model", "2nd", 'q"', "x\n}"]), st.text(max_size=5)
)


@st.composite
def tables(draw: st.DrawFn) -> str:
    """Texts of tables: whatever stands in headers and cells, columns of few values among them."""
    rows = draw(st.integers(1, 12))
    columns: list[Sequence[str]] = []
    for _ in range(draw(st.integers(1, 5))):
        few = draw(st.lists(CELLS, min_size=1, max_size=3))
        columns.append([draw(HEADERS), *(draw(st.sampled_from(few)) for _ in range(rows))])
    text = io.StringIO()
    csv.writer(text).writerows(zip(*columns, strict=True))
    return text.getvalue()


@settings(max_examples=examples(2))
@given(text=tables(), label=st.booleans())
def test_whatever_stands_in_a_table_the_spec_reads_it(
    text: str, label: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """The draft is refused with a reason, or means something and fits its own rows."""
    folder = tmp_path_factory.mktemp("drawn")
    (folder / "t.csv").write_bytes(text.encode("utf-8", "surrogatepass"))
    header = next(csv.reader(io.StringIO(text)), [""])[-1]
    try:
        drafted = fairdsl.init(folder / "t.csv", label=header if label else None)
    except fairdsl.SpecError as error:
        codes = {finding.code for finding in error.diagnostics}
        drafted = None
    if drafted is None:
        assert codes <= {"E0530", "E0670", "E0672"}
        return
    spec, _ = front_end(drafted.path)
    for model in spec.models.values():
        assert read_table(str(folder / "t.csv"), model.domain).rows == drafted.rows


class Frame:
    """A DataFrame, as far as it is asked."""

    def to_csv(self, *, index: bool) -> str:
        assert not index
        text = io.StringIO()
        csv.writer(text).writerows(
            [["sex", "income", "repaid"], *([str(n % 2), str(n % 7), "01"[n % 7 > 3]] for n in range(90))]
        )
        return text.getvalue()


def test_what_is_in_memory_is_written_beside_the_spec(tmp_path: Path) -> None:
    nodes = [node("Gemm", ["x", "w", "b"], ["y"])]
    model = network(nodes, {"w": [[0.0], [1.0]], "b": [-3.5]}, inputs={"x": ["N", 2]}, outputs=("y",))
    drafted = fairdsl.init(Frame(), model=model, label="repaid", output=tmp_path / "mine.fair")
    assert {each.name for each in tmp_path.iterdir()} == {"mine.fair", "mine.csv", "mine.onnx"}
    assert drafted.binding is not None
    assert {each.judgement.value for each in fairdsl.check(drafted.path, timeout=20).properties} <= {
        "holds",
        "measured",
        "violated",
    }
    with pytest.raises(fairdsl.SpecError, match=r"`mine.csv` exists already|E0671"):
        fairdsl.init(Frame(), output=tmp_path / "mine.fair")


def test_nothing_is_left_behind_where_no_spec_comes_to_be(tmp_path: Path) -> None:
    output = tmp_path / "mine.fair"
    for wrong in ({"label": "nobody"}, {"protected": ["nobody"]}, {"model": len}):
        with pytest.raises(fairdsl.SpecError):
            fairdsl.init(Frame(), output=output, **wrong)
        assert list(tmp_path.iterdir()) == []
    (tmp_path / "mine.csv").write_text("sex\n")
    with pytest.raises(fairdsl.SpecError, match="exists already"):
        fairdsl.init(Frame(), output=output)
    assert (tmp_path / "mine.csv").read_text() == "sex\n"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"data": Frame()}, 'write `output="first.fair"`'),
        ({"data": 3}, "give a path, or a DataFrame"),
        ({"data": Frame(), "model": len, "output": "x.fair"}, "give its path"),
    ],
)
def test_what_nothing_is_drafted_of(
    given: dict[str, Any], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(fairdsl.SpecError) as caught:
        fairdsl.init(**given)
    assert said in str(caught.value)


def test_protected_numbers_with_gaps_have_bins_with_edges(tmp_path: Path) -> None:
    """Quantiles are no bins of those who have no number, and real numbers and gaps have no share of the domain."""
    table = people()
    for count, (ages, least) in enumerate({"integer": (table["age"], 19), "real": (table["debt"], 0)}.values()):
        gaps = [*ages[:350], *[""] * 50]
        path = written(tmp_path, {**table, "age": gaps}, f"gaps{count}.csv")
        drafted = fairdsl.init(path, label="repaid", protected=["age"])
        (line,) = (line for line in drafted.text.splitlines() if line.strip().startswith("age "))
        edges = [float(edge) for edge in line.partition("bins at ")[2].partition("#")[0].split(",")]
        known = sorted(float(age) for age in gaps if age)
        assert edges == [known[len(known) * part // 4] for part in (1, 2, 3)]
        assert min(edges) > least
        assert front_end(drafted.path)
