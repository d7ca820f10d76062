"""Traps 2, 4 and 5 again, where the clauses of a pair meet: relaxations, confidence, several scores, probabilities."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

import fairdsl
from fairdsl.backends.contract import Procedure
from fairdsl.backends.intervals import Intervals
from fairdsl.ir.expr import Relation, Who
from fairdsl.ir.model import ByHighest, Logits
from fairdsl.ir.question import Relaxation, Sure
from fairdsl.verdict import Judgement, Violated
from tests.agreement.engines import ENGINES, ask, in_target
from tests.agreement.test_traps import settled
from tests.builders import BOOLEAN, domain, integer, layer, linear, model, problem, score

engines = pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.name)

TARGETED = """
domain Applicant {
  sex : category { female, male }
  age : integer 18 .. 60
  loan : integer 0 .. 10
}
protected sex
model approve : Applicant -> { reject, grant }
  score = loan + age - 40
  grant when score > 0
property relaxed { compare a, b : Applicant differ in sex within 2 in loan among age >= 30 require same decision }
property targeted { compare a, b : Applicant differ in sex among age >= 30 require same decision }
property plain { compare a, b : Applicant differ in sex require same decision }
"""


@pytest.mark.parametrize("backend", ["enumerate", "smt", "intervals"])
def test_a_relaxation_is_in_force_where_it_stands_and_nowhere_else(backend: str, tmp_path: Path) -> None:
    """Trap 2: a "relaxed" query had no relaxation, and a leftover one stayed on in the "targeted" query."""
    path = tmp_path / "spec.fair"
    path.write_text(TARGETED)
    relaxed, targeted, plain = fairdsl.check(path, backend=backend, jobs=1).properties
    judged = [checked.judgement for checked in (relaxed, targeted, plain)]
    assert judged == [Judgement.VIOLATED, Judgement.HOLDS, Judgement.HOLDS]
    assert all(0 < abs(pair.a["loan"] - pair.b["loan"]) <= 2 for pair in relaxed.witnesses)
    assert ("within 2 in loan" in relaxed.clauses, "among (both individuals): age >= 30" in relaxed.clauses) == (
        True,
        True,
    )
    assert ("within 2 in loan" in targeted.clauses, "among (both individuals): age >= 30" in targeted.clauses) == (
        False,
        True,
    )
    assert not [clause for clause in plain.clauses if clause.startswith(("within", "among"))]


@engines
def test_a_confidence_that_is_asked_is_in_force(engine: Procedure) -> None:
    """Trap 2: what stands in the query and what is asked must be one thing; who does not treat a clause refuses."""
    people = domain(sex=BOOLEAN, age=integer(0, 3))
    logit = replace(score([1, 0], "-1/2"), logits=Logits())
    sure = Sure(who=Who.A, relation=Relation.GE, level=Fraction(9, 10))
    free, asked = problem(people, logit, 0), problem(people, logit, 0, sure=(sure,))
    assert isinstance(ask(engine, free), Violated)
    verdict = ask(engine, asked)
    assert verdict is None if isinstance(engine, Intervals) else settled(engine, verdict)


@engines
def test_the_freely_relaxed_partner_stays_in_domain_and_target(engine: Procedure) -> None:
    """Trap 4: the relaxed partner could leave the domain (negative duration)."""
    people = domain(linear({0: 1, 1: 1}, "<=", 6), duration=integer(0, 9), credits=integer(0, 3), sex=BOOLEAN)
    # Refused from duration 7 on, where nobody may be; then within reach of the target's edge, where somebody is.
    for limit, found in ((7, False), (6, True)):
        asked = problem(
            people,
            score([-1, 0, 0], limit, ">"),
            2,
            relax=(Relaxation(attribute=0, by=None), Relaxation(attribute=1, by=Fraction(1))),
            target=linear({1: 1}, "<=", 2),
        )
        verdict = ask(engine, asked)
        assert isinstance(verdict, Violated) if found else settled(engine, verdict)
        for pair in getattr(verdict, "witnesses", ()):
            assert in_target(asked, pair.a.point)
            assert in_target(asked, pair.b.point)


@engines
def test_equal_scores_are_decided_by_the_order_of_the_outcomes(engine: Procedure) -> None:
    """Trap 5: a score of exactly 0 against a positive one was no violation. Here two scores tie."""
    people = domain(sex=BOOLEAN, age=integer(0, 2))
    for row, found in (([1, 0], True), ([-1, 0], False)):
        # The third score is `sex` or its negative, the first is 0: a tie goes to the first, a lead to the third.
        made = model(layer([[0, 0], [0, 0], row], [0, -1, 0], 1), attributes=2)
        tied = replace(made, outcomes=("low", "middle", "high"), rule=ByHighest(), favourable=None)
        verdict = ask(engine, problem(people, tied, 0))
        assert isinstance(verdict, Violated) if found else settled(engine, verdict)


@pytest.mark.parametrize("backend", ["enumerate", "smt", "intervals"])
@pytest.mark.parametrize(("relation", "violated"), [(">", True), (">=", False)])
def test_a_probability_of_exactly_one_half(backend: str, relation: str, violated: bool, tmp_path: Path) -> None:
    """Trap 5: a score of exactly 0 against a positive one was no violation. One half is the score 0, exactly."""
    path = tmp_path / "spec.fair"
    path.write_text(
        "domain People { sex : boolean age : integer 0 .. 3 }\nprotected sex\n"
        f"model m : People -> {{ no, yes }} score = 2 * (sex = yes) yes when probability {relation} 50%\n"
        "property p { compare a, b : People differ in sex require same decision }\n"
    )
    (checked,) = fairdsl.check(path, backend=backend, jobs=1).properties
    assert checked.judgement is (Judgement.VIOLATED if violated else Judgement.HOLDS)
