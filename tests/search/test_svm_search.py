"""Support vector machines searched and enumerated, against brute force; and which backends refuse them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import fairdsl
from fairdsl.backends.enumerate import Enumerate
from fairdsl.backends.search import Search
from fairdsl.backends.search.evaluators import evaluator_of
from fairdsl.backends.search.falsify import Ending
from fairdsl.backends.search.judge import DeployedFile, Judge, Status
from fairdsl.cli.app import cli
from fairdsl.ir.declaration import WhenClass
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Quantity
from fairdsl.models import load_model
from fairdsl.models.running.runtime import Runtime
from fairdsl.numerics.evaluate import BatchEvaluator
from fairdsl.plan.gate import without_layers
from fairdsl.plan.negotiate import Plan, negotiate
from fairdsl.verdict import Refused
from tests.agreement.engines import ask, disagreement
from tests.builders import BOOLEAN, domain, integer, problem
from tests.drawing import examples
from tests.kernel_strategies import kernel_problems
from tests.models.model_files import SPAN, declaration, saved
from tests.models.svm_files import classifier_file
from tests.oracle import truth
from tests.search.tools import found_by, mistake, pairs_of, unit_of, units_of

PEOPLE = domain(sex=BOOLEAN, age=integer(0, 12), income=integer(0, 20))


def machine_problem(folder: Path, kernel: str = "RBF", quantity: Quantity = Quantity.HOLDS) -> Problem:
    """``differ in sex`` for a classifier with random vectors, far apart in the first feature."""
    rng = np.random.default_rng(3)
    vectors = rng.integers(0, (2, 13, 21), (40, 3)).astype(float)
    coefficients = np.where(vectors[:, 0] > 0, 1.0, -1.0) * rng.random(40)
    vectors[:, 0] *= 3
    constant, clause = 0.1, WhenClass.of(1, 1, SPAN)
    if kernel == "POLY":
        constant = _half(vectors, coefficients)
    made = classifier_file(vectors, coefficients, constant, kernel_type=kernel)
    return problem(PEOPLE, load_model(declaration(saved(made, folder), clause), PEOPLE), 0, quantity=quantity)


def _half(vectors: np.ndarray, coefficients: np.ndarray) -> float:
    """The constant with which the polynomial machine decides about half of the people either way."""
    people = np.array([[s, a, i] for s in (0, 1) for a in range(13) for i in range(21)], dtype=float)
    return -float(np.median((0.03 * people @ vectors.T) ** 3 @ coefficients))


@settings(max_examples=examples(0.4))
@given(kernel_problems(), st.integers(0, 3))
def test_a_saturated_search_finds_every_unit(asked: Problem, seed: int) -> None:
    found, known = found_by("portfolio", asked, seed=seed), truth(asked)
    assert mistake(asked, found, known) is None
    assert found.ending in (Ending.EXHAUSTED, Ending.SATURATED)
    assert {unit_of(asked.question, a, b) for a, b in pairs_of(found)} == units_of(asked, known)


@pytest.mark.parametrize("engine", [Enumerate(), Search()], ids=lambda engine: engine.name)
def test_the_engines_agree_with_the_definition(engine: Enumerate | Search) -> None:
    @settings(max_examples=examples(0.25))
    @given(kernel_problems())
    def agree(drawn: Problem) -> None:
        verdict = ask(engine, drawn, 20.0 if engine.name == "enumerate" else 0.5)
        assert verdict is not None
        assert disagreement(drawn, verdict, truth(drawn)) is None

    agree()


@pytest.mark.parametrize("kernel", ["RBF", "POLY", "SIGMOID"])
def test_enumeration_and_search_count_the_same_units_of_a_file(tmp_path: Path, kernel: str) -> None:
    asked = machine_problem(tmp_path, kernel)
    assert asked.model.deployed is not None
    points = np.array([[s, a, i] for s in (0, 1) for a in range(13) for i in range(21)], dtype=float)
    decided = Runtime(asked.model.deployed).decide_array(points).reshape(2, 13, 21)
    apart = {(float(a), float(i)) for a, i in zip(*np.nonzero(decided[0] != decided[1]), strict=True)}
    found = found_by("portfolio", asked)
    assert found.ending is Ending.EXHAUSTED
    assert {tuple(row[1:]) for row in found.pairs.a.tolist()} == apart
    assert 0 < len(apart) < 273
    assert ask(Enumerate(), asked) is not None


def judged(asked: Problem) -> tuple[Judge, np.ndarray, np.ndarray]:
    a = np.array([[0.0, age, income] for age in range(13) for income in range(21)])
    b = a.copy()
    b[:, 0] = 1
    return Judge(asked, asked.question, evaluator_of(asked.model)), a, b


def test_the_file_runs_on_a_few_only(tmp_path: Path) -> None:
    """On the first 64 whom its rounding cannot move, and on those whom it can."""
    asked = machine_problem(tmp_path)
    assert asked.model.deployed is not None
    evaluator = BatchEvaluator(asked.model)
    ran: list[int] = []
    runtime = Runtime(asked.model.deployed)

    def run(points: np.ndarray) -> np.ndarray:
        ran.append(len(points))
        return runtime.decide_array(points)

    file = DeployedFile(run, evaluator)
    _, a, b = judged(asked)
    both = np.concatenate([a, b])
    expected = runtime.decide_array(both)
    for _ in range(3):
        assert file.decisions(both, evaluator.settled(both)).tolist() == expected.tolist()
    assert file.ran == sum(ran) == 64
    assert file.bounded == 3 * len(both) - 64


def test_a_file_that_computes_otherwise_is_run_on_everybody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that decides one of the first otherwise, against its bound, is believed from then on."""
    asked = machine_problem(tmp_path)
    whole, a, b = judged(asked)
    known = whole.replay(a, b)
    violating = np.flatnonzero(known.status == Status.FOUND)
    assert len(violating) > 20

    class Otherwise:
        """Refuses everybody."""

        def decide_array(self, points: np.ndarray) -> np.ndarray:
            return np.zeros(len(points), dtype=np.int64)

    monkeypatch.setattr("fairdsl.backends.search.judge.runtime_of", lambda _: Otherwise())
    again = Judge(asked, asked.question, evaluator_of(asked.model)).replay(a, b)
    assert (again.status[violating] == Status.GAP).all()
    assert not (again.status == Status.FOUND).any()


