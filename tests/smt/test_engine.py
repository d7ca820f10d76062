"""The engine: deadlines are kept, and whatever a solver does has a status."""

from __future__ import annotations

import time

import pytest

from fairdsl.backends.contract import Budget
from fairdsl.backends.encoding import Answer
from fairdsl.backends.smt.engine import Job, Workers, answer_of_z3, read_answer, reason_of
from fairdsl.clock import Deadline
from fairdsl.verdict import Reason

#: Nonlinear over the integers: z3 searches for a very long time.
HARD = """(set-logic QF_NIA)
(declare-const x Int)(declare-const y Int)(declare-const z Int)
(assert (= (+ (* x x x) (* y y y) (* z z z)) 114))
(check-sat)
"""


def test_answers() -> None:
    sat = answer_of_z3("(declare-const x Real)(assert (= (* 3.0 x) (- 1.0)))(check-sat)", Budget.of(20))
    assert (sat.status, dict(sat.values)) == ("sat", {"x": "-1/3"})
    assert answer_of_z3("(assert false)", Budget.of(20)).status == "unsat"


def test_a_script_that_is_not_one() -> None:
    answer = answer_of_z3("(assert (= x", Budget.of(20))
    assert answer.status == "crashed"
    assert reason_of(answer) is Reason.ENGINE_CRASHED


def test_the_deadline_is_kept() -> None:
    """Trap: on timeout a bound was reported as the value; here it is Unknown, and on time."""
    started = time.monotonic()
    answer = answer_of_z3(HARD, Budget.of(1.0))
    assert time.monotonic() - started < 2.0
    assert reason_of(answer) is Reason.TIMEOUT


_LINE = "import sys; from multiprocessing.connection import Connection; line = Connection(int(sys.argv[2])); "


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        (_LINE + "line.recv()", Reason.ENGINE_CRASHED),
        ("import sys; sys.exit(3)", Reason.ENGINE_CRASHED),
        (_LINE + "line.recv(); sys.exit(101)", Reason.MEMORY_OUT),
        (_LINE + "line.recv(); sys.exit('std::bad_alloc')", Reason.MEMORY_OUT),
        (_LINE + "line.send('Segmentation fault'); line.recv()", Reason.MALFORMED),
        (_LINE + "line.send_bytes(b'Segmentation fault'); line.recv()", Reason.ENGINE_CRASHED),
        ("import time; time.sleep(60)", Reason.TIMEOUT),
    ],
)
def test_programs_that_are_no_solver(program: str, reason: Reason) -> None:
    workers = Workers(1, program)
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


#: z3 needs far more than this for it: many disjunctions over as many numbers.
LARGE = "".join(
    [f"(declare-const x{i} Int)(declare-const y{i} Real)" for i in range(300)]
    + [
        f"(assert (or (<= (+ (* {i % 97} x{i % 300}) y{i % 299}) {i % 50}) (>= (+ x{i % 297} y{i % 293}) {i % 31})))"
        for i in range(9000)
    ]
)


@pytest.mark.parametrize("memory", [1 << 20, 150 << 20])
def test_a_limit_on_memory_is_kept(memory: int) -> None:
    workers = Workers(1, memory=memory)
    deadline = Budget.of(30.0).deadline
    try:
        workers.start(Job(key=0, text=LARGE, seed=0, effort=None, deadline=deadline))
        while not (found := workers.finished(deadline)):
            pass
    finally:
        workers.close()
    assert reason_of(found[0][1]) in (Reason.MEMORY_OUT, Reason.ENGINE_CRASHED)


def test_a_solver_ends_when_its_parent_was_killed() -> None:
    """It went on until the deadline, however late that was."""
    workers = Workers(1)
    workers.start(Job(key=0, text=HARD, seed=0, effort=None, deadline=Budget.of(600.0).deadline))
    (worker,) = workers._workers
    try:
        assert not workers.finished(Deadline.within(1.0))  # it is at work
        assert worker.process.poll() is None
        worker.connection.close()  # what the system does for a parent that is killed
        assert worker.process.wait(timeout=30) != 0
    finally:
        workers.close()


@pytest.mark.parametrize("found", [None, {}, [], 3, {"status": "yes", "values": {}, "detail": ""}, {"status": "sat"}])
def test_garbage_is_malformed(found: object) -> None:
    assert read_answer(found).status == "malformed"


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
    assert len({str(answer_of_z3(script, Budget.of(20, seed=5)).values) for _ in range(2)}) == 1
