"""Edits of every kind of file that `recover` and `--resume` read, signed again: no verdict exceeds what its basis says.

What is true is known: somebody is treated unfairly, and 60 of 73 units are fair. A verdict that says otherwise rests on
claims that it names; every other is true, or the file is refused.
"""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable
from fractions import Fraction
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

import fairdsl
from fairdsl.backends.intervals.job import JOB
from fairdsl.backends.refining.container import pack, unpack
from fairdsl.backends.refining.result import RESULT
from fairdsl.codec import plain
from fairdsl.diagnostics import DiagnosticError
from fairdsl.report.model import Report
from fairdsl.verdict import Arithmetic, Judgement, Shares

SPEC = """
domain A {
  sex : category { female, male }
  age : integer 18 .. 90
}
protected sex
model m : A -> { no, yes }
  score = age - 30 + 20 * (sex = male)
  yes when score > 0
property p {
  compare a, b : A
  differ in sex
  require same decision
}
property s {
  compare a, b : A
  differ in sex
  measure fair_share
}
"""
FAIR = Fraction(60, 73)
WORDS = ["holds", "unsat", "sat", "", "p", [], [[]], {}, None, 0, 1, -1, 10**12, "1", True, "z3", "bounds", "sampling"]


def assert_no_stronger_than_its_basis(report: Report) -> None:
    for item in report.properties:
        for demand in item.demands:
            basis = demand.basis
            if basis is not None and basis.arithmetic is Arithmetic.CLAIMED:
                assert basis.claims
                continue
            assert demand.judgement is not Judgement.HOLDS
            if isinstance(demand.verdict, Shares):
                assert demand.verdict.certified <= FAIR <= 1 - demand.verdict.falsified


def edited(value: Any, draw: random.Random) -> Any:
    """The same with one value in it replaced, removed or doubled."""
    if isinstance(value, dict) and value and draw.random() < 0.9:
        key = draw.choice(sorted(value))
        if draw.random() < 0.15:
            return {name: other for name, other in value.items() if name != key}
        return value | {key: edited(value[key], draw)}
    if isinstance(value, list) and value and draw.random() < 0.9:
        place = draw.randrange(len(value))
        match draw.randrange(8):
            case 0:
                return value[:place] + value[place + 1 :]
            case 1:
                return [*value, value[place]]
        return [*value[:place], edited(value[place], draw), *value[place + 1 :]]
    return draw.choice(WORDS)


def flipped(path: Path, draw: random.Random) -> None:
    """A byte, a line or the end of it."""
    content = bytearray(path.read_bytes())
    match draw.randrange(3):
        case 0 if content:
            content[draw.randrange(len(content))] = draw.randrange(256)
        case 1:
            lines = bytes(content).splitlines(keepends=True)
            draw.shuffle(lines)
            content = bytearray(b"".join(lines[: draw.randrange(1, len(lines) + 1)]))
        case _:
            content = content[: draw.randrange(len(content) + 1)]
    path.write_bytes(bytes(content))


def of_manifest(folder: Path, draw: random.Random) -> None:
    path = folder / "manifest.json"
    content = json.loads(path.read_bytes())
    del content["sha256"]
    content = edited(content, draw)
    if isinstance(content, dict):
        sealed(content, path)
    else:
        path.write_text(json.dumps(content), encoding="utf-8")


def of_answer(folder: Path, draw: random.Random) -> None:
    path = draw.choice(sorted(folder.glob("*.answer")))
    if draw.random() < 0.3:
        path.write_text(draw.choice(["unsat\n", "sat\n", "holds\n", "", "unsat\nsat\n"]), encoding="utf-8")
    else:
        flipped(path, draw)


def of_solver_file(folder: Path, draw: random.Random) -> None:
    """The file, and its digest in the manifest."""
    path = draw.choice([each for each in sorted(folder.iterdir()) if each.suffix in (".smt2", ".vnnlib", ".onnx")])
    flipped(path, draw)
    manifest = folder / "manifest.json"
    content = json.loads(manifest.read_bytes())
    content["files"][path.name]["sha256"] = sha256(path.read_bytes()).hexdigest()
    sealed(content, manifest)


