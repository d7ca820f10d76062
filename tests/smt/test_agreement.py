"""z3, cvc5 and brute force agree, on whole scripts and on folded ones."""

from __future__ import annotations

from collections.abc import Hashable

from hypothesis import given, settings

from fairdsl.backends.contract import Budget, Facts, Silent
from fairdsl.backends.encoding import Answer
from fairdsl.backends.smt import Smt, SmtLib
from fairdsl.backends.smt.case_bounds import Bounder
from fairdsl.backends.smt.cases import cases
from fairdsl.backends.smt.engine import Job
from fairdsl.backends.smt.script import case_script, whole_script
from fairdsl.clock import Deadline
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Quantity
from fairdsl.verdict import Holds, Vacuous, Violated
from tests.agreement.engines import KEPT, about_somebody, answer_of_kept, disagreement
from tests.builders import ASKED
from tests.drawing import examples
from tests.oracle import Truth, truth
from tests.smt.second_solver import ask_cvc5
from tests.strategies import problems

PAIRS = problems(Quantity.HOLDS)


def ask_z3(text: str) -> Answer:
    return answer_of_kept(text, Budget.of(20.0))


class Reluctant:
    """A pool that gives up on every limited attempt, so that regions are halved as far as they can be."""

    def __init__(self) -> None:
        self._given_up: list[tuple[Hashable, Answer]] = []

    def start(self, job: Job) -> None:
        if job.effort is None:
            KEPT.start(job)
        else:
            self._given_up.append((job.key, Answer(status="unknown", detail="canceled")))

    def finished(self, until: Deadline) -> list[tuple[Hashable, Answer]]:
        ready, self._given_up = self._given_up, []
        return ready or KEPT.finished(until)

    def close(self) -> None:
        pass


@settings(max_examples=examples(0.35))
@given(PAIRS)
def test_all_ways_to_ask_agree_with_the_oracle(problem: Problem) -> None:
    """The same problems as whole scripts, as folded ones, and region by region."""
    known = truth(problem)
    _whole_scripts(problem, known)
    _folded_scripts(problem, known)
    _halving_loses_nobody(problem, known)


def _whole_scripts(problem: Problem, known: Truth) -> None:
    encoding = SmtLib()
    lowered = encoding.lower(problem, ASKED)
    text = next(iter(lowered.files.values())).decode()
    for solver in (ask_z3, ask_cvc5):
        answer = solver(text)
        assert answer.status == ("unsat" if known.holds else "sat"), solver.__name__
        verdict = encoding.recover(problem, lowered, dict.fromkeys(lowered.files, answer))
        assert isinstance(verdict, Holds | Violated)
        assert disagreement(problem, about_somebody(problem, verdict), known) is None


def _folded_scripts(problem: Problem, known: Truth) -> None:
    """Case by case; what bounds alone settle, both solvers find unsatisfiable."""
    statuses = []
    for case in cases(problem):
        (bounded,) = Bounder(problem.model, case).bound([case.region])
        text = case_script(problem, case, bounded)
        statuses.append(ask_z3(text).status)
        assert statuses[-1] == ask_cvc5(text).status
        assert not (bounded.settled and statuses[-1] == "sat")
    assert ("sat" not in statuses) == known.holds


def _halving_loses_nobody(problem: Problem, known: Truth) -> None:
    # As much time as it takes: what is lost is found however busy the machine is.
    verdict = Smt(lambda jobs: Reluctant()).answer(problem, Facts(), Budget.of(3600.0), Silent())
    assert isinstance(verdict, Holds | Vacuous | Violated)
    assert disagreement(problem, about_somebody(problem, verdict), known) is None


@settings(max_examples=examples(0.35))
@given(PAIRS)
def test_scripts_are_deterministic_and_plain(problem: Problem) -> None:
    """The same bytes every time; no exponents, no signed literals, nothing that only z3 reads."""
    text = whole_script(problem)
    assert text == whole_script(problem)
    code = "\n".join(line.split(";")[0] for line in text.splitlines())
    tokens = code.replace("(", " ").replace(")", " ").split()
    assert not [token for token in tokens if token[0] in "-+" and len(token) > 1]
    assert not [token for token in tokens if token[0].isdigit() and "e" in token.lower()]
    assert "pble" not in code
