"""The reproductions: tables have their shape, classifiers are written as trained, runs go on and are compared."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def reproducing(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return import_module("reproducing")


def of(reproducing: Any, name: str) -> Any:
    return import_module(f"{reproducing.__name__}.{name}")


def test_invented_tables_come_from_their_seed_alone_and_have_the_share_of_good_labels(reproducing: Any) -> None:
    tables = of(reproducing, "tables")
    for name, shape in tables.SHAPES.items():
        first, again, other = (tables.invented(name, 400, seed, 4) for seed in (0, 0, 1))
        assert all((first.cells[column] == again.cells[column]).all() for column in first.cells)
        assert any((first.cells[column] != other.cells[column]).any() for column in first.cells)
        assert abs(first.label.mean() - shape.good) < 0.01
        assert len(set(first.cells[shape.protected[0]].tolist())) == 2
        for column in shape.columns:
            assert len(set(first.cells[column.name].tolist())) <= (4 if column.shares is None else len(column.shares))


def test_a_public_table_is_read_by_its_headers_without_rows_that_have_gaps(reproducing: Any, tmp_path: Path) -> None:
    tables = of(reproducing, "tables")
    (tmp_path / "tables").mkdir()
    rows = [["male", "3rd", "20.5", "0", "1"], ["female", "", "30", "0", "1"], ["female", "1st", "40", "1", "0"]]
    with (tmp_path / "tables" / "titanic.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["gender", "class", "age", "sibsp", "survived"], *rows])
    table = tables.table_of("titanic", tmp_path, 10, 0, 4)
    assert not table.invented
    assert table.cells["sex"].tolist() == ["male", "female"]
    assert table.label.tolist() == [1, 0]
    assert tables.table_of("compas", tmp_path, 10, 0, 4).invented


@pytest.mark.sklearn
@pytest.mark.parametrize("kind", ["LR", "DT"])
def test_the_classifier_of_the_spec_decides_as_the_trained_one(reproducing: Any, kind: str) -> None:
    pytest.importorskip("sklearn")
    tables, audits, classifiers = (of(reproducing, name) for name in ("tables", "audits", "classifiers"))
    table = tables.invented("compas", 200, 0, 4)
    classifier, decided = classifiers.trained(kind, table), decisions(tables, table, kind)
    asked = [audits.Asked(under=audits.ROWS, across=["sex"], metrics=["acceptance_rate", "impact_ratio"])]
    found = audits.measured(table, classifier, asked)
    rates = {each: float(decided[table.cells["sex"] == each].mean()) for each in ("Male", "Female")}
    assert found.rates() == pytest.approx(rates, abs=1e-12)
    assert found.number("impact_ratio") == pytest.approx(min(rates.values()) / max(rates.values()))


def decisions(tables: Any, table: Any, kind: str) -> Any:
    """What scikit-learn's own estimator predicts, trained anew on the columns."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.tree import DecisionTreeClassifier

    terms, features = tables.one_hot(table, list(table.cells))
    if kind == "DT":
        tree = DecisionTreeClassifier(max_depth=3, min_samples_leaf=5, random_state=0)
        return tree.fit(features, table.label).predict(features)
    scaled = features / np.where([" = " in term for term in terms], 1.0, 100.0)
    return LogisticRegression(max_iter=2000).fit(scaled, table.label).predict(scaled)


def test_reweighing_makes_group_and_label_independent(reproducing: Any) -> None:
    tables, classifiers = of(reproducing, "tables"), of(reproducing, "classifiers")
    table = tables.invented("ricci", 300, 0, 4)
    weights, group = classifiers.reweighing(table), table.cells["race"]
    rates = [np.average(table.label[group == each], weights=weights[group == each]) for each in set(group)]
    assert rates[0] == pytest.approx(rates[1])
    assert weights.sum() == pytest.approx(table.size)


