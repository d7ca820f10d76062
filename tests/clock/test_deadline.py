"""The clock: blocks end by looks, by the alarm where nobody looks, and never in the middle of what is kept."""

from __future__ import annotations

import signal
import threading
from math import inf
from time import monotonic, sleep

import pytest

from fairdsl.clock import (
    Deadline,
    OutOfTimeError,
    command_began,
    deadline_in_force,
    doing,
    is_out_of_time,
    look,
    phase,
    process_began,
    until,
)
from fairdsl.diagnostics import DiagnosticError


def busy(seconds: float) -> None:
    """Work that never looks at the clock."""
    end = monotonic() + seconds
    while monotonic() < end:
        pass


def test_a_look_ends_the_innermost_block() -> None:
    reached = []
    with until(Deadline.within(60)) as outer:
        with until(Deadline.within(-1)) as inner:
            look()
            reached.append("after the look")
        reached.append("after the block")
    assert reached == ["after the block"]
    assert (outer.passed, inner.passed) == (False, True)


def test_an_inner_block_does_not_outlast_the_outer_one() -> None:
    with until(Deadline.within(-1)) as outer:
        with until(Deadline.within(60)) as inner:
            look()
        look()
    assert (outer.passed, inner.passed) == (True, True)


def test_without_a_deadline_a_look_says_nothing() -> None:
    look()
    assert deadline_in_force().at == inf


def test_the_alarm_ends_work_that_does_not_look() -> None:
    began = monotonic()
    with until(Deadline(began + 0.05), grace=0.05) as scope:
        busy(20)
    assert scope.passed
    assert 0.1 <= monotonic() - began < 5
    assert signal.getsignal(signal.SIGALRM) is signal.SIG_DFL
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_the_alarm_is_not_taken_by_blocks_that_keep_what_they_have() -> None:
    kept = []
    with until(Deadline.within(0.05), grace=0.05) as scope:
        with until(Deadline.within(0.05)):
            busy(20)
        kept.append("half-changed")
    assert scope.passed
    assert not kept


def test_the_alarm_of_an_inner_block_goes_first_and_the_outer_one_stands() -> None:
    with until(Deadline.within(0.3), grace=0.0) as outer:
        with until(Deadline.within(0.05), grace=0.0) as inner:
            busy(20)
        assert not outer.passed
        busy(20)
    assert inner.passed
    assert outer.passed


def test_an_alarm_that_was_swallowed_rings_again() -> None:
    swallowed = 0
    with until(Deadline.within(0.05), grace=0.0) as scope:
        try:
            busy(20)
        except BaseException:
            swallowed += 1
        busy(20)
    assert scope.passed
    assert swallowed == 1


def test_somebody_elses_alarm_is_left_alone() -> None:
    rung = []
    before = signal.signal(signal.SIGALRM, lambda *_: rung.append(1))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.15)
        with until(Deadline.within(0.01), grace=0.0) as scope:
            busy(0.3)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert rung == [1]
    assert not scope.passed


def test_in_another_thread_only_looks_count() -> None:
    found = []

    def work() -> None:
        with until(Deadline.within(0.02), grace=0.0) as scope:
            sleep(0.1)
            found.append("went on")
            look()
        found.append(scope.passed)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == ["went on", True]


def test_what_is_raised_inside_goes_on() -> None:
    with pytest.raises(KeyError), until(Deadline.within(-1), grace=0.0):
        raise KeyError
    assert deadline_in_force().at == inf


def test_a_deadline_counts_from_the_start_of_the_command() -> None:
    now = monotonic()
    with command_began(now - 3):
        assert Deadline.after(5).at == pytest.approx(now + 2)
        assert not Deadline.after(5).passed
        assert Deadline.after(2).passed
        assert Deadline.after(2).remaining == 0
    assert Deadline.after(5).at >= now + 5
    assert Deadline.after(None).at == inf
    assert now - 3600 < process_began() <= monotonic()


def test_a_phase_that_is_not_finished_says_what_was_going_on() -> None:
    def work() -> None:
        with phase("reading", Deadline.within(0.05)):
            with doing("opening `a`"):
                pass
            with doing("opening `b`"):
                busy(20)

    with pytest.raises(DiagnosticError) as caught:
        work()
    (finding,) = caught.value.diagnostics
    assert finding.code == "E0625"
    assert "reading was finished" in finding.title
    assert finding.notes == ("it ended while opening `b`",)
    assert is_out_of_time([finding])


def test_a_phase_that_begins_too_late_is_not_begun() -> None:
    begun = []
    with pytest.raises(DiagnosticError), phase("planning", Deadline.within(-1)):
        begun.append(1)
    assert not begun


def test_nobody_handles_it_in_passing() -> None:
    assert not issubclass(OutOfTimeError, Exception)
