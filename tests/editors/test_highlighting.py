"""Colours agree with the language's own lexer, token by token, in every spec of the repository.

``pytest --accept`` on this file writes the grammar for editors.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest
from lark.exceptions import UnexpectedInput

from fairdsl.syntax.pieces import Looks, Piece, kind_of, pieces
from fairdsl.syntax.tables import grammar
from tests.editors.textmate import document, patterns

ROOT = Path(__file__).parents[2]
WRITTEN = ROOT / "editors" / "vscode" / "syntaxes" / "fair.tmLanguage.json"
#: A name that is spelled like a keyword, on the line after its declaration's word: expressions see one line.
SEVERAL_LINES = {"comment-in-statement.fair"}
FOLDERS = ("examples", "specs", "presets", "prelude", "tests")


def read(text: str) -> list[tuple[int, str, Looks]] | None:
    """The tokens as the parser takes them; None where it takes no such text."""
    parser = grammar().parse_interactive(text, start="start")
    found = []
    try:
        for token in parser.lexer_thread.lex(parser.parser_state):
            parser.feed_token(token)
            found.append((token.start_pos, str(token), kind_of(token.type)))
        parser.feed_eof()
    except UnexpectedInput:
        return None
    return found


def specs(most: int = 0) -> list[tuple[Path, str, list[tuple[int, str, Looks]]]]:
    """Every spec of the repository that the grammar takes, with its tokens; with ``most`` so many at random."""
    found = []
    paths = sorted(each for folder in FOLDERS for each in (ROOT / folder).rglob("*.fair"))
    for path in random.sample(paths, most) if most else paths:
        text = path.read_bytes().decode("utf-8", "replace")
        if (tokens := read(text)) is not None:
            found.append((path, text, tokens))
    assert len(found) > (most * 0.4 or len(paths) * 0.8)
    return found


def coloured(text: str) -> Iterator[Piece]:
    """What an editor makes of the expressions, line by line: at one place two of them match words alone."""
    words, others = expressions()
    start = 0
    for line in text.splitlines(keepends=True):
        shown, at = line.rstrip("\r\n"), 0
        while match := others.search(shown, at):
            looks, word = Looks[str(match.lastgroup)], match.group()
            if word in words and words[word][1].match(shown, match.start()):
                looks = words[word][0]
            yield Piece(start + match.start(), start + match.end(), looks)
            at = match.end()
        start += len(line)


@cache
def expressions() -> tuple[dict[str, tuple[Looks, re.Pattern[str]]], re.Pattern[str]]:
    """Those of the keywords, by word, and all others as one."""
    words = {
        re.split(r"\W", expression[3:])[0]: (looks, re.compile(expression))
        for looks, expression in patterns()
        if looks in (Looks.DECLARATION, Looks.KEYWORD)
    }
    others = [(looks, each) for looks, each in patterns() if looks not in (Looks.DECLARATION, Looks.KEYWORD)]
    return words, re.compile("|".join(f"(?P<{looks.name}>{each})" for looks, each in others))


def test_the_grammar_of_editors_is_that_of_the_language(as_expected: Callable[[Path, str], None]) -> None:
    as_expected(WRITTEN, document())


@pytest.mark.parametrize("most", [25, pytest.param(0, marks=pytest.mark.slow)])
def test_colours_agree_token_by_token(most: int) -> None:
    others = []
    for path, text, tokens in specs(most):
        everything = list(pieces(text))
        assert _words(text, everything) == tokens, path
        between = "".join(text[one.end : two.start] for one, two in pairwise(everything))
        assert not between.strip("\ufeff \t\r\n"), path
        if path.name not in SEVERAL_LINES:
            found = _words(text, coloured(text))
            others += [(path.name, mine, theirs) for mine, theirs in zip(found, tokens, strict=True) if mine != theirs]
    assert others == []


def _words(text: str, found: Iterable[Piece]) -> list[tuple[int, str, Looks]]:
    return [(one.start, text[one.start : one.end], one.looks) for one in found if one.looks is not Looks.COMMENT]


@pytest.mark.parametrize(
    "text",
    ["differ in any sex, age", "property p {", 'say "x', "", "  sex : boolean", "ü §", "# only", "\n\n", "a\r\nb"],
)
def test_pygments_has_all_of_any_text(text: str) -> None:
    lexers = pytest.importorskip("pygments.lexers")
    from fairdsl.integrations.pygments_lexer import FairLexer

    assert "".join(value for _, _, value in FairLexer().get_tokens_unprocessed(text)) == text
    assert lexers is not None


def test_parts_of_specs_are_read_where_they_stand() -> None:
    from pygments.token import Keyword, Name

    from fairdsl.integrations.pygments_lexer import FairLexer

    found = {
        value: kind for _, kind, value in FairLexer().get_tokens_unprocessed("differ in label\nrequire same decision")
    }
    assert found["label"] is Name
    assert found["require"] is Keyword
