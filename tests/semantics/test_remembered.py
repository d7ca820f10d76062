"""What an editor knows from earlier versions of a spec is what it would find in the text as it is."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from pathlib import Path

import pytest

from fairdsl.semantics import remembered
from fairdsl.semantics.front_end import read_spec
from fairdsl.semantics.remembered import Remembered
from fairdsl.source import SourceFile, Span
from fairdsl.source.reading import holding
from tests.lsp.random_edits import BASE, SPEC, edited

ROOT = Path(__file__).parents[2]
MORE = """
let some = 3
metric spread = gap(rate(grant))
condition poor = savings < some
## Each of them.
property each_of_them {
  for each s in sex
  compare a, b : Applicant
  differ in sex
  within some in savings
  among a.sex = s and poor
  require same decision
}
property groups {
  across sex
  under all
  require spread <= limit
  require gap(rate(reject given savings > some)) <= 10%
}
property limits {
  for each limit in { 70%, 80% }
  across sex
  under all
  require impact_ratio >= limit
}
distribution rows over Applicant
  empirical from "rows.csv"
apply preset four_fifths to approve across sex under rows
"""


def whole(what: object) -> object:
    """All that something consists of, with the places that equality passes over."""
    match what:
        case SourceFile():
            return what.path, what.text
        case Span():
            return what.file.path, what.file.text, what.start, what.end
        case tuple() | list():
            return [whole(each) for each in what]
        case dict():
            return {str(key): whole(each) for key, each in what.items()}
        case _ if is_dataclass(what):
            return type(what).__name__, [whole(getattr(what, each.name)) for each in fields(what)]
        case _:
            return what if isinstance(what, int | str | frozenset) else repr(what)


def compare(texts: dict[str, str], main: str, known: Remembered) -> None:
    """Hold what is read with what is known against what is read from scratch."""
    with holding({path: text.encode("utf-8", "surrogatepass") for path, text in texts.items()}):
        try:
            expected = read_spec(main)
        except Exception as error:  # whatever it is, both raise it
            with pytest.raises(type(error)):
                read_spec(main, known=known)
            return
        found = read_spec(main, known=known)
    assert whole(found.findings) == whole(expected.findings), texts
    assert whole(found.loaded) == whole(expected.loaded), texts
    assert whole(found.checked) == whole(expected.checked), texts


def session(good: list[str], folder: Path, seed: int, edits: int) -> None:
    dice, known = random.Random(seed), Remembered()
    main, used = str(folder / "spec.fair"), str(folder / "base.fair")
    texts = {main: dice.choice(good), used: BASE}
    for _ in range(edits):
        compare(texts, main, known)
        if dice.random() < 0.1:
            texts = {main: dice.choice(good), used: BASE}
        path = dice.choice((main, main, main, used))
        texts[path] = edited(texts[path], dice)


def test_the_specs_have_no_errors(tmp_path: Path) -> None:
    for number, text in enumerate((SPEC, SPEC + MORE)):
        (tmp_path / "base.fair").write_text(BASE, encoding="utf-8")
        (tmp_path / f"{number}.fair").write_text(text, encoding="utf-8")
        assert read_spec(str(tmp_path / f"{number}.fair")).checked is not None


def test_what_is_remembered_is_what_would_be_found(tmp_path: Path) -> None:
    session([SPEC, SPEC + MORE], tmp_path, random.randrange(10**6), 25)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_what_is_remembered_of_many_specs_is_what_would_be_found(tmp_path: Path, seed: int) -> None:
    others = [path.read_text(encoding="utf-8") for path in sorted(ROOT.glob("examples/*/*.fair"))]
    session([SPEC, SPEC + MORE, MORE + SPEC, *others], tmp_path, seed, 300)


def test_only_what_was_edited_is_checked_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[object] = []
    of = remembered.ByNode.of

    def counted(self: remembered.ByNode[object], node: object, make: Callable[[], object]) -> object:
        return of(self, node, lambda: made.append(self) or make())  # type: ignore[arg-type, func-returns-value]

    monkeypatch.setattr(remembered.ByNode, "of", counted)
    property_ = "property p{n} {{\n  compare a, b : Applicant\n  differ in sex\n  require same decision\n}}\n"
    text = SPEC + "".join(property_.format(n=n) for n in range(20))
    main, used = str(tmp_path / "spec.fair"), str(tmp_path / "base.fair")
    known, counts = Remembered(), []
    more = [text.replace("property p8 {", f"property p8_{n} {{") for n in range(20)]
    for each in (text, text.replace("property p9 {", "property p9 {\n  among rich"), "\n" + text, *more):
        made.clear()
        with holding({main: each.encode(), used: BASE.encode()}):
            assert read_spec(main, known=known).checked is not None
        counts.append(len(made))
        # What is gone is forgotten, but for the version before.
        held = [each for world in known._worlds.values() for each in (world, *world._under.values())]
        assert all(len(each.instances._known) + len(each.checked._known) <= 30 for each in held)
    first, after_an_edit, after_a_line, *_ = counts
    assert first > 60
    assert after_an_edit <= 8  # of two properties: the edited one, and the one before it, whose words ahead changed
    assert after_a_line <= 8  # of going back to the text before
