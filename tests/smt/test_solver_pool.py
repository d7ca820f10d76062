"""The solver processes: limits are kept by killing, and every way to fail is a verdict."""

from __future__ import annotations

import pickle

import pytest

from fairdsl.backends.smt.solvers.chain import Limits, Status
from fairdsl.backends.smt.solvers.pool import SolverPool
from fairdsl.backends.smt.solvers.worker import Ready, Task
from fairdsl.clock import Deadline
from fairdsl.verdict import Reason
from tests.builders import domain, integer, problem, score

UNFAIR = problem(domain(x=integer(0, 9), g=integer(0, 1)), score([1, "1/2"], "-21/4"), 1)

#: Takes the problem and says that it is ready; importing the package for that would take a second.
_BEGIN = f"""
import sys
from multiprocessing.connection import Connection
connection = Connection(int(sys.argv[2]))
connection.recv_bytes()
connection.send_bytes({pickle.dumps(Ready())!r})
"""
DEAF = _BEGIN + "import time\nwhile True: time.sleep(1)"
DYING = _BEGIN + "connection.recv_bytes()\nsys.exit(3)"
#: As z3 ends where it finds no memory.
DRAINED = _BEGIN + "connection.recv_bytes()\nsys.exit(101)"
#: As OpenBLAS does, with the code of any other error.
COMPLAINING = _BEGIN + "connection.recv_bytes()\nsys.exit('OpenBLAS error: Memory allocation still failed')"
#: Ends while the program is loaded, and says nothing.
STILLBORN = "raise SystemExit(1)"


def answer_of(pool: SolverPool, seconds: float):
    pool.start("whole", Task(UNFAIR.question, Limits(seconds=seconds, seed=0)))
    until = Deadline.within(60)
    try:
        while not until.passed:
            found = pool.finished(until)
            if found:
                return found[0]
        raise AssertionError("no answer in a minute")
    finally:
        pool.close()


def test_a_partition_is_decided_in_another_process() -> None:
    key, verdict, seconds = answer_of(SolverPool(UNFAIR, 1, 0), 20.0)
    assert key == "whole"
    assert verdict.status is Status.VIOLATED
    assert verdict.witness.replay.exact
    assert 0 <= seconds < 20


def test_a_solver_that_does_not_keep_its_limit_is_killed() -> None:
    _, verdict, seconds = answer_of(SolverPool(UNFAIR, 1, 0, DEAF), 0.5)
    assert (verdict.status, verdict.reason) == (Status.UNKNOWN, Reason.TIMEOUT)
    assert seconds >= 0.5


@pytest.mark.parametrize("program", [DYING, STILLBORN])
def test_a_solver_that_dies_leaves_the_partition_unknown(program: str) -> None:
    _, verdict, _ = answer_of(SolverPool(UNFAIR, 1, 0, program), 20.0)
    assert (verdict.status, verdict.reason) == (Status.UNKNOWN, Reason.ENGINE_CRASHED)


@pytest.mark.parametrize("memory", [64 << 20, 120 << 20])
def test_a_limit_on_memory_is_kept(memory: int) -> None:
    """Less than the program itself needs: whatever happens, it is a verdict, and the next question gets one, too."""
    pool = SolverPool(UNFAIR, 1, memory)
    found = []
    until = Deadline.within(60)
    try:
        for key in range(2):
            pool.start(key, Task(UNFAIR.question, Limits(seconds=20.0, seed=0)))
            while len(found) <= key and not until.passed:
                found += pool.finished(until)
    finally:
        pool.close()
    assert [(key, verdict.status, verdict.reason) for key, verdict, _ in found] == [
        (key, Status.UNKNOWN, Reason.MEMORY_OUT) for key in range(2)
    ]


@pytest.mark.parametrize("program", [DRAINED, COMPLAINING])
def test_a_solver_that_ends_for_want_of_memory_says_so(program: str) -> None:
    _, verdict, _ = answer_of(SolverPool(UNFAIR, 1, 0, program), 20.0)
    assert (verdict.status, verdict.reason) == (Status.UNKNOWN, Reason.MEMORY_OUT)


def test_a_program_that_loads_only_without_a_limit_lacked_memory() -> None:
    _, verdict, _ = answer_of(SolverPool(UNFAIR, 1, 64 << 20, STILLBORN), 20.0)
    assert (verdict.status, verdict.reason) == (Status.UNKNOWN, Reason.MEMORY_OUT)
