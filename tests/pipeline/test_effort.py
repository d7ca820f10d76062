"""Reports of runs that have effort instead of time: made again, they are the same."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

import fairdsl
from fairdsl.backends.leaf_boxes import graft, refinement
from fairdsl.clock import UNITS, Deadline, Meter, Work, look, metered, now, spend, until
from fairdsl.report.ran import EndedBy, Ran
from fairdsl.report.text import render
from fairdsl.verdict import Shares
from tests import lent_shares

ROOT = Path(__file__).parents[2]
SPEC = """fair 1
domain Person {
  sex    : category { women, men }
  age    : integer 18 .. 400
  income : integer 0 .. 4000
  height : real 0 .. 10
}
model grant : Person -> { deny, give }
  score = income - 2 * age + 9 * height + 3 * (sex = men) - 60
  give when score >= 0
property alike {
  compare a, b : Person
  differ in sex
  require fair_share >= 20%
  measure fair_share
  require same decision
}
"""


def said(text: str) -> str:
    """A report without times, versions, the host and its processes."""
    text = re.sub(r'"seconds": [\d.e-]+', '"seconds": *', text)
    return re.sub(r'"(jobs|platform|versions)": (\d+|"[^"]*"|\{[^}]*\})', r'"\1": *', text)


def ran(effort: int | None, jobs: int = 1, timeout: float | None = None) -> tuple[str, Ran]:
    report = fairdsl.check(SPEC, effort=effort, jobs=jobs, timeout=timeout)
    assert report.run is not None
    return said(report.to_json()), report.run


@pytest.mark.parametrize("effort", [200, 5_000])
def test_reports_are_alike_whatever_the_number_of_processes(effort: int) -> None:
    first, run = ran(effort)
    assert (ran(effort, jobs=2)[0], run.ended_by, run.effort) == (first, EndedBy.EFFORT, effort)
    assert f'"ended_by": "effort",\n    "spent": {run.spent}' in first
    assert "more `--effort` may decide it" in render(fairdsl.check(SPEC, effort=effort), width=200)


@pytest.mark.parametrize(("backend", "asked"), [("leaf_boxes", "of_everybody"), ("rates", "of_people")])
def test_shares_that_may_be_shared_out_take_one_process(
    backend: str, asked: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(refinement, "_CUTS", 64)
    monkeypatch.setattr(graft, "_LEAVES", 0)
    left = []
    for effort in (100, 10**4, 10**6):
        first, second = (
            fairdsl.check(lent_shares.SPEC, properties=[asked], backend=backend, effort=effort, jobs=jobs)
            for jobs in (1, 2)
        )
        assert said(first.to_json()) == said(second.to_json())
        verdict = first.properties[0].demands[0].verdict
        assert isinstance(verdict, Shares)
        left.append(verdict.undecided)
    assert left[0] > left[-1] == 0


def test_a_run_with_time_says_what_was_spent() -> None:
    _, run = ran(None, timeout=1.0)
    assert run.spent > 0
    assert run.work
    assert (run.timeout, run.effort) == (1.0, None)


def test_time_may_be_limited_beside() -> None:
    meter = Meter(10**12, ends=time.monotonic())
    with metered(meter), until(Deadline.within(3600.0)) as scope:
        look()
    assert scope.passed
    assert meter.late


def test_the_clock_of_the_work_goes_by_what_is_spent() -> None:
    boxes = Work("boxes", 2.0)
    meter = Meter(10 * UNITS)
    with until(Deadline.within(-1.0)), metered(meter):  # deadlines around it do not count
        half = Deadline.within(Deadline(10.0).remaining / 2)
        spend(boxes, UNITS)
        assert (now(), half.remaining, half.passed) == (2.0, 3.0, False)
        with until(half) as scope:
            while True:
                look()
        assert scope.passed
        assert half.passed
    assert meter.done["boxes"] == UNITS
    assert now() > 10.0  # seconds again


CREDIT, REPAIR = "examples/credit/credit.fair", "examples/repair"
COMMANDS = {
    "shares and proofs": ["check", CREDIT],
    "rates of a network": ["check", "examples/lending/lending.fair"],
    "rates of trees": ["check", "examples/recidivism/recidivism.fair"],
    "rates of rows": ["check", "examples/admissions/admissions.fair"],
    "parts": ["check", CREDIT, "--property", "sex_never_decides", "--partition", "5000"],
    "search": ["search", CREDIT, "--property", "sex_never_decides"],
    "repair": ["repair", f"{REPAIR}/census.fair", "--train", f"{REPAIR}/census.csv"],
}


def done(words: list[str], jobs: int, core: str, folder: Path) -> str:
    """What a command with an effort says, on a kind of processor, as BLAS is told."""
    match words[0]:
        case "check":
            words = [*words, "--no-cache", "--jobs", str(jobs)]
        case "repair":
            folder = folder / core
            words = [*words, "--estimator", f"{REPAIR}/estimators.py:tree", "-o", str(folder)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OPENBLAS_CORETYPE": core}
    command = [sys.executable, "-m", "fairdsl", *words, "--json", "--effort", "150000"]
    found = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, check=False)
    assert found.returncode in (0, 1, 3), found.stderr.decode()
    return said(found.stdout.decode()).replace(str(folder), "FOLDER")


@pytest.mark.slow
@pytest.mark.parametrize("words", COMMANDS.values(), ids=COMMANDS)
def test_answers_are_alike_whatever_the_processor(words: list[str], tmp_path: Path) -> None:
    first = done(words, 1, "Haswell", tmp_path)
    assert json.loads(first.replace(": *", ": 0"))
    assert done(words, 2, "Prescott", tmp_path) == first
