"""Whenever the alarm rings there is a verdict or a diagnostic, and what blocks set is put back."""

from __future__ import annotations

import gc
import os
import signal
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from click.testing import CliRunner

from fairdsl.cli.app import cli
from fairdsl.clock import Deadline, deadline, interrupting, interrupts, listening, until, winding_down
from fairdsl.source.reading import content_of
from tests.clock.ringing import alarm_at

#: How many moments of a whole check are tried every day.
EVERY_DAY = 9

_SET: list[str] = []


def _put(name: str) -> None:
    _SET.append(name)


@contextmanager
def setting(name: str) -> Iterator[None]:
    _put(name)
    try:
        yield
    finally:
        _SET.remove(name)


def work() -> int:
    """Blocks in blocks, of the clock and of others."""
    with setting("outer"), interrupting():
        total = sum(len(str(number)) for number in range(3))
        with until(Deadline.within(50)), winding_down(), setting("inner"):
            total += len("work")
    return total


def test_an_alarm_at_any_moment_leaves_nothing_set(monkeypatch: pytest.MonkeyPatch) -> None:
    def once(moment: int | None) -> tuple[int, str | None, bool]:
        with alarm_at(moment, monkeypatch) as moments, until(Deadline.within(60), grace=0.0) as scope:
            work()
        return moments.counted, moments.rang, scope.passed

    count, rang, passed = once(None)
    assert (rang, passed) == (None, False)
    places = set()
    for moment in range(1, count + 1):
        _, rang, passed = once(moment)
        assert (rang is not None) == passed, moment
        assert not _SET, (moment, rang)
        assert [mode.name for mode in interrupts._STATE.modes] == ["NOTE"], (moment, rang)
        assert deadline.deadline_in_force().at == deadline.NEVER.at
        assert not deadline._ALARM._rings
        places.add(rang)
    assert {"work", "work.<locals>.<genexpr>", None} <= places, "it rang in the work, and not in the ends of blocks"


def test_what_a_library_makes_of_the_alarm_is_the_alarm() -> None:
    def wrapped() -> None:
        try:
            raise deadline.OutOfTimeError(cut=True)
        except BaseException as error:
            raise SystemError("returned a result with an exception set") from error

    def replaced() -> None:
        try:
            raise deadline.OutOfTimeError(cut=True)
        finally:
            {}["half-changed"]

    for raising in (wrapped, replaced):
        with until(Deadline.within(60), grace=0.0) as scope:
            raising()
        assert scope.passed
        # A block that keeps what it has leaves it to the one around.
        with until(Deadline.within(60), grace=0.0) as outer:
            with until(Deadline.within(60)) as scope:
                raising()
            pytest.fail("it went on")
        assert (outer.passed, scope.passed) == (True, False)


@pytest.mark.parametrize("interrupted", [False, True])
def test_a_class_is_made_before_it_is_cut(interrupted: bool) -> None:
    """Python 3.11 makes a RuntimeError of what ends a `__set_name__`, and nobody knows that for Ctrl-C."""
    begun, made = [], []

    class Named:
        def __set_name__(self, owner: type, name: str) -> None:
            begun.append(name)
            if interrupted:
                signal.raise_signal(signal.SIGINT)
            time.sleep(0.1)

    with suppress(KeyboardInterrupt), listening(), interrupting(), until(Deadline.within(0.05), grace=0.0):
        made.append(type("Made", (), {"name": Named()}))
        time.sleep(60)
    assert len(made) == len(begun)


def test_a_file_is_closed_wherever_reading_it_is_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"content")

    def is_open() -> bool:
        for descriptor in map(int, os.listdir("/dev/fd")):
            with suppress(OSError):  # of the folder itself, or of a thread's
                if os.path.samestat(os.fstat(descriptor), path.stat()):
                    return True
        return False

    def once(moment: int | None) -> int:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            with alarm_at(moment, monkeypatch) as moments, until(Deadline.within(60), grace=0.0):
                content_of(path)
            assert not is_open(), moments.rang
            gc.collect(0)  # what was just made, and not whatever other tests have left
        assert not [str(each.message) for each in said], moments.rang
        return moments.counted

    for moment in range(1, once(None) + 1):
        once(moment)


def test_a_mistake_behind_another_one_is_no_alarm() -> None:
    def mistaken() -> None:
        try:
            raise ValueError
        finally:
            {}["a mistake of ours"]

    with pytest.raises(KeyError), until(Deadline.within(60), grace=0.0):
        mistaken()


SPEC = """
domain Person {
  sex : category { f, m }
  age : integer 0 .. 9
}
protected sex
model m : Person -> { no, yes }
  score = 0.25 * (sex = m) + 0.25 * age
  yes when score > 1
  favourable yes
distribution people over Person
  sex : table { f : 0.25, m : 0.75 }
  age : uniform(0, 9)
property same {
  compare a, b : Person
  differ in sex
  require same decision
}
property parity {
  across sex
  under people
  require parity_gap <= 1%
}
"""


def codes(folder: Path, monkeypatch: pytest.MonkeyPatch, property_: str, count: int) -> set[int]:
    """The exit codes of a check and its proof where the alarm rings at so many moments, evenly apart."""
    spec = folder / "spec.fair"
    spec.write_text(SPEC)
    command = ["check", str(spec), "--property", property_, "--proof", str(folder / "proofs"), "--jobs", "1"]

    def once(moment: int | None) -> tuple[int, int]:
        with alarm_at(moment, monkeypatch) as moments:
            done = CliRunner().invoke(cli, command)
        where = f"the alarm at {moment} in {moments.rang}: {done.output}"
        assert isinstance(done.exception, SystemExit | None), where
        assert done.exit_code in (1, 3), where
        return moments.counted, done.exit_code

    CliRunner().invoke(cli, command)  # what is loaded once is no part of it
    events, code = once(None)
    assert code == 1
    return {once(moment)[1] for moment in range(1, events, events // count)}


def test_a_check_that_is_cut_has_a_verdict_or_a_diagnostic(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert 3 in codes(tmp_path, monkeypatch, "parity", EVERY_DAY), "it was cut"


@pytest.mark.slow
@pytest.mark.parametrize("property_", ["same", "parity"])
def test_a_check_that_is_cut_anywhere_has_a_verdict_or_a_diagnostic(
    property_: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert 3 in codes(tmp_path, monkeypatch, property_, 499), "it was cut"


def test_errors_that_are_each_the_others_cause_are_passed_on() -> None:
    """A circle of causes ends: `raise one from another`, where that one came while the first was handled."""
    first, second = ValueError("one"), ValueError("another")
    first.__cause__, second.__context__ = second, first
    with pytest.raises(ValueError, match="one"), until(Deadline.within(60), grace=0.0):
        raise first
