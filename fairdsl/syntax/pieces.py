"""The pieces of a text and what each is to the grammar, for those who colour it.

Words are keywords where the parser takes them as such. A text that is part of a spec, as documentation shows them, is
read where such a part may stand. Of a text that is neither, its words alone decide.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum
from functools import cache
from itertools import pairwise
from typing import NamedTuple

from lark import Token
from lark.exceptions import UnexpectedInput

from fairdsl.source import SourceFile
from fairdsl.syntax.onward import spelling
from fairdsl.syntax.scan import Kind, scan
from fairdsl.syntax.tables import grammar, keywords


class Looks(Enum):
    """What a piece is."""

    DECLARATION = "the word of a declaration"
    KEYWORD = "another word of the language"
    NAME = "a name"
    NUMBER = "a number"
    STRING = "a text"
    SYMBOL = "a symbol"
    COMMENT = "a comment"


class Piece(NamedTuple):
    """Characters of a text, from ``start`` up to ``end``."""

    start: int
    end: int
    looks: Looks


#: What may stand around a part of a spec, at its ``{}``: nothing, and each body.
AROUND = (
    "{}",
    "property p {{\n{}\n}}",
    "domain D {{\n{}\n}}",
    "model m : D -> {{ no, yes }}\n{}",
    "distribution d over D\n{}",
)
_COMMENT = re.compile(r"#[^\n]*")
_SCANNED = {
    Kind.NUMBER: Looks.NUMBER,
    Kind.STRANGE_NUMBER: Looks.NUMBER,
    Kind.STRING: Looks.STRING,
    Kind.STRANGE_STRING: Looks.STRING,
    Kind.SYMBOL: Looks.SYMBOL,
}


@cache
def kind_of(terminal: str) -> Looks:
    """What the tokens of a terminal are."""
    from fairdsl.syntax.first_words import FIRST_WORDS

    if terminal in ("NUMBER", "ZERO"):
        return Looks.NUMBER
    if terminal == "STRING":
        return Looks.STRING
    word = spelling(terminal)
    if word is None:
        return Looks.NAME
    if not word.isidentifier():
        return Looks.NUMBER if word.isdigit() else Looks.SYMBOL
    return Looks.DECLARATION if word in ("fair", *FIRST_WORDS["file"]) else Looks.KEYWORD


def pieces(text: str) -> Iterator[Piece]:
    """All pieces in their order; white space is none."""
    found = next((read for around in AROUND if (read := _read(text, around)) is not None), None)
    yield from scanned(text) if found is None else _with_comments(text, found)


def _read(text: str, around: str) -> list[Piece] | None:
    """The tokens of a text with something around it; None where the grammar refuses that."""
    before = len(around.partition("{}")[0].replace("{{", "{"))
    parser = grammar().parse_interactive(around.format(text), start="start")
    found: list[Piece] = []
    try:
        for token in parser.lexer_thread.lex(parser.parser_state):  # type: ignore[no-untyped-call]
            parser.feed_token(token)
            start = (token.start_pos or 0) - before
            if 0 <= start < len(text):
                found.append(Piece(start, start + len(token), kind_of(token.type)))
        parser.feed_token(Token("$END", ""))
    except UnexpectedInput:
        return None
    return found


def _with_comments(text: str, found: list[Piece]) -> Iterator[Piece]:
    """The tokens, and the comments between them."""
    ends = [Piece(0, 0, Looks.SYMBOL), *found, Piece(len(text), len(text), Looks.SYMBOL)]
    for one, following in pairwise(ends):
        if one.end > one.start:
            yield one
        for comment in _COMMENT.finditer(text, one.end, following.start):
            yield Piece(comment.start(), comment.end(), Looks.COMMENT)


def scanned(text: str) -> Iterator[Piece]:
    """The pieces of any text, by its words alone."""
    found = []
    for lexeme in scan(SourceFile("", text)):
        if lexeme.kind in _SCANNED:
            found.append(Piece(lexeme.start, lexeme.span.end, _SCANNED[lexeme.kind]))
        elif lexeme.kind is Kind.WORD:
            looks = kind_of(lexeme.text.upper()) if lexeme.text in keywords() else Looks.NAME
            found.append(Piece(lexeme.start, lexeme.span.end, looks))
    yield from _with_comments(text, found)
