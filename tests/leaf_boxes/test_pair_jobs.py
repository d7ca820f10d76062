"""Jobs about pairs of every kind: distances, conditions, gaps of scores, several outcomes; against enumeration."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fairdsl
from fairdsl.backends.contract import Offer
from fairdsl.backends.leaf_boxes import ForestJob, job, judging
from fairdsl.backends.leaf_boxes.job import ForestHead, pack_job, read_job
from fairdsl.backends.leaf_boxes.judging import Fate, Question, question_of
from fairdsl.backends.leaf_boxes.pair_results import check, restored, stored
from fairdsl.backends.leaf_boxes.pairings import Pairings
from fairdsl.backends.refining.container import digest, unpack
from fairdsl.backends.refining.recheck import ALL, Recheck
from fairdsl.backends.refining.refinement import State
from fairdsl.backends.refining.result import read_result, write_result
from fairdsl.backends.refining.tasks import pack_task
from fairdsl.diagnostics import DiagnosticError
from fairdsl.ir.expr import Relation, Who
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Differ, Pair, Relaxation, ScoreGap
from tests.builders import linear
from tests.drawing import examples
from tests.job_files import code, every_box_has_a_place, shares, solve
from tests.job_files import job_file as written
from tests.leaf_boxes.box_problems import any_problems
from tests.leaf_boxes.test_many_trees import many
from tests.leaf_boxes.test_pairings import begun
from tests.oracle import Truth, truth

BOOSTER = many(40, 3, 3, 5)


def asked(**changes: Any) -> Problem:
    pair = BOOSTER.question
    assert isinstance(pair, Pair)
    return replace(BOOSTER, question=replace(pair, **changes))


#: Nodes that are visited in turn.
NODES = st.lists(st.integers(0, 40), min_size=1, max_size=3)
KINDS = {
    "within": asked(relax=(Relaxation(attribute=1, by=Fraction(1)),)),
    "regardless": asked(relax=(Relaxation(attribute=2, by=None),)),
    "of one": asked(pair_target=linear({0: 1, 2: 1}, "<", 3, Who.A)),
    "gap": asked(demand=ScoreGap(relation=Relation.LE, limit=Fraction(1, 8))),
    "each": asked(differ=(0, 1), mode=Differ.EACH),
}


def job_file(folder: Path, problem: Problem) -> Path:
    return written(folder, problem, ForestJob())


@pytest.fixture(autouse=True)
def small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judging, "_BOXES", 1)
    monkeypatch.setattr(job, "_SEED_BOXES", 4)


def exactly(found: Pairings, known: Truth) -> bool:
    counts = found.counts
    return (counts.fair, counts.unfair, counts.vacuous, found.left) == (
        known.fair,
        known.total - known.fair,
        known.vacuous,
        0,
    )


def test_what_is_kept_goes_on_and_adds_up(tmp_path: Path) -> None:
    """Parts of what a file asks, written, recomputed, read and gone on with, come to what enumeration comes to."""
    counted: Counter[str] = Counter()

    @settings(max_examples=examples(2))
    @given(any_problems(), st.integers(1, 3), st.integers(0, 2), NODES, st.sampled_from([0, 10**9]))
    def agree(problem: Problem, shards: int, before: int, rounds: list[int], last: int) -> None:
        if not isinstance(ForestJob().offer(problem), Offer):
            return
        found = read_job(job_file(tmp_path, problem)).task
        if not isinstance(found, Question):
            counted["one score"] += 1
            return
        known, whole = truth(problem), Pairings.start(found, kept=True)
        whole.advance(before)
        parts = []
        for roots in whole.fork(shards):
            part = Pairings.resume(found, roots)
            for steps in [*rounds, last]:
                part.advance(steps)
                kept = stored(roots, part.state())
                state, claims = restored(found, roots, kept)
                check(found, claims, ALL, part.size)
                counted["kept"] += not part.finished
                counted.update(Fate(each).name for each in claims.fates.tolist())
                again = Pairings.resume(found, state)
                assert (again.counts, again.absent, again.left) == (part.counts, part.absent, part.left)
                part = again
                assert part.counts.unfair <= known.total - known.fair
            parts.append(part.state())
        whole.join(parts)
        whole.advance(10**9)
        alone = begun(problem)
        assert alone is not None
        alone.advance(10**9)
        assert (whole.counts.fair, whole.counts.unfair) == (alone.counts.fair, alone.counts.unfair)
        assert whole.counts.undecided or exactly(whole, known)
        counted["exactly"] += not whole.counts.undecided

    agree()
    assert counted["kept"]
    assert counted["exactly"]
    assert {"FAIR", "UNFAIR"} <= set(counted)


@pytest.mark.parametrize(("kind", "shards"), [("gap", 1), *((kind, 3) for kind in KINDS)])
def test_shards_come_to_what_enumeration_comes_to(tmp_path: Path, kind: str, shards: int) -> None:
    problem = KINDS[kind]
    path, known = job_file(tmp_path, problem), truth(problem)
    for shard in range(1, shards + 1):
        solve(path, shard=shard, shards=shards)
    found, fair = shares(tmp_path, recheck=True), Fraction(known.fair, known.total)
    assert (found.certified, found.falsified, found.undecided) == (fair, 1 - fair, 0)


def test_two_processes_come_to_the_same(tmp_path: Path) -> None:
    path, known = job_file(tmp_path, KINDS["gap"]), truth(KINDS["gap"])
    solve(path, jobs=2)
    assert shares(tmp_path).certified == Fraction(known.fair, known.total)


def test_a_missing_shard_is_undecided(tmp_path: Path) -> None:
    path, known = job_file(tmp_path, KINDS["within"]), truth(KINDS["within"])
    solve(path, shard=2, shards=2)
    found = shares(tmp_path)
    assert found.undecided > 0
    assert found.certified <= Fraction(known.fair, known.total) <= 1 - found.falsified


def test_a_run_that_was_stopped_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, known = job_file(tmp_path, KINDS["within"]), truth(KINDS["within"])
    with monkeypatch.context() as full:  # out of room, which ends it as a clock does
        full.setattr(Pairings, "full", property(lambda self: self.looked_at > 8))
        first = solve(path)
    assert 0 < first.found.standing.undecided <= 1
    assert shares(tmp_path).undecided == first.found.standing.undecided
    second = solve(path, resume=True)
    assert second.found.nodes > first.found.nodes
    assert shares(tmp_path).certified == Fraction(known.fair, known.total)


def test_a_file_asks_what_was_asked(tmp_path: Path) -> None:
    """Whoever reads it makes the same file of it."""
    for problem in KINDS.values():
        path = job_file(tmp_path, problem)
        content = unpack(job.FOREST_JOB, path)
        read = read_job(path)
        assert isinstance(read.task, Question)
        assert pack_job(job.Numbered(**content.arrays), read.head) == path.read_bytes()


def test_what_is_taken_back_is_noted_in_its_place() -> None:
    every_box_has_a_place(Pairings.start(part_way("gap", 0)[0], kept=True))


@cache
def part_way(kind: str, steps: int) -> tuple[Question, State, Mapping[str, Any], int]:
    """A question, what a part of it began with, and what a file keeps of it after so many steps, which is true."""
    problem = KINDS[kind]
    pair = problem.question
    assert isinstance(pair, Pair)
    question, _ = question_of(problem, pair)
    assert question is not None
    whole = Pairings.start(question, kept=True)
    (roots,) = whole.fork(1)
    part = Pairings.resume(question, roots)
    while part.looked_at < steps and not part.finished:
        part.advance(1)
    kept = stored(roots, part.state())
    check(question, restored(question, roots, kept)[1], ALL, part.size)
    return question, roots, kept, part.size


@pytest.mark.parametrize("lie", [each for each in Fate if each not in (Fate.OPEN, Fate.STUCK)])
@pytest.mark.parametrize("kind", ["within", "gap", "of one"])
def test_claims_that_do_not_come_out_are_refused(kind: str, lie: Fate) -> None:
    question, roots, kept, size = part_way(kind, 300)
    true = np.flatnonzero(~np.isin(kept["fate"], (Fate.OPEN, lie)))
    changed = kept["fate"].copy()
    changed[true[0]] = lie
    with pytest.raises(ValueError, match="claims"):
        check(question, restored(question, roots, dict(kept) | {"fate": changed})[1], ALL, size)


def test_a_result_that_lies_is_refused(tmp_path: Path) -> None:
    answer = solve(job_file(tmp_path, KINDS["within"])).answer
    found = read_result(answer)
    lies = np.where(found.leaves["fate"] == Fate.UNFAIR, Fate.FAIR, found.leaves["fate"]).astype(np.uint8)
    write_result(answer, replace(found, leaves=dict(found.leaves) | {"fate": lies}))
    with pytest.raises(DiagnosticError) as caught:
        fairdsl.recover(tmp_path)
    assert code(caught) == "E0627"


def test_a_sample_lowers_what_is_said() -> None:
    question, roots, kept, size = part_way("gap", 300)
    checked = check(question, restored(question, roots, kept)[1], Recheck(draws=5, all_up_to=0), size)
    assert checked.sampled.recomputed < checked.sampled.of
    assert 0 < checked.falsified + checked.violating < 1


@pytest.mark.parametrize(
    "change",
    [
        lambda kept: {"inner": kept["inner"][:-1]},
        lambda kept: {"cut": np.zeros_like(kept["cut"])},
        lambda kept: {"axis": kept["axis"].astype(np.int64) + 50},
        lambda kept: {"fate": kept["fate"] + 9},
        lambda kept: {"fate": kept["fate"][1:]},
        lambda kept: {"effort": kept["effort"] - 2**40},
    ],
)
def test_what_is_no_tree_of_boxes_is_refused(change: Any) -> None:
    question, roots, kept, _ = part_way("within", 30)
    with pytest.raises(ValueError, match=r"an? |`|not|becomes"):
        restored(question, roots, dict(kept) | change(kept))


def spoiled(path: Path, arrays: dict[str, Any], said: dict[str, Any]) -> None:
    """Write a job anew, with other arrays and another question."""
    content = unpack(job.FOREST_JOB, path)
    head: ForestHead = content.head
    assert head.pairs is not None
    head = replace(head, pairs=replace(head.pairs, **said))
    path.write_bytes(pack_task(job.Numbered(**dict(content.arrays) | arrays), head))


@pytest.mark.parametrize(
    ("arrays", "said"),
    [
        ({"roots": np.full((1, 2), 10**6)}, {}),
        ({"passing": np.full(1, -1)}, {}),
        ({"low": np.zeros((1, 1), dtype=np.int64)}, {}),
        ({}, {"cuts": ()}),
        ({}, {"reach": ()}),
        ({}, {"each": linear({50: 1}, "<", 3)}),
        ({}, {"each": linear({0: 1}, "<", 3, Who.A)}),
    ],
)
def test_a_job_whose_parts_do_not_fit_is_refused(tmp_path: Path, arrays: dict[str, Any], said: dict[str, Any]) -> None:
    path = job_file(tmp_path, KINDS["within"])
    spoiled(path, arrays, said)
    with pytest.raises(DiagnosticError) as caught:
        solve(path)
    assert code(caught) == "E0609"


def test_shards_of_other_seeds_are_not_joined(tmp_path: Path) -> None:
    path = job_file(tmp_path, KINDS["within"])
    for shard in (1, 2):
        answer = solve(path, shard=shard, shards=2).answer
    second = read_result(answer)
    write_result(answer, replace(second, part=digest({"low": np.zeros(1)})))
    with pytest.raises(DiagnosticError) as caught:
        fairdsl.recover(tmp_path)
    assert code(caught) == "E0612"
