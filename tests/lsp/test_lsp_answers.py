"""Single answers of the server, without a process: places, renaming, colours, what stands between the lines."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import pytest

pytest.importorskip("lsprotocol")

from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from lsprotocol import types

from fairdsl.cli.app import cli
from fairdsl.lsp import colours, findings, hover, inline, outline, renaming
from fairdsl.lsp.checking import Checks, Verdict
from fairdsl.lsp.completion import completed
from fairdsl.lsp.desk import Desk, Seen
from fairdsl.lsp.places import Places
from tests.drawing import examples
from tests.lsp.session import offset, position

ROOT = Path(__file__).parents[2]
SPEC = """\
domain D {
  # 💶💶
  sex : category { female, male }
  age : integer 18 .. 90
}
protected sex
let limit = 80%
model approve : D -> { no, yes }
  score = age - 30 + (sex = male)
  yes when score > 0
  favourable yes
condition senior = age >= 60
property alike "🂡 und" {
  compare a, b : D
  differ in sex
  among senior
  require same decision
}
property of_groups {
  across sex
  under d
  require impact_ratio >= limit
}
distribution d over D
  empirical from "people.csv"
""".replace("people.csv", str(ROOT / "examples" / "loans" / "people.csv"))


def opened(text: str, path: str = "/nowhere/spec.fair") -> tuple[Desk, Seen]:
    desk = Desk()
    desk.put(f"file://{path}", 1, text)
    return desk, desk.seen(path)


@settings(max_examples=examples(2))
@given(st.text("a\n\r💶é\u2028\x0c\x85", max_size=12))
def test_places_there_and_back(text: str) -> None:
    for encoding, codec, width in (("utf-16", "utf-16-le", 2), ("utf-8", "utf-8", 1), ("utf-32", "utf-32-le", 4)):
        places = Places(text, encoding)
        for at in range(len(text) + 1):
            if text[max(at - 1, 0) : at + 1] == "\r\n":
                continue  # between the two characters of one line end there is no place
            place = places.position(at)
            line = text[:at].replace("\r\n", "\n").replace("\r", "\n").split("\n")
            assert place == types.Position(len(line) - 1, len(line[-1].encode(codec)) // width)
            assert places.offset(place) == at
            assert encoding != "utf-16" or place == position(text, at)


@pytest.mark.parametrize(
    ("at", "name", "places"),
    [
        ("sex :", "gender", 5),
        ("female", "woman", 1),
        ("approve", "grants", 1),
        ("yes }", "granted", 3),
        ("senior =", "older", 2),
        ("limit =", "at_least", 2),
        ("D {", "People", 4),
        ("d\n  require", "all_people", 2),
        ("a, b", "one", 1),
    ],
)
def test_another_name(at: str, name: str, places: int) -> None:
    desk, seen = opened(SPEC)
    assert seen.findings == ()
    declared = renaming.declaration_at(seen, SPEC.index(at))
    assert declared is not None
    edits = renaming.renamed(desk, declared, name)
    assert len(edits) == places
    text = SPEC
    for edit in sorted(edits, key=lambda edit: -edit.span.start):
        text = text[: edit.span.start] + name + text[edit.span.end :]
    assert opened(text)[1].findings == ()


@pytest.mark.parametrize("name", ["age", "2x", "a b", "", "sex"])
def test_a_name_that_cannot_be(name: str) -> None:
    desk, seen = opened(SPEC)
    declared = renaming.declaration_at(seen, SPEC.index("sex :"))
    assert declared is not None
    with pytest.raises(renaming.NotRenamedError):
        renaming.renamed(desk, declared, name)


def test_names_of_a_property_are_its_own() -> None:
    text = SPEC + SPEC[SPEC.index("property alike") : SPEC.index("property of_")].replace("alike", "again")
    _, seen = opened(text)
    first, second = text.index("a, b"), text.rindex("a, b")
    assert renaming.declaration_at(seen, first) is not renaming.declaration_at(seen, second)


def test_hovering() -> None:
    desk, seen = opened(SPEC)

    def said(written: str) -> str:
        found = hover.hovered(desk, seen, position(SPEC, SPEC.index(written)))
        assert found is not None
        assert isinstance(found.contents, types.MarkupContent)
        return found.contents.value

    assert "`ratio(rate(favourable))`" in said("impact_ratio")
    assert "`demographic_parity_ratio` (Fairlearn)" in said("impact_ratio")
    assert "Any two individuals of `D`" in said("alike")
    assert "condition senior = age >= 60" in said("senior\n")
    assert "*value* of `sex`" in said("male)")


def test_a_finding_has_its_page() -> None:
    desk, seen = opened(SPEC.replace("among senior", "among wealth > 3 and senior"))
    (finding,) = findings.by_file(desk, seen)[seen.path]
    found = hover.hovered(desk, seen, finding.range.start)
    assert found is not None
    assert isinstance(found.contents, types.MarkupContent)
    assert f"# {finding.code}" in found.contents.value
    assert finding.related_information is not None
    assert finding.code_description is not None


def test_the_outline() -> None:
    desk, seen = opened(SPEC)
    found = outline.outline(desk, seen)
    assert [each.name for each in found] == ["D", "limit", "approve", "senior", "alike", "of_groups", "d"]
    assert [each.name for each in found[0].children or ()] == ["sex", "age"]
    assert len(list(outline.folds(desk, seen))) == 5


def decoded(numbers: list[int], text: str) -> list[tuple[str, str]]:
    found, line, column = [], 0, 0
    for at in range(0, len(numbers), 5):
        moved, right, length, kind, _ = numbers[at : at + 5]
        line, column = line + moved, right if moved else column + right
        start = offset(text, types.Position(line, column))
        end = offset(text, types.Position(line, column + length))
        found.append((text[start:end], colours.LEGEND.token_types[kind]))
    return found


def test_colours_are_by_meaning() -> None:
    text = SPEC.replace("age", "label")
    desk, seen = opened(text)
    assert seen.findings == ()
    found = decoded(colours.coloured(desk, seen), text)
    assert {kind for word, kind in found if word == "label"} == {"property"}
    assert {kind for word, kind in found if word == "property"} == {"keyword"}
    assert ("yes", "enumMember") in found
    assert ('"🂡 und"', "string") in found
    assert ("# 💶💶", "comment") in found
    numbers = colours.coloured(desk, seen)
    begin = {word for (word, _), at in zip(found, range(0, len(numbers), 5), strict=True) if numbers[at + 4]}
    assert {"property", "domain"} <= begin, "which editors colour as the grammar for regular expressions does"
    assert not {"compare", "require"} & begin
    desk.put(f"file://{seen.path}", 2, f"{text}\nproperty = # lost")
    assert ("# lost", "comment") in decoded(colours.coloured(desk, desk.seen(seen.path)), desk.text(seen.path))


def test_defaults_and_verdicts_between_the_lines() -> None:
    desk, seen = opened(SPEC)
    checks, everything = Checks(), types.Range(types.Position(0, 0), types.Position(99, 0))

    def labels() -> list[str]:
        return [str(each.label).strip() for each in inline.hints(desk, desk.seen(seen.path), checks, everything)]

    defaults = labels()
    assert defaults[0] == "held equal: age"
    demand = {"text": "x", "judgement": "violated", "plain": "", "resting": "", "outcome": "", "file": seen.path}
    demand |= {"end": SPEC.index("decision\n}"), "pairs": []}
    pair = {"names": ["a", "b"], "rows": [["sex", "female", "male"]], "both": [], "found_for": []}
    said = {"name": "alike", "judgement": "violated", "demands": [demand], "pairs": [pair]}
    verdict = Verdict("alike", said, {path: desk.text(path) for path in seen.files}, {})
    checks._verdicts[seen.path] = {"alike": verdict}
    assert "✗ violated: sex female | male" in labels()
    titles = [each.command.title for each in inline.lenses(desk, seen, checks) if each.command]
    assert titles == ["check all", "check again", "✗ violated", "check"]
    desk.put(f"file://{seen.path}", 2, SPEC + "property")  # an error
    assert labels() == []
    desk.put(f"file://{seen.path}", 3, SPEC)
    assert "✗ violated: sex female | male" in labels(), "the text is what was checked, and has no errors"
    desk.put(f"file://{seen.path}", 4, SPEC + "\n")
    assert labels() == defaults
    desk.put(f"file://{seen.path}", 5, SPEC)
    assert labels() == defaults, "what was withdrawn stays so"


def test_a_verdict_goes_with_the_files_that_it_rests_on(tmp_path: Path) -> None:
    import os

    from fairdsl.source.reading import stamp_of

    data = tmp_path / "people.csv"
    data.write_text("sex\nfemale\n")
    desk, seen = opened(SPEC)
    verdict = Verdict("alike", {}, {seen.path: SPEC}, {str(data): stamp_of(os.stat(data))})
    assert verdict.still_holds(desk, seen)
    data.write_text("sex\nmale\n")
    assert not verdict.still_holds(desk, seen)
    data.unlink()
    assert not verdict.still_holds(desk, seen)


def test_an_open_text_outside_the_root_is_not_read(tmp_path: Path) -> None:
    """As on the command line: the folder of the spec, which is in no repository."""
    (tmp_path / "audit").mkdir()
    desk = Desk()
    desk.put((tmp_path / "base.fair").as_uri(), 1, SPEC)
    spec = tmp_path / "audit" / "spec.fair"
    desk.put(spec.as_uri(), 1, 'use "../base.fair"\n')
    assert "E0210" in [finding.code for finding in desk.seen(str(spec)).findings]
    desk.put((tmp_path / "audit" / "base.fair").as_uri(), 1, SPEC)
    desk.put(spec.as_uri(), 2, 'use "base.fair"\n')
    assert [finding.code for finding in desk.seen(str(spec)).findings] == []


def test_without_its_library_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "fairdsl.lsp.server", raising=False)
    monkeypatch.setitem(sys.modules, "pygls.exceptions", None)
    ran = CliRunner().invoke(cli, ["lsp"])
    assert ran.exit_code == 2
    assert "the language server needs `pygls`: `pip install 'fairdsl[lsp]'`" in ran.output


def test_every_spec_of_the_repository_is_answered() -> None:
    """Nothing fails on golden specs either, most of which have mistakes."""
    specs = sorted((ROOT / "tests" / "golden").rglob("*.fair"))
    for path in random.sample(specs, 12):
        desk = Desk()
        desk.put(path.as_uri(), 1, path.read_bytes().decode("utf-8", "replace"))
        seen = desk.seen(str(path))
        everything = desk.places(str(path)).everything
        list(findings.fixes_at(desk, seen, everything))
        list(inline.hints(desk, seen, Checks(), everything))
        colours.coloured(desk, seen)
        outline.outline(desk, seen)
        hover.hovered(desk, seen, types.Position(random.randrange(20), random.randrange(20)))


PATHS = ["base.fair", "other.fair", "people.csv", "model.onnx", ".hidden.csv", "data/more.csv", "data/used.fair"]


@pytest.mark.parametrize(
    ("typed", "offered", "after"),
    [
        ('use "', ["base.fair", "data/"], 'use "base.fair'),
        ('use "ba', ["base.fair", "data/"], 'use "base.fair'),
        ('use "data/', ["used.fair"], 'use "data/used.fair'),
        ('use "../', [], ""),
        ('# use "', [], ""),
        ('audit "', [], ""),
        (SPEC + '  empirical from "', ["data/", "model.onnx", "people.csv"], SPEC + '  empirical from "data/'),
        (SPEC + '  from "data/m', ["more.csv"], SPEC + '  from "data/more.csv'),
        (
            SPEC + '  agrees with column "c" in "./data/',
            ["more.csv"],
            SPEC + '  agrees with column "c" in "./data/more.csv',
        ),
    ],
)
def test_paths_between_quotes(tmp_path: Path, typed: str, offered: list[str], after: str) -> None:
    for each in PATHS:
        (tmp_path / each).parent.mkdir(exist_ok=True)
        (tmp_path / each).touch()
    path = str(tmp_path / "other.fair")
    desk, seen = opened(typed, path)
    items = list(completed(desk, seen, position(typed, len(typed))))
    assert [item.label for item in items] == offered
    if items:
        edit = items[0].text_edit
        assert isinstance(edit, types.TextEdit)
        assert typed[: offset(typed, edit.range.start)] + edit.new_text == after
