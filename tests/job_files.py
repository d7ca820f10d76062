"""Jobs as files in tests: written, solved, killed, recovered, and what is said of those that are refused."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import fairdsl
from fairdsl.backends.contract import Offer
from fairdsl.backends.encoding import Encoding
from fairdsl.backends.refining.jobs import Job
from fairdsl.backends.refining.result import read_result
from fairdsl.backends.refining.splits import Lending
from fairdsl.diagnostics import DiagnosticError
from fairdsl.ir.problem import Problem
from tests.builders import ASKED

__all__ = ["code", "every_box_has_a_place", "job_file", "job_of", "killed", "recovered", "shares", "solve"]

_ROOT = Path(__file__).parents[1]
#: Seconds of a run until something is written, at most.
_PATIENCE = 120


def job_file(folder: Path, problem: Problem, encoding: Encoding) -> Path:
    """The job of a problem, as `compile` writes it."""
    assert isinstance(encoding.offer(problem), Offer)
    ((name, content),) = encoding.lower(problem, ASKED).files.items()
    (folder / name).write_bytes(content)
    return folder / name


def job_of(problem: Problem, encoding: Encoding, read: Callable[[Path], Job]) -> Job:
    """What reading the job's file gives, which is asked for nothing that the problem has beside."""
    (content,) = encoding.lower(problem, ASKED).files.values()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("fairdsl.backends.refining.container.content_of", lambda _: content)
        return read(Path("p.job"))


def every_box_has_a_place(whole: Lending) -> None:
    """Boxes that were lent out, cut there, taken back and cut further have all been noted, each once."""
    roots = len(whole.state()["child"])
    whole.advance(8)
    parts = [type(whole).resume(whole.task, state) for state in whole.fork(2)]
    assert all(part.advance(8) for part in parts)
    whole.join([part.state() for part in parts])
    assert whole.advance(64)
    child = whole.state()["child"]
    first = child[child >= 0]
    assert sorted([*first, *first + 1]) == list(range(roots, len(child)))


def solve(path: Path, **options: Any) -> Any:
    return fairdsl.solve(path, **{"jobs": 1, "timeout": 60.0} | options)


def recovered(folder: Path, **options: Any) -> Any:
    """The demand of the only job in a folder."""
    (item,) = fairdsl.recover(folder, **options).properties
    return item


def shares(folder: Path, **options: Any) -> Any:
    return recovered(folder, **options).shares


def code(caught: pytest.ExceptionInfo[DiagnosticError]) -> str:
    (finding,) = caught.value.diagnostics
    return finding.code


def killed(path: Path, result: Path, boxes: int, moment: float, *words: object) -> None:
    """Solve, and kill the run so long after it has written of more boxes than there were."""
    command = [sys.executable, "-m", "fairdsl", "solve", path, "--timeout", 60, "--checkpoint", 0.05, *words]
    with subprocess.Popen([*map(str, command)], cwd=_ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as run:
        until = time.monotonic() + _PATIENCE
        while run.poll() is None and time.monotonic() < until:
            time.sleep(0.02)
            if result.exists() and read_result(result).nodes > boxes:
                time.sleep(moment)
                break
        if run.poll() is None:
            os.kill(run.pid, signal.SIGKILL)
