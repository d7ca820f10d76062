"""Slow functions are asked in small parts while the clock runs, and in one call where it does not."""

from __future__ import annotations

from time import monotonic, sleep

from fairdsl.clock import Deadline, look, until
from fairdsl.models.black_boxes.pace import Pace


def called(pace: Pace, count: int, seconds_each: float, sizes: list[int]) -> None:
    """Ask about so many individuals, by a function of that pace."""
    for part in pace.parts(count):
        sizes.append(part.stop - part.start)
        sleep(seconds_each * sizes[-1])


def test_without_a_deadline_there_is_one_call() -> None:
    sizes: list[int] = []
    called(Pace(), 10_000, 0.0, sizes)
    assert sizes == [10_000]


def test_every_individual_is_in_one_part() -> None:
    pace, found = Pace(), list[int]()
    with until(Deadline.within(60)):
        for part in pace.parts(5000):
            found.extend(range(5000)[part])
    assert found == list(range(5000))
    assert pace.per_second > 0


def test_a_slow_function_is_cut_off() -> None:
    """A millisecond each: sixteen seconds of work end with the part in which the time does."""
    pace, sizes, ended = Pace(), list[int](), False
    began = monotonic()
    with until(Deadline(began + 0.5)):
        called(pace, 16_384, 0.001, sizes)
        ended = True
    assert not ended
    assert sizes[0] == 16
    assert sum(sizes) < 2000
    assert monotonic() - began < 3  # an idle machine: 0.75


def test_the_first_part_is_always_answered() -> None:
    """Whoever asks about one individual gets the answer, also when the time is over."""
    sizes: list[int] = []
    with until(Deadline.within(-1)):
        called(Pace(), 1, 0.0, sizes)
    assert sizes == [1]


def test_an_inner_block_ends_by_itself_and_an_outer_one_goes_on() -> None:
    sizes: list[int] = []
    reached = False
    with until(Deadline.within(60)):
        with until(Deadline.within(-1)):
            called(Pace(), 100, 0.0, sizes)
        reached = True
    assert reached
    assert sizes == [16]


def test_an_outer_deadline_ends_the_inner_block_and_then_the_outer_one() -> None:
    sizes: list[int] = []
    reached = False
    with until(Deadline.within(-1)):
        with until(Deadline.within(60)):
            called(Pace(), 100, 0.0, sizes)
        look()
        reached = True
    assert not reached
    assert sizes == [16]
