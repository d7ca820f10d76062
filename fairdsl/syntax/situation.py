"""Where the grammar stopped: in which body, in which statement, and what could have stood there."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cache
from typing import Any

from lark import Token, Tree

from fairdsl.syntax.first_words import DECLARATIONS, FIRST_WORDS
from fairdsl.syntax.lexer import accepts
from fairdsl.syntax.scan import Kind, Lexeme, Lexemes
from fairdsl.syntax.tables import grammar
from fairdsl.syntax.words import begin_of

#: The bodies, by the rules that collect their statements.
_COLLECTED = {"_items": "file", **{f"_{word}_{kind.FORM.body}": word for word, kind in DECLARATIONS.items()}}


@cache
def _begins() -> dict[str, str]:
    """A terminal that is accepted exactly where a new statement of a body may begin: it stands in that rule alone."""
    uses = {(str(symbol.name), rule.origin.name) for rule in grammar().rules for symbol in rule.expansion}
    places = Counter(name for name, _ in uses)
    # The last such word, for `audit` begins no statement that may stand anywhere in a file.
    return {
        body: next((word.upper() for word in reversed(words) if places[word.upper()] == 1), "RBRACE")
        for body, words in FIRST_WORDS.items()
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

    @property
    def unbraced(self) -> bool:
        """Whether the body is that of a declaration, and ends where another begins."""
        return self.opening is None and self.body in DECLARATIONS

    def first_words(self) -> tuple[str, ...]:
        """The words that may begin a statement here."""
        return FIRST_WORDS[self.body] + FIRST_WORDS["file"] * self.unbraced


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
    complete = _begins()[body] in accepted or (body != "file" and _begins()["file"] in accepted)
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
    body = partial[0].type.lower() if partial and isinstance(partial[0], Token) else ""
    return body if body in DECLARATIONS and _begins()[body] in accepted else None


def _owner(values: list[Any], lexemes: Lexemes, original: dict[int, int] | list[int]) -> int | None:
    for value in reversed(values):
        if isinstance(value, Token) and value.type.lower() in DECLARATIONS:
            return _index_of(value, lexemes, original)
    return None


def _index_of(value: Any, lexemes: Lexemes, original: dict[int, int] | list[int]) -> int | None:
    """The index of the lexeme at which a token or branch begins; an empty branch has no place."""
    start = begin_of(value)
    return None if start is None else lexemes.index_at(original[start])


def _begins_statement(lexemes: Lexemes, at: int) -> bool:
    lexeme = lexemes[at]
    return lexeme.leads or lexeme.kind is Kind.END or lexeme.text == "}"
