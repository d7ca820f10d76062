"""From a spec to files, to answers, and back: the report is the one of `check`."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from copy import deepcopy
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from files_spec import answered, checked, demands, recovered, run, written

import fairdsl
from fairdsl.backends.solved import Bounds, Solved
from fairdsl.backends.ssat.engine import Engine
from fairdsl.backends.ssat.reading import read_sdimacs
from fairdsl.diagnostics import DiagnosticError
from fairdsl.ir.enclosure import Enclosure

F = Fraction
Said = Callable[[str], list[dict[str, Any]]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("files")
    spec = written(made)
    for groups in ("enumerate", "learn"):
        fairdsl.compile(spec, to="sdimacs", directory=made / groups, options={"ssat": {"groups": groups}})
    return made


@pytest.fixture(scope="module")
def said(folder: Path) -> Said:
    """What `check` says of the demands, by how groups are asked: computed once, a copy each time."""
    known = cache(lambda groups: checked(folder / "admission.fair", groups))
    return lambda groups: deepcopy(known(groups))


def copied(folder: Path, groups: str, tmp_path: Path) -> Path:
    """The files in a folder of the test's own."""
    target = tmp_path / groups
    target.mkdir()
    (tmp_path / "admission.fair").write_bytes((folder / "admission.fair").read_bytes())
    for file in (folder / groups).iterdir():
        if file.suffix != ".answer":
            (target / file.name).write_bytes(file.read_bytes())
    return target


def values(folder: Path) -> dict[str, Fraction]:
    """What each file comes to, by its name."""
    found = {}
    for file in sorted(folder.glob("*.sdimacs")):
        solution = Engine(read_sdimacs(file.read_text(encoding="utf-8"), file.name)).solve()
        assert solution.exact
        found[file.name] = solution.low
    return found


def exactly(value: Fraction) -> str:
    """What a solver says that reads the exact probabilities of a file, and names no group."""
    found = Bounds(variables=3, clauses=3, number=Enclosure.exactly(value))
    return Solved(format="sdimacs", file=Path("a"), solver="x", seconds=0.0, found=found).to_json()


def answer(folder: Path, pattern: str | None = None) -> None:
    """Answers as a solver prints them: the pattern with a number in it."""
    for name, value in values(folder).items():
        text = exactly(value) if pattern is None else pattern.format(float(value))
        (folder / f"{name}.out").write_text(text, encoding="utf-8")


@pytest.mark.parametrize(("groups", "options"), [("enumerate", []), ("learn", []), ("learn", ["--json"])])
def test_what_solve_prints_becomes_what_check_says(
    folder: Path, said: Said, tmp_path: Path, groups: str, options: list[str]
) -> None:
    files = copied(folder, groups, tmp_path)
    answered(files, *options)
    found, expected = recovered(files), said(groups)
    if groups == "learn" and not options:
        # The text names no variables by number, so which group is extreme stays open.
        for demand in (*found, *expected):
            demand.pop("verdict", None), demand.pop("notes", None)
    assert found == expected


def test_demands_of_one_property_share_their_files(folder: Path) -> None:
    manifest = json.loads((folder / "enumerate" / "manifest.json").read_text(encoding="utf-8"))
    first, *others = (each for each in manifest["questions"] if each["property"] == "compound")
    for other in others:
        assert other["parts"][0]["settled_by"] == first["parts"][0]["settled_by"]
    assert len(manifest["files"]) == len(list((folder / "enumerate").glob("*.sdimacs")))


@pytest.mark.parametrize(
    ("groups", "pattern"),
    [
        ("enumerate", "  > Satisfying probability: {:e}\n"),
        ("learn", "# satisfying probability = {:.7g}\n"),
        ("enumerate", "{:.7f}\n"),
    ],
)
def test_seven_digits_become_intervals_that_contain_the_truth(
    folder: Path, said: Said, tmp_path: Path, groups: str, pattern: str
) -> None:
    files = copied(folder, groups, tmp_path)
    answer(files, pattern)
    for found, exact in zip(recovered(files), said("enumerate"), strict=True):
        if found["metric"] != "acceptance_rate":
            low, high = found["value"]["low"], found["value"]["high"]
            assert low < exact["value"]["low"] <= exact["value"]["high"] < high
            assert high - low < 1e-4
        assert found["judgement"] == exact["judgement"]


def test_extremes_without_names_are_as_exact(folder: Path, said: Said, tmp_path: Path) -> None:
    files = copied(folder, "learn", tmp_path)
    answer(files)
    for found, exact in zip(recovered(files), said("enumerate"), strict=True):
        assert found["value"] == exact["value"]
        assert found["judgement"] == exact["judgement"]


def test_a_file_without_an_answer_is_anything(folder: Path, tmp_path: Path) -> None:
    files = copied(folder, "enumerate", tmp_path)
    answer(files)
    (files / "compound.sex-male_region-west.sdimacs.out").unlink()
    found = recovered(files)[0]
    assert found["judgement"] == "violated"  # the others are far apart already
    assert any("compound.sex-male_region-west.sdimacs` has no answer" in note for note in found.get("notes", ()))
    for file in files.glob("*.out"):
        file.unlink()
    found = recovered(files)[0]
    assert (found["judgement"], found["reason"]) == ("unknown", "incomplete")
    assert any(re.match(r"(\d+) of \1 files have no answer, the first is `compound\.", note) for note in found["notes"])
    result = run("recover", files)
    assert (result.exit_code, "answers in files, each as wide as it was printed" in result.stdout) == (3, True)


