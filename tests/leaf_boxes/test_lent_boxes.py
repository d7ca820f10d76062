"""Boxes of trees lent out to other refinements and taken back: the same totals, and bounds at every moment."""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Callable
from time import sleep
from typing import NoReturn

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fairdsl
from fairdsl.backends.contract import Silent
from fairdsl.backends.leaf_boxes import graft, judging, refinement, witnesses
from fairdsl.backends.leaf_boxes.forest import forest_of
from fairdsl.backends.leaf_boxes.lowering import lower
from fairdsl.backends.leaf_boxes.pairings import Pairings
from fairdsl.backends.leaf_boxes.refinement import Refinement
from fairdsl.backends.refining.workers import refine_in_parallel
from fairdsl.backends.solved import Ending
from fairdsl.clock import Deadline
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Pair, Quantity
from tests import lent_shares
from tests.drawing import examples
from tests.leaf_boxes import test_many_trees, test_pairings
from tests.leaf_boxes.box_problems import any_problems, box_problems
from tests.leaf_boxes.test_many_trees import many
from tests.oracle import Truth, truth

Begin = Callable[[Problem], Refinement | Pairings | None]


def many_trees(drawn: Problem) -> Refinement | None:
    pair = drawn.question
    assert isinstance(pair, Pair)
    forest = forest_of(lower(drawn, pair))
    return None if forest is None else Refinement.start(forest, memory=2**20)


def enclosed(descent: Refinement | Pairings, known: Truth) -> None:
    if isinstance(descent, Refinement):
        test_many_trees.enclosed(descent, known)
    else:
        test_pairings.enclosed(descent, known)


SUMS = st.builds(many, st.integers(4, 12), st.integers(2, 3), st.integers(0, 10**6))
CASES = [
    (many_trees, st.one_of(box_problems(Quantity.FAIR_SHARE, most_trees=5), SUMS)),
    (test_pairings.begun, any_problems()),
]


def lent(descent: Refinement | Pairings, parts: int, known: Truth) -> Refinement | Pairings:
    """Parts that are sent, go on for a while, and are taken back, also while they go on."""
    states = descent.fork(parts)
    kind, task = pickle.loads(pickle.dumps((type(descent), descent.task)))
    others = [kind.resume(task, state, memory=2**20) for state in states]
    for _ in range(2):
        for part in others:
            part.advance(1)
        descent.join([part.state() for part in others])
        enclosed(descent, known)
    again: Refinement | Pairings = kind.resume(task, descent.state(), memory=2**20)
    return again


@pytest.mark.parametrize(("begin", "drawn"), CASES, ids=["many trees", "pairs"])
def test_what_was_lent_adds_up(
    begin: Begin, drawn: st.SearchStrategy[Problem], monkeypatch: pytest.MonkeyPatch
) -> None:
    counted: Counter[str] = Counter()
    monkeypatch.setattr(refinement, "_CUTS", 1)
    monkeypatch.setattr(judging, "_BOXES", 1)

    @settings(max_examples=examples(1.5))
    @given(drawn, st.integers(1, 3), st.integers(1, 3), st.integers(1, 3), st.sampled_from([0, 8]))
    def agree(problem: Problem, parts: int, before: int, rounds: int, counting: int) -> None:
        monkeypatch.setattr(graft, "_LEAVES", counting)
        known = truth(problem)
        if not known.individuals or (alone := begin(problem)) is None:
            return
        descent = begin(problem)
        assert descent is not None
        descent.advance(before)
        for _ in range(rounds):
            counted["lent"] += not descent.finished
            descent = lent(descent, parts, known)
        while not descent.finished:
            descent.step()
            enclosed(descent, known)
        alone.advance(10**9)
        assert (descent.counts.fair, descent.counts.unfair, descent.left) == (alone.counts.fair, alone.counts.unfair, 0)
        assert descent.counts.vacuous == alone.counts.vacuous

    agree()
    assert counted["lent"]


def test_two_processes_come_to_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = many(40, 4, 3)
    descent, alone = many_trees(problem), many_trees(problem)
    assert descent is not None
    assert alone is not None
    alone.advance(10**9)
    ending = refine_in_parallel(descent, jobs=2, deadline=Deadline.within(60), observer=Silent(), nodes=10**9)
    assert ending is Ending.FINISHED
    assert (descent.counts.fair, descent.counts.unfair) == (alone.counts.fair, alone.counts.unfair)
    assert descent.left == alone.left == 0


def test_a_share_is_kept_where_looking_for_pairs_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    def look_on(*_: object) -> NoReturn:
        while True:
            sleep(0.01)

    monkeypatch.setattr(witnesses, "look_for", look_on)
    report = fairdsl.check(lent_shares.SPEC, properties=["of_everybody"], backend="leaf_boxes", timeout=2)
    (demand,) = report.properties[0].demands
    assert demand.shares is not None
    assert demand.shares.certified > 0 < demand.shares.falsified
