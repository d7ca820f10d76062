"""The benchmark's checks pass on what a refinement finds, and fail on anything more."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def shares(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import shares.checks
    import shares.growth
    import shares.measure
    import shares.questions

    return shares


@pytest.fixture
def network(shares: Any, tmp_path: Path) -> Path:
    """Two layers of eight over the Bank domain."""
    path = tmp_path / "BM-1.onnx"
    weights = shares.growth.drawn(shares.questions.domain_of("BM"), 2, 8, np.random.default_rng(3))
    shares.growth.save(weights, path)
    return path


def test_the_sum_is_exact(shares: Any, network: Path) -> None:
    (reading,) = shares.measure.read_at(shares.questions.ask(network), [0.1])
    assert shares.checks.sums(reading).passed
    assert not shares.checks.sums(replace(reading, certified=reading.certified + Fraction(1, 10**30))).passed
    moved = replace(reading, certified=reading.certified + 2, undecided=reading.undecided - 2)
    assert not shares.checks.sums(moved).passed


def test_a_sample_refutes_shares_that_are_too_large(shares: Any, network: Path) -> None:
    problem = shares.questions.ask(network)
    (reading,) = shares.measure.read_at(problem, [0.3])
    assert shares.checks.samples(reading, problem, 20_000, 0).passed
    fair, unfair = 1 - reading.falsified, 1 - reading.certified
    assert not shares.checks.samples(replace(reading, certified=fair + Fraction(1, 20)), problem, 20_000, 0).passed
    assert not shares.checks.samples(replace(reading, falsified=unfair + Fraction(1, 20)), problem, 20_000, 0).passed


def test_small_domains_are_counted_out(shares: Any, network: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = shares.questions.ask(network)
    known: dict[tuple[str, str], Any] = {}
    asked = shares.checks.small_shares

    def honest(spec: Path, backend: str) -> Any:
        key = (spec.read_text(encoding="utf-8"), backend)
        return known[key] if key in known else known.setdefault(key, asked(spec, backend))

    monkeypatch.setattr(shares.checks, "small_shares", honest)
    (found,) = shares.checks.brute_force(network, problem, 1, 0)
    assert found.passed, found.figures

    def one_too_many(spec: Path, backend: str) -> Any:
        answer = honest(spec, backend)
        if backend != "intervals":
            return answer
        moved = Fraction(1, answer.total)
        return replace(answer, certified=answer.certified + moved, falsified=answer.falsified - moved)

    monkeypatch.setattr(shares.checks, "small_shares", one_too_many)
    (found,) = shares.checks.brute_force(network, problem, 1, 0)
    assert not found.passed


@pytest.mark.slow
def test_the_script_prints_the_table(network: Path, tmp_path: Path) -> None:
    results = tmp_path / "results.csv"
    command = [sys.executable, BENCHMARKS / "fair_share.py", tmp_path, "--seconds", "0.2", "--sums", "--csv", results]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "| BM-1 | 13.58% | 7.21 |" in run.stdout
    assert "below FairQuant on " in run.stdout
    header, row = results.read_text(encoding="utf-8").splitlines()
    assert header.startswith("network,fairquant_undecided,")
    assert row.startswith("BM-1,0.1358,7.21,")


def test_every_published_network_has_a_peer(shares: Any) -> None:
    known = shares.questions.peers()
    assert len(known) == 25
    for peer in known.values():
        assert abs(peer.certified + peer.falsified + peer.undecided - 1) <= Fraction(2, 10_000)
        assert peer.cpu > 0
