"""Jobs about forests: solved in shards, stopped, gone on with and recovered, they come to what enumeration comes to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fairdsl
from fairdsl.backends.leaf_boxes import graft, job, refinement
from fairdsl.backends.leaf_boxes.forest import Forest, forest_of
from fairdsl.backends.leaf_boxes.job import ForestHead, pack_job
from fairdsl.backends.leaf_boxes.kept import restored, stored
from fairdsl.backends.leaf_boxes.lowering import lower
from fairdsl.backends.leaf_boxes.recheck import check
from fairdsl.backends.leaf_boxes.refinement import Refinement
from fairdsl.backends.leaf_boxes.task import Task, task_of
from fairdsl.backends.refining.recheck import ALL, Recheck
from fairdsl.backends.refining.refinement import State
from fairdsl.backends.refining.result import read_result, write_result
from fairdsl.diagnostics import DiagnosticError
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Pair, Quantity
from tests.builders import ASKED
from tests.drawing import examples
from tests.job_files import code, shares, solve
from tests.leaf_boxes.box_problems import box_problems
from tests.leaf_boxes.test_many_trees import many
from tests.oracle import truth

SMALL = many(60, 4, 3, 5)


def task(problem: Problem) -> Task:
    pair = problem.question
    assert isinstance(pair, Pair)
    found = task_of(lower(problem, pair))
    assert found is not None
    return found


def job_file(folder: Path, asked: Task, name: str = "p") -> Path:
    head = ForestHead(
        asked=replace(ASKED, property=name),
        quantity=Quantity.FAIR_SHARE,
        measure="counting",
        unit="an individual",
        attributes=(),
    )
    path = folder / f"{name}.job"
    path.write_bytes(pack_job(asked, head))
    return path


@pytest.fixture(autouse=True)
def small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(refinement, "_CUTS", 1)
    monkeypatch.setattr(job, "_SEED_BOXES", 8)
    monkeypatch.setattr(graft, "_LEAVES", 0)  # many boxes, though few people


def part_way(forest: Forest, steps: int) -> tuple[State, Mapping[str, Any]]:
    """What a part began with, and what a file keeps of it after so many steps."""
    whole = Refinement.start(forest, kept=True)
    whole.step()
    (begun,) = whole.fork(1)
    part = Refinement.resume(forest, begun)
    for _ in range(steps):
        if not part.finished:
            part.step()
    return begun, stored(forest.sizes, begun, part.state())


def test_what_is_kept_goes_on_and_adds_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts that are written, recomputed, read and gone on with come to what enumeration comes to."""
    counted: Counter[str] = Counter()
    sums = st.builds(many, st.integers(6, 30), st.just(3), st.integers(0, 10**6), st.just(7))

    @settings(max_examples=examples(1))
    @given(
        st.one_of(box_problems(Quantity.FAIR_SHARE, most_trees=5), sums),
        st.integers(1, 3),
        st.integers(0, 2),
        st.lists(st.integers(0, 6), min_size=1, max_size=3),
        st.sampled_from([0, 8]),
    )
    def agree(problem: Problem, shards: int, before: int, rounds: list[int], counting: int) -> None:
        monkeypatch.setattr(graft, "_LEAVES", counting)
        known, pair = truth(problem), problem.question
        assert isinstance(pair, Pair)
        if not known.individuals or (forest := forest_of(lower(problem, pair))) is None:
            return
        whole = Refinement.start(forest, kept=True)
        for _ in range(1 + before):
            whole.step()
        parts = []
        for begun in whole.fork(shards):
            part = Refinement.resume(forest, begun)
            for steps in rounds:
                for _ in range(steps):
                    if not part.finished:
                        part.step()
                kept = stored(forest.sizes, begun, part.state())
                state, nodes = restored(forest.sizes, begun, kept)
                check(forest, nodes, ALL, 2**24)
                counted["kept"] += not part.finished
                part = Refinement.resume(forest, state)
                assert part.counts.unfair <= known.total - known.fair
            parts.append(part.state())
        whole.join(parts)
        assert whole.counts.fair <= known.fair
        while not whole.finished:
            whole.step()
        assert (whole.left, whole.counts.fair) == (0, known.fair)
        assert whole.counts.unfair == known.total - known.fair

    agree()
    assert counted["kept"]


@pytest.mark.parametrize("shards", [1, 2, 3])
def test_shards_come_to_what_enumeration_comes_to(tmp_path: Path, shards: int) -> None:
    path, known = job_file(tmp_path, task(SMALL)), truth(SMALL)
    for shard in range(1, shards + 1):
        solve(path, shard=shard, shards=shards)
    found, fair = shares(tmp_path, recheck=True), Fraction(known.fair, known.total)
    assert (found.certified, found.falsified, found.undecided) == (fair, 1 - fair, 0)


