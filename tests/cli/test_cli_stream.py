"""Verdicts as they come: cheap demands first, each property printed when it is complete."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner

import fairdsl
from fairdsl.cli.app import cli
from fairdsl.codec import plain
from fairdsl.diagnostics import Diagnostic
from fairdsl.report.model import PropertyReport, Report
from tests.cli.signalled import Running, written


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    return written(tmp_path)


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
    report = fairdsl.check(spec, effort=200_000, listener=heard)  # which is the same on a busy machine
    assert list(heard.properties) == [item.name for item in report.properties] == ["slow", "both", "quick"]
    assert [item.name for item in heard.items] == ["both", "quick", "slow"]
    assert sorted(heard.items, key=lambda item: heard.properties.index(item.name)) == list(report.properties)
    (begun,) = heard.reports
    assert (begun.properties, begun.models, begun.spec) == ((), report.models, report.spec)
    assert [item["name"] for item in plain(report)["properties"]] == ["slow", "both", "quick"]
    # What cheap demands leave is the expensive one's, which is the last: nearly all of it is used.
    assert report.run is not None
    assert 150_000 < report.run.spent <= 200_000


def test_plans_say_whose_turn_it_is(spec: Path) -> None:
    plans = fairdsl.plans(spec)
    assert [(plan.property, plan.turn, plan.cost) for plan in plans] == [
        ("slow", 4, "proof"),
        ("both", 1, "rows"),
        ("both", 2, "rows"),
        ("quick", 3, "rows"),
    ]


@pytest.mark.slow
def test_the_verdict_over_rows_is_there_before_the_search_ends(spec: Path) -> None:
    running = Running("check", str(spec), "--timeout", "600", terminal=True)
    running.until("quick")
    assert running.process.poll() is None, "the search has all the time that is left"
    running.send(signal.SIGTERM)
    ended = running.ended()
    lines = [line.split() for line in re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", ended.stdout).split("\n")]
    verdicts = [line[:2] for line in lines if line[1:2] in (["MEASURED"], ["UNKNOWN"])]
    assert verdicts == [["both", "MEASURED"], ["quick", "MEASURED"], ["slow", "UNKNOWN"]]
    assert ended.code == 143
    assert "exit code 143: terminated" in ended.stdout


def test_a_pipe_has_each_verdict_when_it_is_known(spec: Path) -> None:
    command = [sys.executable, "-m", "fairdsl", "check", str(spec), "--timeout", "600"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        try:
            next(line for line in process.stdout if line.startswith("quick "))
            assert process.poll() is None, "the search has all the time that is left"
        finally:
            process.kill()


def test_a_warning_of_many_properties_is_explained_once_and_then_counted(tmp_path: Path) -> None:
    (tmp_path / "few.csv").write_text("age,sex\n" + "30,f\n40,m\n" * 5, encoding="utf-8")
    (tmp_path / "few.fair").write_text(FEW, encoding="utf-8")
    said = CliRunner().invoke(cli, ["check", "--no-cache", str(tmp_path / "few.fair")])
    assert said.stderr.count("= why: ") == said.stderr.count("= help: ") == 1
    assert said.stderr.count("warning[W0808]") == 2
    assert "found 2 more times" in said.stderr


FEW = """\
fair 1
domain D {
  age : integer 18 .. 90
  sex : category { f, m }
}
protected sex
model m : D -> { no, yes }
  yes when age >= 35
  favourable yes
distribution few over D
  empirical from "few.csv"
property gap { model m  across sex  under few  measure demographic_parity_difference }
property ratio { model m  across sex  under few  measure impact_ratio }
property rates { model m  across sex  under few  measure acceptance_rate }
"""
