"""Jobs about the largest gap of scores: in shards, stopped, tampered with, they come to what enumeration comes to."""

from __future__ import annotations

import random
from collections import Counter
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
from fairdsl.backends.contract import Budget, Facts, Offer, Procedure, Refusal, Silent
from fairdsl.backends.leaf_boxes import LeafBoxes
from fairdsl.backends.refining.container import pack, unpack
from fairdsl.backends.refining.farthest import Farthest
from fairdsl.backends.refining.recheck import ALL
from fairdsl.backends.refining.result import read_result, write_result
from fairdsl.backends.smt import Smt
from fairdsl.backends.solved import Ending
from fairdsl.backends.worst_pairs import GapJob, job
from fairdsl.backends.worst_pairs.job import GAP_JOB, Engine, GapJobs, engine_of, read_job
from fairdsl.codec import plain
from fairdsl.diagnostics import DiagnosticError
from fairdsl.ir.expr import Relation
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Pair, Quantity, Relaxation, ScoreGap, WorstPair
from fairdsl.verdict import Evidence, Reason, Vacuous, Value
from tests.drawing import examples
from tests.job_files import code, every_box_has_a_place, job_file, job_of, killed, recovered, solve
from tests.leaf_boxes.test_many_trees import many
from tests.oracle import worst_gap
from tests.worst_pairs.drawn import worst_pairs

NOTHING = Evidence(backend="", method="")


def gap(problem: Problem, **changes: Any) -> Problem:
    """How far apart the scores of the pairs of a question are."""
    pair = problem.question
    assert isinstance(pair, Pair)
    equal = replace(pair, demand=ScoreGap(relation=Relation.LE, limit=Fraction(0)), **changes)
    return replace(problem, question=WorstPair(pair=equal), quantity=Quantity.MAX_SCORE_GAP)


#: Boxes of trees, and regions of pairs where these have distances.
TREES = gap(many(20, 3, 3, 4))
NEAR = gap(many(12, 2, 5, 4), relax=(Relaxation(attribute=1, by=Fraction(2)),))
ASKS = {"trees": TREES, "pairs": NEAR}


@cache
def known_of(kind: str) -> Fraction:
    found = worst_gap(ASKS[kind].of_pairs)
    assert found is not None
    return found


def file_of(folder: Path, problem: Problem) -> Path:
    return job_file(folder, problem, GapJob())


def number(folder: Path, **options: Any) -> tuple[Fraction, Fraction]:
    found = recovered(folder, **options).demands[0].value
    return found.low, found.high


def close(found: tuple[Fraction, Fraction], known: Fraction) -> bool:
    low, high = found
    return low == known <= high <= known * (1 + Fraction(1, 10**6))


@pytest.fixture(autouse=True)
def small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job, "_SEED_REGIONS", 4)


def few_at_once(patch: pytest.MonkeyPatch) -> None:
    for kind in (job.Widest, job.FarthestPairs):
        patch.setattr(kind, "at_once", 2)


def test_every_question_is_refined_by_its_engine() -> None:
    assert (engine_of(TREES), engine_of(NEAR)) == (Engine.TREES, Engine.PAIRS)