def test_other_backends_refuse_with_the_kernel(tmp_path: Path) -> None:
    why = "the model is a support vector machine with the kernel `rbf`, which it cannot bound"
    plan = negotiate(machine_problem(tmp_path))
    assert isinstance(plan, Plan)
    assert [stage.procedure.name for stage in plan.stages] == ["search", "enumerate"]
    refused = dict(plan.passed_over)
    assert {name for name, reason in refused.items() if reason.startswith(why)} >= {"smt", "intervals", "leaf_boxes"}
    refusal = without_layers(machine_problem(tmp_path).model)
    assert refusal is not None
    assert refusal.why == why
    forced = negotiate(machine_problem(tmp_path), backend="smt")
    assert isinstance(forced, Refused)


def test_every_backend_answers_the_linear_kernel_as_a_linear_model(tmp_path: Path) -> None:
    plan = negotiate(machine_problem(tmp_path, "LINEAR"), backend="smt")
    assert isinstance(plan, Plan)


def test_the_report_says_on_how_many_the_file_was_run(tmp_path: Path) -> None:
    machine_problem(tmp_path)
    (file,) = tmp_path.glob("*.onnx")
    spec = tmp_path / "machine.fair"
    spec.write_text(
        f"""domain Person {{
  sex    : boolean
  age    : integer 0 .. 12
  income : integer 0 .. 20
  letter : integer 1 .. 26
}}

protected sex

model m : Person -> {{ no, yes }}
  from "{file.name}"
  reads sex, age, income
  yes when class = 1

property p {{
  compare a, b : Person
  differ  in sex
  require same decision
}}
""",
        encoding="utf-8",
    )
    found = fairdsl.search(spec, count=150)
    assert (found.count, found.ran >= 64, found.bounded > 0) == (150, True, True)
    told = CliRunner().invoke(cli, ["search", str(spec), "--count", "150"]).output
    assert f"was run on {found.ran:,} of {found.ran + found.bounded:,} individuals" in " ".join(told.split())
