"""Job files: self-contained, the same bytes for the same job, and nothing but what was written."""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import fields, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fairdsl
from fairdsl.backends.answer_files import write_whole
from fairdsl.backends.intervals.encoding import IntervalJob
from fairdsl.backends.intervals.job import JOB, JobHead, SharedAttribute, pack_job, read_job
from fairdsl.backends.intervals.lowering import lower
from fairdsl.backends.intervals.task import Task
from fairdsl.backends.refining.container import pack, unpack
from fairdsl.codec import plain
from fairdsl.diagnostics import DiagnosticError
from fairdsl.ir.expr import Relation
from fairdsl.ir.question import Quantity, Threshold
from fairdsl.source.reading import reading
from tests.builders import ASKED, BOOLEAN, category, domain, integer, layer, model, problem, real, score
from tests.intervals.bisection import plane

EXAMPLES = Path(__file__).parents[2] / "examples"

NETWORK = model(layer([[1, -1, 2], [0, 1, 1]], [-3, 1]), layer([[1, -2]], ["-1/2"], 1), attributes=3)
PEOPLE = domain(age=integer(3, 40), sex=BOOLEAN, job=category(1, 2, 4))


def write(path: Path, task: Task, **changes: object) -> Path:
    head = JobHead(
        asked=replace(ASKED, **changes),  # type: ignore[arg-type]
        quantity=Quantity.FAIR_SHARE,
        measure="counting",
        unit="an individual",
        factor=3,
        vacuous=1,
        unsure=0,
        attributes=(SharedAttribute(name="x", positions=3, start=Fraction(1), step=Fraction(1, 2)),),
    )
    path.write_bytes(pack_job(task, head))
    return path


def same(one: Task, other: Task) -> bool:
    for field in fields(Task):
        a, b = getattr(one, field.name), getattr(other, field.name)
        if isinstance(a, tuple):
            if len(a) != len(b) or not all(x.dtype == y.dtype and np.array_equal(x, y) for x, y in zip(a, b)):  # noqa: B905
                return False
        elif isinstance(a, np.ndarray):
            if a.dtype != b.dtype or not np.array_equal(a, b):
                return False
        elif a != b or type(a) is not type(b):
            return False
    return True


def codes(caught: pytest.ExceptionInfo[DiagnosticError]) -> list[str]:
    return [finding.code for finding in caught.value.diagnostics]


def test_what_is_written_is_read(tmp_path: Path) -> None:
    for task in (
        lower(problem(PEOPLE, NETWORK, 1)).task,
        plane((3, 2), (1, -1), 0, decided=10**30, float32_error=np.array([0.5]), strict=False),
    ):
        threshold = Threshold(relation=Relation.GE, limit=Fraction(19, 20), text="95%")
        job = read_job(write(tmp_path / "a.job", task, threshold=threshold))
        assert same(job.task, task)
        assert job.head.asked == replace(ASKED, threshold=threshold)
        assert (job.head.quantity, job.head.measure, job.head.unit) == (
            Quantity.FAIR_SHARE,
            "counting",
            "an individual",
        )
        assert (job.head.factor, job.head.vacuous, job.head.unsure) == (3, 1, 0)


def test_the_same_job_has_the_same_bytes_and_another_one_another_name(tmp_path: Path) -> None:
    task = lower(problem(PEOPLE, NETWORK, 1)).task
    first, second = write(tmp_path / "a.job", task), write(tmp_path / "b.job", task)
    assert first.read_bytes() == second.read_bytes()
    other = write(tmp_path / "c.job", task, property="another")
    assert read_job(first).sha256 == read_job(second).sha256 != read_job(other).sha256


def test_numpy_opens_the_arrays(tmp_path: Path) -> None:
    task = lower(problem(PEOPLE, NETWORK, 1)).task
    with np.load(write(tmp_path / "a.job", task), allow_pickle=False) as arrays:
        assert np.array_equal(arrays["weights/0"], task.weights[0])
        header = json.loads(arrays["header.json"])
    assert header["schema"] == "fairdsl.interval-job/3"
    assert header["asked"]["demand"] == ASKED.demand


def test_the_meaning_of_positions_is_written() -> None:
    people = domain(age=integer(3, 40), sex=BOOLEAN, job=category(1, 2, 4), debt=real(0, 2))
    network = model(layer([[1, -1, 2, 1], [0, 1, 1, 0]], [-3, 1]), layer([[1, -2]], ["-1/2"], 1), attributes=4)
    asked = problem(people, network, 1)
    (content,) = IntervalJob().lower(asked, ASKED).files.values()
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        header = json.loads(archive.read("header.json"))
    age, job, debt = header["attributes"]
    assert age == {"name": "age", "positions": 38, "start": "3", "step": "1", "cells": False}
    assert job == {"name": "job", "positions": 3, "values": ["v1", "v2", "v4"], "cells": False}
    assert (debt["name"], debt["cells"]) == ("debt", True)
    assert Fraction(debt["step"]) * debt["positions"] == 2
    assert header["measure"] == "volume"
    assert header["unit"] == "an assignment of all attributes but `sex`"