def test_what_is_kept_goes_on_and_bounds_the_number() -> None:
    """Parts that are written, bounded again, read and gone on with come to what enumeration comes to."""
    counted: Counter[str] = Counter()

    @settings(max_examples=examples(1))
    @given(worst_pairs(), st.integers(1, 3), st.lists(st.integers(0, 4), min_size=1, max_size=3))
    def agree(asks: Problem, shards: int, rounds: list[int]) -> None:
        if not isinstance(GapJob().offer(asks), Offer):
            return
        known, asked = worst_gap(asks.of_pairs), job_of(asks, GapJob(), read_job)
        jobs = GapJobs().of(asked)
        whole, begun = jobs.begun(asked.task, shards, 2**30)
        states = []
        for roots in begun:
            part: Any = jobs.resume(asked.task, roots, 2**30)
            for steps in rounds:
                for _ in range(steps):
                    part.step()
                kept = jobs.stored(part, roots)
                part, checked = jobs.opened(asked.task, roots, kept, ALL, 2**30)
                assert checked.sampled.recomputed == np.count_nonzero(~kept["inner"])
                assert known is None or part.worst.low <= known
                counted["kept"] += not part.finished
            states.append(part.state())
        whole = jobs.joined(asked.task, whole, states, 2**30)
        found = jobs.result(asked, whole, [], NOTHING, Reason.TIMEOUT).verdict
        if isinstance(found, Value):
            assert known is not None
            assert found.low <= known <= found.high
        whole.advance(10**9)
        found = jobs.result(asked, whole, [], NOTHING, Reason.TIMEOUT).verdict
        if known is None:
            assert isinstance(found, Vacuous)
            return
        assert isinstance(found, Value)
        assert close((found.low, found.high), known)
        counted[asked.head.engine.name] += 1

    with pytest.MonkeyPatch.context() as patch:
        few_at_once(patch)
        agree()
    assert {"kept", "TREES", "PAIRS"} <= set(counted)


