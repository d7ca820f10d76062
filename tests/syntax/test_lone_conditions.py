"""Conditions by themselves, as documents of rules hold them: read as in a file, and placed in the document."""

from __future__ import annotations

from dataclasses import fields, is_dataclass

import pytest
from hypothesis import given
from spec_trees import expressions

from fairdsl.diagnostics import Diagnostic
from fairdsl.source import SourceFile, Span
from fairdsl.syntax import condition, tree
from fairdsl.syntax.condition import parse_condition
from fairdsl.syntax.format_expression import text_of
from fairdsl.syntax.words import Branch


def within(text: str, before: str = '{"if": "', behind: str = '"}') -> tree.Expression | Diagnostic:
    """The text parsed as a part of a document that escapes nothing."""
    file = SourceFile("rules.json", before + text + behind)
    start = len(before)
    whole = Span(file, start - 1, start + len(text) + 1)
    return parse_condition(text, whole, range(start, start + len(text)), {})


@given(expressions)
def test_a_condition_is_read_as_in_a_file(expression: tree.Expression) -> None:
    found = within(text_of(expression))
    assert found == expression


def spans(value: object) -> list[Span]:
    if isinstance(value, tuple):
        return [span for element in value for span in spans(element)]
    if isinstance(value, tree.Node) and is_dataclass(value):
        return [value.span, *(span for field in fields(value) for span in spans(getattr(value, field.name)))]
    return []


def test_every_node_knows_its_place_in_the_document() -> None:
    found = within("age >= 45 and charge = felony")
    assert isinstance(found, tree.Conjunction)
    assert [part.span.text for part in found.parts] == ["age >= 45", "charge = felony"]
    assert all(span.file.path == "rules.json" for span in spans(found))


def test_an_escaped_text_keeps_its_place() -> None:
    document = '{"if": "race = \\"two or more\\""}'
    file = SourceFile("rules.json", document)
    text = 'race = "two or more"'
    offsets = [index for index in range(8, len(document) - 2) if document[index] != "\\"]
    found = parse_condition(text, Span(file, 7, len(document) - 1), offsets, {})
    assert isinstance(found, tree.Comparison)
    assert found.right == tree.Text(value="two or more", span=found.right.span)
    assert found.right.span.text == '"two or more\\"'


def test_a_text_that_repeats_is_parsed_once_and_has_a_place_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    file = SourceFile("rules.json", '["age >= 45", "age >= 45"]')
    starts, text = (2, 15), "age >= 45"
    known: dict[str, Branch] = {}
    found = []
    for start in starts:
        whole = Span(file, start - 1, start + len(text) + 1)
        found.append(parse_condition(text, whole, range(start, start + len(text)), known))
        monkeypatch.setattr(condition, "grammar", lambda: pytest.fail("the text was parsed before"))
    assert [part.span.start for part in found if isinstance(part, tree.Comparison)] == [*starts]
    assert all(span.text in text for part in found for span in spans(part))


@pytest.mark.parametrize(
    ("text", "code", "title", "place"),
    [
        ("age == 3", "E0101", "`==` is written `=` here", "=="),
        ("age > 3 && sex = male", "E0101", "`&&` is written `and` here", "&&"),
        ("10 < age < 30", "E0110", None, None),
        ("age >", "E0115", "the condition ends after `>`, where more must follow", ">"),
        ("", "E0115", "this condition is empty", '""'),
        ("(age > 3) detain", "E0115", "`detain` cannot stand after `)`", "detain"),
        ("age > 3 among x = 4", "E0115", None, "among"),
        ("age ? 3", "E0115", None, "?"),
        ("(" * 120 + "age > 3" + ")" * 120, "E0115", "this formula is nested more than 100 levels deep", "("),
    ],
)
def test_what_is_wrong_is_said_at_its_place(text: str, code: str, title: str | None, place: str | None) -> None:
    found = within(text)
    assert isinstance(found, Diagnostic)
    assert found.code == code
    assert title in (None, found.title)
    assert found.primary is not None
    assert found.primary.span.file.path == "rules.json"
    assert place in (None, found.primary.span.text)
    assert found.fix is None
    assert "file" not in f"{found.title} {found.help}"