def outcome(path: Path) -> str:
    """The job's name, or the code of what is wrong."""
    try:
        return read_job(path).sha256
    except DiagnosticError as error:
        return error.diagnostics[0].code


@pytest.mark.parametrize("kept", [0.99, 0.5, 0.1])
def test_a_file_that_was_cut_off(tmp_path: Path, kept: float) -> None:
    path = write(tmp_path / "a.job", plane((3, 2), (1, -1), 0))
    content = path.read_bytes()
    path.write_bytes(content[: int(kept * len(content))])
    with pytest.raises(DiagnosticError) as caught:
        read_job(path)
    assert codes(caught) == ["E0609"]


def test_no_byte_can_be_changed(tmp_path: Path) -> None:
    path = write(tmp_path / "a.job", plane((3, 2), (1, -1), 0))
    content = path.read_bytes()
    sha256 = read_job(path).sha256
    for place in range(0, len(content), 7):
        altered = bytearray(content)
        altered[place] ^= 1
        path.write_bytes(altered)
        # Bytes of the archive's own book-keeping (times, attributes) carry nothing.
        assert outcome(path) in (sha256, "E0607", "E0608", "E0609")


def test_content_exchanged_with_care_is_noticed(tmp_path: Path) -> None:
    """A whole and readable archive whose arrays are not those that the header names."""
    path = write(tmp_path / "a.job", plane((3, 2), (1, -1), 0))
    other = unpack(JOB, write(tmp_path / "b.job", plane((3, 2), (1, -1), 5)))
    rebuilt = io.BytesIO()
    with zipfile.ZipFile(path) as archive:
        header = json.loads(archive.read("header.json"))
    with zipfile.ZipFile(rebuilt, "w") as archive, zipfile.ZipFile(tmp_path / "b.job") as donor:
        archive.writestr("header.json", json.dumps(header))
        for name in donor.namelist():
            if name != "header.json":
                archive.writestr(name, donor.read(name))
    path.write_bytes(rebuilt.getvalue())
    with pytest.raises(DiagnosticError) as caught:
        read_job(path)
    assert codes(caught) == ["E0609"]
    assert other.sha256 != header["sha256"]


def doubled(content: bytes) -> bytes:
    """The archive with one of its members once more, at the end."""
    grown = io.BytesIO(content)
    with zipfile.ZipFile(grown, "a") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr("header.json", archive.read("header.json"))
    return grown.getvalue()


@pytest.mark.parametrize(
    "change",
    [
        lambda content: content + b"\0",
        lambda content: content + content,
        lambda content: b"PK\x03\x04" + content,
        lambda content: content[:-2] + b"\x01\x00 ",
        doubled,
    ],
)
def test_nothing_stands_beside_the_members(tmp_path: Path, change: Any) -> None:
    """What no table names, or names twice, is in no sha256."""
    path = write(tmp_path / "a.job", plane((3, 2), (1, -1), 0))
    path.write_bytes(change(path.read_bytes()))
    assert outcome(path) == "E0609"