@pytest.mark.parametrize("kind", ASKS)
def test_what_is_taken_back_is_noted_in_its_place(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    few_at_once(monkeypatch)
    asked = job_of(ASKS[kind], GapJob(), read_job)
    every_box_has_a_place(GapJobs().of(asked).begun(asked.task, 1, 2**30)[0])


@pytest.mark.parametrize("kind", ASKS)
def test_shards_come_to_what_enumeration_comes_to(tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A shard that is missing, one that was stopped, and all that are finished."""
    path, known = file_of(tmp_path, ASKS[kind]), known_of(kind)
    few_at_once(monkeypatch)
    with monkeypatch.context() as short:
        short.setattr("fairdsl.backends.refining.solve.refine_within", a_few_regions)
        first = solve(path, shard=2, shards=2)
        assert first.found.nodes > 0
    low, high = number(tmp_path)
    assert low <= known < high
    second = solve(path, shard=2, shards=2, resume=True)
    assert second.found.nodes > first.found.nodes
    assert number(tmp_path)[0] <= known <= number(tmp_path)[1]
    solve(path, shard=1, shards=2)
    assert close(number(tmp_path, recheck=True), known)
    (pair,) = recovered(tmp_path).demands[0].witnesses
    assert abs(pair.replay.scores_a[0] - pair.replay.scores_b[0]) == known


def a_few_regions(refinement: Farthest, *_: Any, **__: Any) -> Ending:
    refinement.advance(4)
    return Ending.DEADLINE


@pytest.mark.parametrize(
    ("kind", "engine"), [("trees", LeafBoxes()), pytest.param("pairs", Smt(), marks=pytest.mark.slow)]
)
def test_processes_come_to_the_same(kind: str, engine: Procedure, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fairdsl.backends.refining.workers._ALONE", 0.0)
    assert not isinstance(engine.offer(ASKS[kind]), Refusal)
    found = engine.answer(ASKS[kind], Facts(), Budget.of(60, jobs=2), Silent())
    assert isinstance(found, Value)
    assert close((found.low, found.high), known_of(kind))


def test_a_file_asks_what_was_asked(tmp_path: Path) -> None:
    """Whoever reads it makes the same file of it, and asks the same."""
    for asks in ASKS.values():
        path = file_of(tmp_path, asks)
        read = read_job(path)
        assert job.pack_job(read.task.problem, read.head.asked) == path.read_bytes()
        assert read.task.problem.question == asks.question


@pytest.mark.parametrize(
    "change",
    [
        lambda kept: {"inner": kept["inner"][:-1]},
        lambda kept: {"axis": kept["axis"].astype(np.int64) + 50},
        lambda kept: {"axis": kept["axis"][1:]},
        lambda kept: {"cut": np.zeros(len(kept["cut"]) + 1, dtype=np.int64)},
        lambda kept: {"effort": kept["effort"] - 2**40},
        lambda kept: {"pair": kept["pair"][:1]},
        lambda kept: {"pair": kept["pair"][[0, 0]]},
        lambda kept: {"pair": np.full_like(kept["pair"], b"7/0")},
    ],
)
@pytest.mark.parametrize("asks", ASKS.values(), ids=ASKS)
def test_what_is_no_result_of_it_is_refused(tmp_path: Path, asks: Problem, change: Any) -> None:
    asked = job_of(asks, GapJob(), read_job)
    jobs = GapJobs().of(asked)
    _, (roots,) = jobs.begun(asked.task, 1, 2**30)
    part: Any = jobs.resume(asked.task, roots, 2**30)
    with pytest.MonkeyPatch.context() as patch:
        few_at_once(patch)
        while part.nodes < 12:
            part.step()
    kept = jobs.stored(part, roots)
    jobs.opened(asked.task, roots, kept, ALL, 2**30)
    with pytest.raises(ValueError, match=r"an? |`|not|its"):
        jobs.opened(asked.task, roots, dict(kept) | change(kept), ALL, 2**30)


def test_a_pair_that_is_not_compared_refuses_the_file(tmp_path: Path) -> None:
    answer = solve(file_of(tmp_path, TREES)).answer
    found = read_result(answer)
    write_result(answer, replace(found, leaves=dict(found.leaves) | {"pair": found.leaves["pair"][[0, 0]]}))
    with pytest.raises(DiagnosticError) as caught:
        fairdsl.recover(tmp_path)
    assert code(caught) == "E0627"


@pytest.mark.parametrize(
    "change",
    [
        lambda head: {"engine": Engine.PAIRS if head.engine is Engine.TREES else Engine.TREES},
        lambda head: {"pair": replace(head.pair, differ=(50,))},
        lambda head: {"pair": replace(head.pair, differ=())},
        lambda head: {"attributes": head.attributes[:1]},
        lambda head: {"model": replace(head.model, curves=())},
    ],
)
@pytest.mark.parametrize("asks", ASKS.values(), ids=ASKS)
def test_a_job_whose_parts_do_not_fit_is_refused(tmp_path: Path, asks: Problem, change: Any) -> None:
    path = file_of(tmp_path, asks)
    content = unpack(GAP_JOB, path)
    path.write_bytes(pack(plain(replace(content.head, **change(content.head))), content.arrays))
    with pytest.raises(DiagnosticError) as caught:
        solve(path)
    assert code(caught) == "E0609"


def unbroken(asks: Problem) -> Fraction:
    """The number, by one run that is not stopped; trees are exact."""
    asked = job_of(asks, GapJob(), read_job)
    jobs = GapJobs().of(asked)
    whole, _ = jobs.begun(asked.task, 1, 2**30)
    whole.advance(10**9)
    assert whole.high == whole.worst.low
    return whole.worst.low


@pytest.mark.slow
@pytest.mark.parametrize("processes", [1, 2])
def test_what_was_written_is_gone_on_with(tmp_path: Path, processes: int) -> None:
    """Killed from outside at any moment: what a checkpoint had is there, and the end is the unbroken one."""
    draw, asks = random.Random(processes), gap(many(200, 7, 3, 12))
    path = file_of(tmp_path, asks)
    result, boxes, met = path.with_suffix(".result"), 0, 0.0
    for attempt in range(1 if processes == 1 else 2):
        words = ["--jobs", processes, *(["--resume"] if attempt else [])]
        killed(path, result, boxes, draw.uniform(0, 0.1), *words)
        found = read_result(result)
        assert found.nodes > boxes or found.finished
        assert found.falsified >= met
        boxes, met = found.nodes, found.falsified
    ended = solve(path, resume=True, timeout=120.0)
    assert ended.found.nodes >= boxes
    assert number(tmp_path) == (unbroken(asks), unbroken(asks))
