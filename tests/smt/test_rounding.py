"""What proofs say of the deployed file: never that a demand holds of it where running it shows otherwise."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fairdsl.backends.contract import Budget, Facts, Silent
from fairdsl.backends.enumerate import Enumerate
from fairdsl.backends.smt.procedure import Smt
from fairdsl.ir.declaration import Highest
from fairdsl.ir.domain import Attribute, Boolean, Domain, Integer
from fairdsl.ir.expr import TRUE, Relation
from fairdsl.ir.model import Model
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Pair, SameDecision, ScoreGap
from fairdsl.models import load_model
from fairdsl.models.running.runtime import Runtime
from fairdsl.verdict import Arithmetic, Holds, Unknown, Verdict, Violated
from tests.agreement.engines import KEPT, InProcess
from tests.builders import problem
from tests.drawing import examples
from tests.models import tree_files
from tests.models.model_files import SPAN, declaration, network, node, saved

FEW = settings(max_examples=examples(0.1), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
Rows = np.ndarray[Any, Any]

PEOPLE = Domain(
    name="Applicant",
    attributes=(
        Attribute(name="x", type=Integer(low=0, high=5)),
        Attribute(name="y", type=Integer(low=-2, high=2)),
        Attribute(name="sex", type=Boolean()),
    ),
    where=TRUE,
)


def everybody() -> Rows:
    axes = [np.arange(0, 6), np.arange(-2, 3), np.arange(0, 2)]
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3).astype(np.float64)


def layers_file(layers: Sequence[tuple[Rows, Rows]], folder: Path) -> str:
    nodes, constants, last = [], {}, "x"
    for place, (weight, bias) in enumerate(layers):
        constants |= {f"w{place}": weight.astype(np.float32), f"b{place}": bias.astype(np.float32)}
        made = "y" if place == len(layers) - 1 else f"z{place}"
        nodes.append(node("Gemm", [last, f"w{place}", f"b{place}"], [made]))
        if place < len(layers) - 1:
            nodes.append(node("Relu", [made], [f"h{place}"]))
            last = f"h{place}"
    return saved(network(nodes, constants), folder)


def loaded(path: str, decision: Any = None, outcomes: tuple[str, ...] = ("reject", "grant")) -> Model:
    return load_model(declaration(path, decision, outcomes=outcomes), PEOPLE)


def asked(model: Model, **changes: Any) -> Problem:
    return problem(PEOPLE, model, 2, **changes)


def answer(question: Problem, seconds: float = 20.0) -> Verdict:
    return Smt(lambda jobs: KEPT, InProcess).answer(question, Facts(), Budget.of(seconds), Silent())


def run_on_everybody(model: Model) -> tuple[Rows, Rows]:
    """Decisions and scores [x, y, sex] of the file itself, each individual alone."""
    assert model.deployed is not None
    runtime, people = Runtime(model.deployed), [tuple(Fraction(v) for v in row) for row in everybody().tolist()]
    return np.array(runtime.decide(people)).reshape(6, 5, 2), runtime.scores(people).reshape(6, 5, 2, -1)


def says_the_truth(question: Problem) -> Verdict:
    """The verdict, held against what the file does with everybody."""
    verdict = answer(question)
    decisions, scores = run_on_everybody(question.model)
    pair = question.question
    assert isinstance(pair, Pair)
    if isinstance(pair.demand, ScoreGap):
        gaps = np.abs(scores[:, :, 0, 0].astype(np.float64) - scores[:, :, 1, 0])
        alike = all(pair.demand.relation.compares(Fraction(gap), pair.demand.limit) for gap in gaps.ravel().tolist())
    else:
        alike = bool((decisions[:, :, 0] == decisions[:, :, 1]).all())
    counted = Enumerate().answer(question, Facts(), Budget.of(20.0), Silent())
    assert alike or not (is_deployed(verdict) or is_deployed(counted)), "proved of the file, and the file breaks it"
    if isinstance(pair.demand, SameDecision) and isinstance(counted, Holds):
        assert is_deployed(counted), "everybody was run"
    assert alike or not isinstance(verdict, Violated) or verdict.witnesses
    return verdict


def is_deployed(verdict: Verdict) -> bool:
    return isinstance(verdict, Holds) and verdict.evidence.basis.arithmetic is Arithmetic.DEPLOYED


def cancelling(big: float, small: float, sex: float = 0.0) -> list[tuple[Rows, Rows]]:
    """``(big x + small) - big x + sex * s``: the small number is lost in float32 where big x is large."""
    first = np.array([[big, big, 0], [0, 0, 0], [0, 0, 1.0]])
    last = np.array([[1.0], [-1.0], [sex]])
    return [(first, np.array([small, 0.0, 0.0])), (last, np.zeros(1))]


def test_what_float32_loses_is_never_proved_of_the_file(tmp_path: Path) -> None:
    """In exact arithmetic everybody is granted; in the file only those of one sex for whom nothing is lost."""
    model = loaded(layers_file(cancelling(1e9, 0.5, sex=-0.25), tmp_path))
    verdict = says_the_truth(asked(model))
    assert isinstance(verdict, Holds | Unknown)
    assert not is_deployed(verdict)
    decisions, _ = run_on_everybody(model)
    assert len(set(decisions.ravel().tolist())) == 2, "the test says nothing if the file grants everybody too"


def test_what_the_file_does_not_weigh_changes_nothing(tmp_path: Path) -> None:
    """Rounding decides who is granted, but not by sex."""
    model = loaded(layers_file(cancelling(1e9, 0.5), tmp_path))
    decisions, _ = run_on_everybody(model)
    assert len(set(decisions.ravel().tolist())) == 2
    verdict = says_the_truth(asked(model))
    assert isinstance(verdict, Holds)
    assert is_deployed(verdict)
    assert verdict.evidence.method == "it reads nothing in which the two may differ"


def test_what_cancels_in_exact_arithmetic_only_is_weighed(tmp_path: Path) -> None:
    """Sex enters twice, with opposite weights: nothing of it is left in exact arithmetic."""
    first = np.array([[0, 0], [0, 0], [3e8, 3e8]])
    layers = [(first, np.array([0.7, 0.0])), (np.array([[1.0], [-1.0]]), np.array([-0.3]))]
    model = loaded(layers_file(layers, tmp_path))
    verdict = says_the_truth(asked(model))
    assert not is_deployed(verdict)
    assert isinstance(verdict, Holds | Unknown)


def test_a_margin_is_told(tmp_path: Path) -> None:
    """Proved in exact arithmetic alone, with how much of the rounding it would bear."""
    layers = cancelling(1.5e7, 0.5, sex=-0.25)
    verdict = says_the_truth(asked(loaded(layers_file(layers, tmp_path))))
    assert isinstance(verdict, Holds)
    basis = verdict.evidence.basis
    assert basis.arithmetic is Arithmetic.EXACT
    assert basis.margin is not None
    assert Fraction(1, 100) < basis.margin <= Fraction(1, 4)


@st.composite
def networks(draw: st.DrawFn) -> list[tuple[Rows, Rows]]:
    """Small networks with ties: few distinct weights, some huge, and sex with little weight or none."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    big = 10.0 ** draw(st.sampled_from([0, 0, 3, 7, 9]))
    width = draw(st.integers(1, 3))
    first = rng.integers(-2, 3, (3, width)) * big
    first[2] = rng.choice([0, 0.25, 1e-6, big], width)
    bias = rng.choice([0, 0.5, 0.1, big], width)
    last = rng.choice([1.0, -1.0, 0.1, 3.0], (width, 1))
    if width > 1 and draw(st.booleans()):
        first[:, 1], last[1] = first[:, 0], -last[0]
    return [(first, bias), (last, rng.choice([0, 0.5, 1e-7, -0.3], 1))]


