"""Carrying out plans with canned stages: what one stage found is never forgotten by the next."""

from __future__ import annotations

import time
from dataclasses import dataclass
from fractions import Fraction

from fairdsl.backends.contract import Budget, Capability, Facts, Observer, Offer, Silent
from fairdsl.ir.problem import Problem
from fairdsl.plan import Plan, Stage, execute
from fairdsl.plan.anybody import of_somebody
from fairdsl.verdict import Evidence, Holds, Individual, Reason, Replay, Unknown, Vacuous, Verdict, Witness
from tests.builders import BOOLEAN, domain, member, problem, score

NOTHING = Capability(questions=(), quantities=(), models=())
EVIDENCE = Evidence(backend="canned", method="by heart")
ASKED = problem(domain(sex=BOOLEAN), score([1]), 0)
ONLY_IN_FLOAT32 = Witness(
    a=Individual.of(ASKED.domain, (Fraction(0),)),
    b=Individual.of(ASKED.domain, (Fraction(1),)),
    replay=Replay(
        exact=False,
        float32=True,
        scores_a=(Fraction(0),),
        scores_b=(Fraction(0),),
        decision_a="no",
        decision_b="no",
        float32_decisions=("no", "yes"),
    ),
)


@dataclass
class Canned:
    verdict: Verdict | type[BaseException]
    gaps: tuple[Witness, ...] = ()
    name: str = "canned"
    about: Capability = NOTHING

    def offer(self, problem: Problem) -> Offer:
        return Offer(method="", decides=True)

    def answer(self, problem: Problem, facts: Facts, budget: Budget, observer: Observer) -> Verdict:
        facts.gaps.extend(self.gaps)
        if isinstance(self.verdict, type):
            raise self.verdict
        return self.verdict


def run(*stages: tuple[Canned, bool]) -> Verdict:
    plan = Plan(tuple(Stage(procedure, Offer(method="", decides=decides)) for procedure, decides in stages), ())
    return execute(plan, ASKED, Budget.of(1), Silent())


NOTHING_FOUND = Unknown(reason=Reason.INCOMPLETE, detail="", evidence=EVIDENCE)


def test_a_proof_after_a_search_that_found_nothing() -> None:
    assert run((Canned(NOTHING_FOUND), False), (Canned(Holds(evidence=EVIDENCE)), True)) == Holds(evidence=EVIDENCE)


def test_a_proof_after_a_pair_that_breaks_the_deployed_file_is_a_numeric_gap() -> None:
    verdict = run((Canned(NOTHING_FOUND, (ONLY_IN_FLOAT32,)), False), (Canned(Holds(evidence=EVIDENCE)), True))
    assert isinstance(verdict, Unknown)
    assert verdict.reason is Reason.NUMERIC_GAP
    assert verdict.witnesses == (ONLY_IN_FLOAT32,)


@dataclass
class Endless(Canned):
    """Knows something, or nothing, and then never looks at the clock."""

    def answer(self, problem: Problem, facts: Facts, budget: Budget, observer: Observer) -> Verdict:
        facts.so_far = None if isinstance(self.verdict, type) else self.verdict
        end = time.monotonic() + 20
        while time.monotonic() < end:
            pass
        raise AssertionError("nobody ended it")


def within(seconds: float, *procedures: Canned) -> Verdict:
    plan = Plan(tuple(Stage(procedure, Offer(method="", decides=True)) for procedure in procedures), ())
    return execute(plan, ASKED, Budget.of(seconds), Silent())


def test_a_stage_that_never_ends_is_ended_by_the_clock() -> None:
    began = time.monotonic()
    verdict = within(0.05, Endless(MemoryError))
    assert time.monotonic() - began < 10
    assert isinstance(verdict, Unknown)
    assert verdict.reason is Reason.TIMEOUT


def test_what_it_knew_by_then_is_its_verdict() -> None:
    assert within(0.05, Endless(Holds(evidence=EVIDENCE))) == Holds(evidence=EVIDENCE)


def test_running_out_of_memory_is_a_reason_and_no_crash() -> None:
    verdict = run((Canned(MemoryError), True))
    assert isinstance(verdict, Unknown)
    assert verdict.reason is Reason.MEMORY_OUT


def test_a_proof_is_no_verdict_where_nobody_found_out_whether_anybody_is_compared() -> None:
    """Neither that it holds nor that it is about nobody, however short the time was."""
    proof = Holds(evidence=EVIDENCE)
    verdict = of_somebody(proof, ASKED, Budget.of(1), nobody=lambda problem, budget: None)
    assert isinstance(verdict, Unknown)
    assert verdict.reason is Reason.INCOMPLETE
    assert of_somebody(proof, ASKED, Budget.of(1), nobody=lambda problem, budget: True) == Vacuous(evidence=EVIDENCE)
    assert of_somebody(NOTHING_FOUND, ASKED, Budget.of(1), nobody=lambda problem, budget: True) == NOTHING_FOUND


def test_engines_need_not_look_for_somebody() -> None:
    """Of each engine's proof it is asked whether it is about anybody, also of one that knows of no such question."""
    plan = Plan((Stage(Canned(Holds(evidence=EVIDENCE)), Offer(method="", decides=True)),), ())
    both_male = problem(domain(sex=BOOLEAN), score([1]), 0, target=member(0, 1))
    assert execute(plan, both_male, Budget.of(5), Silent()) == Vacuous(evidence=EVIDENCE)
