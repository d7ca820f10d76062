"""The engine: deadlines are kept, and whatever a solver does has a status."""

from __future__ import annotations

import sys
import time

import pytest

from fairdsl.backends.contract import Answer, Budget
from fairdsl.backends.smt import Z3
from fairdsl.backends.smt.engine import Job, Workers, read_answer, reason_of
from fairdsl.verdict import Reason

#: Nonlinear over the integers: z3 searches for a very long time.
HARD = """(set-logic QF_NIA)
(declare-const x Int)(declare-const y Int)(declare-const z Int)
(assert (= (+ (* x x x) (* y y y) (* z z z)) 114))
(check-sat)
"""


def test_answers() -> None:
    engine = Z3()
    assert engine.available() is None
    sat = engine.solve("(declare-const x Real)(assert (= (* 3.0 x) (- 1.0)))(check-sat)", Budget.of(20))
    assert (sat.status, dict(sat.values)) == ("sat", {"x": "-1/3"})
    assert engine.solve("(assert false)", Budget.of(20)).status == "unsat"


def test_a_script_that_is_not_one() -> None:
    answer = Z3().solve("(assert (= x", Budget.of(20))
    assert answer.status == "crashed"
    assert reason_of(answer) is Reason.ENGINE_CRASHED


def test_the_deadline_is_kept() -> None:
    """Trap: on timeout a bound was reported as the value; here it is Unknown, and on time."""
    started = time.monotonic()
    answer = Z3().solve(HARD, Budget.of(1.0))
    assert time.monotonic() - started < 2.0
    assert reason_of(answer) is Reason.TIMEOUT


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        ("import sys; sys.stdin.readline()", Reason.ENGINE_CRASHED),
        ("import sys; sys.exit(3)", Reason.ENGINE_CRASHED),
        ("print('Segmentation fault')", Reason.MALFORMED),
        ("import time; time.sleep(60)", Reason.TIMEOUT),
    ],
)
def test_programs_that_are_no_solver(program: str, reason: Reason) -> None:
    workers = Workers(1, [sys.executable, "-c", program])
    deadline = Budget.of(1.0).deadline
    try:
        workers.start(Job(key="k", text="", seed=0, effort=None, deadline=deadline))
        while not (found := workers.finished(deadline)):
            pass
    finally:
        workers.close()
    ((key, answer),) = found
    assert key == "k"
    assert reason_of(answer) is reason


@pytest.mark.parametrize("line", [b"", b"{}", b"[]", b"3", b'{"status": "yes", "values": {}, "detail": ""}', b"\xff"])
def test_garbage_is_malformed(line: bytes) -> None:
    assert read_answer(line).status == "malformed"


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (Answer(status="unknown", detail="timeout"), Reason.TIMEOUT),
        (Answer(status="unknown", detail="max. memory exceeded"), Reason.MEMORY_OUT),
        (Answer(status="crashed", detail="out of memory"), Reason.MEMORY_OUT),
        (Answer(status="unknown", detail="(incomplete quantifiers)"), Reason.INCOMPLETE),
        (Answer(status="malformed"), Reason.MALFORMED),
    ],
)
def test_every_failure_has_a_reason(answer: Answer, reason: Reason) -> None:
    assert reason_of(answer) is reason


def test_same_seed_same_answer() -> None:
    script = "(declare-const x Int)(declare-const y Int)(assert (< 3 (+ x (* 7 y))))(assert (< x y))"
    assert len({str(Z3().solve(script, Budget.of(20, seed=5)).values) for _ in range(2)}) == 1
