"""The file of the parser's tables is that of the grammar, and reading it gives the parser that building gives."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from lark.exceptions import LarkError

from fairdsl.resources import grammar_file
from fairdsl.syntax import tables

TEXT = grammar_file("fair.lark").read_text(encoding="utf-8")
EXAMPLES = sorted((Path(__file__).parents[2] / "examples").rglob("*.fair"))


@contextmanager
def grammar_at_fault() -> Iterator[None]:
    """What Lark finds in a grammar names neither its file nor what to do."""
    try:
        yield
    except LarkError as problem:
        found = f"{type(problem).__name__}: {problem}"
        pytest.fail(
            f"grammar/fair.lark is not a grammar that reads the examples; mend it there:\n{found}", pytrace=False
        )


def test_the_file_is_that_of_the_grammar(as_expected: Callable[[Path, str], None]) -> None:
    with grammar_at_fault():
        written = tables.tables_of(TEXT)
    as_expected(grammar_file("fair.tables.json"), written)


@pytest.mark.parametrize("broken", [TEXT.replace("start:", "start: nowhere", 1), TEXT + "\nrule: (\n"])
def test_a_mistake_in_the_grammar_is_named_with_its_file(broken: str) -> None:
    with pytest.raises(pytest.fail.Exception, match=r"grammar/fair\.lark"), grammar_at_fault():
        tables.tables_of(broken)


def test_the_parser_of_the_file_is_the_parser_of_the_grammar(monkeypatch: pytest.MonkeyPatch) -> None:
    with grammar_at_fault():
        fresh = tables.built(TEXT)
    monkeypatch.setattr(tables, "built", lambda _: pytest.fail("the tables were not read from their file"))
    tables.grammar.cache_clear()
    read = tables.grammar()
    assert EXAMPLES
    for path in EXAMPLES:
        text = path.read_text(encoding="utf-8")
        with grammar_at_fault():
            assert read.parse(text, start="start") == fresh.parse(text, start="start"), path
    condition = "age > 20 and not (sex = female)"
    assert read.parse(condition, start="lone_condition") == fresh.parse(condition, start="lone_condition")


def test_tables_of_another_grammar_or_version_are_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for other in ("grammar", "lark"):
        content = json.loads(grammar_file("fair.tables.json").read_text(encoding="utf-8"))
        content["made_from"][other] = "another"
        content["data"] = content["memo"] = None  # whoever reads them fails
        (tmp_path / "fair.tables.json").write_text(json.dumps(content), encoding="utf-8")
        (tmp_path / "fair.lark").write_text(TEXT, encoding="utf-8")
        monkeypatch.setattr(tables, "grammar_file", lambda name: tmp_path / name)
        tables.grammar.cache_clear()
        with grammar_at_fault():
            assert tables.grammar().parse("age > 20", start="lone_condition")
    tables.grammar.cache_clear()