def of_container(folder: Path, draw: random.Random, kind: Any, suffix: str) -> None:
    path = draw.choice(sorted(folder.glob(f"*{suffix}")))
    found = unpack(kind, path)
    header = plain(found.head)
    arrays = {name: array.copy() for name, array in found.arrays.items()}
    if draw.random() < 0.25:
        header = edited(header, draw)
    else:
        name = draw.choice(sorted(arrays))
        array = arrays[name].reshape(-1)
        match draw.randrange(4):
            case 0 if len(array):
                array[draw.randrange(len(array))] = 0
            case 1:
                array[:] = 0
            case 2 if len(array):
                array[draw.randrange(len(array))] = array[draw.randrange(len(array))]
            case _:
                arrays[name] = arrays[name][: len(arrays[name]) // 2] if arrays[name].ndim else arrays[name]
    if isinstance(header, dict):
        path.write_bytes(pack(header, arrays, compressed=kind is RESULT))


def of_job(folder: Path, draw: random.Random) -> None:
    of_container(folder, draw, JOB, ".job")


def of_result(folder: Path, draw: random.Random) -> None:
    of_container(folder, draw, RESULT, ".result")


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Solved by our own solvers."""
    root = tmp_path_factory.mktemp("edits")
    (root / "viol.fair").write_text(SPEC, encoding="utf-8")
    for form in ("smtlib", "vnnlib", "interval-job"):
        compiled = fairdsl.compile(root / "viol.fair", to=form, directory=root / form)
        for file in compiled.files:
            if file.suffix != ".onnx":
                fairdsl.solve(file)
    fairdsl.check(
        root / "viol.fair", properties=["p"], backend="smt", options={"partition": {"size": 10, "keep_going": True,
        "ledger": str(root / "ledger.jsonl")}},
    )  # fmt: skip
    return root


KINDS: list[tuple[str, str, Callable[[Path, random.Random], None]]] = [
    ("manifest", "smtlib", of_manifest),
    ("manifest of networks", "vnnlib", of_manifest),
    ("manifest of jobs", "interval-job", of_manifest),
    ("answer", "smtlib", of_answer),
    ("answer about networks", "vnnlib", of_answer),
    ("script", "smtlib", of_solver_file),
    ("network", "vnnlib", of_solver_file),
    ("job", "interval-job", of_job),
    ("result", "interval-job", of_result),
]


def recovered(folders: Path, form: str, edit: Callable[[Path, random.Random], None], seed: int, place: Path) -> bool:
    """Whether the edit was refused; if not, no verdict is stronger than its basis."""
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(folders / form, place / form)
    shutil.copy(folders / "viol.fair", place)
    edit(place / form, random.Random(seed))
    try:
        report = fairdsl.recover(place / form, spec=place / "viol.fair" if seed % 2 else None)
    except DiagnosticError:
        return True
    assert_no_stronger_than_its_basis(report)
    return False


def resumed(folders: Path, seed: int, place: Path) -> bool:
    """The same of a line of a ledger."""
    draw = random.Random(seed)
    place.mkdir(exist_ok=True)
    ledger = place / "ledger.jsonl"
    lines = [json.loads(line) for line in (folders / "ledger.jsonl").read_text().splitlines()]
    number = draw.randrange(len(lines))
    if draw.random() < 0.5:
        lines[number] = lines[number] | {"verdict": "holds", "by": draw.choice(["z3", "milp", "sampling", "bounds"])}
        if draw.random() < 0.5:
            lines[number].pop("witness", None)
    else:
        lines[number] = edited(lines[number], draw)
    ledger.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    options = {"size": 10, "keep_going": True, "ledger": str(ledger), "resume": True}
    try:
        report = fairdsl.check(
            folders / "viol.fair", properties=["p"], backend="smt", options={"partition": options}, timeout=30
        )
    except DiagnosticError:
        return True
    assert_no_stronger_than_its_basis(report)
    return False


@pytest.mark.parametrize(("form", "edit"), [kind[1:] for kind in KINDS], ids=[kind[0] for kind in KINDS])
def test_edits(folders: Path, tmp_path: Path, form: str, edit: Any) -> None:
    refused = [recovered(folders, form, edit, seed, tmp_path / "copy") for seed in range(6)]
    assert any(refused) or edit is of_answer


def test_edits_of_ledgers(folders: Path, tmp_path: Path) -> None:
    assert any(resumed(folders, seed, tmp_path / "copy") for seed in range(6))


def sealed(content: dict[str, Any], path: Path) -> None:
    content.pop("sha256", None)
    content["sha256"] = sha256(json.dumps(content, sort_keys=True, ensure_ascii=False).encode()).hexdigest()
    path.write_text(json.dumps(content), encoding="utf-8")


@pytest.mark.parametrize("form", ["smtlib", "vnnlib", "interval-job"])
def test_every_key_of_every_row_about_a_file_is_held_against_the_spec(folders: Path, tmp_path: Path, form: str) -> None:
    shutil.copytree(folders / form, tmp_path / form)
    shutil.copy(folders / "viol.fair", tmp_path)
    path = tmp_path / form / "manifest.json"
    written = json.loads(path.read_bytes())
    for name, row in written["files"].items():
        for changed in ({**row, "extra": 1}, *({**row, key: "x"} for key in row if key != "sha256")):
            sealed({**written, "files": {**written["files"], name: changed}}, path)
            with pytest.raises(DiagnosticError, match="E0626"):
                fairdsl.recover(tmp_path / form)


@pytest.mark.parametrize("name", ["../a.smt2", "/etc/passwd", "..", "", "a/b.smt2", "a\\b", "a\0"])
def test_no_row_leads_out_of_the_folder(folders: Path, tmp_path: Path, name: str) -> None:
    """Answers are looked for beside the names of files, so a path would have been followed before it was refused."""
    shutil.copytree(folders / "smtlib", tmp_path / "smtlib")
    path = tmp_path / "smtlib" / "manifest.json"
    content = json.loads(path.read_bytes())
    sealed({**content, "files": {**content["files"], name: {"sha256": "0"}}}, path)
    with pytest.raises(DiagnosticError, match="is not the name of a file in the folder"):
        fairdsl.recover(tmp_path / "smtlib", spec=folders / "viol.fair")


@pytest.mark.slow
@pytest.mark.parametrize(("form", "edit"), [kind[1:] for kind in KINDS], ids=[kind[0] for kind in KINDS])
def test_many_edits(folders: Path, tmp_path: Path, form: str, edit: Any) -> None:
    refused = [recovered(folders, form, edit, seed, tmp_path / "copy") for seed in range(200)]
    print(f"{sum(refused)} of 200 refused")


@pytest.mark.slow
def test_many_edits_of_ledgers(folders: Path, tmp_path: Path) -> None:
    refused = [resumed(folders, seed, tmp_path / "copy") for seed in range(200)]
    print(f"{sum(refused)} of 200 refused")
