"""Results that grow: what was added is what would be stored at once, and a run that is killed anywhere loses no more
than it had not written."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import fairdsl
from fairdsl.backends.intervals.job import read_job
from fairdsl.backends.intervals.refine import Refinement
from fairdsl.backends.intervals.task import Task
from fairdsl.backends.refining.container import SEAM, digest, pack
from fairdsl.backends.refining.recheck import ALL
from fairdsl.backends.refining.records import assembled
from fairdsl.backends.refining.result import Progress, Result, growing, read_result
from fairdsl.codec import plain
from fairdsl.diagnostics import DiagnosticError
from fairdsl.source.reading import reading
from tests.drawing import examples
from tests.intervals.kernel_tasks import counted, random_task
from tests.intervals.test_recheck import edited
from tests.intervals.test_solve import job_file

some = settings(deadline=None, max_examples=examples(1))
seeds = st.integers(0, 2**32 - 1)
Records = list[dict[str, NDArray[Any]]]


def grown(task: Task, steps: list[int]) -> tuple[Refinement, Records, Records]:
    """A refinement in so many steps, each but the first a record, and what is stored at once after each.

    After every third step it is shared out and joined, which numbers its nodes anew.
    """
    refinement = Refinement.start(task)
    records, whole = [refinement.stored()], [refinement.stored()]
    additions = refinement.additions(records[0])
    for number, step in enumerate(steps):
        if number % 3 == 2:
            parts = [Refinement.resume(task, part) for part in refinement.fork(2)]
            for part in parts:
                part.advance(step)
            refinement.join([part.state() for part in parts])
        else:
            refinement.advance(step)
        records.append(additions())
        whole.append(refinement.stored())
    return refinement, records, whole


@some
@given(seeds, st.lists(st.integers(0, 60), max_size=7))
def test_what_is_added_is_what_would_be_stored_at_once(seed: int, steps: list[int]) -> None:
    _, records, whole = grown(random_task(seed), steps)
    for count, expected in enumerate(whole, start=1):
        found = assembled(records[:count])
        assert set(found) == set(expected)
        for name, array in expected.items():
            np.testing.assert_array_equal(found[name], array)


def refined(task: Task, nodes: int) -> Refinement:
    refinement = Refinement.start(task)
    refinement.advance(nodes)
    return refinement


#: Nodes in a record.
STEP = 15


@pytest.fixture(scope="module")
def lasting() -> Task:
    """With something to refine after each of three records, and so few layers that each analysis is a node."""
    few = (task for seed in range(100) if len((task := random_task(seed)).weights) < 4)
    return next(task for task in few if not refined(task, 3 * STEP).finished)


def test_a_record_holds_no_more_than_what_is_new(lasting: Task) -> None:
    """A few new nodes are a few in the file, and nothing is written of a tree that stays."""
    _, records, whole = grown(lasting, [40, 4, 0])
    assert len(records[2]["inner"]) < len(whole[2]["inner"]) // 2
    assert len(records[3]["inner"]) == 0


@some
@given(seeds, st.integers(1, 3))
def test_edited_records_are_refused_or_true(seed: int, place: int) -> None:
    rng = np.random.default_rng(seed)
    task = random_task(int(rng.integers(1000)))
    records = grown(task, rng.integers(1, 60, size=3).tolist())[1]
    records[place] = edited(records[place], rng)
    try:
        kept = assembled(records)
        opened, _ = Refinement.opened(task, Refinement.start(task).state(), kept, ALL)
    except ValueError:
        return
    (surely, maybe, _), bounds = counted(task), opened.bounds()
    assert bounds.falsified <= maybe
    assert surely <= bounds.violating


def begun(task: Task, job: str = "0") -> Result:
    start = Refinement.start(task)
    return Result(
        job=job,
        shard=1,
        shards=1,
        part=digest(start.state()),
        leaves=start.stored(),
        nodes=0,
        seconds=0.0,
        finished=False,
        undecided=0.0,
        falsified=0.0,
    )


def written(path: Path, task: Task, steps: int, job: str = "0") -> list[int]:
    """A result with so many records, as a run that is killed leaves it; how many bytes it has after each."""
    start, refinement = begun(task, job), Refinement.start(task)
    additions, lengths = refinement.additions(start.leaves), []
    with growing(path, start) as add:
        lengths.append(path.stat().st_size)
        for _ in range(steps):
            refinement.advance(STEP)
            progress = Progress(nodes=refinement.nodes, seconds=1.0, finished=False, undecided=0.0, falsified=0.0)
            add(progress, additions())
            lengths.append(path.stat().st_size)
    return lengths


def test_killed_at_any_byte_it_loses_no_record_that_was_written(tmp_path: Path, lasting: Task) -> None:
    path, cut = tmp_path / "p.result", tmp_path / "cut.result"
    lengths = written(path, lasting, 3)
    content, nodes = path.read_bytes(), [0]
    refinement = Refinement.start(lasting)
    for _ in range(3):
        refinement.advance(STEP)
        nodes.append(refinement.nodes)
    assert len(set(nodes)) == 4
    near = {length + shift for length in lengths for shift in (-1, 0, 1, len(SEAM) - 1, len(SEAM), len(SEAM) + 9)}
    for length in sorted({*near, *range(0, len(content), 501)} & set(range(len(content) + 1))):
        cut.write_bytes(content[:length])
        if length < lengths[0]:
            with pytest.raises(DiagnosticError) as caught:
                read_result(cut)
            assert [each.code for each in caught.value.diagnostics] in (["E0607"], ["E0609"])
        else:
            assert read_result(cut).nodes == nodes[sum(length >= each for each in lengths) - 1]


def test_a_torn_result_is_recovered_and_gone_on_from(tmp_path: Path, lasting: Task) -> None:
    path, result = job_file(tmp_path, lasting), tmp_path / "p.result"
    lengths = written(result, lasting, 3, read_job(path).sha256)
    result.write_bytes(result.read_bytes()[: lengths[2] + 100])
    at_least = refined(lasting, 2 * STEP).bounds()
    lost = Fraction(1) + Fraction(lasting.decided, 25_000)
    (item,) = fairdsl.recover(tmp_path).properties
    assert item.shares is not None
    assert item.shares.falsified * lasting.total >= at_least.falsified - lost
    assert (1 - item.shares.certified) * lasting.total <= at_least.violating + lost
    solved = fairdsl.solve(path, resume=True, jobs=1, timeout=2.0)
    assert solved.found.standing.falsified >= item.shares.falsified
    assert solved.found.standing.certified >= item.shares.certified
    assert solved.found.nodes > 2 * STEP
    assert read_result(result).nodes == solved.found.nodes
    assert SEAM not in result.read_bytes()


def test_a_record_that_does_not_belong_there_is_refused(tmp_path: Path, lasting: Task) -> None:
    path = tmp_path / "p.result"
    lengths = written(path, lasting, 2)
    content = path.read_bytes()
    first, second = content[lengths[0] : lengths[1]], content[lengths[1] :]
    for others in (first + first, second, first + SEAM + pack(plain(begun(lasting)), {})):
        path.write_bytes(content[: lengths[0]] + others)
        with pytest.raises(DiagnosticError) as caught:
            read_result(path)
        assert [each.code for each in caught.value.diagnostics] in (["E0607"], ["E0609"])


def test_records_together_become_no_more_than_is_read(tmp_path: Path, lasting: Task) -> None:
    path = tmp_path / "p.result"
    progress = Progress(nodes=0, seconds=0.0, finished=False, undecided=0.0, falsified=0.0)
    with growing(path, begun(lasting)) as add:
        for _ in range(3):
            add(progress, {"at": np.zeros(40_000, dtype=np.int64)})
    with reading(largest=700_000), pytest.raises(DiagnosticError) as caught:
        read_result(path)
    assert "at most 700,000 are read" in str(caught.value.diagnostics[0])
