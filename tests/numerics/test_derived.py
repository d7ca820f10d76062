"""What is derived from a model is that model's, whoever had its place in memory before."""

from __future__ import annotations

import gc

import pytest

from fairdsl.ir.model import Model
from fairdsl.numerics.derived import Kept, derived
from tests.builders import layer, model


def made(score: int) -> Model:
    return model(layer([[score]], [0]), attributes=1)


def test_it_is_computed_once_and_forgotten_with_its_source() -> None:
    kept: Kept[Model, int] = {}
    one, times = made(1), []
    assert [derived(one, lambda _: times.append(1) or 5, kept) for _ in range(3)] == [5, 5, 5]
    assert len(times) == 1
    del one
    gc.collect()
    assert kept == {}


def test_what_an_alarm_left_behind_is_nobody_elses() -> None:
    """Whatever forgets a source may have been cut: another one at its place in memory is told apart from it."""
    kept: Kept[Model, str] = {}
    one, other = made(1), made(2)
    derived(one, lambda _: "the first", kept)
    (left,) = kept.values()
    kept[id(other)] = left
    assert derived(other, lambda _: "the second", kept) == "the second"
    assert derived(one, lambda _: "again", kept) == "the first"


def test_what_is_cut_leaves_nothing_behind() -> None:
    kept: Kept[Model, str] = {}

    def cut(_: Model) -> str:
        raise KeyboardInterrupt

    one = made(1)
    with pytest.raises(KeyboardInterrupt):
        derived(one, cut, kept)
    assert kept == {}
