"""Traps of searching and estimating, by their numbers in the list of how verifiers before us went wrong.

Trap 7: "counterexamples" outside their domain, one of them thousands of times. Trap 25: a rate from ten thousand
samples without an interval. Trap 26: runs without a seed, results appended to old files. What ``search`` writes is in
``test_search_command.py``, and what a retrained model is accepted for (trap 24) in ``tests/repairing``.
"""

from __future__ import annotations

import re
from dataclasses import fields
from fractions import Fraction
from itertools import product
from pathlib import Path

import pytest

import fairdsl
from fairdsl.backends.sampling.looks import most_needed
from fairdsl.backends.search.strategies import STRATEGIES
from fairdsl.codec import plain
from fairdsl.diagnostics import DiagnosticError
from fairdsl.ir.question import Precision
from fairdsl.report.text import render
from fairdsl.verdict import Estimate

SPEC = """\
domain Person {
  sex  : category { female, male }
  age  : integer 0 .. 199
  debt : integer 0 .. 199
  home : boolean
  where debt <= age + 60
}

protected sex

model score : Person -> { reject, grant }
  score = age - debt + 40 * (sex = male)
  grant when score > 0

property rate {
  compare a, b : Person
  differ  in sex
  among home
"""
#: Whoever is sure to be somebody whose sex decides.
UNFAIR = {(age, debt) for age, debt in product(range(200), repeat=2) if age <= debt < age + 40}


def written(folder: Path, *lines: str) -> Path:
    path = folder / "spec.fair"
    path.write_text(SPEC + "".join(f"  {line}\n" for line in lines) + "}\n", encoding="utf-8")
    return path


@pytest.mark.parametrize("strategy", [name for name in STRATEGIES if name not in ("zero-order", "outward")])
def test_trap_7_no_strategy_leaves_the_target_or_comes_twice(strategy: str, tmp_path: Path) -> None:
    found = fairdsl.search(written(tmp_path, "require same decision"), count=25, strategy=strategy)
    rows = found.rows()
    units = [(row["age"], row["debt"]) for row in rows]
    assert len(units) == len(set(units)) == 25
    assert set(units) <= UNFAIR
    assert all(row["home"] and row["sex"] != row["b.sex"] for row in rows)


def estimates(folder: Path, *lines: str, seed: int = 0) -> fairdsl.Report:
    return fairdsl.check(written(folder, *lines), backend="sampling", seed=seed)


def test_trap_25_there_is_no_rate_without_an_interval(tmp_path: Path) -> None:
    """Neither in the data, where an estimate has no other form, nor in print, nor as JSON."""
    assert {"interval", "confidence", "sampled"} <= {field.name for field in fields(Estimate)}
    with pytest.raises(TypeError):
        Estimate(sampled=10_000, unfair=46, confidence=Fraction(19, 20))  # type: ignore[call-arg]
    report = estimates(
        tmp_path, "measure discrimination_rate within 1%", "require discrimination_rate <= 50% with confidence 99%"
    )
    truth = Fraction(len(UNFAIR), sum(debt <= age + 60 for age, debt in product(range(200), repeat=2)))
    for demand in plain(report)["properties"][0]["demands"]:
        estimate = demand["verdict"]["estimate"]
        assert 0 < estimate["low"] < estimate["value"] < estimate["high"] < 1
        # It is the discrimination rate that is asked for.
        assert demand["value"]["low"] <= truth <= demand["value"]["high"]
        assert demand["value"]["low"] == pytest.approx(1 - estimate["high"])
    text = " ".join(render(report).split())
    shown = re.findall(r"(?:rate|estimated) [\d.]+% (\S+ \S+)", text)
    assert shown
    assert all(re.match(r"\(9[59]% interval", words) for words in shown)


def test_trap_25_the_sample_is_as_large_as_the_precision_needs(tmp_path: Path) -> None:
    sizes = []
    for within in ("5%", "2%", "0.7%"):
        (demand,) = estimates(tmp_path, f"measure fair_share within {within}").properties[0].demands
        assert demand.estimate is not None
        distance = Fraction(within.removesuffix("%")) / 100
        estimate = demand.estimate
        assert max(estimate.interval.high - estimate.value, estimate.value - estimate.interval.low) <= distance
        assert estimate.sampled <= most_needed(Precision(within=distance, confidence=Fraction(19, 20)))
        sizes.append(estimate.sampled)
    assert sizes == sorted(set(sizes)), "half the distance takes more units"
    # Ten thousand of a rate of half a per cent: 0.14 points either way, and no less can be claimed of them.
    assert most_needed(Precision(within=Fraction(14, 10_000), confidence=Fraction(19, 20))) > 10_000


def test_trap_25_an_estimate_has_to_be_asked_for(tmp_path: Path) -> None:
    """Without a distance or a confidence there is none to be had: what is measured is exact, or refused."""
    (demand,) = estimates(tmp_path, "measure discrimination_rate").properties[0].demands
    assert (demand.estimate, demand.judgement.value) == (None, "refused")
    for line in ("measure discrimination_rate within 0%", "measure discrimination_rate within 1% with confidence 100%"):
        with pytest.raises(DiagnosticError, match="E0308"):
            estimates(tmp_path, line)


def test_trap_26_one_seed_is_one_sample_and_another_seed_is_another(tmp_path: Path) -> None:
    found = [
        estimates(tmp_path, "measure discrimination_rate within 1%", seed=seed).properties[0].demands[0].estimate
        for seed in (3, 3, 4)
    ]
    assert found[0] == found[1] != found[2]


def test_trap_26_a_file_that_cannot_be_finished_leaves_the_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    output = tmp_path / "found.csv"
    output.write_text("an earlier run\n", encoding="utf-8")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    spec = written(tmp_path, "require same decision")
    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(DiagnosticError, match="E0629"):
        fairdsl.search(spec, count=5, output=output)
    assert output.read_text(encoding="utf-8") == "an earlier run\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["found.csv", "spec.fair"]
