"""Where the grammar stopped: in which body, in which statement, and what could have stood there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lark import Token, Tree

from fairdsl.syntax.first_words import FIRST_WORDS
from fairdsl.syntax.lexer import accepts
from fairdsl.syntax.scan import Kind, Lexeme, Lexemes
from fairdsl.syntax.words import begin_of

__all__ = ["Situation", "situate"]

#: The rule that collects the statements of a body, and the body.
_COLLECTED = {
    "_items": "file",
    "_members": "domain",
    "_model_clauses": "model",
    "_population_clauses": "distribution",
    "_paths": "graph",
    "_clauses": "property",
}
#: A terminal that is accepted exactly where a new statement of the body may begin.
_BEGINS = {"file": "DOMAIN", "domain": "WHERE", "model": "DECIDE", "distribution": "LEARN", "property": "COMPARE"}
_DECLARES = {
    "DOMAIN": "domain",
    "MODEL": "model",
    "DISTRIBUTION": "distribution",
    "GRAPH": "graph",
    "PROPERTY": "property",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """``at`` is the index of the lexeme that does not fit, ``start`` that of its statement.

    ``complete`` says that the statement could end before ``at``; ``opening`` is the index of the brace
    of the body, if it has one, and ``owner`` that of the first word of the declaration around.
    """

    lexemes: Lexemes
    at: int
    start: int
    body: str
    accepts: frozenset[str]
    complete: bool
    owner: int | None
    opening: int | None

    @property
    def found(self) -> Lexeme:
        """The lexeme that does not fit."""
        return self.lexemes[self.at]

    @property
    def before(self) -> Lexeme | None:
        """The lexeme before it."""
        return self.lexemes[self.at - 1] if self.at else None

    def first_words(self) -> tuple[str, ...]:
        """The words that may begin a statement here; bodies without braces end at a declaration."""
        words = FIRST_WORDS[self.body]
        return words + FIRST_WORDS["file"] if self.body in ("model", "distribution") else words


def situate(parser_state: Any, lexemes: Lexemes, at: int, original: dict[int, int] | list[int]) -> Situation:
    """Read the parser's stack; ``original`` maps the offsets it knows to those of the file."""
    values: list[Any] = parser_state.value_stack
    table = parser_state.parse_conf.states[parser_state.position]
    accepted = frozenset(name for name in table if name.isupper() and accepts(parser_state, name))
    if accepts(parser_state, "$END"):
        accepted |= {"$END"}
    index, body = _innermost_body(values)
    partial = values[index + 1 :]
    around = _index_of(values[index - 1], lexemes, original) if index > 0 else None
    opening = around if around is not None and lexemes[around].text == "{" else None
    owner = _owner(values[:index], lexemes, original)
    entered = _entered(partial, accepted)
    if entered:
        body, owner = entered, _index_of(partial[0], lexemes, original)
        opening = _index_of(partial[-1], lexemes, original) if partial[-1] == "{" else None
        partial = []
    complete = _BEGINS.get(body, "RBRACE") in accepted or (body != "file" and _BEGINS["file"] in accepted)
    start = at
    if partial and not (complete and _begins_statement(lexemes, at)):
        first = _index_of(partial[0], lexemes, original)
        start = at if first is None else min(first, at)
    return Situation(
        lexemes=lexemes,
        at=at,
        start=start,
        body=body,
        accepts=accepted,
        complete=complete,
        owner=owner,
        opening=opening,
    )


def _innermost_body(values: list[Any]) -> tuple[int, str]:
    for index in reversed(range(len(values))):
        closed = index + 1 < len(values) and values[index + 1] == "}"
        if isinstance(values[index], Tree) and values[index].data in _COLLECTED and not closed:
            return index, _COLLECTED[str(values[index].data)]
    return -1, "file"


def _entered(partial: list[Any], accepted: frozenset[str]) -> str | None:
    """The body that begins right here, after a header and before its first statement."""
    body = _DECLARES.get(partial[0].type) if partial and isinstance(partial[0], Token) else None
    if body == "graph":
        return body if partial[-1] == "{" else None
    return body if body and _BEGINS[body] in accepted else None


def _owner(values: list[Any], lexemes: Lexemes, original: dict[int, int] | list[int]) -> int | None:
    for value in reversed(values):
        if isinstance(value, Token) and value.type in _DECLARES:
            return _index_of(value, lexemes, original)
    return None


def _index_of(value: Any, lexemes: Lexemes, original: dict[int, int] | list[int]) -> int | None:
    """The index of the lexeme at which a token or branch begins; an empty branch has no place."""
    start = begin_of(value)
    return None if start is None else lexemes.index_at(original[start])


def _begins_statement(lexemes: Lexemes, at: int) -> bool:
    lexeme = lexemes[at]
    return lexeme.leads or lexeme.kind is Kind.END or lexeme.text == "}"
