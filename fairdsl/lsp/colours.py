"""What each piece of a text is, for an editor that colours by meaning.

Names are coloured by what they mean, so an attribute that is called `label` is an attribute. Words that are no names
are the language's own; in statements that could not be read the words alone decide.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from lsprotocol import types

from fairdsl.lsp.desk import Desk, Seen
from fairdsl.lsp.roles import Kind
from fairdsl.syntax.pieces import Looks, scanned

_TYPES = (
    "keyword", "string", "number", "comment", "operator", "struct", "property", "enumMember", "function", "namespace",
    "variable", "parameter", "class", "macro", "typeParameter",
)  # fmt: skip
#: The kinds of pieces, in the order of their numbers, and what a declaration adds.
LEGEND = types.SemanticTokensLegend(token_types=list(_TYPES), token_modifiers=["declaration", "defaultLibrary"])
_DECLARATION, _LIBRARY = 1, 2
_NAMED = {
    Kind.PARAMETER: "variable",
    Kind.DOMAIN: "struct",
    Kind.ATTRIBUTE: "property",
    Kind.LABEL: "property",
    Kind.VALUE: "enumMember",
    Kind.MODEL: "function",
    Kind.OUTCOME: "enumMember",
    Kind.DISTRIBUTION: "namespace",
    Kind.GRAPH: "namespace",
    Kind.CONDITION: "macro",
    Kind.METRIC: "function",
    Kind.PROPERTY: "class",
    Kind.INDIVIDUAL: "parameter",
    Kind.VARIABLE: "typeParameter",
}
_LOOKS = {
    Looks.DECLARATION: ("keyword", _DECLARATION),
    Looks.KEYWORD: ("keyword", 0),
    Looks.NUMBER: ("number", 0),
    Looks.STRING: ("string", 0),
    Looks.SYMBOL: ("operator", 0),
    Looks.COMMENT: ("comment", 0),
}


class _Piece(NamedTuple):
    start: int
    end: int
    kind: str
    modifiers: int = 0


def coloured(desk: Desk, seen: Seen) -> list[int]:
    """The pieces as the protocol has them: five numbers each, places relative to the piece before."""
    text, places = desk.text(seen.path), desk.places(seen.path)
    numbers: list[int] = []
    line = column = 0
    for piece in sorted(_pieces(seen, text)):
        first, last = places.position(piece.start), places.position(piece.end)
        if first.line != last.line:
            continue
        moved = first.line - line
        numbers += [
            moved,
            first.character - (0 if moved else column),
            last.character - first.character,
            _TYPES.index(piece.kind),
            piece.modifiers,
        ]
        line, column = first.line, first.character
    return numbers


def _pieces(seen: Seen, text: str) -> Iterator[_Piece]:
    names = dict(_names(seen))
    yield from names.values()
    for start, end, looks in scanned(text):
        if start not in names and looks in _LOOKS:
            yield _Piece(start, end, *_LOOKS[looks])


def _names(seen: Seen) -> Iterator[tuple[int, _Piece]]:
    for mention in seen.mentions:
        span = mention.name.span
        if span.file.path != seen.path:
            continue
        declared = seen.names.meant_by(mention)
        if declared is not None:
            modifiers = _DECLARATION if mention.role.declares is not None else 0
            yield span.start, _Piece(span.start, span.end, _NAMED[declared.kind], modifiers)
        elif mention.name.text in mention.role.words():
            yield span.start, _Piece(span.start, span.end, "function", _LIBRARY)
        else:
            yield span.start, _Piece(span.start, span.end, "string" if mention.name.quoted else "variable")
