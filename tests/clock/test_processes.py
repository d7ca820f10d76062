"""Processes that can be killed: whatever they do, the parent hears of it and is never left waiting."""

from __future__ import annotations

import errno
import os
import subprocess
import time
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from fairdsl.backends.smt.engine import Job, Workers
from fairdsl.clock import NEVER, Deadline
from fairdsl.models.running import session
from fairdsl.models.running.session import session_beside
from fairdsl.processes import GoneError, Worker, run, waiting

HERE = f"{__file__}:"


def echo(line: Connection, word: str) -> None:
    while True:
        line.send((word, line.recv(), os.environ["OMP_NUM_THREADS"], os.getsid(0) == os.getpid()))


def greedy(line: Connection) -> None:
    try:
        line.send(len(bytearray(line.recv())))
    except MemoryError:
        line.send("no memory")


def dying(line: Connection) -> None:
    line.recv()
    raise SystemExit("OpenBLAS error: Memory allocation still failed")


def deaf(line: Connection) -> None:
    time.sleep(600)


def test_messages_go_back_and_forth() -> None:
    worker = Worker(HERE + "echo", "hear")
    try:
        for number in range(3):
            worker.send(number)
            assert worker.receive() == ("hear", number, "1", True)
    finally:
        worker.end()
    worker.end()


def test_the_limit_on_memory_is_kept() -> None:
    worker = Worker(HERE + "greedy", memory=1 << 30)
    try:
        worker.send(1 << 31)
        assert worker.receive() == "no memory"
    finally:
        worker.end()


def test_a_worker_that_dies_leaves_its_last_words() -> None:
    worker = Worker(HERE + "dying")
    worker.send(0)
    with pytest.raises(GoneError):
        worker.receive()
    gone = worker.gone()
    assert (gone.code, gone.last, gone.lacked_memory) == (1, ": OpenBLAS error: Memory allocation still failed", True)


def test_one_that_the_system_refuses_is_like_one_that_hung_up(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object, **__: object) -> None:
        raise BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable")

    monkeypatch.setattr(subprocess, "Popen", refused)
    monkeypatch.setattr(session, "_PROCESS", session._Process())  # another test may have started the one that there is
    worker = Worker(HERE + "echo")
    worker.send(0)
    worker.interrupt()
    assert waiting([worker], NEVER) == [worker]
    with pytest.raises(GoneError):
        worker.receive()
    gone = worker.gone()
    assert (gone.how, gone.lacked_memory) == ("could not be started: Resource temporarily unavailable", False)
    worker.end()
    with pytest.raises(RuntimeError, match="its process could not be started: Resource"):
        session_beside(b"", 1)
    job = Job(key=0, text="(check-sat)", seed=0, effort=None, deadline=NEVER)
    solver = Workers(1)
    solver.start(job)
    ((_, answer),) = solver.finished(NEVER)
    assert (answer.status, answer.detail) == ("crashed", f"the solver process {gone.how}")
    solver.close()


def test_one_that_says_nothing_keeps_nobody_waiting() -> None:
    worker = Worker(HERE + "deaf")
    began = time.monotonic()
    assert waiting([worker], Deadline(began + 0.2)) == []
    worker.end()
    assert time.monotonic() - began < 10
    assert worker.process.returncode == -9


def test_a_worker_ends_with_its_parent() -> None:
    worker = Worker(HERE + "deaf")
    worker.connection.close()  # what the system does for a parent that is killed
    assert worker.process.wait(timeout=30) != 0
    worker.end()


@pytest.mark.parametrize(
    ("script", "code", "output"),
    [("echo yes", 0, "yes\n"), ("kill -9 $$", -9, ""), ("sleep 60", None, "")],
)
def test_programs_of_others(script: str, code: int | None, output: str) -> None:
    ran = run(lambda folder: ["sh", "-c", script], 0.5)
    assert (ran.code, ran.output) == (code, output)
    assert ran.seconds < 10


def test_what_a_program_leaves_behind_is_ended(tmp_path: Path) -> None:
    told = tmp_path / "told"
    run(lambda folder: ["sh", "-c", f"(sleep 1; touch {told}) & exit 0"], 5.0)
    time.sleep(1.2)
    assert not told.exists()
