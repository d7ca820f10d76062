"""A folder holds the files of one run: all of them, or those of the run before."""

from __future__ import annotations

import codecs
import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import fairdsl
from fairdsl.backends.smt.encoding import SmtLib
from fairdsl.backends.smt.terms import echo
from fairdsl.cli.app import cli
from fairdsl.diagnostics import DiagnosticError

SPEC = """
domain People {{
  x   : integer 0 .. 19
  sex : category {{ female, male }}
}}
protected sex
model m : People -> {{ no, yes }}
  score = x - 4 + {factor} * (sex = male)
  yes when score > 0
property {name} {{
  compare  a, b : People
  differ   in sex
  require  same decision
}}
property other {{
  compare  a, b : People
  differ   in sex
  among x >= 10
  require  same decision
}}
"""


def spec(folder: Path, factor: int = 1, name: str = "alike") -> Path:
    path = folder / "people.fair"
    path.write_text(SPEC.format(factor=factor, name=name))
    return path


def run(*arguments: object) -> Result:
    return CliRunner().invoke(cli, [str(argument) for argument in arguments], catch_exceptions=False)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def judged(folder: Path, **options: object) -> list[str]:
    return [one.demands[0].judgement.value for one in fairdsl.recover(folder, **options).properties]


def test_a_refused_run_leaves_everything_as_it_was(tmp_path: Path) -> None:
    """The second of two files has an answer: the first one is not replaced either."""
    out = tmp_path / "out"
    fairdsl.compile(spec(tmp_path), to="smtlib", directory=out)
    (out / "other.smt2.answer").write_text("unsat\n")
    before = contents(out)
    assert "error[E0611]" in run("compile", spec(tmp_path, 9), "--to", "smtlib", "-o", out).stderr
    assert contents(out) == before
    spec(tmp_path)
    assert judged(out) == ["unknown", "holds"]


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError(28, "No space left on device")])
def test_an_interrupted_run_leaves_everything_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: type[BaseException] | BaseException
) -> None:
    out, fresh = tmp_path / "out", tmp_path / "a" / "b"
    fairdsl.compile(spec(tmp_path), to="smtlib", directory=out)
    before, lower, asked = contents(out), SmtLib.lower, []

    def failing(self: SmtLib, *arguments: object) -> object:
        asked.append(self)
        if len(asked) % 2 == 0:
            raise error
        return lower(self, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(SmtLib, "lower", failing)
    for folder in (out, fresh):
        with pytest.raises((KeyboardInterrupt, OSError)):
            fairdsl.compile(spec(tmp_path, 9), to="smtlib", directory=folder)
    assert contents(out) == before
    assert not (tmp_path / "a").exists()


def test_what_was_written_as_json(tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = run("compile", spec(tmp_path), "--to", "smtlib", "-o", out, "--partition", 5, "--first", 1, "--json")
    said = json.loads(done.stdout)
    assert (done.exit_code, said["schema"], said["diagnostics"]) == (0, "fairdsl.compiled/1", [])
    assert {Path(path).name for path in said["files"]} | {"manifest.json"} == set(contents(out))
    assert [(one["property"], one["parts"], one["partitions"]) for one in said["questions"]] == [
        ("alike", 1, 4),
        ("other", 1, 2),
    ]
    (out / "alike.out").write_text("unsat\n")
    refused = run("compile", spec(tmp_path, 9), "--to", "smtlib", "-o", out, "--json")
    said = json.loads(refused.stdout)
    assert (refused.exit_code, [one["code"] for one in said["diagnostics"]]) == (2, ["E0611"])
    assert "files" not in said


def test_what_an_earlier_run_wrote_goes(tmp_path: Path) -> None:
    """A loop over the folder's scripts solves no question that nobody asks any more."""
    out = tmp_path / "out"
    fairdsl.compile(spec(tmp_path), to="smtlib", directory=out, partition=5)
    assert len(list(out.glob("alike.p*.smt2"))) == 4
    notes = out / "alike.p0000001.smt2"
    notes.write_text(notes.read_text() + "; a note of mine\n")
    (out / "unrelated.smt2").write_text("; not ours\n")
    fairdsl.compile(spec(tmp_path, name="same"), to="vnnlib", directory=out, partition=10)
    assert not list(out.glob("other*.smt2"))
    assert sorted(path.name for path in out.glob("*.smt2")) == ["alike.p0000001.smt2", "unrelated.smt2"]
    assert list(out.glob("same.p*.vnnlib"))


@pytest.mark.parametrize("second", [{"to": "vnnlib"}, {"to": "smtlib", "partition": 5}])
def test_answers_are_not_left_without_their_questions(tmp_path: Path, second: dict[str, object]) -> None:
    out = tmp_path / "out"
    fairdsl.compile(spec(tmp_path), to="smtlib", directory=out)
    (out / "alike.smt2.answer").write_text("unsat\n")
    with pytest.raises(DiagnosticError) as caught:
        fairdsl.compile(spec(tmp_path), directory=out, **second)
    assert [found.code for found in caught.value.diagnostics] == ["E0611"]
    assert judged(out) == ["holds", "unknown"]


def test_more_partitions_of_the_same_question_may_follow(tmp_path: Path) -> None:
    out = tmp_path / "out"
    fairdsl.compile(spec(tmp_path), to="smtlib", directory=out, partition=5, first=1, seed=3)
    (script, *_) = sorted(out.glob("alike.*.smt2"))
    assert run("solve", script).exit_code == 0
    fairdsl.compile(spec(tmp_path), to="smtlib", directory=out, partition=5, first=3, seed=3)
    assert len(list(out.glob("alike.*.smt2"))) == 3
    others = (seed for seed in range(20) if script.name not in written(tmp_path / str(seed), seed))
    with pytest.raises(DiagnosticError):
        fairdsl.compile(spec(tmp_path), to="smtlib", directory=out, partition=5, first=1, seed=next(others))


def written(folder: Path, seed: int) -> set[str]:
    fairdsl.compile(spec(folder.parent), to="smtlib", directory=folder, partition=5, first=1, seed=seed)
    return set(contents(folder))


def test_an_answer_that_was_kept_elsewhere_is_of_the_script_that_it_names(tmp_path: Path) -> None:
    """The model has changed, its files were written again, and the answers are those of before."""
    out, kept = tmp_path / "out", tmp_path / "alike.smt2.out"
    fairdsl.compile(spec(tmp_path, 0), to="smtlib", directory=out)
    assert run("solve", out / "alike.smt2", "-o", kept).exit_code == 0
    *answer, by = kept.read_text().splitlines()
    assert answer == [echo((out / "alike.smt2").read_text()), "unsat"]
    assert by.startswith("; solved by z3 ")
    assert judged(out, answers=[kept]) == ["holds", "unknown"]
    fairdsl.compile(spec(tmp_path, 9), to="smtlib", directory=out)
    assert judged(out, answers=[kept]) == ["unknown", "unknown"]
    # Nor does `solve` take it for an answer that stands.
    assert run("solve", out / "alike.smt2", "-o", kept, "--resume").exit_code == 0
    assert judged(out, answers=[kept]) == ["violated", "unknown"]


def test_a_folder_of_answers(tmp_path: Path) -> None:
    out, kept = tmp_path / "out", tmp_path / "kept"
    fairdsl.compile(spec(tmp_path, 0), to="smtlib", directory=out)
    (out / "alike.smt2.answer").write_text("timeout\n")
    kept.mkdir()
    assert judged(out, answers=[kept]) == ["unknown", "unknown"]
    (kept / "alike.smt2.out").write_text("unsat\n")
    (kept / "other.txt").write_text("unsat\n")
    (kept / "notes.md").write_text("what I did")
    assert judged(out, answers=[kept]) == ["holds", "holds"]
    assert judged(out) == ["unknown", "unknown"]
    assert run("recover", out, "--answers", kept).exit_code == 0


def test_a_pair_that_replays_outweighs_an_answer_to_the_same_file(tmp_path: Path) -> None:
    out = tmp_path / "out"
    fairdsl.compile(spec(tmp_path), to="smtlib", directory=out)
    (out / "alike.smt2.out").write_text("unsat\n")
    for x, judgement in ((4, "violated"), (5, "unknown")):
        (out / "alike.smt2.answer").write_text(f"sat\n((x.x {x}) (a.sex 1) (b.sex 0))\n")
        assert judged(out) == [judgement, "unknown"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be"])
def test_what_shells_make_of_an_output(tmp_path: Path, encoding: str) -> None:
    out = tmp_path / "out"
    fairdsl.compile(spec(tmp_path), to="smtlib", directory=out)
    mark = codecs.BOM_UTF16_BE if encoding == "utf-16-be" else b""
    (out / "alike.smt2.out").write_bytes(mark + "sat\r\n((x.x 4)\r\n (a.sex 1) (b.sex 0))\r\n".encode(encoding))
    assert judged(out) == ["violated", "unknown"]
    table = tmp_path / "answers.csv"
    table.write_bytes(mark + 'file,output\r\nalike.smt2,"unsat\r\n"\r\n'.encode(encoding))
    assert judged(out, answers=[table]) == ["holds", "unknown"]


def test_files_of_some_properties(tmp_path: Path) -> None:
    """Named ones alone are written, and the report is about them, as that of `check --property` is."""
    path, out = spec(tmp_path), tmp_path / "out"
    assert run("compile", path, "--to", "smtlib", "-o", out, "--property", "other").exit_code == 0
    assert {file.name for file in out.iterdir()} == {"manifest.json", "other.smt2"}
    (out / "other.smt2.out").write_text("unsat\n")
    report = fairdsl.recover(out)
    assert [one.name for one in report.properties] == ["other"]
    assert report.exit_code.value == 0
    both = tmp_path / "both"
    assert (
        run("compile", path, "--to", "smtlib", "-o", both, "--property", "other", "--property", "alike").exit_code == 0
    )
    assert {file.name for file in both.glob("*.smt2")} == {"alike.smt2", "other.smt2"}
    assert contents(both) == _all_of(path, tmp_path / "all")
    compiled = fairdsl.compile(path, to="smtlib", directory=tmp_path / "api", properties=["alike"])
    assert [file.name for file in compiled.files] == ["alike.smt2"]


def _all_of(path: Path, folder: Path) -> dict[str, bytes]:
    fairdsl.compile(path, to="smtlib", directory=folder)
    return contents(folder)


def test_an_unknown_property_is_refused_as_check_refuses_it(tmp_path: Path) -> None:
    path, out = spec(tmp_path), tmp_path / "out"
    refused = run("compile", path, "--to", "smtlib", "-o", out, "--property", "others")
    assert (refused.exit_code, out.exists()) == (2, False)
    assert "error[E0604]" in refused.stderr
    assert "did you mean `other`?" in refused.stderr
    assert refused.stderr == run("check", path, "--property", "others").stderr


def test_the_models_of_other_properties_are_not_read(tmp_path: Path) -> None:
    """What the files are not about may be missing, when they are written and when they are recovered."""
    path, out = spec(tmp_path), tmp_path / "out"
    text = path.read_text().replace("  compare ", "  model    m\n  compare ")
    absent = """
model absent : People -> { no, yes }
  from "absent.onnx"
  yes when score > 0
property elsewhere {
  model    absent
  compare  a, b : People
  differ   in sex
  require  same decision
}
"""
    path.write_text(text + absent)
    assert "error[E0501]" in run("compile", path, "--to", "smtlib", "-o", out).stderr
    assert run("compile", path, "--to", "smtlib", "-o", out, "--property", "other").exit_code == 0
    (out / "other.smt2.out").write_text("unsat\n")
    assert judged(out) == ["holds"]