def test_a_run_goes_on_after_the_last_whole_part_and_refuses_other_settings(reproducing: Any, tmp_path: Path) -> None:
    results = of(reproducing, "results")
    asked: list[str] = []

    def part(name: str, fails: bool) -> Any:
        def rows(setting: Any) -> Iterator[Any]:
            asked.append(name)
            yield results.Row.held("a | b", "1", "2", "paper", agrees=False, reason="rounded")
            if fails:
                raise KeyboardInterrupt
            yield results.Row(what="alone", ours="3")

        return results.Part(name=name, title=name, note="", rows=rows)

    setting = results.Setting(quick=True)
    with pytest.raises(KeyboardInterrupt):
        results.run("paper", "Paper", [part("first", False), part("second", True)], setting, tmp_path)
    page = results.run("paper", "Paper", [part("first", True), part("second", False)], setting, tmp_path)
    assert asked == ["first", "second", "second"]
    assert "| first | 0 | 1 | 1 |" in page.read_text()
    assert "| a \\| b | 1 | 2 | paper | no | rounded |" in page.read_text()
    with pytest.raises(ValueError, match="other settings"):
        results.run("paper", "Paper", [], results.Setting(quick=True, seed=1), tmp_path)


def test_a_run_goes_on_within_a_part_after_the_last_network(reproducing: Any, tmp_path: Path) -> None:
    results, made = of(reproducing, "results"), []

    def rows(setting: Any) -> Iterator[Any]:
        for name in ("one", "two", "three"):
            if name in setting.done:
                continue
            made.append(name)
            yield results.Row(what=f"{name}: a", ours="1")
            if made == ["one", "two"]:
                raise KeyboardInterrupt
            yield results.Row(what=f"{name}: b", ours="2")
            yield results.Done(name)

    part, setting = results.Part(name="part", title="Part", note="", rows=rows), results.Setting(quick=True)
    with pytest.raises(KeyboardInterrupt):
        results.run("paper", "Paper", [part], setting, tmp_path)
    results.run("paper", "Paper", [part], setting, tmp_path)
    assert made == ["one", "two", "two", "three"]
    with (tmp_path / "paper" / "part.csv").open(encoding="utf-8") as file:
        assert [row["what"] for row in csv.DictReader(file)] == [
            f"{name}: {letter}" for name in ("one", "two", "three") for letter in "ab"
        ]
    assert {path.name for path in (tmp_path / "paper").iterdir()} == {"part.csv", "setting.json", "README.md"}


