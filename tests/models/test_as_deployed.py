"""Many individuals as a file decides them alone: only those with scores near the threshold are run again."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from model_files import SPAN, declaration, domain, network, node, saved

from fairdsl.ir.declaration import WhenClass, WhenScore
from fairdsl.ir.domain import Integer
from fairdsl.ir.expr import Relation
from fairdsl.ir.feature import AttributeInput, Form
from fairdsl.models import load_model
from fairdsl.models.readout import decisions_of
from fairdsl.models.running.as_deployed import as_deployed
from fairdsl.models.running.runtime import Runtime
from fairdsl.numerics.exact import UNDECIDED

WIDE = 48


def nodes(activation: str) -> list[object]:
    return [
        node("Gemm", ["x", "w", "b"], ["z"]),
        node(activation, ["z"], ["h"]),
        node("Gemm", ["h", "v", "c"], ["y"]),
    ]


def people(rng: np.random.Generator, count: int) -> np.ndarray:
    return np.unique(rng.integers(0, 100_000, (count, 3)).astype(np.float64), axis=0)


@pytest.mark.parametrize(("activation", "computed"), [("Relu", False), ("Tanh", False), ("Relu", True)])
def test_everybody_is_decided_as_alone(
    tmp_path: Path, activation: str, computed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(len(activation) + computed)
    scale = 1.0 if activation == "Relu" else 1e-5
    constants = {
        "w": (rng.normal(size=(3, WIDE)) * scale).astype(np.float32),
        "b": rng.normal(size=WIDE).astype(np.float32),
        "v": rng.normal(size=(WIDE, 1)).astype(np.float32),
        "c": np.zeros(1, dtype=np.float32),
    }
    path = saved(network(nodes(activation), constants), tmp_path)
    reads = None
    if computed:  # a feature in thirds, which float64 and float32 round
        thirds = Form(
            terms=((AttributeInput(0), Fraction(1, 3)), (AttributeInput(1), Fraction(1, 3))), constant=Fraction(0)
        )
        reads = (thirds, Form.of(AttributeInput(1)), Form.of(AttributeInput(2)))
    group = domain("age", "hours", "debt", kind=Integer(low=0, high=100_000))
    points = people(rng, 2000)
    # The threshold is the very score of somebody, so that rounding decides about those next to it.
    first = load_model(declaration(path, reads=reads), group)
    assert first.deployed is not None
    score = float(np.median(Runtime(first.deployed).scores_array(points)))
    clause = WhenScore(outcome=1, relation=Relation.GT, threshold=Fraction(score), span=SPAN)
    model = load_model(declaration(path, clause, reads=reads), group)
    assert model.deployed is not None
    runtime = Runtime(model.deployed)
    alone = decisions_of(model.deployed, runtime.answers(points, alone=True))
    again: list[int] = []
    answers = Runtime.answers

    def counted(self: Runtime, points: np.ndarray, *, alone: bool = False) -> np.ndarray:
        again.append(len(points) if alone else 0)
        return answers(self, points, alone=alone)

    monkeypatch.setattr(Runtime, "answers", counted)
    found = as_deployed(model)(points)
    assert ((found == alone) | (found == UNDECIDED)).all()
    assert (found == UNDECIDED).sum() <= 20
    if not computed:
        assert 0 < max(again) < len(points) / 2


def test_many_of_whom_nobody_is_near_the_threshold(tmp_path: Path) -> None:
    """Nobody is run alone then, and the difference of two columns is read off nobody's answers."""
    constants = {"w": np.array([[1.0, -1.0]] * 3, dtype=np.float32)}
    path = saved(network([node("Gemm", ["x", "w"], ["y"])], constants), tmp_path)
    group = domain("age", "hours", "debt", kind=Integer(low=1, high=100_000))
    model = load_model(declaration(path, WhenClass.of(1, 1, SPAN)), group)
    assert model.deployed is not None
    points = people(np.random.default_rng(5), 2000) + 1
    assert (as_deployed(model)(points) == np.zeros(len(points))).all()
    runtime = Runtime(model.deployed)
    nobody = points[:0]
    assert (runtime.decide_array(nobody).size, runtime.decide([]), len(runtime.scores_array(nobody))) == (0, [], 0)
