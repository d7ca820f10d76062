"""Specs in colour wherever Pygments colours: Sphinx, MkDocs, notebooks, terminals with rich.

It is the language's own lexer, with the parser that tells it which words are keywords where.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from pygments.lexer import Lexer
from pygments.token import Comment, Keyword, Name, Number, Operator, String, Whitespace

from fairdsl.syntax.pieces import Looks, pieces

_TOKENS: dict[Looks, Any] = {
    Looks.DECLARATION: Keyword.Declaration,
    Looks.KEYWORD: Keyword,
    Looks.NAME: Name,
    Looks.NUMBER: Number,
    Looks.STRING: String.Double,
    Looks.SYMBOL: Operator,
    Looks.COMMENT: Comment.Single,
}


class FairLexer(Lexer):  # type: ignore[misc]
    """The lexer of ``fair`` blocks and of files that end in ``.fair``."""

    name = "fairdsl"
    aliases: ClassVar[list[str]] = ["fair"]
    filenames: ClassVar[list[str]] = ["*.fair"]
    mimetypes: ClassVar[list[str]] = ["text/x-fair"]

    def get_tokens_unprocessed(self, text: str) -> Iterator[tuple[int, Any, str]]:
        """All of the text in pieces, white space included."""
        done = 0
        for piece in pieces(text):
            if piece.start > done:
                yield done, Whitespace, text[done : piece.start]
            yield piece.start, _TOKENS[piece.looks], text[piece.start : piece.end]
            done = piece.end
        if done < len(text):
            yield done, Whitespace, text[done:]
