"""Refinement in processes: the same shares, whatever happens to them."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from typing import Any

import pytest

from fairdsl.backends.contract import Silent
from fairdsl.backends.intervals.refine import Bounds, Refinement
from fairdsl.backends.refining import clock, pool, workers
from fairdsl.backends.refining.clock import Checkpoints, Clock
from fairdsl.backends.refining.pool import WorkerPool
from fairdsl.backends.refining.worker import Progress
from fairdsl.backends.refining.workers import refine_in_parallel
from fairdsl.backends.solved import Ending
from fairdsl.clock import Deadline
from tests.intervals.bisection import Bisection, FailingBisection, HungryBisection, SlowBisection, plane, unfair_units

SMALL = plane((40, 30), (3, -2), -7)
LARGE = plane((4000, 3000, 500), (3, -2, 5), -2001)


class Watcher:
    """Hears of progress, and acts on it."""

    def __init__(self, act: Callable[[], None] = lambda: None) -> None:
        self.heard: list[tuple[str, float | None, str]] = []
        self._act = act

    def progress(self, stage: str, fraction: float | None, detail: str) -> None:
        self.heard.append((stage, fraction, detail))
        self._act()


def after(seconds: float) -> Deadline:
    return Deadline.within(seconds)


def worse(earlier: Bounds, later: Bounds) -> bool:
    return earlier.falsified > later.falsified or earlier.violating < later.violating


@pytest.mark.parametrize("jobs", [1, 2, 3])
def test_a_finished_refinement_is_exact(jobs: int) -> None:
    refinement = Bisection.start(SMALL)
    ending = refine_in_parallel(refinement, jobs=jobs, deadline=after(60), observer=Silent(), nodes=10**6)
    assert ending is Ending.FINISHED
    exact = Fraction(unfair_units(SMALL))
    assert 0 < exact < SMALL.decided
    assert refinement.bounds() == Bounds(violating=exact, falsified=exact, violating_float32=None)


def refined(kind: type[Bisection]) -> Bisection:
    """By two processes, to 2000 nodes."""
    refinement = kind.start(LARGE)
    ending = refine_in_parallel(refinement, jobs=2, deadline=Deadline(0.0), observer=Silent(), nodes=2000)
    assert ending is Ending.NODES
    assert refinement.nodes == 2000
    return refinement


@pytest.fixture(scope="module")
def undisturbed() -> Bisection:
    return refined(SlowBisection)


@pytest.mark.slow
def test_the_result_depends_on_the_nodes_alone(undisturbed: Bisection) -> None:
    again = refined(Bisection)
    assert again.bounds() == undisturbed.bounds()
    assert sorted(again.leaves) == sorted(undisturbed.leaves)


@pytest.mark.slow
def test_the_deadline_is_kept_and_progress_told() -> None:
    refinement, watcher = SlowBisection.start(LARGE), Watcher()
    began = time.monotonic()
    ending = refine_in_parallel(refinement, jobs=2, deadline=after(4), observer=watcher)
    assert ending is Ending.DEADLINE
    assert time.monotonic() - began < 4.8
    assert refinement.nodes > 0
    assert {stage for stage, _, _ in watcher.heard} == {"refining"}
    assert "undecided" in watcher.heard[-1][2]


def test_no_round_begins_after_the_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    """A round that comes back late is the last, whatever is left open."""
    refinement, rounds = Bisection.start(LARGE), []
    refinement.advance(2000)

    def late(of: object, pool: object, jobs: int, on: Clock, *others: object) -> bool:
        rounds.append(of)
        on.deadline = Deadline(0.0)
        return True

    monkeypatch.setattr(workers, "_round", late)
    assert refine_in_parallel(refinement, jobs=2, deadline=after(60), observer=Silent()) is Ending.DEADLINE
    assert not refinement.finished
    assert len(rounds) == 1


def killing_once(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The first worker that tells of its progress is killed for it."""
    killed: list[int] = []
    take = WorkerPool._take

    def take_and_kill(pool: WorkerPool, worker: Any, message: object) -> None:
        take(pool, worker, message)
        if isinstance(message, Progress) and not killed:
            killed.append(worker.process.pid)
            worker.process.kill()

    monkeypatch.setattr(WorkerPool, "_take", take_and_kill)
    return killed


def test_a_killed_worker_changes_nothing(undisturbed: Bisection, monkeypatch: pytest.MonkeyPatch) -> None:
    killed = killing_once(monkeypatch)
    again = refined(SlowBisection)
    assert killed
    assert again.bounds() == undisturbed.bounds()
    assert sorted(again.leaves) == sorted(undisturbed.leaves)


