"""Small model files that were once read as another model: the verdict is about what onnxruntime answers.

Each is drawn anew from a seed. What is true is counted over all individuals with onnxruntime alone.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest
from onnx import TensorProto

import fairdsl
from fairdsl.diagnostics import DiagnosticError
from fairdsl.verdict import Judgement
from tests.models.model_files import ml, network, node, saved

HIGH = 4
SPEC = """\
domain D {{ sex : category {{ f, m }} a : integer 0 .. 4 b : integer 0 .. 4 }}
protected sex
model m : D -> {{ no, yes }} from "model.onnx" {decision}
property p {{ compare x, y : D differ in sex require same decision measure fair_share }}
"""
EVERYBODY = np.array(list(product((0, 1), range(HIGH + 1), range(HIGH + 1))), dtype=np.float32)
Decide = Callable[[np.ndarray], np.ndarray]


def truth(path: str, output: str, decide: Decide) -> tuple[int, int]:
    """How many units are treated alike, and how many there are: pairs that differ in sex alone."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    answers = [decide(session.run([output], {"x": row[None, :]})[0]) for row in EVERYBODY]
    decisions = np.array([bool(np.ravel(answer)[0]) for answer in answers])
    women, men = decisions[: len(decisions) // 2], decisions[len(decisions) // 2 :]
    return int((women == men).sum()), len(women)


def verdict(folder: Path, model: Any, decision: str, output: str, decide: Decide) -> None:
    """The fair share, asserted to be the true one, with the verdict that belongs to it."""
    alike, units = truth(saved(model, folder), output, decide)
    (folder / "s.fair").write_text(SPEC.format(decision=decision))
    report = fairdsl.check(folder / "s.fair", timeout=30)
    (found,) = report.properties
    assert found.judgement is (Judgement.HOLDS if alike == units else Judgement.VIOLATED)
    assert found.shares is not None
    assert (found.shares.certified, found.shares.falsified) == (Fraction(alike, units), Fraction(units - alike, units))


def weights(rng: np.random.Generator) -> list[float]:
    """Of sex a large one, and of the rest such that no score is near 0 or 1/2 by chance."""
    return [float(rng.integers(2, 5)) / 4, *(float(v) / 16 for v in rng.integers(-3, 4, 2))]


@pytest.mark.parametrize("seed", range(4))
def test_scores_of_one_row_of_coefficients(seed: int, tmp_path: Path) -> None:
    """A LinearClassifier without a transformation writes 1 - s and s, and not -s and s."""
    rng = np.random.default_rng(seed)
    offset = float(rng.integers(-2, 8)) / 8 + 1 / 64
    classifier = ml("LinearClassifier", ["x"], ["label", "scores"], coefficients=weights(rng), intercepts=[offset],
                    classlabels_ints=[0, 1], **({"post_transform": "NONE"} if seed % 2 else {}))  # fmt: skip
    model = network([classifier], outputs=("scores",))
    verdict(tmp_path, model, "yes when class = 1", "scores", lambda scores: scores[:, 1] > scores[:, 0])


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("trees", [False, True])
def test_a_logistic_function_that_is_left_out(seed: int, trees: bool, tmp_path: Path) -> None:
    """Of a single target onnxruntime writes the sum itself, and that is what the threshold is compared with."""
    rng = np.random.default_rng(seed)
    offset = float(rng.integers(-2, 8)) / 8 + 1 / 64
    made = ml("LinearRegressor", ["x"], ["y"], coefficients=weights(rng), intercepts=[offset],
              targets=1, post_transform="LOGISTIC")  # fmt: skip
    if trees:
        made = stump(rng, offset)
    verdict(tmp_path, network([made]), "yes when probability >= 0.5", "y", lambda found: found >= 0.5)


def stump(rng: np.random.Generator, offset: float) -> Any:
    feature = int(rng.integers(0, 3))
    return ml(
        "TreeEnsembleRegressor", ["x"], ["y"], n_targets=1, post_transform="LOGISTIC", base_values=[offset],
        nodes_treeids=[0, 0, 0], nodes_nodeids=[0, 1, 2], nodes_modes=["BRANCH_LEQ", "LEAF", "LEAF"],
        nodes_featureids=[feature, 0, 0], nodes_values=[0.5, 0.0, 0.0], nodes_truenodeids=[1, 0, 0],
        nodes_falsenodeids=[2, 0, 0], target_treeids=[0, 0], target_nodeids=[1, 2], target_ids=[0, 0],
        target_weights=[float(v) / 8 for v in rng.integers(-4, 5, 2)],
    )  # fmt: skip


@pytest.mark.parametrize("seed", range(8))
def test_branches_of_weight_zero(seed: int, tmp_path: Path) -> None:
    """A skip branch that was pruned away, all of it or some columns, before or behind a layer."""
    rng = np.random.default_rng(seed)
    skipped = np.where(rng.random(3) < (1.0 if seed % 2 else 0.5), 0, rng.integers(-2, 3, 3))
    behind = np.zeros((3, 1)) if seed % 4 == 3 else rng.integers(-2, 3, (3, 1))
    constants = {
        "w": np.float32(rng.integers(-2, 3, (3, 3))),
        "z": np.float32(skipped),
        "v": np.float32(behind),
        "u": np.float32(rng.integers(-2, 3, (3, 1)) if seed % 3 else np.zeros((3, 1))),
    }
    nodes = [
        node("MatMul", ["x", "w"], ["k"]),
        node("Relu", ["k"], ["h"]),
        node("Mul", ["x", "z"], ["x0"]),
        node("Add", ["h", "x0"], ["s"]),
        node("MatMul", ["s", "v"], ["o"]),
        node("Relu", ["o"], ["q"]),
        node("MatMul", ["h", "u"], ["r"]),
        node("Add", ["q", "r"], ["y"]),
    ]
    verdict(tmp_path, network(nodes, constants), "yes when score > 0", "y", lambda found: found > 0)


INT64 = TensorProto.INT64
TABLE = np.array([3, 5, 5])
MERGING: dict[str, list[Any]] = {
    "a table with equal entries": [
        ml("LabelEncoder", ["best"], ["label"], keys_int64s=[0, 1, 2], values_int64s=[3, 5, 5])
    ],
    "a table without some classes": [
        ml("LabelEncoder", ["best"], ["label"], keys_int64s=[0], values_int64s=[3], default_int64=5)
    ],
    "a cast to truth values": [
        node("Cast", ["best"], ["truth"], to=TensorProto.BOOL),
        node("Cast", ["truth"], ["number"], to=INT64),
        ml("LabelEncoder", ["number"], ["label"], keys_int64s=[0, 1], values_int64s=[3, 5]),
    ],
    "rows of a table": [ml("ArrayFeatureExtractor", ["classes", "best"], ["label"])],
    "positions of a table": [node("Gather", ["classes", "best"], ["label"])],
}


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("merging", MERGING)
def test_classes_that_become_one(merging: str, seed: int, tmp_path: Path) -> None:
    """Of three classes two get the same label, so people that they tell apart are treated alike."""
    rng = np.random.default_rng(seed)
    w = np.stack([weights(rng), [v * 2 for v in weights(rng)], weights(rng)[::-1]], axis=1)
    scored = [node("MatMul", ["x", "w"], ["k"]), node("ArgMax", ["k"], ["best"], axis=1)]
    model = network([*scored, *MERGING[merging]], {"w": np.float32(w), "classes": TABLE}, outputs={"label": INT64})
    model.opset_import[1].version = 2
    verdict(tmp_path, model, "yes when class = 5", "label", lambda found: found == 5)


ONLY_ONE: dict[str, tuple[list[Any], list[int]]] = {
    "a table": ([ml("LabelEncoder", ["best"], ["label"], keys_int64s=[0, 1], values_int64s=[5, 5])], [0, 1]),
    "a cast to bytes": (
        [node("Cast", ["best"], ["u"], to=TensorProto.UINT8), node("Cast", ["u"], ["label"], to=INT64)],
        [0, 256],
    ),
    "a cast to truth values": (
        [node("Cast", ["best"], ["u"], to=TensorProto.BOOL), node("Cast", ["u"], ["label"], to=INT64)],
        [2, 3],
    ),
}


@pytest.mark.parametrize("which", ONLY_ONE)
def test_a_file_that_always_gives_one_answer_is_refused(which: str, tmp_path: Path) -> None:
    nodes, labels = ONLY_ONE[which]
    rng = np.random.default_rng(1)
    classifier = ml("LinearClassifier", ["x"], ["best", "scores"], classlabels_ints=labels, coefficients=weights(rng),
                    intercepts=[-0.5])  # fmt: skip
    model = network([classifier, *nodes], outputs={"label": INT64})
    model.opset_import[1].version = 2
    alike, units = truth(saved(model, tmp_path), "label", lambda found: found == 5)
    assert alike == units
    read = SPEC.format(decision="yes when class = 5").replace("from ", "from onnx ")
    (tmp_path / "s.fair").write_text(read)
    with pytest.raises(DiagnosticError) as caught:
        fairdsl.check(tmp_path / "s.fair")
    (found,) = caught.value.diagnostics
    assert found.code == "E0504"
    assert found.primary is not None
    assert "so its answer never changes" in (found.primary.text or "")
