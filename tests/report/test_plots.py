"""Plots: the numbers that are drawn are the report's; without Matplotlib the error says what to install."""

from __future__ import annotations

import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import fairdsl
from fairdsl.report.model import Report
from fairdsl.verdict import Moment, Region, Shares

SPEC = """\
fair 1
domain Applicant {
  sex : category { female, male }
  grade : integer 0 .. 9
}
protected sex
model admit : Applicant -> { no, yes }
  score = grade + (sex = male)
  yes when score >= 5
  favourable yes
distribution everybody over Applicant
  uniform
property rates {
  across sex
  under everybody
  measure acceptance_rate
  measure parity_gap
  measure influence of grade on parity_gap
}
property alike {
  compare a, b : Applicant
  differ in sex
  measure fair_share
}
"""


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    path = tmp_path_factory.mktemp("plots") / "plots.fair"
    path.write_text(SPEC, encoding="utf-8")
    return fairdsl.check(path)


def with_parts(report: Report) -> Report:
    """The report as if refining had left something open, and said where."""
    *others, item = report.properties
    (demand,) = item.demands
    shares = demand.verdict
    assert isinstance(shares, Shares)
    where = Region(restricted={}, share=Fraction(1), falsified=Fraction(1, 10), undecided=Fraction(1, 5))
    shares = replace(shares, regions=(where,), course=(Moment(0.5, 0.25), Moment(2.0, 0.125)))
    return replace(report, properties=(*others, replace(item, demands=(replace(demand, verdict=shares),))))


def drawn(figure: Any, panel: int = 0) -> list[tuple[list[float], list[float]]]:
    """The lines of a picture."""
    return [tuple([float(each) for each in axis] for axis in line.get_data()) for line in figure.axes[panel].lines]


def test_groups_and_influences_are_drawn_where_they_are(report: Report) -> None:
    pytest.importorskip("matplotlib")
    figure = report.plot(property="rates")
    (ax,) = figure.axes
    assert [label.get_text() for label in ax.get_yticklabels()] == ["female", "male"]
    assert [x for x, _ in drawn(figure) if len(x) == 2 and x[0] == x[1]] == [[0.5, 0.5], [0.6, 0.6]]
    assert ax.get_title(loc="left") == "rates: acceptance_rate"
    assert ax.get_xlim() == (0.0, 1.0)
    (ax,) = report.plot("influences").axes
    assert [label.get_text() for label in ax.get_yticklabels()] == ["grade on parity_gap"]


def test_shares_regions_and_their_course(report: Report) -> None:
    pytest.importorskip("matplotlib")
    bars = report.plot("shares").axes[0].patches
    assert [round(bar.get_width(), 9) for bar in bars] == [0.9, 0.0, 0.1]
    whole = with_parts(report)
    assert [round(bar.get_width(), 9) for bar in whole.plot("regions").axes[0].patches] == [0.1, 0.2]
    assert drawn(whole.plot("course")) == [([0.0, 0.5, 2.0], [1.0, 0.25, 0.125])]
    with pytest.raises(ValueError, match="there are no regions to plot; there are groups, shares, influences"):
        report.plot("regions")


@pytest.mark.parametrize(("name", "begins"), [("a.svg", b"<?xml"), ("a.png", b"\x89PNG"), ("a.pdf", b"%PDF")])
def test_a_picture_is_written_and_written_alike(report: Report, tmp_path: Path, name: str, begins: bytes) -> None:
    pytest.importorskip("matplotlib")
    report.plot(path=tmp_path / name)
    content = (tmp_path / name).read_bytes()
    assert content.startswith(begins)
    report.plot(path=tmp_path / name)
    assert (tmp_path / name).read_bytes() == content


def test_what_cannot_be_drawn_says_what_can(report: Report, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="there is no plot 'pie'; a report has 'groups', 'shares'"):
        report.plot("pie")
    with pytest.raises(ValueError, match="no property 'rate'; it has rates, alike"):
        report.plot(property="rate")
    with pytest.raises(ValueError, match=r"written as \.svg, \.png, \.pdf"):
        report.plot(path=tmp_path / "a.gif")
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match=r"pip install 'fairdsl\[plots\]'"):
        report.plot()
