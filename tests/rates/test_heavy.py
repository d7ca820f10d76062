"""The heaviest combinations first: every bound holds at any time, and in the end nothing but roundings is open."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from fairdsl.backends.rates import bundles, heavy
from fairdsl.backends.rates.anytime import Narrowing
from fairdsl.backends.rates.diagram import OpenError
from fairdsl.backends.rates.gate import has_states
from fairdsl.backends.rates.heavy import Heavy
from fairdsl.ir.problem import Problem
from fairdsl.metrics.joint import Bounds
from fairdsl.metrics.subject import subject_of
from tests.drawing import examples
from tests.rates.test_covers import Sums, check, enumerated, problems

CHECKED = settings(max_examples=examples(1), deadline=None, suppress_health_check=list(HealthCheck))


def narrow(bounds: Bounds) -> bool:
    return bounds.high - bounds.low < 1e-9


@CHECKED
@given(
    problems(trees=True),
    st.sampled_from([1, 3, 1 << 13]),
    st.sampled_from([0.5, 2.0**-4, 2.0**-12]),
    st.sampled_from([4, 16, 1 << 16]),
)
def test_bounds_hold_at_any_time(problem: Problem, block: int, limit: float, entries: int) -> None:
    assume(has_states(problem.model))
    part, total = enumerated(problem)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(heavy, "_BLOCK", block)
        patch.setattr(heavy, "_LIMIT", limit)
        patch.setattr(heavy, "_WORK", 1)
        patch.setattr(bundles, "_ENTRIES", entries)
        try:
            found = Heavy(subject_of(problem))
        except OpenError:
            assume(False)
        check(found.joint(), part, total)
        for _ in range(400):
            if found.finished:
                break
            found.improve()
            check(found.joint(), part, total)
        ended(found, part, total)


def ended(found: Heavy, part: Sums, total: Sums) -> None:
    while not found.finished:
        found.improve()
    joint = found.joint()
    check(joint, part, total)
    assert all(narrow(bounds) for bounds in (*joint.favourable.values(), *joint.total.values()))


@CHECKED
@given(problems(trees=True))
def test_boxes_and_combinations_together_enclose(problem: Problem) -> None:
    assume(has_states(problem.model))
    part, total = enumerated(problem)
    found = Narrowing(subject_of(problem))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(heavy, "_LIMIT", 0.5)
        patch.setattr(heavy, "_WORK", 1)
        try:
            found.by_weight()
        except OpenError:
            assume(False)
        for _ in range(50):
            check(found.joint(), part, total)
            if found.finished:
                break
            found.improve()
