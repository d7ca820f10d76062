"""Proofs that another program checks: what is written is verified, and shows what counting gives."""

from __future__ import annotations

import ast
import gzip
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import onnx
import pytest
from click.testing import CliRunner

import fairdsl_verify
from fairdsl import proving
from fairdsl.backends.contract import Silent
from fairdsl.cli.app import cli
from fairdsl.proving import Proved, looking, prove_spec, run, side_by_side
from fairdsl_verify import RejectedError, command, parts, tree
from fairdsl_verify.command import check
from fairdsl_verify.onnx_file import Graph
from fairdsl_verify.question import Question
from fairdsl_verify.sample import cover
from tests.proving.proved_networks import SPEC, brute, network, path_of, prove

CHECKER = Path(fairdsl_verify.__file__).parent


def test_what_is_proved_is_what_counting_gives(proved: tuple[Path, tuple[Proved, ...]]) -> None:
    folder, found = proved
    assert [each.property for each in found] == ["share", "each_one", "calm", "some"]
    for each in found:
        fair, unfair = brute(folder / "m.onnx", each.property)
        checked = check(path_of(each), folder / "m.onnx")
        assert checked.follows
        if each.property != "calm":
            assert (checked.totals.certified, checked.totals.falsified) == (fair, unfair)
        elif unfair:
            # Of a yes or no it is not looked into who is asked about, where all get the same decision.
            assert 0 < checked.totals.falsified <= unfair
        else:
            assert checked.totals.holds


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 14))
def test_other_networks(tmp_path: Path, seed: int) -> None:
    test_what_is_proved_is_what_counting_gives((tmp_path, prove(tmp_path, seed)))


def test_the_command(proved: tuple[Path, tuple[Proved, ...]], capsys: pytest.CaptureFixture[str]) -> None:
    folder, found = proved
    assert command.main([str(folder), "--model", str(folder / "m.onnx")]) == 0
    printed = capsys.readouterr().out
    assert printed.count("VERIFIED") == 4
    assert 'where ["<=", [["age", -1], ["years", 1]], 0]' in printed
    assert found[0].proof is not None
    one = str(path_of(found[0]))
    assert command.main([one, "--model", str(folder / "m.onnx"), "--question", found[0].proof.question]) == 0
    assert command.main([one, "--model", str(folder / "m.onnx"), "--question", "0" * 64]) == 1


def test_whoever_reads_no_further_is_told_nothing_else(proved: tuple[Path, tuple[Proved, ...]]) -> None:
    folder, _ = proved
    reading, writing = os.pipe()
    os.close(reading)
    called = f"import sys; from fairdsl_verify.command import main; sys.exit(main([{str(folder)!r}]))"
    done = subprocess.run([sys.executable, "-c", called], stdout=writing, stderr=subprocess.PIPE, check=False)
    os.close(writing)
    assert (done.returncode, done.stderr) == (1, b"")