@FEW
@given(layers=networks())
def test_networks(tmp_path: Path, layers: Any) -> None:
    says_the_truth(asked(loaded(layers_file(layers, tmp_path))))


@FEW
@given(layers=networks(), limit=st.sampled_from(["0", "1/4", "0.1", "1", "1000"]))
def test_gaps_of_scores(tmp_path: Path, layers: Any, limit: str) -> None:
    demand = ScoreGap(relation=Relation.LE, limit=Fraction(limit))
    says_the_truth(asked(loaded(layers_file(layers, tmp_path)), demand=demand))


@FEW
@given(layers=networks(), seed=st.integers(0, 10**6))
def test_three_outcomes(tmp_path: Path, layers: Any, seed: int) -> None:
    rng = np.random.default_rng(seed)
    (first, bias), (last, _) = layers
    rows = np.concatenate([last, rng.choice([1.0, 0.1, -0.5], (len(last), 2))], axis=1)
    path = layers_file([(first, bias), (rows, rng.choice([0, 0.5, 1e-7], 3))], tmp_path)
    says_the_truth(asked(loaded(path, Highest(span=SPAN), ("low", "middle", "high"))))


@FEW
@given(forest=tree_files.forests(columns=(0,), weights=st.sampled_from([0.5, 0.1, -0.1, 1 / 3, -0.5, 1e-9])))
def test_trees(tmp_path: Path, forest: Any) -> None:
    model = tree_files.tree_file([tree_files.regressor(forest)], outputs=("y",))
    verdict = says_the_truth(asked(loaded(saved(model, tmp_path))))
    if len(forest) == 1 and isinstance(verdict, Holds):
        assert is_deployed(verdict), "a single tree rounds nothing"


@pytest.mark.parametrize("seconds", [0.01, 0.5])
def test_deadlines_are_kept(tmp_path: Path, seconds: float) -> None:
    import time

    question = asked(loaded(layers_file(cancelling(1e9, 0.5, sex=-0.25), tmp_path)))
    start = time.monotonic()
    answer(question, seconds)
    assert time.monotonic() - start < seconds + 5
