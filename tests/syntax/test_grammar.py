"""The grammar file itself, and the tables made from it."""

from __future__ import annotations

from pathlib import Path

import pytest
from lark import Lark

from fairdsl.resources import grammar_file
from fairdsl.source import SourceFile
from fairdsl.syntax import tables
from fairdsl.syntax.parse import parse

GRAMMAR = grammar_file("fair.lark").read_text(encoding="utf-8")


def test_the_grammar_has_no_conflicts_and_no_collisions() -> None:
    pytest.importorskip("interegular", reason="Lark's strict mode compares terminals with it")
    Lark(GRAMMAR, parser="lalr", strict=True)


def test_every_keyword_and_symbol_has_a_name() -> None:
    terminals = Lark(GRAMMAR, parser="lalr").terminals
    assert [terminal.name for terminal in terminals if terminal.name.startswith("__")] == []


def test_plain_lark_reads_the_drafts_with_this_grammar() -> None:
    plain = Lark(GRAMMAR, parser="lalr")
    for draft in (Path(__file__).parent / "drafts").glob("*.fair"):
        assert plain.parse(draft.read_text(encoding="utf-8")).children


def test_the_tables_are_kept_and_a_damaged_copy_is_ignored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path))
    source = SourceFile("spec.fair", "protected sex")
    for content in (None, b"no tables", b""):
        tables.grammar.cache_clear()
        for kept in tmp_path.rglob("*.tables"):
            if content is not None:
                kept.write_bytes(content)
        assert parse(source).complete
    assert list(tmp_path.rglob("*.tables"))
    tables.grammar.cache_clear()


def test_a_folder_that_cannot_be_written_does_no_harm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    monkeypatch.setenv("XDG_CACHE_HOME", str(blocked))
    monkeypatch.setenv("LOCALAPPDATA", str(blocked))
    tables.grammar.cache_clear()
    assert parse(SourceFile("spec.fair", "protected sex")).complete
    tables.grammar.cache_clear()
