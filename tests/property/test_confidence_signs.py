"""Surer than one half on both sides is: scores of strictly opposite signs, a score of exactly 0 left out.

So asks Fairify, whose violation is one score above 0 and the other below. With `probability > 50%` or `>= 50%` and
`when confidence(a) > 50%`, `when confidence(b) > 50%`, that question can be written, and it is not the plain one: there
a score of exactly 0 is decided like any other (trap 5).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fairdsl
from fairdsl.backends.contract import Budget, Facts, Silent
from fairdsl.backends.smt.cases import pair_of
from fairdsl.backends.smt.solvers.chain import Limits, Status
from fairdsl.backends.smt.solvers.worker import Task, decided
from fairdsl.elaborate import elaborate
from fairdsl.ir.domain import Point
from fairdsl.ir.expr import Relation, Who
from fairdsl.ir.model import ByThreshold, Logits
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Pair, Quantity, SameDecision, Sure
from fairdsl.semantics import front_end
from fairdsl.verdict import Holds, Vacuous, Violated
from tests.agreement.engines import ENGINES, about_somebody, ask
from tests.drawing import examples
from tests.models.model_files import network, node, saved
from tests.oracle import scores, truth
from tests.smt.partition_tools import asked
from tests.strategies import problems

BOTH = tuple(Sure(who=who, relation=Relation.GT, level=Fraction(1, 2)) for who in (Who.A, Who.B))
ENUMERATE, SMT = (next(engine for engine in ENGINES if engine.name == name) for name in ("enumerate", "smt"))


@st.composite
def of_one_half(draw: st.DrawFn) -> Problem:
    """A question about decisions by one logit that is compared with 0, with pairs in which both are surer than 1/2."""
    drawn = draw(problems(Quantity.HOLDS))
    model, question = drawn.model, drawn.question
    assert isinstance(question, Pair)
    last = model.layers[-1]
    layers = (*model.layers[:-1], replace(last, weight=_first(last.weight), bias=_first(last.bias), slope=_one(last)))
    relation = draw(st.sampled_from([Relation.GT, Relation.GE]))
    rule = ByThreshold(relation=relation, low=Fraction(0), high=Fraction(0), granted=1, otherwise=0)
    of_two = replace(model, layers=layers, rule=rule, logits=Logits(), outcomes=("no", "yes"), favourable=None)
    return replace(drawn, model=of_two, question=replace(question, demand=SameDecision(), sure=BOTH))


def _first(array):
    """Its first row."""
    if array.is_float:
        return type(array).from_floats(array.floats[:1])
    return type(array).from_fractions(array.exact[:1])


def _one(layer):
    return type(layer.slope).from_floats(np.ones(1))


def opposite(problem: Problem) -> list[tuple[Point, Point]]:
    """The pairs whose scores have strictly opposite signs, among those that count without any confidence."""
    assert isinstance(problem.question, Pair)
    plain = replace(problem, question=replace(problem.question, sure=()))
    found = truth(plain).violations
    return [(a, b) for a, b in found if scores(problem.model, a)[0] * scores(problem.model, b)[0] < 0]


def by_programs(problem: Problem) -> object:
    """The verdict by linear and mixed-integer programs alone; None where they leave something open."""
    said = decided(problem, Task(pair_of(problem), Limits(seconds=20.0, seed=0, programs_only=True)))
    return {Status.HOLDS: Holds, Status.VIOLATED: Violated, Status.UNKNOWN: None}[said.status]


ANSWERS: dict[str, Callable[[Problem], object]] = {
    "enumerate": lambda problem: type(ask(ENUMERATE, problem)),
    "smt": lambda problem: type(SMT.answer(problem, Facts(), Budget.of(20.0), Silent())),
    "programs": by_programs,
    "partitions": lambda problem: type(asked(problem, size=1)),
    "adaptive partitions": lambda problem: type(asked(problem, size=None)),
}


def test_strictly_opposite_signs_and_nothing_else() -> None:
    counted: dict[str, Counter[object]] = {name: Counter() for name in ANSWERS}

    @settings(max_examples=examples(0.6))
    @given(of_one_half())
    def agree(problem: Problem) -> None:
        expected = Violated if opposite(problem) else Holds
        for name, answered in ANSWERS.items():
            answer = answered(problem)
            if answer is Vacuous:
                answer = Holds
            assert (name, answer) in {(name, expected), ("programs", None)}
            counted[name][answer] += 1

    agree()
    assert {name for name, answers in counted.items() if not (answers[Holds] and answers[Violated])} == set()


@pytest.mark.parametrize("relation", [">", ">="])
@pytest.mark.parametrize("end", ["y", "s"], ids=["sigmoid", "raw"])
def test_a_score_of_zero_counts_in_the_plain_question_only(end: str, relation: str, tmp_path: Path) -> None:
    """Trap 5: score = sex or score = -sex, so the others' score is exactly 0 and no two signs are opposite."""
    path = tmp_path / "spec.fair"
    path.write_text("domain People { sex : boolean age : integer 0 .. 5 }\nprotected sex\n")
    expected = {}
    for name, weight, plainly in (("up", 1.0, relation == ">"), ("down", -1.0, relation == ">=")):
        nodes = [node("Gemm", ["x", "w", "b"], ["s"]), node("Sigmoid", ["s"], ["y"])]
        weights = {"w": [[weight], [0.0]], "b": [0.0]}
        saved(network(nodes, weights, inputs={"x": ["N", 2]}, outputs=(end,)), tmp_path, f"{name}.onnx")
        with path.open("a") as file:
            file.write(
                f'model {name} : People -> {{ no, yes }} from "{name}.onnx" yes when probability {relation} 0.5\n'
                f"property {name}_plain {{ model {name} compare a, b : People differ in sex require same decision }}\n"
                f"property {name}_sure {{ model {name} compare a, b : People differ in sex\n"
                "  when confidence(a) > 50% when confidence(b) > 50% require same decision }\n"
            )
        expected |= {f"{name}_plain": "violated" if plainly else "holds", f"{name}_sure": "vacuous"}
    # Of nobody is the model surer than one half.
    checked = fairdsl.check(path, jobs=1, backend="enumerate").properties
    assert {each.name: each.judgement.value for each in checked} == expected
    kinds = {"violated": Violated, "holds": Holds, "vacuous": Vacuous}
    for demand in elaborate(front_end(str(path))[0], {}).demands:
        problem = demand.problem
        for verdict in (
            SMT.answer(problem, Facts(), Budget.of(20.0), Silent()),
            asked(problem, size=6),
        ):
            assert isinstance(about_somebody(problem, verdict), kinds[expected[problem.name]]), problem.name