def test_files_are_checked_side_by_side(
    proved: tuple[Path, tuple[Proved, ...]], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    folder, found = proved
    given_ = ["--model", str(folder / "m.onnx")]
    assert command.main([str(folder), *given_]) == 0
    alone = capsys.readouterr().out
    assert command.main([str(folder), *given_, "--jobs", "2"]) == 0
    assert capsys.readouterr().out == alone
    for each in found:
        (tmp_path / path_of(each).name).write_bytes(path_of(each).read_bytes())
    (tmp_path / path_of(found[1]).name).write_bytes(b"")
    assert command.main([str(tmp_path), *given_, "--jobs", "2"]) == 1
    printed = capsys.readouterr().out
    assert (printed.count("VERIFIED"), printed.count("REJECTED")) == (3, 1)


def test_what_check_wrote_is_checked_side_by_side(proved: tuple[Path, tuple[Proved, ...]], tmp_path: Path) -> None:
    """Processes of `check` reach what one does, also where they are gone; what is wrong in one of them is rejected."""
    folder, found = proved
    one, model, two = path_of(found[0]), folder / "m.onnx", side_by_side.side_by_side(2)
    alone = command.check(one, model)
    together = command.check(one, model, tree=two)
    assert (together.totals, together.verdict) == (alone.totals, alone.verdict)
    with pytest.MonkeyPatch.context() as patch:
        given = side_by_side._Checker.give
        patch.setattr(side_by_side._Checker, "give", lambda self, part: (given(self, part), self.process.kill()))
        assert command.check(one, model, tree=two).totals == alone.totals
    other = gzip.decompress(one.read_bytes()).replace(b"\nE\n", b"\nV\n", 1)
    (tmp_path / "t.proof").write_bytes(gzip.compress(other))
    with pytest.raises(RejectedError, match="nobody is compared, and somebody may be"):
        command.check(tmp_path / "t.proof", model, tree=two)


@pytest.mark.parametrize(("heavy", "processes"), [(0, [2]), (1 << 20, [])])
def test_one_demand_has_all_processes_for_its_checker(
    heavy: int, processes: list[int], proved: tuple[Path, tuple[Proved, ...]], tmp_path: Path
) -> None:
    """Where the proof has many lines; else starting them takes longer."""
    spec, asked = proved[0] / "p.fair", list[int]()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run, "_HEAVY", heavy)
        patch.setattr(run, "side_by_side", lambda count: asked.append(count) or side_by_side.side_by_side(count))
        (one,) = prove_spec(
            str(spec), str(tmp_path), models={}, data={}, properties=("calm",), seconds=8, observer=Silent(), jobs=2
        )
    assert asked == processes
    assert one.proof is not None
    assert one.proof.verified


