"""Scores that are known up to an error only, and decisions that stay open, as reports write them."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction

import pytest
from samples import EVIDENCE, REPORT, demand, witness
from test_report_json import valid

from fairdsl.codec import plain
from fairdsl.report.words import score
from fairdsl.verdict import Violated

F = Fraction


@pytest.mark.parametrize(
    ("value", "error", "written"),
    [
        (F("0.123456789"), F(1, 10**20), "0.123457"),
        (F("0.123456789"), F(1, 10**4), "0.12"),
        (F(1, 2), F(1, 10**30), "0.5"),
        (F(0), F(1, 10**30), "-1e-30 .. 1e-30"),
        (F(2, 10**51), F(1, 10**60), "2e-51"),
        (F(1, 2), F(0), "0.5"),
        (F(1, 3), F(0), "0.333333"),
    ],
)
def test_only_certain_figures_are_written(value: Fraction, error: Fraction, written: str) -> None:
    assert score((value,), error) == written


def test_json_says_how_near_the_scores_are() -> None:
    pair = witness()
    enclosed = replace(pair.replay, scores_b=(F(-1, 3),), score_error=F(1, 10**25))
    asked = demand(Violated(witnesses=(replace(pair, replay=enclosed),), evidence=EVIDENCE))
    report = replace(REPORT, properties=(replace(REPORT.properties[0], demands=(asked,)),))
    valid(json.loads(report.to_json()))
    (witness_,) = plain(report)["properties"][0]["demands"][0]["verdict"]["witnesses"]
    written = witness_["replay"]
    assert (written["scores_a"], written["scores_b"]) == ([1.25], ["-1/3"])
    assert F(written["score_error"]) >= F(written["score_error_exact"]) == F(1, 10**25)
