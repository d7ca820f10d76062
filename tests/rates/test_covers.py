"""Boxes against enumeration: their bounds hold at any time, and in the end they are exact."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings

from fairdsl.backends.rates import cover
from fairdsl.backends.rates.arithmetic import Arithmetic, Kind
from fairdsl.backends.rates.cover import Cover
from fairdsl.backends.rates.tree_bounds import adds_trees
from fairdsl.ir.problem import Problem
from fairdsl.metrics.subject import subject_of
from tests.drawing import examples
from tests.masses.test_small_populations import RELAXED, check, enumerated, problems

F = Fraction


def as_it_is(patch: pytest.MonkeyPatch) -> None:
    """Masses are whole numbers of 64 bits where they fit."""


def in_floats(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Arithmetic, "exact", classmethod(lambda cls, denominator: cls(Kind.LARGE, denominator)))


def box_by_box(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(cover, "_BATCH", 1)


@pytest.mark.parametrize("how", [as_it_is, in_floats, box_by_box])
def test_bounds_hold_at_any_time_and_end_exactly(how) -> None:
    asked = 0

    @settings(RELAXED, max_examples=examples(0.5))
    @given(problems(trees=True))
    def agree(problem: Problem) -> None:
        nonlocal asked
        subject = subject_of(problem)
        if not adds_trees(subject):
            return
        asked += 1
        part, total = enumerated(problem)
        found = Cover(subject)
        check(found.joint(), part, total)
        for _ in range(400):
            if found.finished:
                break
            found.improve()
            check(found.joint(), part, total)
        joint = found.joint()
        assert found.finished
        assert all(bounds.exact for bounds in (*joint.favourable.values(), *joint.total.values()))

    with pytest.MonkeyPatch.context() as patch:
        how(patch)
        agree()
    assert asked
