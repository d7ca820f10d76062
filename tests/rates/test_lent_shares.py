"""Shares under a distribution whose boxes are lent out and taken back: what counting comes to."""

from __future__ import annotations

import pickle
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairdsl.backends.contract import Budget, Facts, Silent
from fairdsl.backends.enumerate import Enumerate
from fairdsl.backends.rates import Rates
from fairdsl.backends.rates.arithmetic import Arithmetic, Kind
from fairdsl.backends.rates.frontier import Frontier
from fairdsl.backends.rates.judged import Known
from fairdsl.backends.rates.points import Individuals
from fairdsl.backends.rates.shares import Share, refusal_of_share
from fairdsl.ir.problem import Problem
from fairdsl.verdict import Shares
from tests.drawing import examples
from tests.rates.test_population_shares import shares


def sound(share: Share, exact: Shares) -> None:
    """Both shares are enclosed."""
    known = share.known().parts()
    assert known.certified <= exact.certified <= known.certified + known.undecided
    assert known.falsified <= exact.falsified <= known.falsified + known.undecided


def spare(share: Share) -> list[int]:
    """Roundings that are counted beside one for each box that is kept, of each event."""
    states: list[Known] = share.state()["known"]
    return [each.roundings - sum(len(some.mass) for some in each.kept or ()) for each in states]


def lent(share: Share, parts: int, exact: Shares) -> Share:
    """Parts that are sent, go on for a while, and are taken back, also while they go on."""
    sound(share, exact)
    least, states = spare(share), share.fork(parts)
    kind, task = pickle.loads(pickle.dumps((type(share), share.task)))
    others = [kind.resume(task, state) for state in states]
    for _ in range(2):
        for part in others:
            part.advance(1)
        share.join([pickle.loads(pickle.dumps(part.state())) for part in others])
        sound(share, exact)
        assert all(after >= before for before, after in zip(least, spare(share), strict=True))
    again: Share = kind.resume(task, share.state())
    return again


@given(
    asks=shares(),
    before=st.integers(0, 3),
    parts=st.integers(1, 3),
    rounds=st.integers(1, 3),
    listed=st.sampled_from([0, 1, 3, 1024]),
    large=st.booleans(),
)
@settings(max_examples=examples(2))
def test_what_was_lent_adds_up(asks: Problem, before: int, parts: int, rounds: int, listed: int, large: bool) -> None:
    """One box at a time, whose individuals may stay open; large numbers are weighed in float64 until all is decided."""
    if refusal_of_share(asks) is not None:
        return
    exact = Enumerate().answer(asks, Facts(), Budget.of(20), Silent())
    if not isinstance(exact, Shares):
        return
    with pytest.MonkeyPatch.context() as patch:
        take = Frontier.take
        patch.setattr(Frontier, "take", lambda self, count: take(self, 1))
        patch.setattr(Individuals, "_MOST", listed)
        patch.setattr(Individuals, "_MOST_EXACT", listed)
        if large:
            patch.setattr(Arithmetic, "exact", classmethod(lambda cls, denominator: cls(Kind.LARGE, denominator)))
        share = Share(asks)
        share.advance(before)
        for _ in range(rounds):
            share = lent(share, parts, exact)
        while not share.finished and share.advance(100):
            sound(share, exact)
        sound(share, exact)
        known = share.known().parts()
    if listed:
        assert (known.certified, known.falsified, known.undecided) == (exact.certified, exact.falsified, 0)


@given(asks=shares(), parts=st.integers(1, 3))
@settings(max_examples=examples(1))
def test_what_was_known_before_stays(asks: Problem, parts: int) -> None:
    """Sums, what stays open for good and roundings add up; the best that was known is beaten or stays."""
    if refusal_of_share(asks) is not None:
        return
    for cover in (each.cover for each in Share(asks).covers):
        first = cover.state()
        known = replace(first, best=first.sums + 2, stuck=first.stuck + 3, roundings=first.roundings + 5, boxes=7)
        cover.take(known)
        ready = [
            replace(part, sums=part.sums + 2, best=part.best + 2, stuck=part.stuck + 1, roundings=part.roundings + 4)
            for part in cover.lent_out(parts)
        ]
        cover.take_back(known, ready)
        found = cover.state()
        assert (found.sums == first.sums + 2 * parts).all()
        assert (found.best == first.sums + 2 * parts).all()
        assert (found.stuck == first.stuck + 3 + parts).all()
        assert found.roundings == known.roundings + 5 * parts
        assert found.boxes == 7
        cover.take_back(known, cover.lent_out(1))
        assert (cover.state().best == known.best).all()


@given(asks=shares())
@settings(max_examples=examples(0.2))
def test_what_several_processes_come_to(asks: Problem) -> None:
    """Those that are done before others are started, mostly; the coordinator has tests of its own."""
    if refusal_of_share(asks) is not None:
        return
    counted = Enumerate().answer(asks, Facts(), Budget.of(20), Silent())
    found = Rates().answer(asks, Facts(), Budget.of(20, jobs=2), Silent())
    assert type(found) is type(counted)
    if isinstance(found, Shares) and isinstance(counted, Shares):
        assert (found.certified, found.falsified) == (counted.certified, counted.falsified)
