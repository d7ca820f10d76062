"""Carrying out plans with canned stages: what one stage found is never forgotten by the next."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from fairdsl.backends.contract import Budget, Capability, Facts, Observer, Offer, Silent
from fairdsl.ir.problem import Problem
from fairdsl.plan import Plan, Stage, execute
from fairdsl.verdict import Evidence, Holds, Reason, Replay, Unknown, Verdict, Witness
from tests.builders import BOOLEAN, domain, problem, score

NOTHING = Capability(questions=(), quantities=(), models=())
EVIDENCE = Evidence(backend="canned", method="by heart")
ASKED = problem(domain(sex=BOOLEAN), score([1]), 0)
ONLY_IN_FLOAT32 = Witness(
    a=(Fraction(0),),
    b=(Fraction(1),),
    replay=Replay(
        exact=False,
        float32=True,
        scores_a=(Fraction(0),),
        scores_b=(Fraction(0),),
        decision_a=0,
        decision_b=0,
        float32_decisions=(0, 1),
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


def test_running_out_of_memory_is_a_reason_and_no_crash() -> None:
    verdict = run((Canned(MemoryError), True))
    assert isinstance(verdict, Unknown)
    assert verdict.reason is Reason.MEMORY_OUT
