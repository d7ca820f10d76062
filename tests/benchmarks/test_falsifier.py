"""The benchmark of searches: what is planted is there, its checks notice what is wrong, and its tables are printed."""

from __future__ import annotations

import csv
import json
import re
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

import fairdsl
from fairdsl.backends.contract import Budget, Silent
from fairdsl.backends.search.evaluators import evaluator_of
from fairdsl.backends.search.falsify import falsify
from fairdsl.backends.search.strategies import STRATEGIES
from tests.models.tree_files import Branch, Leaf, Tree, classifier, tree_file, walked

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
RANGES = (("age", 0, 30), ("debt", 0, 20), ("sex", 0, 1))


def split(feature: int, threshold: float, yes: Tree, no: Tree) -> Branch:
    return Branch("BRANCH_LEQ", feature, threshold, yes, no)


#: The share of the second class, as scikit-learn's exporter writes it.
NO, YES = Leaf(((0, 0.0),)), Leaf(((0, 1.0),))
#: Sex decides from 10 to 14 years where the debt is above 5; elsewhere age does.
TREE = split(0, 9, NO, split(0, 14, split(1, 5, NO, split(2, 0, NO, YES)), YES))
UNFAIR, UNITS = 5 * 15, 31 * 21


@pytest.fixture
def falsifying(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    for name in ("counts", "effort", "first_find", "pace", "planted", "questions", "spread", "walks"):
        import_module(f"falsifying.{name}")
    return sys.modules["falsifying"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A domain and one tree, as the shared models come."""
    path = tmp_path / "models"
    path.mkdir()
    onnx.save(tree_file([classifier([TREE], labels=(-1, 1))]), path / "tree.onnx")
    attributes = [{"name": name, "min": low, "max": high, "sensitive": name == "sex"} for name, low, high in RANGES]
    models = {
        "tree": {"file": "tree.onnx", "discrimination_rate_uniform": {"k": 1150, "n": 10_000}},
        "packed": {"file": "packed.onnx.gz"},
        "absent": {"file": "absent.onnx"},
    }
    document = {"attributes": attributes, "output": {"positive_label": 1}, "models": models}
    (path / "domain.json").write_text(json.dumps(document), encoding="utf-8")
    return path


@pytest.fixture
def case(falsifying: Any, folder: Path, tmp_path: Path) -> Any:
    (found,) = falsifying.questions.cases_in(folder, tmp_path)
    return found


def outcome(row: tuple[int, ...]) -> int:
    votes = walked(TREE, [Fraction(value) for value in row])
    return int(votes[0] > Fraction(1, 2))


def test_the_tree_is_what_its_comment_says() -> None:
    units = [(age, debt) for age in range(31) for debt in range(21)]
    assert sum(outcome((*unit, 0)) != outcome((*unit, 1)) for unit in units) == UNFAIR
    assert len(units) == UNITS


def scores(weights: Any, people: np.ndarray) -> np.ndarray:
    hidden = people
    for weight, bias in weights[:-1]:
        hidden = np.maximum(hidden @ weight.T.astype(np.float64) + bias, 0)
    weight, bias = weights[-1]
    return (hidden @ weight.T.astype(np.float64) + bias).ravel()


def parted(planted: Any, weights: Any, people: np.ndarray) -> np.ndarray:
    """Whether sex alone decides about each of these."""
    sex = [column.name for column in planted.COLUMNS].index("sex")
    one, other = people.copy(), people.copy()
    one[:, sex], other[:, sex] = 0, 1
    return (scores(weights, one) > 0) != (scores(weights, other) > 0)


def drawn(planted: Any, count: int) -> np.ndarray:
    rng = np.random.default_rng(7)
    return np.column_stack([rng.integers(c.low, c.high, count, endpoint=True) for c in planted.COLUMNS]).astype(float)


@pytest.mark.parametrize("kind", ["hill", "corner"])
def test_exactly_a_corner_of_a_millionth_is_planted(falsifying: Any, kind: str) -> None:
    planted = falsifying.planted
    weights, people = planted.planted(kind, 3), drawn(planted, 4000)
    names = [column.name for column in planted.COLUMNS]
    assert not parted(planted, weights, people).any()
    corner = ("gain", "loss", "hours", "country")
    sizes = [column.high - column.low + 1 for column in planted.COLUMNS if column.name in corner]
    assert np.prod(sizes) == 2**4 * 10**6
    for name in corner:
        column = planted.COLUMNS[names.index(name)]
        people[:, names.index(name)] = column.high - people[:, 0] % 2
    assert parted(planted, weights, people).all()
    for name in corner:
        beside = people.copy()
        beside[:, names.index(name)] = planted.COLUMNS[names.index(name)].high - 2
        assert not parted(planted, weights, beside).any()


def test_a_needle_gives_no_sign_of_itself(falsifying: Any) -> None:
    """Away from the needle the two scores are one and the same number."""
    planted = falsifying.planted
    weights, people = planted.planted("needle", 0), drawn(planted, 20_000)
    sex = [column.name for column in planted.COLUMNS].index("sex")
    other = people.copy()
    other[:, sex] = 1 - other[:, sex]
    assert np.array_equal(scores(weights, people), scores(weights, other))


@pytest.mark.parametrize("kind", ["slice", "region"])
def test_weights_are_set_for_one_in_a_million(falsifying: Any, kind: str) -> None:
    """With a thousand times the influence of sex, about a thousand times as many violate, as long as they are few."""
    planted = falsifying.planted
    weights, people = planted.planted(kind, 1), drawn(planted, 150_000)
    sex = [column.name for column in planted.COLUMNS].index("sex")
    if kind == "slice":
        weights[0][0][:, sex] *= 1000
        assert 0.0007 < parted(planted, weights, people).mean() < 0.0013
        return
    # A region of 1 in 15,000: those in it are drawn, and weighed with how much of the domain it is.
    names = [column.name for column in planted.COLUMNS]
    reach = {"gain": 20, "hours": 20, "loss": 8, "country": 8}
    for name, length in reach.items():
        people[:, names.index(name)] = planted.COLUMNS[names.index(name)].high - people[:, names.index(name)] % length
    share = np.prod([length / (planted.COLUMNS[names.index(name)].high + 1) for name, length in reach.items()])
    assert 0.8e-6 < parted(planted, weights, people).mean() * share < 1.2e-6


def test_walks_in_lockstep_are_the_strategies_walks(falsifying: Any, case: Any) -> None:
    walk = falsifying.walks.walked(case.closed, falsifying.walks.PUBLISHED, [0, 5], 1060)["fully-directed"][1]
    assert 20 < walk.found <= UNFAIR
    assert walk.tried >= walk.found
    alone = falsify(
        case.closed,
        case.pair,
        evaluator_of(case.closed.model),
        STRATEGIES["fully-directed"],
        count=walk.found,
        budget=Budget.of(60, seed=5),
        observer=Silent(),
    )
    assert [row.tobytes() for row in alone.pairs.a[:, :2]] == list(walk.counterexamples)


def test_what_is_learnt_is_seen(falsifying: Any, case: Any) -> None:
    walks = falsifying.walks.walked(case.closed, list(falsifying.walks.VARIANTS), [1], 1100)
    assert walks["random"][0].steered is None
    names = ("semi-directed", "fully-directed", "fully, attributes alone")
    semi, fully, alone = (walks[name][0] for name in names)
    assert semi.steered.attribute == (1.0, 1.0)
    assert 0.4 < semi.steered.down[0] <= semi.steered.down[1] < 0.6
    assert semi.steered.down != (0.5, 0.5)
    assert fully.steered.attribute[0] < 1 < fully.steered.attribute[1]
    assert alone.steered.down == (0.5, 0.5)
    assert semi.drawn == fully.drawn <= 1000
    assert semi.starts == fully.starts > 0, "one seed draws the same starts for all"


def test_students_intervals_and_parts_of_the_variance(falsifying: Any) -> None:
    spread = falsifying.spread
    for freedom, quantile in ((1, 12.7062), (4, 2.7764), (9, 2.2622), (30, 2.0423)):
        assert spread._quantile(freedom) == pytest.approx(quantile, abs=1e-4)
    found = spread.mean_of([1.0, 2.0, 3.0])
    assert found.value == 2.0
    assert (found.low, found.high) == pytest.approx((2 - 4.3027 / 3**0.5, 2 + 4.3027 / 3**0.5), abs=1e-4)
    assert spread.variance_parts([[1, 1], [3, 3]]) == (1.0, 0.0)
    assert spread.variance_parts([[1, 3], [1, 3]]) == (0.0, 1.0)
    assert spread.variance_parts([[1, 1], [1, 1]]) == (0.0, 0.0)


def test_pairs_are_looked_at_again(falsifying: Any, case: Any, tmp_path: Path) -> None:
    found = falsifying.pace.reviewed(case, tmp_path, count=40, seed=2, rerun=40, computed=10)
    assert found.passed
    assert (found.pairs, found.rerun, found.parted, found.computed) == (40, 40, 40, 10)


def twice(lines: list[dict[str, str]]) -> None:
    lines[1] = lines[0]


def fair(lines: list[dict[str, str]]) -> None:
    lines[3] |= {"age": "20"}


def alike(lines: list[dict[str, str]]) -> None:
    lines[3] |= {"b.sex": lines[3]["sex"]}


def outside(lines: list[dict[str, str]]) -> None:
    lines[3] |= {"debt": "21"}


@pytest.mark.parametrize("spoil", [twice, fair, alike, outside])
def test_what_is_wrong_with_a_file_is_noticed(
    falsifying: Any, case: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spoil: Any
) -> None:
    honest = fairdsl.search

    def spoilt(spec: Path, *, output: Path, **options: Any) -> Any:
        found = honest(spec, output=output, **options)
        with output.open(encoding="utf-8", newline="") as file:
            lines = list(csv.DictReader(file))
        spoil(lines)
        with output.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(lines[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(lines)
        return found

    monkeypatch.setattr(fairdsl, "search", spoilt)
    assert not falsifying.pace.reviewed(case, tmp_path, count=10, seed=0, rerun=10, computed=10).passed


def test_counts_and_samples_contradict_what_is_false(falsifying: Any, case: Any, tmp_path: Path) -> None:
    count = falsifying.counts.counted(case, tmp_path, 20.0)
    assert (count.unfair, count.total) == (UNFAIR, UNITS)
    assert not count.contradicts((UNFAIR, UNITS))
    assert count.contradicts((UNFAIR + 1, UNITS))
    sample = falsifying.counts.sampled(case, 5000, 0, tmp_path)
    assert sample.size == 5000
    assert sample.agrees(Fraction(UNFAIR, UNITS))
    assert sample.meets((1150, 10_000))
    assert not sample.agrees(Fraction(UNFAIR, UNITS) + Fraction(1, 20))
    assert not sample.meets((2000, 10_000))
    assert not replace(sample, unfair=5000).agrees(Fraction(UNFAIR, UNITS))


def table(script: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *words: object) -> str:
    monkeypatch.setattr(sys, "argv", ["falsifier.py", *map(str, words)])
    assert script.main() == 0
    return capsys.readouterr().out


@pytest.mark.slow
def test_the_script_prints_its_tables(
    falsifying: Any, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    script = import_module("falsifier")
    printed = table(script, monkeypatch, capsys, "rates", folder, "--count", 30, "--seeds", 2)
    assert re.search(r"^\| tree, [0-9.]+ s \| 30 \| ", printed, re.MULTILINE)
    assert "| tree | 30 | 30 | 30 | 30 of 30 | 30 of 30 | yes | " in printed
    printed = table(script, monkeypatch, capsys, "exact", folder, "--size", 3000, "--within", "5%")
    assert "| tree | 75 | 651 | 11.520737% |  | " in printed
    assert " | yes | yes | [" in printed
    printed = table(script, monkeypatch, capsys, "published", folder, "--steps", 40, "--seeds", 2)
    assert printed.count("| tree, ") == len(falsifying.walks.VARIANTS) + 3
    words = ("planted", "--plants", "hill", "--seeds", 2, "--most", 4000, "--patience", 10)
    printed = table(script, monkeypatch, capsys, *words)
    assert printed.count("| hill, ") == 5
    assert "| hill, uniform | 0 of 2 | 0 | over 4,000 | over 4,000 | " in printed
    assert "| hill | violated | " in printed


def test_a_folder_without_a_domain_is_refused(tmp_path: Path) -> None:
    command = [sys.executable, BENCHMARKS / "falsifier.py", "rates", tmp_path]
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.returncode == 2
    assert "`rates` needs a folder with domain.json" in run.stderr