def test_figures_are_drawn_from_the_rows_where_matplotlib_is(
    reproducing: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    results, plots = of(reproducing, "results"), of(reproducing, "plots")

    def rows(_: Any) -> Iterator[Any]:
        for place, series in enumerate(("left: one", "left: two", "right: one")):
            yield results.Row(what=series, ours="1").drawn((series, 1, place), (series, 2, place + 1))

    part = results.Part(name="figure", title="Figure", note="", rows=rows, axes=plots.Axes(x="x", y="y"))
    with monkeypatch.context() as hidden:
        hidden.setitem(sys.modules, "matplotlib", None)
        page = results.run("paper", "Paper", [part], results.Setting(quick=True), tmp_path)
    assert "fairdsl[plots]" in capsys.readouterr().err
    assert ".svg" not in page.read_text()
    pytest.importorskip("matplotlib")
    page = results.run("paper", "Paper", [part], results.Setting(quick=True), tmp_path)
    drawn = page.with_name("figure.svg").read_text()
    assert "![Figure](figure.svg)" in page.read_text()
    assert all(f">{word}</text>" in drawn for word in ("left", "right", "one", "two"))


def test_the_worked_examples_agree_with_the_papers(reproducing: Any) -> None:
    justicia, fvgm, results = (of(reproducing, name) for name in ("justicia", "fvgm", "results"))
    setting = results.Setting(quick=True)
    assert {row.agrees for row in fvgm.examples(setting)} == {"yes"}
    differ = [row for row in justicia.gaussians(setting) if row.agrees != "yes"]
    assert [(row.what, row.whose) for row in differ] == [("of those below 40", "paper")]


@pytest.mark.sklearn
def test_an_invented_network_reads_raw_numbers_and_comes_from_its_seed_alone(reproducing: Any, tmp_path: Path) -> None:
    pytest.importorskip("sklearn")
    networks = of(reproducing, "networks")
    (tmp_path / "again").mkdir()
    first, again = networks.trained("CP-1", 0, tmp_path), networks.trained("CP-1", 0, tmp_path / "again")
    assert first.path.read_bytes() == again.path.read_bytes()
    assert first.accuracy > 0.75


@pytest.mark.sklearn
def test_shares_on_compas_leave_nothing_undecided_and_are_the_counted_ones(
    reproducing: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("sklearn")
    fairquant, results, networks = (of(reproducing, name) for name in ("fairquant", "results", "networks"))
    monkeypatch.setattr(networks, "SHAPES", {"CP-1": (8,)})
    rows = list(fairquant.compas(results.Setting(quick=True)))
    assert [row.agrees for row in rows] == ["yes"] * 2
    assert "undecided 0.0000%" in rows[0].ours


@pytest.mark.sklearn
def test_units_proved_inactive_are_inactive_for_everybody_drawn(reproducing: Any, tmp_path: Path) -> None:
    pytest.importorskip("sklearn")
    networks, fairify = of(reproducing, "networks"), of(reproducing, "fairify")
    network = networks.trained("AC-9", 0, tmp_path)
    share = fairify.inactive(network.path, 3, 0)
    problem = fairify.problem_of(fairify.questions_of(network.path, (fairify.STRICT,))[0])
    grid, random = fairify.Grid.of(problem, 10), np.random.default_rng(0)
    saved = {each.name: numpy_helper.to_array(each) for each in onnx.load(network.path).graph.initializer}
    never = []
    for index in fairify.islice(grid.order(0), 3):
        low, high = np.array([fairify.input_ends(item, grid.box(index)) for item in problem.model.inputs]).T
        people = np.floor(random.uniform(low, high + 1, (500, len(low))))
        for layer in range(4):
            people = people @ saved[f"w{layer}"].T + saved[f"b{layer}"]
            never += (people <= 0).all(axis=0).tolist()
            people = np.maximum(people, 0)
    assert 0 < share <= np.mean(never)


def test_adult_is_coded_as_the_networks_read_it(reproducing: Any, tmp_path: Path) -> None:
    fairify = of(reproducing, "fairify")
    names = ["age", "workclass", "education", "education-num", "marital-status", "occupation", "relationship", "race"]
    names += ["sex", "capital-gain", "capital-loss", "hours-per-week", "native-country", "income"]
    known = ["39", "State-gov", "Bachelors", "13", "Never-married", "Adm-clerical", "Not-in-family", "White"]
    rows = [[*known, "Male", "50", "0", "40", "United-States", ">50K"], [*known, "Male", "99", "9", "40", "", "<=50K"]]
    with (tmp_path / "adult.csv").open("w", newline="") as file:
        csv.writer(file).writerows([names, *rows])
    people, rich = fairify.coded(tmp_path / "adult.csv")
    assert people.tolist() == [[39, 5, 9, 13, 4, 0, 1, 4, 1, 10, 0, 40, 38]]
    assert rich.tolist() == [True]


@pytest.mark.sklearn
def test_rates_of_discrimination_have_intervals_that_hold_them(reproducing: Any) -> None:
    pytest.importorskip("sklearn")
    aequitas, results = of(reproducing, "aequitas"), of(reproducing, "results")
    (row,) = aequitas.rates(results.Setting(quick=True))
    share, low, high = (float(each.strip("[],%")) for each in row.ours.split())
    assert 0 < low < share < high


@pytest.mark.slow
@pytest.mark.sklearn
def test_retraining_lowers_the_rate_of_the_example_and_says_by_how_much(
    reproducing: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("skl2onnx")
    aequitas, results = of(reproducing, "aequitas"), of(reproducing, "results")
    monkeypatch.setattr(aequitas, "ESTIMATORS", ("tree",))
    tree, published, most = aequitas.retraining(results.Setting(quick=True))
    before, after = (float(each.strip("%,")) for each in tree.ours.split()[0:3:2])
    assert tree.agrees == most.agrees == "yes"
    assert after < before / 10
    assert published.ours.startswith(f"{before:.2f}%")
    assert float(most.ours.strip("%")) == pytest.approx(100 * (1 - after / before), abs=0.2)
