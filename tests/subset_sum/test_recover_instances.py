"""Folders of instances read back: an answer counts for the very file that it is about, and is somebody's word."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import fairdsl
from fairdsl.verdict import Arithmetic, Judgement, Word

SPEC = Path(__file__).parents[1] / "golden" / "compile" / "subset-sum" / "spec.fair"
ANSWER = "four_fifths.json.answer"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for path in fairdsl.compile(SPEC, to="subset-sum", directory=tmp_path).files:
        fairdsl.solve(path, output=f"{path}.answer")
    return tmp_path


def demands(folder: Path) -> Iterator[Any]:
    (item,) = [one for one in fairdsl.recover(folder, spec=SPEC).properties if one.name == "four_fifths"]
    yield from item.demands


def changed(folder: Path, name: str, value: object) -> None:
    path = folder / ANSWER
    document = json.loads(path.read_text(encoding="utf-8")) | {name: value}
    path.write_text(json.dumps(document), encoding="utf-8")


def test_answers_are_claims(folder: Path) -> None:
    required, measured = demands(folder)
    assert (required.judgement, float(required.value.low)) == (Judgement.VIOLATED, 0.5)
    assert measured.judgement is Judgement.MEASURED
    for demand, name in ((required, ANSWER), (measured, "four_fifths-2.json.answer")):
        assert (demand.basis.arithmetic, demand.basis.word) == (Arithmetic.CLAIMED, Word.FILES)
        assert [(claim.file, claim.said) for claim in demand.basis.claims] == [(name, "value")]
        assert demand.basis.distribution == "applicants"


def test_an_answer_to_another_file_counts_for_nothing(folder: Path) -> None:
    (folder / ANSWER).write_bytes((folder / "four_fifths-2.json.answer").read_bytes())
    required, measured = demands(folder)
    assert (required.judgement, required.detail) == (Judgement.UNKNOWN, "the answer is to another file")
    assert measured.judgement is Judgement.MEASURED


def test_an_answer_without_the_digest_counts_for_nothing(folder: Path) -> None:
    changed(folder, "sha256", None)
    assert next(demands(folder)).judgement is Judgement.UNKNOWN


def test_damaged_answers_and_none_leave_it_open(folder: Path) -> None:
    changed(folder, "found", {"kind": "status", "status": "unsat", "detail": ""})
    assert next(demands(folder)).detail == "it is an answer to a file of another format"
    (folder / ANSWER).write_text("unsat\n", encoding="utf-8")
    assert "not what `fairdsl solve --json` prints" in next(demands(folder)).detail
    (folder / ANSWER).unlink()
    assert next(demands(folder)).detail == "there is no answer"


def test_an_instance_that_the_spec_does_not_come_to_is_refused(folder: Path) -> None:
    path = folder / "four_fifths.json"
    path.write_text(path.read_text(encoding="utf-8").replace("2/5", "1/5"), encoding="utf-8")
    with pytest.raises(fairdsl.SpecError) as caught:
        fairdsl.recover(folder, spec=SPEC)
    assert [found.code for found in caught.value.diagnostics] == ["E0621"]


def test_what_solve_takes_from_a_file_it_calls_a_claim(folder: Path) -> None:
    report = fairdsl.solve(folder / "four_fifths.json").report
    assert report is not None
    assert report.recovered is not None
    assert (report.recovered.computed, report.recovered.spec_named) == (True, False)