def packed(path: Path, arrays: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", json.dumps({"schema": JobHead.SCHEMA, "sha256": "0"}))
        for name, content in arrays.items():
            archive.writestr(name, content)
    return path


def test_a_few_bytes_that_would_become_many(tmp_path: Path) -> None:
    """What is unpacked is bounded as files are, and every array by the bytes that it really has."""
    written = io.BytesIO()
    np.save(written, np.zeros(1 << 21, dtype=np.uint8))
    bomb = packed(tmp_path / "bomb.job", {f"{number}.npy": written.getvalue() for number in range(4)})
    assert bomb.stat().st_size < 1 << 16
    with reading(largest=1 << 22), pytest.raises(DiagnosticError, match=r"unpacked it has 8,389,\d+ bytes") as caught:
        read_job(bomb)
    assert codes(caught) == ["E0609"]


@pytest.mark.parametrize("shape", ["(1000000000000,)", "(0,)", "(-1, -21)", "(21, 1)", "(True, 22)"])
def test_an_array_that_claims_other_values_than_it_has(tmp_path: Path, shape: str) -> None:
    """It is refused before there is room for them: a petabyte would end in another error."""
    written = io.BytesIO()
    np.save(written, np.arange(22, dtype=np.uint8))
    claims = written.getvalue().replace(b"(22,)" + b" " * (len(shape) - 5), shape.encode().ljust(5), 1)
    with pytest.raises(DiagnosticError) as caught:
        read_job(packed(tmp_path / "a.job", {"x.npy": claims}))
    assert codes(caught) == ["E0609"]


def test_a_part_that_is_missing(tmp_path: Path) -> None:
    (tmp_path / "a.job").write_bytes(pack({"schema": JobHead.SCHEMA, "asked": {}}, {}))
    with pytest.raises(DiagnosticError) as caught:
        read_job(tmp_path / "a.job")
    assert codes(caught) == ["E0609"]


@pytest.mark.parametrize(
    "edit",
    [
        {"weights/0": np.zeros((1, 3))},
        {"weights/0": np.full((1, 2), np.nan)},
        {"first_coordinate": np.array([0, 9, 2])},
        {"first_coordinate": np.array([0, 1])},
        {"rivals": np.array([[1, -1]])},
        {"rivals": np.array([[1, 2**40]])},
        {"move_start": np.array([0, 5])},
        {"comparison": np.array([7])},
        {"component": np.array([-1])},
        {"high": np.array([[2, 2]])},
        {"low": np.array([[-1, 0]])},
        {"sizes": np.array([0, 2])},
        {"kinds": np.array([0, 3])},
        {"margin": np.zeros((1, 2), dtype=np.float32)},
        {"corners": np.ones(3, dtype=np.bool_)},
    ],
    ids=lambda edit: next(iter(edit)),
)
def test_arrays_that_do_not_fit_are_refused_though_the_sha256_fits(tmp_path: Path, edit: dict[str, Any]) -> None:
    """Kernels follow these numbers without looking: a place outside of an array would be anywhere in memory."""
    content = unpack(JOB, write(tmp_path / "a.job", plane((3, 2), (1, -1), 0)))
    (tmp_path / "b.job").write_bytes(pack(plain(content.head), {**content.arrays, **edit}))
    with pytest.raises(DiagnosticError, match=r"of its task is not what the rest of it needs") as caught:
        read_job(tmp_path / "b.job")
    assert codes(caught) == ["E0609"]


def test_other_files(tmp_path: Path) -> None:
    (tmp_path / "spec.fair").write_text("domain\n")
    (tmp_path / "empty").write_bytes(b"")
    with zipfile.ZipFile(tmp_path / "archive.zip", "w") as archive:
        archive.writestr("x", "y")
    newer = JobHead.SCHEMA.replace("/3", "/4")
    (tmp_path / "newer.job").write_bytes(pack({"schema": newer}, {}))
    (tmp_path / "result").write_bytes(pack({"schema": "fairdsl.interval-result/1"}, {}))
    found = {}
    for name in ("spec.fair", "empty", "archive.zip", "newer.job", "result"):
        with pytest.raises(DiagnosticError) as caught:
            read_job(tmp_path / name)
        found[name] = codes(caught)[0]
    assert found == {"spec.fair": "E0607", "empty": "E0607", "archive.zip": "E0607"} | {
        "newer.job": "E0608",
        "result": "E0607",
    }


def test_a_file_is_replaced_as_a_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.result"
    write_whole(path, b"old")

    def fail(_: int) -> None:
        raise OSError(28, "no space left")

    monkeypatch.setattr("os.fsync", fail)
    with pytest.raises(DiagnosticError, match="no space"):
        write_whole(path, b"new")
    assert path.read_bytes() == b"old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.result"]


def test_compiled_jobs_come_with_a_manifest(tmp_path: Path) -> None:
    spec = EXAMPLES / "hiring" / "hiring.fair"
    compiled = fairdsl.compile(spec, to="interval-job", directory=tmp_path / "out")
    manifest = json.loads(compiled.manifest.read_text())
    assert manifest["format"] == "interval-job"
    listed = [name for entry in manifest["questions"] for part in entry["parts"] for name in part["settled_by"][0]]
    assert [path.name for path in compiled.files] == listed
    assert len(listed) == len(set(listed)) >= 3
    for path, entry in zip(compiled.files, manifest["questions"], strict=True):
        job = read_job(path)
        assert (job.head.asked.property, job.head.asked.demand) == (entry["property"], entry["demand"])
        assert job.head.asked.model_sha256 == manifest["models"][0]["sha256"]
        assert job.head.asked.spec_sha256 == manifest["spec"]["sha256"]
    again = fairdsl.compile(spec, to="interval-job", directory=tmp_path / "again")
    assert [path.read_bytes() for path in again.files] == [path.read_bytes() for path in compiled.files]


def test_scores_make_no_job() -> None:
    from fairdsl.ir.question import ScoreGap

    gap = problem(PEOPLE, score([1, 1, 1]), 1, demand=ScoreGap(relation=Relation.LE, limit=Fraction(1)))
    offer = IntervalJob().offer(gap)
    assert "gaps of scores" in getattr(offer, "why", "")
