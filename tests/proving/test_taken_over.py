"""Verdicts take over what checked proofs show, and nothing that they do not."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from click.testing import CliRunner

import fairdsl
from fairdsl.cli.app import cli
from fairdsl.proving import Proved, with_proofs
from fairdsl.proving.taken_over import taken_over
from fairdsl.report.proof import CHECKER
from fairdsl.verdict import (
    Coverage,
    Evidence,
    Holds,
    Judgement,
    Reason,
    Refused,
    Shares,
    Tally,
    Unknown,
    Verdict,
    Violated,
)
from tests.proving.proved_networks import SPEC, brute, network, prove

ENGINE, PROOF = Evidence(backend="smt", method="z3"), Evidence(backend=CHECKER, method="a proof that was checked")
NOBODY_COVERED = Coverage(size=None, total=None, holds=Tally(), violated=Tally(), unknown=Tally())


def shares(evidence: Evidence, certified: Fraction, falsified: Fraction, reason: Reason | None = None) -> Shares:
    return Shares(
        certified=certified,
        falsified=falsified,
        undecided=1 - certified - falsified,
        vacuous=Fraction(0),
        measure="counting",
        unit="one",
        evidence=evidence,
        reason=reason,
    )


def open_for(reason: Reason) -> Unknown:
    return Unknown(reason=reason, detail="", evidence=replace(ENGINE, coverage=NOBODY_COVERED))


def test_what_was_left_open_is_what_the_proof_shows(tmp_path: Path) -> None:
    """An effort that is spent at once leaves everything but the first property open."""
    network(tmp_path / "m.onnx", 7)
    kept, required = SPEC.split("property each_one")[0], SPEC.split("property each_one")[1]
    required = required.replace("measure fair_share", "require fair_share >= 60%", 1)
    (tmp_path / "p.fair").write_text(f"{kept}property each_one{required}")
    report = tmp_path / "report.json"
    given = ["check", str(tmp_path / "p.fair"), "--effort", "1", "--no-cache", "--jobs", "1", "--report", str(report)]
    assert CliRunner().invoke(cli, given).exit_code == 3
    before = {item["name"]: item["judgement"] for item in json.loads(report.read_text())["properties"]}
    assert before["calm"] == before["each_one"] == "unknown"
    done = CliRunner().invoke(cli, [*given, "--proof", str(tmp_path / "proofs"), "--require-proof"])
    assert done.exit_code == 0, done.output
    found = {item["name"]: item["demands"][0] for item in json.loads(report.read_text())["properties"]}
    assert found["calm"]["judgement"] == found["each_one"]["judgement"] == "holds"
    assert found["calm"]["verdict"]["evidence"]["backend"] == CHECKER
    assert found["calm"]["verdict"]["evidence"]["notes"] == ["`enumerate` left it open"]
    share = found["some"]["verdict"]
    known = float(Fraction(share["certified"])), float(Fraction(share["falsified"]))
    assert known == pytest.approx(tuple(map(float, brute(tmp_path / "m.onnx", "some"))))
    # Whoever looked on saw both: what engines left open, and what it came to.
    printed = [line.split() for line in done.stdout.splitlines() if line.startswith("calm ")]
    assert [words[1] for words in printed] == ["UNKNOWN", "HOLDS"]
    assert [line.split()[1] for line in done.stdout.splitlines() if line.startswith("share ")] == ["MEASURED"]


def test_demands_of_one_question_have_one_answer(tmp_path: Path) -> None:
    """A proof that shows less of the one, for its time was up, does not leave it behind the other."""
    found = prove(tmp_path, 7)[0]
    (tmp_path / "p.fair").write_text(SPEC.replace("age >= 2 measure", "age >= 2 require fair_share >= 60% measure"))
    report = fairdsl.check(str(tmp_path / "p.fair"), effort=1, properties=["share"])
    assert found.proof is not None
    assert isinstance(found.shows, Shares)
    weak = replace(found, demand="require fair_share >= 60%", shows=shares(PROOF, Fraction(0), Fraction(0)))
    report = replace(
        report,
        properties=tuple(
            replace(item, demands=tuple(replace(one, verdict=open_for(Reason.TIMEOUT)) for one in item.demands))
            for item in report.properties
        ),
    )
    (item,) = with_proofs(report, [weak, found]).properties
    assert [one.judgement for one in item.demands] == [Judgement.HOLDS, Judgement.MEASURED]
    assert item.demands[0].value == item.demands[1].value
    (item,) = with_proofs(report, [weak]).properties
    assert item.demands[0].judgement is Judgement.UNKNOWN
    (item,) = with_proofs(report, [Proved(property=found.property, demand=found.demand, said="no proof")]).properties
    assert [one.verdict for one in item.demands] == [open_for(Reason.TIMEOUT)] * 2


@pytest.mark.parametrize(
    "verdict",
    [
        open_for(Reason.NUMERIC_GAP),  # the deployed file treats two differently
        open_for(Reason.CONTRADICTION),
        replace(open_for(Reason.TIMEOUT), breaches=(None,)),  # and so it does here
        Refused(),
        Holds(evidence=ENGINE),
    ],
)
def test_what_no_proof_changes(verdict: Verdict) -> None:
    shown = taken_over(verdict, Holds(evidence=PROOF))
    assert shown is verdict


def test_one_of_two_that_contradict_is_wrong() -> None:
    for verdict, shown in (
        (Violated(witnesses=(), evidence=ENGINE), Holds(evidence=PROOF)),
        (shares(ENGINE, Fraction(1, 2), Fraction(0), Reason.TIMEOUT), shares(PROOF, Fraction(0), Fraction(2, 3))),
        (shares(ENGINE, Fraction(1), Fraction(0)), shares(PROOF, Fraction(0), Fraction(1, 9))),
    ):
        found = taken_over(verdict, shown)
        assert isinstance(found, Unknown)
        assert found.reason is Reason.CONTRADICTION


def test_shares_are_the_better_of_both() -> None:
    verdict = shares(ENGINE, Fraction(1, 2), Fraction(1, 4), Reason.TIMEOUT)
    found = taken_over(verdict, shares(PROOF, Fraction(2, 3), Fraction(0)))
    assert isinstance(found, Shares)
    assert (found.certified, found.falsified, found.undecided) == (Fraction(2, 3), Fraction(1, 4), Fraction(1, 12))
    assert CHECKER in " ".join(found.evidence.notes)


def test_what_became_of_partitions_is_kept() -> None:
    found = taken_over(open_for(Reason.TIMEOUT), Holds(evidence=PROOF))
    assert isinstance(found, Holds)
    assert found.evidence.coverage is NOBODY_COVERED