def test_parts_come_to_the_whole(
    proved: tuple[Path, tuple[Proved, ...]], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Parts side by side reach what one process reaches, also where a run was stopped; what is wrong is rejected."""
    folder, found = proved
    one, kept = path_of(found[0]), tmp_path / "kept"
    given_ = ["--model", str(folder / "m.onnx"), "--jobs", "2", "--resume", str(kept)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parts, "LEAVES", 8)  # processes are forked, so that it is theirs too
        assert command.main([str(one), *given_]) == 0
        printed, lines = capsys.readouterr().out, kept.read_text().splitlines(keepends=True)
        assert len(lines) > 2
        # The last line was not written to its end, and another part was not done.
        kept.write_text("".join(lines[1:-1]) + lines[-1][:-9])
        assert command.main([str(one), *given_]) == 0
        assert capsys.readouterr().out == printed
        kept.write_text("".join(lines[1:]))
        other = gzip.decompress(one.read_bytes()).replace(b"\nE\n", b"\nV\n", 1)
        (tmp_path / "t.proof").write_bytes(gzip.compress(other))
        assert command.main([str(tmp_path / "t.proof"), *given_]) == 1
        assert "another proof" in capsys.readouterr().out
        kept.unlink()
        assert command.main([str(tmp_path / "t.proof"), *given_]) == 1
        assert "somebody may be" in capsys.readouterr().out
    assert command.main([str(one), "--model", str(folder / "m.onnx")]) == 0
    assert capsys.readouterr().out == printed
    with pytest.raises(SystemExit):
        command.main([str(folder), *given_])


def test_a_sample_verifies_nothing(
    proved: tuple[Path, tuple[Proved, ...]], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    folder, _ = proved
    given_ = ["--model", str(folder / "m.onnx"), "--sample", "50"]
    assert command.main([str(folder), *given_, "--seed", "1"]) == 3
    printed = capsys.readouterr().out
    assert "VERIFIED" not in printed
    assert printed.count("seed 1): with 95 % confidence less than 3/50 of the claimed mass is wrong") == 4
    (tmp_path / "t.proof").write_bytes(b"")
    assert command.main([str(tmp_path), *given_]) == 1
    with pytest.raises(SystemExit):
        command.main([str(folder), *given_[:-1], "3"])


def test_what_is_wrong_is_found_as_often_as_its_mass_says(
    proved: tuple[Path, tuple[Proved, ...]], tmp_path: Path
) -> None:
    """Leaves of a true proof that are called what they are not, one at a time: who draws one of them rejects."""
    folder, found = proved
    path = path_of(found[0])
    header, *lines = gzip.decompress(path.read_bytes()).decode().rstrip("\n").split("\n")
    wanted = Question(json.loads(header))
    checker = tree.Checker(wanted, Graph((folder / "m.onnx").read_bytes()))
    masses, _ = cover(checker, lines)
    claimed = sum(masses.values())
    whole = cover(checker, ["=" if line == "?" else line for line in lines])[0]
    assert sum(whole.values()) == checker.mass(checker.root())
    at = max((place for place in masses if lines[place] in "=E"), key=masses.__getitem__)
    part, tries, rejected = masses[at] / claimed, 80, 0
    text = "\n".join([header, *lines[:at], "V", *lines[at + 1 :]]) + "\n"
    (tmp_path / "t.proof").write_bytes(gzip.compress(text.encode()))
    for seed in range(tries):
        try:
            assert check(tmp_path / "t.proof", folder / "m.onnx", sample=(4, seed)).sampled
        except RejectedError as error:
            rejected += "somebody may be" in str(error)
    likely = 1 - (1 - part) ** 4
    assert abs(rejected / tries - likely) <= 4 * (likely * (1 - likely) / tries) ** 0.5 + 0.01, (rejected, likely)
    assert rejected > 0


def modules() -> Iterator[Path]:
    yield from sorted(CHECKER.glob("*.py"))


def test_the_checker_stands_alone() -> None:
    """It imports nothing but the standard library and itself, computes with no floats, and is short."""
    for path in modules():
        for node in ast.walk(ast.parse(path.read_text())):
            names = [each.name for each in node.names] if isinstance(node, ast.Import) else []
            names += [str(node.module)] if isinstance(node, ast.ImportFrom) else []
            for name in names:
                assert name.split(".")[0] in sys.stdlib_module_names | {"fairdsl_verify"}, path
            assert not isinstance(node, ast.Constant) or not isinstance(node.value, float), path
            divides = ("chain.py", "forest.py", "question.py", "relaxed.py")
            assert not isinstance(node, ast.Div) or path.name in divides, path


def lines_of_code(path: Path) -> int:
    """The lines that are neither blank, nor comments, nor of a docstring."""
    text = path.read_text()
    documented: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node, clean=False):
            documented.update(range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1))
    lines = (line.strip() for at, line in enumerate(text.splitlines(), 1) if at not in documented)
    return sum(bool(line) and not line.startswith("#") for line in lines)


def test_it_is_short() -> None:
    """Who checks a network reads all but the trees, who checks trees all but the networks (docs/proofs.md).

    Of no part there are more than 1,200 lines, docstrings and comments among them; the page says how many.
    """
    texts = {path.name: path.read_text().splitlines() for path in modules()}
    code = {path.name: lines_of_code(path) for path in modules()}
    common = ("__init__.py", "command.py", "onnx_file.py", "question.py", "tree.py")
    parts = {
        "networks": (*common, "bounds.py", "chain.py", "slab.py"),
        "trees": (*common, "forest.py", "moments.py"),
        "rates": ("groups.py", "masses.py", "rates.py"),
        "samples": ("parts.py", "sample.py"),
        "claims about two": ("pairs.py",),
        "claims about lines": ("lines.py",),
        "claims about regions": ("regions.py",),
        "units decided differently": ("apart.py",),
        "relaxed questions": ("relaxed.py",),
        "float32": ("margin.py",),
        "labels of networks": ("classifiers.py",),
    }
    assert {name for names in parts.values() for name in names} == set(texts)
    both = {*parts["networks"], *parts["trees"]}
    page = (Path(__file__).parents[2] / "docs" / "proofs.md").read_text()
    said = " ".join(page.split("Who reviews it for")[1].split("**Side by side")[0].split())
    assert f"for both {sum(bool(line.strip()) for name in both for line in texts[name]):,}," in said
    for of, names in parts.items():
        lines = sum(bool(line.strip()) for name in names for line in texts[name])
        assert lines <= 1200, of
        assert f" {lines:,}" in said, (of, lines)
        if of in ("networks", "trees"):
            others = f"({sum(code[name] for name in names):,}", f"{sum(len(texts[name]) for name in names):,})"
            assert all(each in said for each in others), (of, others)


def test_a_field_that_stands_there_twice_is_rejected(proved: tuple[Path, tuple[Proved, ...]], tmp_path: Path) -> None:
    """Protobuf takes the last of two: another reader might take the first."""
    content = (proved[0] / "m.onnx").read_bytes()
    graph = onnx.load(proved[0] / "m.onnx").graph.SerializeToString()
    with pytest.raises(RejectedError, match="2 times"):
        Graph(content + b"\x3a" + _varint(len(graph)) + graph)


def _varint(value: int) -> bytes:
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def test_check_writes_proofs(tmp_path: Path) -> None:
    network(tmp_path / "m.onnx", 7)
    (tmp_path / "p.fair").write_text(SPEC)
    given = ["check", str(tmp_path / "p.fair"), "--proof", str(tmp_path / "proofs"), "--property", "share"]
    done = CliRunner().invoke(cli, given)
    assert "share, measure fair_share: fair share from" in done.stderr, done.output
    fair, _ = brute(tmp_path / "m.onnx", "share")
    assert f"fair share {float(100 * fair):.2f}%" in done.stdout
    assert f"proved are {float(fair):.2%} of the {float(fair):.2%} that are found fair, and" in done.stderr
    assert check(tmp_path / "proofs" / "share.proof", tmp_path / "m.onnx").follows


@pytest.mark.parametrize(
    ("given", "seconds"),
    [((), 240), (("--timeout", "20"), 80), (("--timeout", "20", "--proof-seconds", "7"), 7)],
)
def test_proofs_have_seconds_of_their_own(
    given: tuple[str, ...], seconds: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    network(tmp_path / "m.onnx", 7)
    (tmp_path / "p.fair").write_text(SPEC)
    asked: dict[str, Any] = {}
    monkeypatch.setattr(proving, "prove_spec", lambda *_, **how: asked.update(how) or ())
    command = ["check", str(tmp_path / "p.fair"), "--proof", str(tmp_path / "proofs"), "--property", "share", *given]
    done = CliRunner().invoke(cli, command)
    assert asked["seconds"] == seconds, done.output
    (known,) = asked["known"].values()
    assert sum(known) == 1


def test_a_proof_is_named_and_can_be_demanded(tmp_path: Path) -> None:
    network(tmp_path / "m.onnx", 7)
    spec, report = tmp_path / "p.fair", tmp_path / "report.json"
    spec.write_text(SPEC.replace("race measure fair_share }", "race require fair_share >= 50% }"))
    given = ["check", str(spec), "--property", "share", "--proof", str(tmp_path / "proofs"), "--require-proof"]
    page = tmp_path / "report.html"
    done = CliRunner().invoke(cli, [*given, "--report", str(page), "--report", str(report)])
    assert done.exit_code == 0, done.output
    (said,) = (line for line in done.stderr.splitlines() if line.startswith("    proof"))
    digest = sha256((tmp_path / "proofs" / "share.proof").read_bytes()).hexdigest()
    assert f"sha256 {digest}" in said
    assert "verified by fairdsl-verify" in said
    assert digest in page.read_text()
    found = json.loads(report.read_text())["properties"][0]["demands"][0]["proof"]
    assert (found["verified"], found["sha256"], found["checker"]) == (True, digest, "fairdsl-verify")
    # A comparison demands it of the second report; one without proofs, or with one that was rejected, is not enough.
    assert CliRunner().invoke(cli, ["compare", str(report), str(report), "--require-proof"]).exit_code == 0
    for change in (lambda demand: demand.pop("proof"), lambda demand: demand["proof"].update(verified=False)):
        data = json.loads(report.read_text())
        change(data["properties"][0]["demands"][0])
        (tmp_path / "other.json").write_text(json.dumps(data))
        other = ["compare", str(report), str(tmp_path / "other.json")]
        assert CliRunner().invoke(cli, other).exit_code == 0
        done = CliRunner().invoke(cli, [*other, "--require-proof"])
        assert done.exit_code == 3
        assert "no checked proof shows it" in done.stderr


def test_what_rests_on_a_solver_names_its_query(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By z3's word alone: the query lies beside the proofs, and its digest is said; where boxes prove it nothing is."""
    network(tmp_path / "m.onnx", 4)
    (tmp_path / "p.fair").write_text(SPEC)
    given_ = ["check", str(tmp_path / "p.fair"), "--property", "calm", "--backend", "smt", "--no-cache"]
    page, report = tmp_path / "report.html", tmp_path / "report.json"
    given_ += ["--proof", str(tmp_path / "proofs"), "--require-proof", "--report", str(page), "--report", str(report)]
    done = CliRunner().invoke(cli, given_)
    assert done.exit_code == 0, done.output
    assert "rests on" not in done.stderr
    assert "believed" not in json.loads(report.read_text())["properties"][0]["demands"][0]
    monkeypatch.setattr("fairdsl.proving.prove_spec", lambda *_, **__: ())
    done = CliRunner().invoke(cli, given_)
    assert done.exit_code == 3
    (said,) = (line for line in done.stderr.splitlines() if "rests on" in line)
    query = tmp_path / "proofs" / "queries" / "calm.smt2"
    assert said.startswith("calm, require same decision: rests on smt (")
    assert "z3" in said
    digest = sha256(query.read_bytes()).hexdigest()
    assert said.endswith(f"; query {query}, sha256 {digest}")
    found = json.loads(report.read_text())["properties"][0]["demands"][0]["believed"]
    assert (found["solver"], found["queries"]) == ("smt", [{"path": str(query), "sha256": digest}])
    assert digest in page.read_text()


def test_what_has_no_proof_does_not_pass_where_one_is_demanded(tmp_path: Path) -> None:
    network(tmp_path / "m.onnx", 7)
    gap = SPEC.replace("among sex = f or age >= 6 measure fair_share", "measure max_score_gap")
    (tmp_path / "p.fair").write_text(gap)
    given = ["check", str(tmp_path / "p.fair"), "--property", "some", "--require-proof"]
    assert CliRunner().invoke(cli, given).exit_code == 2
    done = CliRunner().invoke(cli, [*given, "--proof", str(tmp_path / "proofs")])
    assert done.exit_code == 3
    assert "no checked proof shows it" in done.stderr


#: Without conditions on who there is: many boxes are looked at together.
OPEN = f"{SPEC.split('property calm')[0].replace('  where years <= age' + chr(10), '').replace(' among age >= 2', '')}"


def everybody(folder: Path, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """All of the share is proved of everybody, and nothing else is where the floats are wrong."""
    folder.mkdir(exist_ok=True)
    network(folder / "m.onnx", seed)
    (folder / "p.fair").write_text(OPEN)
    given = {"models": {}, "data": {}, "seconds": 60, "observer": Silent()}
    for fault in ("", "the first bounds are too narrow", "signs are turned", "nothing is there"):
        with monkeypatch.context() as patch:
            if fault == "the first bounds are too narrow":
                patch.setattr(looking, "_lines", lambda low, high: LINES(low * 0.5, high * 0.5))
            elif fault:
                patch.setattr(looking.Looking, "look", turned if fault == "signs are turned" else nothing)
            asked = ("share",) if fault else ()
            found = prove_spec(str(folder / "p.fair"), str(folder), properties=asked, **given)  # type: ignore[arg-type]
        assert fault or all(each.proof is not None for each in found)
        for each in (one for one in found if one.proof is not None):
            truth = brute(folder / "m.onnx", f"{each.property} of everybody")
            checked = check(path_of(each), folder / "m.onnx")
            assert checked.follows
            if not fault:
                assert (checked.totals.certified, checked.totals.falsified) == truth
            assert checked.totals.certified <= truth[0]
            assert checked.totals.falsified <= truth[1]


LINES, LOOK = looking._lines, looking.Looking.look


def turned(over: looking.Looking, boxes: list[Any]) -> looking.Look:
    low, high, *others = LOOK(over, boxes)
    return looking.Look(-high, -low, *others)


def nothing(over: looking.Looking, boxes: list[Any]) -> looking.Look:
    low, high, *others = LOOK(over, boxes)
    return looking.Look(low * 0 + len(boxes) % 2, high * 0 + 1, *others)


def test_of_everybody_many_boxes_are_looked_at_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    everybody(tmp_path, 7, monkeypatch)


@pytest.mark.slow
def test_of_everybody_of_other_networks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(20, 60):
        everybody(tmp_path / str(seed), seed, monkeypatch)
