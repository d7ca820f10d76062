"""What names mean: the table of roles is whole, every spec is understood, and what is typed is offered."""

from __future__ import annotations

import dataclasses
import random
import typing
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("lsprotocol")

from fairdsl.lsp.completion import completed
from fairdsl.lsp.desk import Desk
from fairdsl.lsp.names import mentions_in
from fairdsl.lsp.roles import ROLES
from fairdsl.semantics.walk import walk
from fairdsl.source import SourceFile
from fairdsl.syntax import tree

ROOT = Path(__file__).parents[2]
SPECS = [path for folder in ("examples", "specs", "prelude") for path in sorted((ROOT / folder).rglob("*.fair"))]
#: A few everyday, all of them where there is time.
SOME = pytest.mark.parametrize("specs", [random.sample(SPECS, 12), pytest.param(SPECS, marks=pytest.mark.slow)])


def holders() -> Iterator[tuple[type[tree.Node], str]]:
    """The fields of classes of the tree that may hold names."""
    kinds = [each for each in vars(tree).values() if isinstance(each, type) and issubclass(each, tree.Node)]
    for kind in kinds:
        hints = typing.get_type_hints(kind)
        for entry in dataclasses.fields(kind):
            if tree.Name in leaves(hints[entry.name]):
                yield kind, entry.name


def leaves(hint: object) -> set[object]:
    parts = typing.get_args(hint)
    return {hint} if not parts else set().union(*map(leaves, parts))


def test_every_field_that_holds_names_has_a_role() -> None:
    assert set(ROLES) == set(holders())


@SOME
def test_every_name_is_visited_once_and_means_something(specs: list[Path]) -> None:
    formats = {"rules", "onnx", "linear", "black_box"}
    for path in specs:
        seen = Desk().seen(str(path))
        assert seen.main is not None
        visited = sorted(mention.name.span.start for mention in mentions_in(seen.main))
        assert visited == sorted(node.span.start for node in walk(seen.main) if isinstance(node, tree.Name)), path
        unknown = [
            f"{mention.name.span.first}: {mention.name.text}"
            for mention in seen.mentions
            if seen.names.meant_by(mention) is None
            and mention.name.text not in mention.role.words()
            and not (isinstance(mention.node, tree.From) and mention.name.text in formats)
        ]
        assert unknown == [], path


def offered_everywhere(path: Path, share: float, dice: random.Random) -> Iterator[str]:
    """The words of a spec that are not offered where they stand, with the rest of the text gone or still there."""
    text = path.read_text("utf-8")
    desk = Desk()
    desk.put(path.as_uri(), 1, text)
    seen = desk.seen(str(path))
    declared = {each.name.span.start for each in seen.names.declared}
    for start, end in words(text):
        if start in declared or dice.random() > share:
            continue
        word, rest = text[start:end], dice.choice(("", text[end:]))
        if word in ("rules", "linear"):
            continue  # formats, which are known to those who open files
        desk.put(path.as_uri(), 2, text[:start] + rest)
        place = desk.places(str(path)).position(start)
        if word not in [item.label for item in completed(desk, desk.seen(str(path)), place)]:
            yield f"{path.relative_to(ROOT)}: {text[max(0, start - 40) : start]!r} -> {word}"


def words(text: str) -> Iterator[tuple[int, int]]:
    """The words of a text that is right, without those in strings and comments."""
    from fairdsl.syntax.scan import Kind, scan

    yield from ((each.start, each.span.end) for each in scan(SourceFile("", text)) if each.kind is Kind.WORD)


def test_what_a_spec_goes_on_with_is_offered() -> None:
    dice = random.Random()
    missing = [found for path in dice.sample(SPECS, 5) for found in offered_everywhere(path, 0.1, dice)]
    assert missing == []


@pytest.mark.slow
def test_what_every_spec_goes_on_with_is_offered() -> None:
    dice = random.Random(25)
    assert [found for path in SPECS for found in offered_everywhere(path, 1.0, dice)] == []
