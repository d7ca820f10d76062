"""Engines that answer questions about pairs, and what agreeing with the oracle means for them."""

from __future__ import annotations

import atexit
from fractions import Fraction
from functools import partial

from fairdsl.backends.contract import Budget, Facts, Procedure, Refusal, Silent
from fairdsl.backends.encoding import Answer
from fairdsl.backends.enumerate import Enumerate
from fairdsl.backends.intervals import Intervals
from fairdsl.backends.search import Search
from fairdsl.backends.smt import Smt, compares_nobody
from fairdsl.backends.smt.engine import Workers, answer_of_z3
from fairdsl.ir.expr import Who
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Quantity
from fairdsl.plan.anybody import of_somebody
from fairdsl.verdict import Fidelity, Holds, Refused, Shares, Unknown, Vacuous, Value, Verdict, Violated
from tests.oracle import Truth, true_for
from tests.solvers import InProcess


class KeptWorkers(Workers):
    """A pool that stays alive between problems: starting z3 takes longer than any question here."""

    def close(self) -> None:
        """Stay."""


KEPT = KeptWorkers(1)
atexit.register(Workers.close, KEPT)


def answer_of_kept(text: str, budget: Budget) -> Answer:
    """What z3 answers to a script, asked in the process that stays alive."""
    return answer_of_z3(text, budget, KEPT)


ENGINES: list[Procedure] = [Enumerate(), Search(), Smt(lambda jobs: KEPT, InProcess), Intervals()]
#: Search alone never tells when to stop: it takes the time that it is given. So do paths of relaxed questions that come
#: too close to a boundary to be told from it.
SECONDS = {"search": 0.1, "intervals": 0.5}


def ask(engine: Procedure, problem: Problem, seconds: float = 20.0, facts: Facts | None = None) -> Verdict | None:
    """The engine's verdict; None when it refuses."""
    if isinstance(engine.offer(problem), Refusal):
        return None
    facts = Facts() if facts is None else facts
    verdict = engine.answer(problem, facts, Budget.of(seconds), Silent())
    # As plans do: whoever saw nobody who is compared is not believed to have proved it of somebody.
    return verdict if facts.somebody else about_somebody(problem, verdict)


def about_somebody(problem: Problem, verdict: Verdict) -> Verdict:
    """A verdict as whoever takes it home gives it on: of a proof it is asked whether it is about anybody."""
    return of_somebody(verdict, problem, Budget.of(20.0), partial(compares_nobody, pool=KEPT))


def disagreement(problem: Problem, verdict: Verdict, truth: Truth) -> str | None:
    """What is wrong with the verdict, if anything; Unknown is never wrong."""
    match verdict:
        case Unknown():
            return None
        case Vacuous():
            return None if not truth.total else f"vacuous, but {truth.total} units are in question"
        case Holds():
            if not truth.total:
                return "holds, of nobody"
            return None if truth.holds else f"holds, but {truth.violations[0]} is a violation"
        case Violated(witnesses=witnesses):
            if problem.quantity is not Quantity.HOLDS or not witnesses:
                return "violated without a witness, or where a share was asked"
            return _false_witness(witnesses, truth)
        case Shares():
            return _wrong_share(verdict, truth) or _false_witness(verdict.witnesses, truth)
        case Value() | Refused():
            return f"{verdict} is not an answer to a question about pairs"


def _false_witness(witnesses, truth: Truth) -> str | None:
    real = set(truth.violations)
    seen = [(witness.a.point, witness.b.point) for witness in witnesses]
    if len({frozenset(pair) for pair in seen}) != len(seen):
        return "the same witness twice"
    return next((f"{pair} is not a violation" for pair in seen if pair not in real), None)


def _wrong_share(shares: Shares, truth: Truth) -> str | None:
    if not truth.total:
        return None if shares.undecided else "a share of nobody"
    if not shares.certified <= truth.fair_share <= 1 - shares.falsified:
        return f"fair share {truth.fair_share} outside [{shares.certified}, {1 - shares.falsified}]"
    alone = Fraction(truth.vacuous, truth.total + truth.vacuous)
    if shares.vacuous > alone:
        return f"vacuous {shares.vacuous} instead of {alone}"
    # Who has partners elsewhere only, an engine that answers a wider question need not know.
    exact = shares.undecided == 0 and shares.evidence.fidelity is Fidelity.EXACT
    if exact and (shares.total, shares.vacuous) != (truth.total, alone):
        return f"{shares.total} units, and vacuous {shares.vacuous}, instead of {truth.total} and {alone}"
    return None


def in_target(problem: Problem, point) -> bool:
    """Whether a point is in the domain's `where` and the target, by the oracle's reading."""
    each = {Who.EACH: point}
    return true_for(problem.domain.where, each) and true_for(problem.question.target, each)
