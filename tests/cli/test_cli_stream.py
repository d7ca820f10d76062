"""Verdicts as they come: cheap demands first, each property printed when it is complete."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from select import select

import pytest

import fairdsl
from fairdsl.diagnostics import Diagnostic
from fairdsl.report.json import report_to_json
from fairdsl.report.model import PropertyReport, Report

#: The proof about pairs comes first, and takes all the time there is: nobody can prove anything about a black box.
SPEC = """\
domain Applicant { sex : category { female, male }  age : integer 18 .. 90000000 }
protected sex
model rule : Applicant -> { reject, grant }
  score = 1 * age - 40
  grant when score > 0
  favourable grant
model blind : Applicant -> { reject, grant }
  from black_box "blind.onnx"
  reads sex, age
  grant when score > 0
  favourable grant
distribution people over Applicant
  empirical from "people.csv"
property slow { model blind  compare a, b : Applicant  differ in sex  require same decision }
property both { model blind  across sex  under people  measure acceptance_rate, statistical_parity }
property quick { model rule  across sex  under people  measure acceptance_rate }
"""
BLIND = Path(__file__).parents[1] / "golden" / "check" / "black-box" / "blind.onnx"
#: Seconds for what must come.
_PATIENCE = 60.0


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    (tmp_path / "blind.onnx").write_bytes(BLIND.read_bytes())
    (tmp_path / "people.csv").write_text("sex,age\nfemale,30\nmale,50\nfemale,60\n", encoding="utf-8")
    path = tmp_path / "spec.fair"
    path.write_text(SPEC, encoding="utf-8")
    return path


class Heard:
    """A listener that remembers."""

    def __init__(self) -> None:
        self.properties: Sequence[str] = ()
        self.reports: list[Report] = []
        self.items: list[PropertyReport] = []

    def begun(self, report: Report, properties: Sequence[str]) -> None:
        assert not self.items
        self.reports.append(report)
        self.properties = properties

    def answered(self, item: PropertyReport, findings: Sequence[Diagnostic]) -> None:
        self.items.append(item)


def test_a_listener_hears_cheap_properties_first_and_the_report_keeps_the_specs_order(spec: Path) -> None:
    heard = Heard()
    report = fairdsl.check(spec, timeout=4.0, listener=heard)
    assert list(heard.properties) == [item.name for item in report.properties] == ["slow", "both", "quick"]
    assert [item.name for item in heard.items] == ["both", "quick", "slow"]
    assert sorted(heard.items, key=lambda item: heard.properties.index(item.name)) == list(report.properties)
    (begun,) = heard.reports
    assert (begun.properties, begun.models, begun.sha256) == ((), report.models, report.sha256)
    assert [item["name"] for item in report_to_json(report)["properties"]] == ["slow", "both", "quick"]
    # What cheap demands leave of the time is the expensive one's, which is more than its fourth.
    assert report.properties[0].demands[0].seconds > 1.2


def test_plans_say_whose_turn_it_is(spec: Path) -> None:
    plans = fairdsl.plans(spec)
    assert [(plan.property, plan.turn, plan.cost) for plan in plans] == [
        ("slow", 4, "proof"),
        ("both", 1, "rows"),
        ("both", 2, "rows"),
        ("quick", 3, "rows"),
    ]


@pytest.mark.parametrize("terminal", [False, True])
def test_the_verdict_over_rows_is_there_before_the_search_ends(spec: Path, terminal: bool) -> None:
    ours, theirs = pty.openpty() if terminal else os.pipe()
    process = subprocess.Popen(
        [sys.executable, "-m", "fairdsl", "check", str(spec), "--timeout", "600"],
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=theirs,
        env=os.environ | {"TERM": "xterm"},
    )
    os.close(theirs)
    try:
        seen, until = b"", time.monotonic() + _PATIENCE
        while b"quick" not in seen:
            assert time.monotonic() < until, seen[-2000:]
            if select([ours], [], [], 1.0)[0]:
                seen += os.read(ours, 65536)
        assert process.poll() is None, "the search has all the time that is left"
    finally:
        process.kill()
        process.wait()
        os.close(ours)
    assert b"MEASURED" in seen
    assert seen.index(b"both") < seen.index(b"quick")
    assert b"UNKNOWN" not in seen


def test_the_text_of_a_run_is_its_blocks_in_the_order_of_their_turns(spec: Path) -> None:
    run = subprocess.run(
        [sys.executable, "-m", "fairdsl", "check", str(spec), "--timeout", "6"],
        capture_output=True,
        text=True,
        check=False,
    )
    lines = [line.split() for line in run.stdout.splitlines()]
    verdicts = [line[:2] for line in lines if len(line) > 1 and line[0] in ("slow", "both", "quick")]
    assert verdicts == [["both", "MEASURED"], ["quick", "MEASURED"], ["slow", "UNKNOWN"]]
    assert lines[-2][:2] == ["3", "properties:"]
    assert run.returncode == 3
