"""Runs that are killed from outside, at any moment: what a checkpoint had is there, and the end is the unbroken one."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

import fairdsl
from fairdsl.backends.leaf_boxes.forest import forest_of
from fairdsl.backends.leaf_boxes.job import read_job
from fairdsl.backends.leaf_boxes.judging import Question
from fairdsl.backends.leaf_boxes.lowering import lower
from fairdsl.backends.leaf_boxes.pairings import Pairings
from fairdsl.backends.leaf_boxes.refinement import Refinement
from fairdsl.backends.refining.result import read_result
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Pair, Relaxation
from tests.job_files import killed
from tests.leaf_boxes.test_many_trees import many
from tests.leaf_boxes.test_pair_jobs import job_file
from tests.leaf_boxes.test_pairings import begun


def of_one_score() -> Problem:
    return many(100, 5, 3, 20)


def of_pairs() -> Problem:
    asked = many(60, 3, 3, 15)
    pair = asked.question
    assert isinstance(pair, Pair)
    return replace(asked, question=replace(pair, relax=(Relaxation(attribute=1, by=Fraction(1)),)))


def unbroken(problem: Problem) -> Refinement | Pairings:
    pair = problem.question
    assert isinstance(pair, Pair)
    if pair.relax:
        found: Refinement | Pairings | None = begun(problem)
    else:
        forest = forest_of(lower(problem, pair))
        found = None if forest is None else Refinement.start(forest)
    assert found is not None
    found.advance(10**12)
    return found


@pytest.mark.parametrize(
    ("problem", "jobs"),
    [
        (of_one_score(), 1),
        pytest.param(of_pairs(), 1, marks=pytest.mark.slow),
        pytest.param(of_one_score(), 2, marks=pytest.mark.slow),
    ],
    ids=["one score", "pairs", "two processes"],
)
def test_what_was_written_is_gone_on_with(tmp_path: Path, problem: Problem, jobs: int) -> None:
    draw, path = random.Random(jobs), job_file(tmp_path, problem)
    assert isinstance(read_job(path).task, Question) == bool(problem.question.relax)  # type: ignore[union-attr]
    result, boxes, falsified, undecided = path.with_suffix(".result"), 0, 0.0, 1.0
    for attempt in range(2):
        killed(path, result, boxes, draw.uniform(0, 0.2), "--jobs", jobs, *(["--resume"] if attempt else []))
        found = read_result(result)
        # What is claimed of a box is rounded outward where it is written.
        assert found.nodes > boxes
        assert found.falsified >= falsified - 1e-4
        assert found.undecided <= undecided + 1e-4
        boxes, falsified, undecided = found.nodes, found.falsified, found.undecided
    ended = fairdsl.solve(path, resume=True, jobs=1, timeout=120.0)
    assert ended.found.nodes >= boxes
    (item,) = fairdsl.recover(tmp_path, recheck=True).properties
    counts, shares = unbroken(problem).counts, item.shares
    fair = Fraction(counts.fair, counts.fair + counts.unfair)
    assert shares is not None
    assert (shares.certified, shares.falsified) == (fair, 1 - fair)
