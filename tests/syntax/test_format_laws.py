"""The laws of the formatter, on random trees and with random comments."""

from __future__ import annotations

from itertools import pairwise
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st
from layouts import REFUSED, fault_of, laid_out_at_random
from spec_trees import specs

from fairdsl.source import SourceFile
from fairdsl.syntax import tree
from fairdsl.syntax.format import format_spec
from fairdsl.syntax.parse import parse
from fairdsl.syntax.scan import Kind, scan
from tests.drawing import examples


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


@settings(max_examples=examples(2))
@given(specs, st.integers(0, 2**32))
def test_any_layout_means_the_same(spec: tree.Spec, number: int) -> None:
    """`python tests/syntax/layouts.py 100000` tries more."""
    assert fault_of(spec, Random(number)) in (None, REFUSED)


def test_layouts_at_random_differ() -> None:
    text = "property p {\n  compare a, b : Person\n  differ in sex\n  require same decision\n}\n"
    made = {laid_out_at_random(text, Random(number)) for number in range(20)}
    assert len(made) == 20
    assert any("# remark" in each for each in made)
    assert len({parsed.spec for each in made if (parsed := parse(SourceFile("s", each)))}) == 1


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
    assert all(d.code == "E0113" for d in result.diagnostics), text
    assert result.spec == spec, text
    formatted = format_spec(result.spec)
    again = _parsed(formatted)
    assert again == spec
    assert [c.text for c in again.comments] == [c.text for c in result.spec.comments]
    assert format_spec(again) == formatted


@given(specs, st.randoms())
def test_line_breaks_mean_nothing(spec: tree.Spec, random: Random) -> None:
    text = format_spec(spec)
    words = [lexeme for lexeme in scan(SourceFile("spec.fair", text)) if lexeme.kind is not Kind.END]
    before = text[: words[0].start] if words else ""
    between = [text[a.start + len(a.text) : b.start] for a, b in pairwise(words)]
    for gaps in ((" ", " "), ("\n", "\n"), (" ", "\n", "\r\n\t", "\n\n")):
        # Documents stand on lines of their own; what touches stays together.
        chosen = [gap if not gap or "##" in gap else random.choice(gaps) for gap in between]
        laid = before + "".join(word.text + gap for word, gap in zip(words, [*chosen, ""][: len(words)], strict=True))
        assert _parsed(laid) == spec, laid


def test_the_scanner_ends_with_the_file() -> None:
    lexemes = scan(SourceFile("spec.fair", "protected sex # comment"))
    assert [lexeme.text for lexeme in lexemes] == ["protected", "sex", ""]
    assert list(lexemes)[-1].kind is Kind.END
