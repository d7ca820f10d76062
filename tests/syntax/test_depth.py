"""Formulas of any length are read and written; those that nest too deep are refused where they do."""

from __future__ import annotations

import time

import pytest

from fairdsl.source import SourceFile
from fairdsl.syntax.depth import DEEPEST
from fairdsl.syntax.format import format_spec
from fairdsl.syntax.parse import ParseResult, parse

#: More than Python calls functions within each other.
TERMS = 1200


def read(text: str) -> ParseResult:
    return parse(SourceFile("spec.fair", text))


def property_of(formula: str) -> str:
    return "property p {\n  among " + formula + "\n  require same decision\n}\n"


def nested(opening: str, core: str, times: int) -> str:
    return property_of(opening * times + core + ")" * (opening.count("(") * times))


@pytest.mark.parametrize(
    ("sign", "term"),
    [(" + ", "1 * x"), (" - ", "x"), (" * ", "x"), (" + 2 * ", "x"), (" and ", "x = 3"), (" or ", "not x = 3")],
)
def test_a_long_row_is_read_and_written(sign: str, term: str) -> None:
    begun = time.process_time()
    spec = read(property_of(sign.join([term] * TERMS))).spec
    assert spec is not None
    formatted = format_spec(spec)
    assert time.process_time() - begun < 5
    assert formatted.count("x") == TERMS
    again = read(formatted).spec
    assert again == spec
    assert hash(again) == hash(spec)
    shorter = read(property_of(sign.join([term] * (TERMS - 1)))).spec
    assert shorter != spec


def test_parentheses_in_a_long_row_stay() -> None:
    text = property_of("(a + b) * 2 - (c - d) * (e * f) - g > 0")
    spec = read(text).spec
    assert spec is not None
    assert format_spec(spec) == text


NESTS = [("(", "x = 3"), ("not ", "x = 3"), ("- ", "x"), ("f(", "x"), ("f(1 + ", "x"), ("not (x = 1 and ", "x = 3")]


@pytest.mark.parametrize(("opening", "core"), NESTS)
def test_what_nests_too_deep_is_refused(opening: str, core: str) -> None:
    for times in (DEEPEST + 1, 400, 1000):
        result = read(nested(opening, core, times) + "\nprotected sex\n")
        (diagnostic,) = result.diagnostics
        assert diagnostic.code == "E0115"
        assert str(DEEPEST) in diagnostic.title
        assert diagnostic.primary is not None
        assert diagnostic.primary.span.first.line == 2
        assert diagnostic.primary.span.first.column > DEEPEST // 2
        assert [span.text.split()[0] for span in result.lost] == ["among"]
        assert result.spec is not None
        assert len(result.spec.items) == 2


@pytest.mark.parametrize(("opening", "core"), NESTS)
def test_what_is_read_is_written_and_read_again(opening: str, core: str) -> None:
    for times in range(1, DEEPEST, 7):
        result = read(nested(opening, core, times))
        if result.complete:
            assert result.spec is not None
            assert read(format_spec(result.spec)).spec == result.spec


def test_the_place_is_the_one_that_is_too_deep() -> None:
    (diagnostic,) = read("property p {\n  among " + "(\n" * 150 + "x" + ")" * 150 + "\n}").diagnostics
    assert diagnostic.primary is not None
    assert diagnostic.primary.span.text == "("
    assert diagnostic.primary.span.first.line == 2 + DEEPEST


def test_each_deep_statement_is_reported_beside_other_mistakes() -> None:
    deep = "(" * 150 + "x = 3" + ")" * 150
    text = "property p {\n  among " + deep + "\n  within age 5\n  among " + deep + "\n}"
    assert [d.code for d in read(text).diagnostics] == ["E0107", "E0115", "E0115"]