def test_a_part_that_kills_its_workers_stays_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    assign = WorkerPool._assign

    def assign_and_kill(pool: WorkerPool, worker: object, share: object) -> None:
        assign(pool, worker, share)  # type: ignore[arg-type]
        if worker is pool._workers[0]:
            worker.process.kill()  # type: ignore[attr-defined]

    monkeypatch.setattr(WorkerPool, "_assign", assign_and_kill)
    monkeypatch.setattr("fairdsl.backends.refining.pool._DEATHS", 2)
    refinement = SlowBisection.start(LARGE)
    refine_in_parallel(refinement, jobs=2, deadline=Deadline(0.0), observer=Silent(), nodes=1000)
    bounds = refinement.bounds()
    assert 0 < bounds.falsified < bounds.violating < LARGE.decided
    assert refinement.nodes < 1000


@pytest.mark.parametrize("nodes", [None, 3000])
def test_where_all_workers_are_killed_the_parent_goes_on_alone(
    nodes: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where the system has no memory for them: they end before they begin."""
    started, killed = WorkerPool._started, []

    def stillborn(pool: WorkerPool) -> Any:
        worker = started(pool)
        worker.process.kill()
        killed.append(worker.process)
        return worker

    monkeypatch.setattr(WorkerPool, "_started", stillborn)
    monkeypatch.setattr(workers, "_ALONE", 0.0)
    refinement = Bisection.start(LARGE)
    ending = refine_in_parallel(refinement, jobs=2, deadline=after(2), observer=Silent(), nodes=nodes)
    assert ending is (Ending.DEADLINE if nodes is None else Ending.NODES)
    assert len(killed) == 5
    assert refinement.bounds().falsified > 0
    assert nodes is None or refinement.nodes == nodes


def test_where_no_worker_can_be_started_the_parent_goes_on_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object, **__: object) -> Any:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(subprocess, "Popen", refused)
    refinement = Bisection.start(LARGE)
    assert refine_in_parallel(refinement, jobs=2, deadline=after(60), observer=Silent(), nodes=2000) is Ending.NODES
    assert refinement.nodes == 2000


def test_a_worker_without_memory_is_one_that_dies(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "_DEATHS", 1)  # of each part; each death is a process that was started
    refinement = HungryBisection.start(LARGE)
    assert refine_in_parallel(refinement, jobs=2, deadline=after(60), observer=Silent(), nodes=2000) is Ending.NODES
    assert 0 < refinement.nodes < 2000


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_interrupt_keeps_the_shares(jobs: int) -> None:
    before = signal.getsignal(signal.SIGINT)
    refinement = SlowBisection.start(LARGE)
    began = time.monotonic()
    threading.Timer(2.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    ending = refine_in_parallel(refinement, jobs=jobs, deadline=after(60), observer=Silent())
    assert ending is Ending.INTERRUPTED
    assert time.monotonic() - began < 20
    assert refinement.bounds().falsified > 0
    assert signal.getsignal(signal.SIGINT) is before


def test_checkpoints_only_ever_improve(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clock, "OVERHEAD", 1.0)
    seen: list[Bounds] = []

    def save(refinement: Refinement) -> None:
        seen.append(refinement.bounds())
        # What is saved can be resumed.
        assert Bisection.resume(LARGE, refinement.state()).bounds() == seen[-1]

    refinement = SlowBisection.start(LARGE)
    checkpoints = Checkpoints(save, seconds=0.2)
    refine_in_parallel(refinement, jobs=2, deadline=after(2), observer=Silent(), checkpoints=checkpoints)
    assert len(seen) > 3
    assert not any(worse(earlier, later) for earlier, later in pairwise(seen))
    assert seen[-1] == refinement.bounds()


def test_a_last_checkpoint_that_is_quick_does_not_say_that_there_was_time() -> None:
    """The first one takes a second, so one is kept back for the last, which takes none."""
    pauses = iter([1.0])
    checkpoints = Checkpoints(lambda _: time.sleep(next(pauses, 0.0)), seconds=0.1)
    refinement = SlowBisection.start(LARGE)
    ending = refine_in_parallel(refinement, jobs=1, deadline=after(3), observer=Silent(), checkpoints=checkpoints)
    assert ending is Ending.DEADLINE


def test_a_bug_is_raised_in_the_parent() -> None:
    refinement = FailingBisection.start(LARGE)
    with pytest.raises(RuntimeError, match="on purpose"):
        refine_in_parallel(refinement, jobs=2, deadline=Deadline(0.0), observer=Silent(), nodes=2000)