def test_answers_that_contradict_each_other_are_none(folder: Path, tmp_path: Path) -> None:
    files = copied(folder, "enumerate", tmp_path)
    answer(files)
    (files / "strata.sex-male_region-west.sdimacs.txt").write_text("0.0001", encoding="utf-8")
    notes = recovered(files)[-1].get("notes", ())
    assert any("contradict each other" in note for note in notes)


def test_extremes_that_contradict_each_other_prove_nothing(folder: Path, tmp_path: Path) -> None:
    files = copied(folder, "learn", tmp_path)
    answer(files)
    for kind in ("most", "least"):
        (files / f"compound.{kind}.sdimacs.out").write_text("1/10", encoding="utf-8")
    found = recovered(files)[0]
    assert found["judgement"] == "unknown"


def test_a_group_that_is_named_is_asked_again(folder: Path, tmp_path: Path) -> None:
    """A choice is the solver's word: the group it names has a rate of its own, and that must fit."""
    files = copied(folder, "learn", tmp_path)
    answered(files, "--json")
    file = files / "compound.most.sdimacs.answer"
    said = json.loads(file.read_text(encoding="utf-8"))
    truth = recovered(files)[0]
    for choice in said["found"]["choice"]:
        choice["true"] = True  # sex <= female, region <= north: the least favoured group
    file.write_text(json.dumps(said), encoding="utf-8")
    found = recovered(files)[0]
    assert found["value"] == truth["value"]
    assert not any(note.startswith("most favoured") for note in found.get("notes", ()))
    # A value that the group it names exceeds is refuted.
    (files / "compound.least.sdimacs.answer").unlink()
    for end in ("low", "high"):
        said["found"].pop(f"{end}_exact", None)
        said["found"][end] = 0.01
    file.write_text(json.dumps(said), encoding="utf-8")
    assert recovered(files)[0]["judgement"] == "unknown"


def test_a_table_of_answers(folder: Path, said: Said, tmp_path: Path) -> None:
    files = copied(folder, "enumerate", tmp_path)
    lines = [json.dumps({"file": name, "output": exactly(value)}) for name, value in values(files).items()]
    table = tmp_path / "answers.jsonl"
    table.write_text("\n".join(lines), encoding="utf-8")
    assert recovered(files, "--answers", table) == said("enumerate")


def test_files_that_have_answers_are_not_replaced(folder: Path, tmp_path: Path) -> None:
    files = copied(folder, "enumerate", tmp_path)
    answer(files)
    spec = tmp_path / "admission.fair"
    fairdsl.compile(spec, to="sdimacs", directory=files)  # the same files stay
    spec.write_text(spec.read_text(encoding="utf-8").replace("bernoulli(0.6)", "bernoulli(0.61)"), encoding="utf-8")
    with pytest.raises(DiagnosticError) as error:
        fairdsl.compile(spec, to="sdimacs", directory=files)
    assert error.value.diagnostics[0].code == "E0611"
    assert "E0621" in run("recover", files).stderr


def test_groups_are_a_choice_of_sdimacs_alone(folder: Path, tmp_path: Path) -> None:
    done = run("compile", folder / "admission.fair", "--to", "mcc", "-o", tmp_path, "--set", "ssat.groups=learn")
    assert done.exit_code == 2
    assert "E0603" in done.stderr
    every = {"ssat": {"groups": "all"}}
    with pytest.raises(fairdsl.SpecError, match="`enumerate` or `learn`, not `all`"):
        fairdsl.compile(folder / "admission.fair", to="sdimacs", directory=tmp_path, options=every)


def test_what_is_settled_needs_no_file(tmp_path: Path) -> None:
    spec = written(tmp_path)
    text = spec.read_text(encoding="utf-8")
    rules = text[text.index("  first ") : text.index("  favourable")]
    spec.write_text(text.replace(rules, "  admit when skill > 6\n"), encoding="utf-8")
    compiled = fairdsl.compile(spec, to="sdimacs", directory=tmp_path / "out")
    assert not [file for file in compiled.files if file.name.startswith("compound")]
    found = demands(json.loads(run("recover", tmp_path / "out", "--json").stdout))
    assert found[0]["value"]["low"] == found[0]["value"]["high"] == 1


FEW_ROWS = """
domain Applicant {
  sex    : category { female, male }
  income : integer 0 .. 9
}

protected sex

model approve : Applicant -> { reject, grant }
  first     grant  when income > 4
  otherwise reject
  favourable grant

distribution people over Applicant
  independent given sex
  from "people.csv"

property parity {
  across   sex
  under    people
  require  parity_gap <= 80%
}
"""


def test_what_is_doubtful_about_groups_is_recovered_too(tmp_path: Path) -> None:
    """The warnings that come with a metric were dropped where its numbers were answers in files."""
    (tmp_path / "few.fair").write_text(FEW_ROWS, encoding="utf-8")
    (tmp_path / "people.csv").write_text("sex,income\nfemale,2\nfemale,9\nmale,6\nmale,9\n", encoding="utf-8")
    fairdsl.compile(tmp_path / "few.fair", to="sdimacs", directory=tmp_path / "out")
    answered(tmp_path / "out")
    found, expected = fairdsl.recover(tmp_path / "out"), fairdsl.check(tmp_path / "few.fair", backend="ssat")
    assert "W0808" in [each.code for each in found.diagnostics]
    assert [each.code for each in found.diagnostics] == [each.code for each in expected.diagnostics]
