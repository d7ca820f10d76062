"""How far a file's decisions can be from its model's, and on which features its output can depend."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from onnx import TensorProto

from fairdsl.ir.declaration import Highest, WhenClass, WhenProbability, WhenScore
from fairdsl.ir.expr import Relation
from fairdsl.ir.model import ByThreshold, Model
from fairdsl.models import load_model
from fairdsl.models.float32 import analysed, decision
from fairdsl.models.float32.decision import Slack, analysis_of
from fairdsl.models.float32.depends import features_read
from fairdsl.models.running.runtime import Runtime
from fairdsl.numerics.exact import exact_scores, settled_scores
from fairdsl.numerics.narrow import narrow
from tests.drawing import examples
from tests.models import tree_files
from tests.models.float32_files import at_run_time, exactly, opened
from tests.models.model_files import SPAN, declaration, domain, ml, network, node, saved
from tests.models.test_onnx_operators import CASES

Rows = np.ndarray[Any, Any]
FEW = settings(max_examples=examples(0.15), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
PEOPLE = domain("p", "q", "r")


def slack(model: Model, sets: Any) -> Slack | None:
    file = analysis_of(model, sets)
    return None if file is None else decision.slack(file)


def attributes_read(model: Model) -> frozenset[int] | None:
    file = analysis_of(model, narrow(PEOPLE))
    assert file is not None
    return decision.attributes_read(file)


def drawn(seed: int, count: int) -> list[tuple[Fraction, ...]]:
    rows = np.random.default_rng(seed).integers(-10, 11, (count, 3))
    return [tuple(Fraction(int(value)) for value in row) for row in rows]


def beyond(model: Model, found: Slack, point: tuple[Fraction, ...]) -> bool:
    """Whether no change of the scores by the slack changes the decision."""
    scores, rule = exact_scores(model, point), model.rule
    if isinstance(rule, ByThreshold):
        (off,) = found.decision
        return scores[0] > rule.high + off or scores[0] < rule.low - off
    best = max(range(len(scores)), key=lambda i: scores[i])
    off = found.decision
    return all(scores[best] - off[best] > scores[i] + off[i] for i in range(len(scores)) if i != best)


def decides_alike(model: Model, seed: int) -> float:
    """Assert that the file decides as the exact rule beyond the slack; the share of individuals who are beyond."""
    found = slack(model, narrow(PEOPLE))
    assert found is not None
    assert model.deployed is not None
    people = drawn(seed, 50)
    decided = Runtime(model.deployed).decide(people)
    clear = [beyond(model, found, person) for person in people]
    for person, outcome, far in zip(people, decided, clear, strict=True):
        assert not far or settled_scores(model, person)[1] == outcome
    return sum(clear) / len(clear)


NET = {"w": np.float32([[0.3, -1.1], [0.7, 0.2], [-0.4, 0.9]]), "b": np.float32([0.1, -0.3])}
HEAD = {"v": np.float32([[0.7], [-1.3]]), "c": np.float32([0.05])}
BODY = [node("Gemm", ["x", "w", "b"], ["z"]), node("Relu", ["z"], ["h"])]
LAST = [*BODY, node("Gemm", ["h", "v", "c"], ["s"])]
THREE = {"v": np.float32([[0.7, 0.1, -0.4], [-1.3, 0.5, 0.6]]), "c": np.float32([0.05, 0.2, 0.1])}
TWO = {"v": np.float32([[0.7, 0.1], [-1.3, 0.5]]), "c": np.float32([0.05, 0.2])}
AT_HALF = WhenProbability(outcome=1, relation=Relation.GE, threshold=Fraction(1, 2), span=SPAN)
AT_THIRD = WhenProbability(outcome=1, relation=Relation.GT, threshold=Fraction(1, 3), span=SPAN)
ONE = WhenClass.of(1, 1, SPAN)
LINE = [0.3, -0.7, 1.1]
NAMES = ("low", "middle", "high")
FILES: dict[str, tuple[list[Any], dict[str, Any], Any, Any]] = {
    "score": ([*LAST, node("Identity", ["s"], ["y"])], NET | HEAD, ("y",), None),
    "sigmoid": ([*LAST, node("Sigmoid", ["s"], ["y"])], NET | HEAD, ("y",), AT_THIRD),
    "softmax of two": ([*LAST, node("Softmax", ["s"], ["y"], axis=1)], NET | TWO, ("y",), AT_HALF),
    "label of two": (
        [*LAST, node("Softmax", ["s"], ["p"], axis=1), node("ArgMax", ["p"], ["y"], axis=1)],
        NET | TWO,
        {"y": TensorProto.INT64},
        ONE,
    ),
    "highest of three": ([*LAST, node("Softmax", ["s"], ["y"], axis=1)], NET | THREE, ("y",), Highest(span=SPAN)),
    "linear classifier": (
        [
            ml(
                "LinearClassifier",
                ["x"],
                ["y", "p"],
                coefficients=[0.3, -0.7, 1.1],
                intercepts=[0.1],
                classlabels_ints=[0, 1],
            )
        ],
        {},
        {"y": TensorProto.INT64, "p": TensorProto.FLOAT},
        ONE,
    ),
}


def opened_model(name: str, folder: Path) -> Model:
    nodes, constants, outputs, clause = FILES[name]
    outcomes = NAMES if isinstance(clause, Highest) else ("reject", "grant")
    path = saved(network(nodes, constants, outputs=outputs), folder)
    return load_model(declaration(path, clause, outcomes=outcomes), PEOPLE)


@pytest.mark.parametrize("name", FILES)
def test_the_file_decides_alike_beyond_the_slack(name: str, tmp_path: Path) -> None:
    assert decides_alike(opened_model(name, tmp_path), 1) > 0.9


@FEW
@given(seed=st.integers(0, 10**6), digits=st.integers(3, 12), shift=st.integers(-2, 2))
def test_thresholds_next_to_somebodys_score(tmp_path: Path, seed: int, digits: int, shift: int) -> None:
    """The threshold is what exact arithmetic gives somebody, or the nearest decimal, or a little beside it."""
    nodes, constants, outputs, _ = FILES["score"]
    path = saved(network(nodes, constants, outputs=outputs), tmp_path)
    (score,) = exact_scores(load_model(declaration(path), PEOPLE), drawn(seed, 1)[0])
    threshold = Fraction(round(score * 10**digits) + shift, 10**digits)
    clause = WhenScore(outcome=1, relation=Relation.GT, threshold=threshold, span=SPAN)
    decides_alike(load_model(declaration(path, clause), PEOPLE), seed)


@FEW
@given(forest=tree_files.forests(columns=(0,), weights=st.sampled_from([0.1, 0.3, 0.7, 1 / 3])))
def test_forests(tmp_path: Path, forest: Any) -> None:
    model = tree_files.tree_file([tree_files.classifier(forest)])
    read = load_model(declaration(saved(model, tmp_path), ONE), PEOPLE)
    decides_alike(read, 2)
    found = slack(read, narrow(PEOPLE))
    assert found is not None
    assert len(forest) > 1 or not any(found.decision)


def test_a_model_that_is_another_one_has_no_slack(tmp_path: Path) -> None:
    model = opened_model("score", tmp_path)
    assert slack(model, narrow(PEOPLE)) is not None
    assert isinstance(model.rule, ByThreshold)
    moved = replace(model, rule=replace(model.rule, low=Fraction(1), high=Fraction(1)))
    assert slack(moved, narrow(PEOPLE)) is None
    Path(tmp_path / "model.onnx").write_bytes(b"")
    decision._opened.cache_clear()
    assert slack(model, narrow(PEOPLE)) is None


@pytest.mark.parametrize("name", sorted(CASES))
def test_features_that_do_not_count_change_no_bit(name: str, tmp_path: Path) -> None:
    nodes, constants = CASES[name]
    rng = np.random.default_rng(3)
    constants = {key: zeroed(value, rng) for key, value in constants.items()}
    model = network(nodes, constants)
    raw = opened(model, tmp_path)
    rows = rng.normal(size=(6, 3)).astype(np.float32)
    read = features_read(raw, "y", analysed(raw, {"x": exactly(rows)}), {"x": 3})["x"]
    changed = np.where(read, rows, rng.normal(size=rows.shape)).astype(np.float32)
    before, after = (at_run_time(model, {"x": x}, expose=False)["y"] for x in (rows, changed))
    for one, other in zip(before, after, strict=True):
        assert np.array_equal(one, other)


def zeroed(value: Any, rng: np.random.Generator) -> Any:
    """Weights of which whole rows or columns are 0."""
    array = np.array(value)
    if array.dtype.kind != "f" or array.ndim < 2:
        return value
    array[:, rng.random(array.shape[1]) < 0.5] = 0
    array[rng.random(array.shape[0]) < 0.5] = 0
    return array


def test_which_attributes_count(tmp_path: Path) -> None:
    weights = {"w": np.float32([[1, 2], [0, 0], [3, 3]]), "v": np.float32([[1], [-1]])}
    nodes = [node("Gemm", ["x", "w"], ["z"]), node("Relu", ["z"], ["h"]), node("Gemm", ["h", "v"], ["y"])]
    model = load_model(declaration(saved(network(nodes, weights), tmp_path)), PEOPLE)
    assert attributes_read(model) == {0, 2}


def test_what_cancels_counts(tmp_path: Path) -> None:
    nodes = [node("Sub", ["x", "x"], ["d"]), node("Gemm", ["d", "v"], ["y"])]
    model = load_model(declaration(saved(network(nodes, {"v": np.float32([[1], [0], [2]])}), tmp_path)), PEOPLE)
    assert attributes_read(model) == {0, 2}
