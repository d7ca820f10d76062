"""The laws of the formatter, on random trees and with random comments."""

from __future__ import annotations

from hypothesis import assume, given
from hypothesis import strategies as st
from spec_trees import specs

from fairdsl.source import SourceFile
from fairdsl.syntax import tree
from fairdsl.syntax.format import format_spec
from fairdsl.syntax.parse import parse
from fairdsl.syntax.scan import Kind, scan


def _parsed(text: str) -> tree.Spec:
    result = parse(SourceFile("spec.fair", text))
    assert result.spec is not None
    assert not [d for d in result.diagnostics if d.code != "E0113"], (result.diagnostics[0].title, text)
    return result.spec


@given(specs)
def test_formatting_and_parsing_gives_the_tree_back(spec: tree.Spec) -> None:
    assert _parsed(format_spec(spec)) == spec


@given(specs)
def test_formatting_twice_changes_nothing(spec: tree.Spec) -> None:
    once = format_spec(spec)
    assert format_spec(_parsed(once)) == once


@st.composite
def _commented(draw: st.DrawFn) -> tuple[tree.Spec, str]:
    """A tree, and a text of it with comments between any of its words."""
    spec = draw(specs)
    text = format_spec(spec)
    gaps = [lexeme.start for lexeme in scan(SourceFile("spec.fair", text))]
    chosen = sorted(draw(st.lists(st.sampled_from(gaps), max_size=6)), reverse=True)
    for number, gap in enumerate(chosen):
        comment = draw(st.sampled_from([" # {}\n", "\n  # {}\n", "\n# {}\n\n", " #{}\n", "\n### {}\n"]))
        text = text[:gap] + comment.format(f"remark {number}") + text[gap:]
    return spec, text


@given(_commented())
def test_no_comment_is_lost(pair: tuple[tree.Spec, str]) -> None:
    spec, text = pair
    result = parse(SourceFile("spec.fair", text))
    # `not`, `any` and outcomes look at their own line: a line break there may change what is read.
    assume(result.spec == spec and all(d.code == "E0113" for d in result.diagnostics))
    assert result.spec is not None
    formatted = format_spec(result.spec)
    again = _parsed(formatted)
    assert again == spec
    assert [c.text for c in again.comments] == [c.text for c in result.spec.comments]
    assert format_spec(again) == formatted


def test_the_scanner_ends_with_the_file() -> None:
    lexemes = scan(SourceFile("spec.fair", "protected sex # comment"))
    assert [lexeme.text for lexeme in lexemes] == ["protected", "sex", ""]
    assert list(lexemes)[-1].kind is Kind.END