def test_a_missing_shard_is_undecided(tmp_path: Path) -> None:
    path, known = job_file(tmp_path, task(SMALL)), truth(SMALL)
    solve(path, shard=2, shards=2)
    found = shares(tmp_path)
    assert found.undecided > 0
    assert found.certified <= Fraction(known.fair, known.total) <= 1 - found.falsified


def test_a_run_that_was_stopped_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, known = job_file(tmp_path, task(SMALL)), truth(SMALL)
    with monkeypatch.context() as full:  # out of room, which ends it as a clock does
        full.setattr(Refinement, "full", property(lambda self: self._boxes.counts[0] > 8))
        first = solve(path)
    assert 0 < first.found.standing.undecided < 1
    assert shares(tmp_path).undecided == first.found.standing.undecided
    with pytest.raises(DiagnosticError) as caught:
        solve(path)
    assert code(caught) == "E0611"
    second = solve(path, resume=True)
    assert second.found.nodes > first.found.nodes
    assert second.found.standing.undecided == 0
    assert shares(tmp_path).certified == Fraction(known.fair, known.total)


def edits(kept: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """What a liar would write in a file: each a change of an array that claims more than there is."""
    unfair = kept["unfair"].astype(np.int64)
    more, less = unfair.copy(), unfair.copy()
    more[np.argmax(unfair[:, 0]), 0] += 1
    less[np.argmax(unfair[:, 0]), 0] -= 1
    return [("unfair", more), ("unfair", less), ("vacuous", unfair), ("open", np.zeros_like(kept["open"]))]


@pytest.mark.parametrize("which", range(4))
def test_claims_that_do_not_come_out_are_refused(which: int) -> None:
    forest = forest_of(lower(SMALL, SMALL.question))  # type: ignore[arg-type]
    assert forest is not None
    begun, kept = part_way(forest, 60)
    assert kept["unfair"].any(), "something to lie about"
    check(forest, restored(forest.sizes, begun, kept)[1], ALL, 2**24)
    name, lie = edits(kept)[which]
    with pytest.raises(ValueError, match=r"claims|open"):
        check(forest, restored(forest.sizes, begun, dict(kept) | {name: lie})[1], ALL, 2**24)


def test_a_result_that_lies_is_refused(tmp_path: Path) -> None:
    path = job_file(tmp_path, task(SMALL))
    answer = solve(path).answer
    found = read_result(answer)
    write_result(answer, replace(found, leaves=dict(found.leaves) | dict([edits(found.leaves)[1]])))
    with pytest.raises(DiagnosticError) as caught:
        fairdsl.recover(tmp_path)
    assert code(caught) == "E0627"


def test_a_sample_lowers_what_is_said() -> None:
    forest = forest_of(lower(SMALL, SMALL.question))  # type: ignore[arg-type]
    assert forest is not None
    begun, kept = part_way(forest, 60)
    checked = check(forest, restored(forest.sizes, begun, kept)[1], Recheck(draws=5, all_up_to=0), 2**24)
    assert checked.sampled.recomputed < checked.sampled.of
    assert 0 < checked.falsified <= checked.violating < 1


@pytest.mark.parametrize(
    "change",
    [
        lambda kept: {"inner": kept["inner"][:-1]},
        lambda kept: {"cut": np.zeros_like(kept["cut"])},
        lambda kept: {"axis": kept["axis"] + 50},
        lambda kept: {"begin": np.ones_like(kept["begin"])},
        lambda kept: {"unfair": kept["unfair"].astype(np.int64) + 10**12},
        lambda kept: {"effort": kept["effort"] - 2**40},
        lambda kept: {"pace": kept["pace"] * np.nan},
        lambda kept: {"closed": kept["closed"].astype(np.int64)},
    ],
)
def test_what_is_no_tree_of_boxes_is_refused(change: Any) -> None:
    forest = forest_of(lower(SMALL, SMALL.question))  # type: ignore[arg-type]
    assert forest is not None
    begun, kept = part_way(forest, 30)
    with pytest.raises(ValueError, match=r"an? |parts|nothing|something|there|`"):
        restored(forest.sizes, begun, dict(kept) | change(kept))


@pytest.mark.parametrize(
    "change",
    [
        {"roots": np.full((1, 2), 10**6)},
        {"yes": None},
        {"passing": np.full(1, -1)},
        {"factor": -1},
        {"below": 2**70},
        {"among": 10**6},
        {"ordered": np.zeros(0, dtype=np.bool_)},
    ],
)
def test_a_job_whose_parts_do_not_fit_is_refused(tmp_path: Path, change: dict[str, Any]) -> None:
    good = task(SMALL)
    changed = {name: np.arange(len(good.axis)) + 1 if value is None else value for name, value in change.items()}
    with pytest.raises(DiagnosticError) as caught:
        solve(job_file(tmp_path, replace(good, **changed)))
    assert code(caught) == "E0609"
