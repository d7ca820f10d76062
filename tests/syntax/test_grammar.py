"""The grammar file itself, and the tables made from it."""

from __future__ import annotations

from pathlib import Path

import pytest
from lark import Lark

from fairdsl.resources import grammar_file

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
