"""Jobs solved in shards, killed, resumed, and recovered: no certified share is lost, none is invented."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fairdsl
from fairdsl.backends.contract import Budget, Observer
from fairdsl.backends.intervals.job import JobHead, SharedAttribute, pack_job, read_job
from fairdsl.backends.intervals.jobs import IntervalJobs
from fairdsl.backends.intervals.refine import Refinement
from fairdsl.backends.refining.container import digest
from fairdsl.backends.refining.result import read_result, result_name, write_result
from fairdsl.backends.solved import Ending
from fairdsl.backends.warmup import Kernels
from fairdsl.clock import Deadline
from fairdsl.diagnostics import DiagnosticError
from fairdsl.ir.question import Quantity
from fairdsl.report.model import Report
from fairdsl.verdict import Holds, Judgement, Reason, Unknown
from tests.builders import ASKED
from tests.intervals.bisection import Bisection, SlowBisection, plane, unfair_units

ROOT = Path(__file__).parents[2]
SMALL = plane((40, 30), (3, -2), -7)
LARGE = plane((4000, 3000, 500), (3, -2, 5), -2001)
FAIR = plane((40, 30), (1, 1), 1)


@pytest.fixture(autouse=True)
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, Bisection)


def use(monkeypatch: pytest.MonkeyPatch, kind: type[Refinement]) -> None:
    monkeypatch.setattr("fairdsl.backends.intervals.jobs.Refinement", kind)


def job_file(folder: Path, task: Any, name: str = "p", quantity: Quantity = Quantity.FAIR_SHARE, **words: Any) -> Path:
    head = JobHead(
        asked=replace(ASKED, **{"property": name} | words),
        quantity=quantity,
        measure="counting",
        unit="an individual",
        factor=1,
        vacuous=task.vacuous,
        unsure=0,
        attributes=tuple(SharedAttribute(name="x", positions=int(size)) for size in task.sizes),
    )
    path = folder / f"{name}.job"
    path.write_bytes(pack_job(task, head))
    return path


def solve(path: Path, **options: Any) -> Any:
    return fairdsl.solve(path, **{"jobs": 1, "timeout": 20.0} | options)


def shares(report: Report) -> Any:
    (item,) = report.properties
    return item.shares


def code(caught: pytest.ExceptionInfo[DiagnosticError]) -> str:
    (finding,) = caught.value.diagnostics
    return finding.code


def test_a_job_that_is_solved_is_exact(tmp_path: Path) -> None:
    path = job_file(tmp_path, SMALL)
    solved = solve(path)
    unfair = Fraction(unfair_units(SMALL), SMALL.total)
    assert (solved.found.standing.certified, solved.found.standing.falsified) == (1 - unfair, unfair)
    assert solved.answer == tmp_path / "p.result"
    report = fairdsl.recover(tmp_path)
    assert shares(report).certified == 1 - unfair
    assert (report.spec.path, report.spec.sha256) == (ASKED.spec, ASKED.spec_sha256)
    assert report.exit_code.value == 0


@pytest.mark.parametrize("shards", [2, 3, 7])
def test_shards_come_to_what_the_whole_comes_to(tmp_path: Path, shards: int) -> None:
    task = plane((400, 300), (3, -2), -7)
    path = job_file(tmp_path, task)
    for shard in range(1, shards + 1):
        solved = solve(path, shard=shard, shards=shards)
        assert solved.answer == result_name(path, shard, shards)
        assert solved.found.standing.certified + solved.found.standing.falsified <= 1
    unfair = Fraction(unfair_units(task), task.total)
    found = shares(fairdsl.recover(*sorted(tmp_path.glob("*.result"))))
    assert (found.certified, found.falsified, found.undecided) == (1 - unfair, unfair, 0)


def test_a_missing_shard_is_undecided_and_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fairdsl.backends.intervals.jobs._SEED_NODES", 20)
    path = job_file(tmp_path, SMALL)
    one, three = (solve(path, shard=shard, shards=3).found.standing for shard in (1, 3))
    report = fairdsl.recover(tmp_path)
    found = shares(report)
    assert found.undecided > 0
    assert found.certified + found.falsified + found.undecided == 1
    assert found.certified <= 1 - Fraction(unfair_units(SMALL), SMALL.total)
    assert found.certified > max(one.certified, three.certified)
    assert "shard 2 of 3 is missing" in " ".join(report.properties[0].demands[0].notes)


def test_the_better_of_two_results_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, SlowBisection)
    path = job_file(tmp_path, LARGE)
    solve(path, timeout=0.2)
    better = solve(path, timeout=1.0, output=tmp_path / "again.result").found.standing
    assert shares(fairdsl.recover(tmp_path)).undecided == better.undecided


def test_resuming_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, SlowBisection)
    path = job_file(tmp_path, LARGE)
    first = solve(path, timeout=0.3)
    second = solve(path, timeout=0.3, resume=True)
    assert second.found.nodes > first.found.nodes > 0
    assert second.seconds > first.seconds
    assert second.found.standing.certified >= first.found.standing.certified
    assert second.found.standing.falsified >= first.found.standing.falsified
    assert second.found.standing.undecided < first.found.standing.undecided


def test_nothing_is_replaced_and_nothing_made_up(tmp_path: Path) -> None:
    path = job_file(tmp_path, SMALL)
    with pytest.raises(DiagnosticError) as caught:
        solve(path, resume=True)
    assert code(caught) == "E0610"
    solve(path)
    before = result_name(path, 1, 1).read_bytes()
    with pytest.raises(DiagnosticError) as caught:
        solve(path)
    assert code(caught) == "E0611"
    assert result_name(path, 1, 1).read_bytes() == before


def test_results_of_something_else_are_refused(tmp_path: Path) -> None:
    path, other = job_file(tmp_path, SMALL), job_file(tmp_path, FAIR, "q")
    solve(path)
    solve(other, shard=1, shards=2)
    for options in ({}, {"shard": 2, "shards": 2}):
        with pytest.raises(DiagnosticError) as caught:
            solve(other, resume=True, output=tmp_path / "p.result", **options)
        assert code(caught) == "E0612"
    with pytest.raises(DiagnosticError) as caught:
        solve(other, resume=True, shard=2, shards=2, output=tmp_path / "q.1-of-2.result")
    assert code(caught) == "E0612"
    solve(other, shard=1, shards=3)
    with pytest.raises(DiagnosticError) as caught:
        fairdsl.recover(tmp_path)
    assert code(caught) == "E0612"


def test_shards_of_trees_that_differ_are_not_joined(tmp_path: Path) -> None:
    """As after a machine that rounds differently: the parts may overlap, and a share might count twice."""
    path = job_file(tmp_path, SMALL)
    solve(path, shard=1, shards=2)
    second = read_result(solve(path, shard=2, shards=2).answer)
    elsewhere = dict(second.leaves) | {"evaluated": np.array(1)}
    write_result(result_name(path, 2, 2), replace(second, part=digest(elsewhere)))
    with pytest.raises(DiagnosticError) as caught:
        fairdsl.recover(tmp_path)
    assert code(caught) == "E0612"


def test_nothing_to_recover(tmp_path: Path) -> None:
    path = job_file(tmp_path, SMALL)
    with pytest.raises(DiagnosticError) as caught:
        fairdsl.recover(tmp_path)
    assert code(caught) == "E0613"
    result = solve(path).answer
    path.rename(tmp_path / "elsewhere")
    assert shares(fairdsl.recover(result)).undecided == 0  # found beside the result, whatever its name
    (tmp_path / "elsewhere").unlink()
    with pytest.raises(DiagnosticError) as caught:
        fairdsl.recover(result)
    assert code(caught) == "E0613"


def test_what_is_lacking_is_said_with_the_command_that_makes_it(tmp_path: Path) -> None:
    """Nobody solved it, which is no matter of time."""
    first, second = (job_file(tmp_path, SMALL, name) for name in ("p", "q"))
    with pytest.raises(DiagnosticError, match=f"fairdsl solve {first}"):
        fairdsl.recover(tmp_path)
    solve(first)
    found, open_ = fairdsl.recover(tmp_path).properties
    assert found.demands[0].reason is None
    assert open_.demands[0].reason is Reason.INCOMPLETE
    assert f"fairdsl solve {second}" in str(open_.demands[0].detail)
    for path in tmp_path.iterdir():
        path.unlink()
    with pytest.raises(DiagnosticError, match="no jobs, and no results"):
        fairdsl.recover(tmp_path)


def test_loading_kernels_takes_nothing_of_the_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[Deadline] = []

    class Slow(Kernels):
        def ready(self, observer: Observer, by: Deadline) -> bool:
            time.sleep(1.2)
            return not by.passed

    def refined(refinement: Any, budget: Budget, *_: Any, **__: Any) -> Ending:
        given.append(budget.deadline)
        return Ending.DEADLINE

    monkeypatch.setattr(IntervalJobs, "kernels", Slow("", "", ""))
    monkeypatch.setattr("fairdsl.backends.refining.solve.refine_within", refined)
    began = time.monotonic()
    fairdsl.solve(job_file(tmp_path, LARGE), timeout=1.0, jobs=1)  # it had ended with E0625
    assert given[0].at >= began + 1.0 + 1.2


def test_what_a_killed_run_was_writing_is_not_read(tmp_path: Path) -> None:
    solve(job_file(tmp_path, SMALL))
    (tmp_path / ".p.0123456789abcdef.partial.result").write_bytes(b"half")
    assert shares(fairdsl.recover(tmp_path)).undecided == 0


def test_a_job_without_a_result_is_not_forgotten(tmp_path: Path) -> None:
    solve(job_file(tmp_path, SMALL))
    job_file(tmp_path, FAIR, "q", Quantity.HOLDS, demand="require same decision", required=True)
    report = fairdsl.recover(tmp_path)
    assert [item.judgement for item in report.properties] == [Judgement.MEASURED, Judgement.UNKNOWN]
    assert report.exit_code.value == 3


@pytest.mark.parametrize(
    ("changes", "expected"),
    [({}, Holds), ({"origin": np.array([[0.0]])}, Unknown), ({"undetermined": 1}, Unknown)],
)
def test_whether_everybody_is_treated_alike(tmp_path: Path, changes: dict[str, Any], expected: type) -> None:
    """At bias 0 exactly one unit is unfair; an undetermined unit may be."""
    task = plane((40, 30), (1, 1), 1, **changes)
    solved = solve(job_file(tmp_path, task, quantity=Quantity.HOLDS))
    assert isinstance(solved.found.verdict, expected)


def process(*arguments: object) -> subprocess.Popen[bytes]:
    command: Sequence[str] = [sys.executable, "-m", "tests.intervals.solving_process", *map(str, arguments)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


@pytest.mark.parametrize("jobs", [pytest.param(1, marks=pytest.mark.slow), 2])
def test_a_run_that_is_killed_loses_nothing_certified(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, jobs: int
) -> None:
    use(monkeypatch, SlowBisection)
    path = job_file(tmp_path, LARGE)
    result = tmp_path / "p.result"
    run = process("solve", path, "--timeout", 60, "--jobs", jobs, "--checkpoint", 0.2)
    read_at_last = 0
    for _ in range(3):
        # Whenever one looks, the file is whole.
        read_at_last = wait_for_more(result, read_at_last)
    os.kill(run.pid, signal.SIGKILL)
    run.communicate()
    left = read_result(result)
    assert left.nodes >= read_at_last > 0
    before = SlowBisection.resume(LARGE, left.leaves).bounds()
    assert before.falsified > 0
    assert len([entry.name for entry in tmp_path.iterdir() if ".partial" in entry.name]) <= 1
    resumed = solve(path, resume=True, timeout=0.5)
    assert resumed.found.nodes > left.nodes
    assert resumed.found.standing.falsified * LARGE.total >= before.falsified
    assert (1 - resumed.found.standing.certified) * LARGE.total <= before.violating


def wait_for_more(result: Path, nodes: int) -> int:
    until = time.monotonic() + 120
    while time.monotonic() < until:
        if result.exists() and (found := read_result(result).nodes) > nodes:
            return found
        time.sleep(0.01)
    raise AssertionError("no checkpoint in time")


@pytest.mark.parametrize("number", [pytest.param(signal.SIGINT, marks=pytest.mark.slow), signal.SIGTERM])
def test_an_interrupted_run_says_how_far_it_got(tmp_path: Path, number: signal.Signals) -> None:
    path = job_file(tmp_path, LARGE)
    run = process("solve", path, "--timeout", 60, "--jobs", 1, "--checkpoint", 0.2)
    wait_for_more(tmp_path / "p.result", 0)
    run.send_signal(number)
    stdout, _ = run.communicate(timeout=30)
    assert run.returncode == 128 + number
    assert b"interrupted; `--resume` goes on" in stdout
    assert b"certified" in stdout


def test_the_real_refinement(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An example from spec to report, in shards, against counting everybody."""
    use(monkeypatch, Refinement)
    spec = ROOT / "examples" / "hiring" / "hiring.fair"
    counted = fairdsl.check(spec, backend="enumerate")
    for path in fairdsl.compile(spec, to="interval-job", directory=tmp_path).files:
        for shard in (1, 2):
            solve(path, shard=shard, shards=2)
        assert read_job(path).task.total > 0
    report = fairdsl.recover(tmp_path)
    for item in counted.properties:
        (found,) = [other for other in report.properties if other.name == item.name]
        if item.shares is None:
            assert found.judgement in (item.judgement, Judgement.UNKNOWN)
            continue
        assert found.shares is not None
        assert found.shares.certified <= item.shares.certified
        assert found.shares.falsified <= item.shares.falsified
