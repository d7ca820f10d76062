"""Soft keywords: a word is a keyword where the parser can use it as one, and a name everywhere else.

Lark's contextual lexer asks the LALR table which terminals a state knows. Merged states know too much:
after any expression the table lists the clause keywords of properties, the clauses of models and the
attributes of domains together. This lexer therefore follows the parser's own stack, which is exact.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Any

from lark import Token
from lark.common import LexerConf
from lark.lexer import ContextualLexer, Lexer
from lark.parsers.lalr_analysis import Shift

from fairdsl.source.numbers import too_long

#: Numbers that are not read: no terminal of the grammar.
_TOO_LONG = "TOO_LONG_NUMBER"

#: Behind a word that is declared here, and is not a number that is declared elsewhere.
_NAMED = re.compile(r"(\s|#[^\n]*\n)*:")


class SoftKeywordLexer(Lexer):
    """The contextual lexer, with words typed by what the parser accepts at this very place."""

    __future_interface__ = 2

    def __init__(self, configuration: LexerConf) -> None:
        self._configuration = configuration
        # Collisions between terminals are checked by a test in strict mode, not at every start.
        configuration.skip_validation = True
        self._keywords = {t.pattern.value: t.name for t in configuration.terminals if t.pattern.type == "str"}
        # Words come as names and are typed below, so that few of the parser's states need patterns of their own.
        words = {"PARAMETER", *(name for text, name in self._keywords.items() if text.isidentifier())}
        self._looked_for = {t.name for t in configuration.terminals} - words
        self._contextual: ContextualLexer | None = None

    def lex(self, lexer_state: Any, parser_state: Any) -> Iterator[Token]:
        """Yield the tokens; the parser advances between one and the next."""
        if self._contextual is None:
            table = parser_state.parse_conf.states
            states: dict[int, Collection[str]] = {
                index: self._looked_for.intersection(actions) for index, actions in table.items()
            }
            # NAME is always looked for, so that `relaxed` is never read as `relax` followed by `ed`.
            self._contextual = ContextualLexer(self._configuration, states, always_accept=("NAME",))
        for token in self._contextual.lex(lexer_state, parser_state):
            if token[0].isalpha() or token[0] == "_":
                named = _NAMED.match(lexer_state.text.text, lexer_state.line_ctr.char_pos) is not None
                token.type = self._word_type(token, parser_state, named=named)
            elif too_long(token) and token.type == "NUMBER":
                # No rule takes one, so that reading stops here, and what is said is said of this place.
                token.type = _TOO_LONG
            yield token

    def _word_type(self, token: Token, parser_state: Any, *, named: bool) -> str:
        word = self._keywords.get(str(token), "NAME")
        candidates = [word, "NAME"] if token.type == "NAME" else [token.type, word, "NAME"]
        if word == "NAME" and not named:
            # Where a number may stand, so that a clause without its number is not read on with the next one's word.
            candidates.append("PARAMETER")
        return next((each for each in candidates if accepts(parser_state, each)), word)


def accepts(parser_state: Any, terminal: str) -> bool:
    """Whether the parser, with all it has read, can take the terminal next."""
    states = parser_state.parse_conf.states
    stack = list(parser_state.state_stack)
    while terminal in states[stack[-1]]:
        action, argument = states[stack[-1]][terminal]
        if action is Shift:
            return True
        if argument.expansion:
            del stack[-len(argument.expansion) :]
        stack.append(states[stack[-1]][argument.origin.name][1])
    return False
