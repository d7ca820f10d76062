"""Reading on after a syntax error: report it, mend or drop its statement, and read the whole text again.

Each round either succeeds or stops at one place. The statement there is mended by the diagnostic's own
fix where that carries reading into another statement, and dropped otherwise; a second mistake in the
same statement is dropped with it, so that every statement gives one diagnostic at most.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from lark import Tree, UnexpectedInput
from lark.exceptions import UnexpectedCharacters, UnexpectedToken
from lark.parsers.lalr_interactive_parser import InteractiveParser

from fairdsl.diagnostics.model import Diagnostic, Edit
from fairdsl.source import SourceFile, Span
from fairdsl.syntax.depth import DEEPEST, nested_too_deep
from fairdsl.syntax.diagnose import begins_declaration, diagnose
from fairdsl.syntax.errors import depth_wording, something_else
from fairdsl.syntax.kept import Declarations, read_on
from fairdsl.syntax.patch import Patched, patch
from fairdsl.syntax.scan import Kind, scan
from fairdsl.syntax.situation import Situation, situate
from fairdsl.syntax.tables import grammar
from fairdsl.syntax.words import Branch, begin_of, end_of

_MOST_REPORTED = 20
_MOST_ROUNDS = 60
#: Each attempt reads the whole text, so of a long one fewer mistakes are looked for.
_MOST_READ = 500_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Recovered:
    """What could be read, with the map back to the file, what was found and which places were dropped."""

    branch: Branch | None
    original: list[int]
    diagnostics: tuple[Diagnostic, ...]
    lost: tuple[Span, ...]


def recover(file: SourceFile, known: Declarations | None = None) -> Recovered:
    """Read a file that the grammar refuses, with what is known of its declarations."""
    return _Recovery(file, known).run()


def reached(file: SourceFile, behind: str) -> tuple[InteractiveParser, Situation, Patched] | None:
    """The parser where it stands at the end of a text that may end anywhere; None where it does not come so far.

    Mistakes before the end are mended or dropped. ``behind`` is what the words that look ahead see there.
    """
    return _Recovery(file).reached(behind)


@dataclass(frozen=True, slots=True)
class _Sure:
    """The declarations before one that the grammar refuses: every attempt to mend that one begins behind them."""

    text: str
    states: list[Any]
    values: list[Any]

    @classmethod
    def of(cls, state: Any, text: str, stopped: int) -> _Sure | None:
        """What a parser that stopped has read for good; None where that is nothing."""
        values = state.value_stack
        index = next((i for i, value in enumerate(values) if isinstance(value, Tree) and value.data == "_items"), None)
        if index is None:
            return None
        start = stopped if index + 1 == len(values) else begin_of(values[index + 1])
        # The list of declarations is the one that goes on growing.
        kept = [*values[:index], Tree("_items", list(values[index].children))]
        return None if start is None else cls(text[:start], state.state_stack[: index + 2], kept)

    def resume(self, parser: InteractiveParser, text: str) -> int:
        """Put a parser of a text behind these declarations, if it begins with them; how many characters that are."""
        if not text.startswith(self.text):
            return 0
        state = parser.parser_state
        state.state_stack[:] = self.states
        state.value_stack[:] = [*self.values[:-1], Tree("_items", list(self.values[-1].children))]
        assert parser.lexer_thread.state is not None, "the parser was given a text"
        parser.lexer_thread.state.line_ctr.char_pos = len(self.text)
        return len(self.text)


class _Recovery:
    def __init__(self, file: SourceFile, known: Declarations | None = None) -> None:
        self._file, self._known = file, known
        self._lexemes = scan(file)
        self._edits: tuple[Edit, ...] = ()
        self._diagnostics: list[Diagnostic] = []
        self._lost: list[Span] = []
        self._read = 0
        self._sure: _Sure | None = None
        self._tried: dict[tuple[Edit, ...], tuple[Patched, Branch | Situation]] = {}

    def run(self) -> Recovered:
        for _ in range(_MOST_ROUNDS):
            if self._diagnostics and self._read > _MOST_READ:
                break
            patched, outcome = self._attempt(self._edits)
            if not isinstance(outcome, Situation):
                if not self._drop_too_deep(patched, outcome):
                    return self._recovered(patched, outcome)
                continue
            diagnostic = diagnose(outcome)
            if not self._follows_from_an_earlier_one(outcome, diagnostic):
                self._diagnostics.append(diagnostic)
            if len(self._diagnostics) == _MOST_REPORTED:
                break
            self._repair(outcome, diagnostic)
        return self._recovered(patched, None)

    def reached(self, behind: str) -> tuple[InteractiveParser, Situation, Patched] | None:
        for _ in range(_MOST_ROUNDS):
            if self._read > _MOST_READ:
                break
            patched = patch(self._file.text, self._edits)
            self._read += len(patched.text)
            parser = grammar().parse_interactive(patched.text + behind, start="start")
            try:
                for token in parser.lexer_thread.lex(parser.parser_state):  # type: ignore[no-untyped-call]
                    if token.start_pos is None or token.start_pos >= len(patched.text):
                        break
                    parser.feed_token(token)
            except UnexpectedInput as stopped:
                offset = offset_of(stopped, len(patched.text))
                if offset < len(patched.text):
                    at = self._lexemes.index_at(patched.original[offset])
                    situation = situate(parser.parser_state, self._lexemes, at, patched.original)
                    self._repair(situation, diagnose(situation))
                    continue
            return (
                parser,
                situate(parser.parser_state, self._lexemes, len(self._lexemes) - 1, patched.original),
                patched,
            )
        return None

    def _recovered(self, patched: Patched, branch: Branch | None) -> Recovered:
        return Recovered(
            branch=branch,
            original=patched.original,
            diagnostics=tuple(self._diagnostics),
            lost=tuple(self._lost),
        )

    def _attempt(self, edits: tuple[Edit, ...]) -> tuple[Patched, Branch | Situation]:
        if edits not in self._tried:
            self._tried[edits] = self._tried_with(edits)
        return self._tried[edits]

    def _tried_with(self, edits: tuple[Edit, ...]) -> tuple[Patched, Branch | Situation]:
        patched = patch(self._file.text, edits)
        parser = grammar().parse_interactive(patched.text, start="start")
        done = 0 if self._sure is None else self._sure.resume(parser, patched.text)
        self._read += len(patched.text) - done
        try:
            return patched, read_on(parser, patched.text, self._known)
        except UnexpectedInput as stopped:
            offset = offset_of(stopped, len(patched.text))
            self._sure = _Sure.of(parser.parser_state, patched.text, offset)
            at = self._lexemes.index_at(patched.original[offset])
            return patched, situate(parser.parser_state, self._lexemes, at, patched.original)

    def _drop_too_deep(self, patched: Patched, branch: Branch) -> bool:
        """Report and drop the first statement that nests too deep, if one does."""
        found = nested_too_deep(branch)
        if found is None:
            return False
        statement, place = (self._lexemes.index_at(patched.original[begin_of(part) or 0]) for part in found)
        end = patched.original[(end_of(found[0]) or 1) - 1] + 1
        dropped = Span(self._file, self._lexemes[statement].start, end)
        self._diagnostics.append(something_else(self._lexemes[place].span, depth_wording(DEEPEST)))
        self._edits = (*self._edits, Edit(dropped, "\n"))
        self._lost.append(dropped)
        return True

    def _follows_from_an_earlier_one(self, situation: Situation, diagnostic: Diagnostic) -> bool:
        """A brace left over after one was put in: the user's own, at the place where it was meant."""
        braces = any(earlier.code == diagnostic.code for earlier in self._diagnostics)
        return diagnostic.code == "E0103" and situation.found.text == "}" and braces

    def _repair(self, situation: Situation, diagnostic: Diagnostic) -> None:
        if diagnostic.fix is not None:
            mended = (*self._edits, diagnostic.fix)
            _, outcome = self._attempt(mended)
            if not isinstance(outcome, Situation) or outcome.start > situation.at:
                self._edits = mended
                return
        ends = list(_statement_ends(situation))
        for end in ends:
            if self._read > _MOST_READ:
                return
            dropped = self._span(situation.start, end)
            without = (*self._edits, Edit(dropped, "\n"))
            _, outcome = self._attempt(without)
            if end == ends[-1] or not isinstance(outcome, Situation) or outcome.start >= ends[-1]:
                self._edits = without
                self._lost.append(dropped)
                return

    def _span(self, start: int, end: int) -> Span:
        """From one lexeme up to, not including, another; comments between stay where they are."""
        return Span(self._file, self._lexemes[start].start, self._lexemes[end - 1].span.end)


def offset_of(stopped: UnexpectedInput, end: int) -> int:
    """Where the parser stopped, in characters; ``end`` where the text ended too early."""
    if isinstance(stopped, UnexpectedCharacters):
        return int(stopped.pos_in_stream or 0)
    assert isinstance(stopped, UnexpectedToken)
    return end if stopped.token.type == "$END" else int(stopped.token.start_pos or 0)


def _statement_ends(situation: Situation) -> Iterator[int]:
    """Where the statement may end, as indices of the lexeme behind it; the last one is certain."""
    lexemes, depth = situation.lexemes, 0
    index = situation.start
    while lexemes[index].kind is not Kind.END:
        text = lexemes[index].text
        if index > situation.start:
            if depth == 0 and text == "}" and situation.body != "file":
                break
            if _may_begin(situation, index, depth):
                yield index
                if index > situation.at and lexemes[index].leads:
                    return
        depth += (text == "{") - (text == "}")
        index += 1
    yield max(index, situation.start + 1) if lexemes[situation.start].kind is not Kind.END else index


def _may_begin(situation: Situation, index: int, depth: int) -> bool:
    """Whether a new statement plausibly begins at a lexeme."""
    lexemes = situation.lexemes
    here, following = lexemes[index], lexemes[index + 1]
    if following.text in (",", "=", ".", ")"):
        return False
    if not here.leads and lexemes[index - 1].text in (",", "=", ".", "("):
        return False
    if here.leads and begins_declaration(situation, index):
        return depth <= 0 or situation.body != "file" or here.span.first.column == 1
    if situation.body in ("domain", "distribution") and following.text == ":" and here.leads:
        return depth <= 0 or situation.body == "domain"
    if situation.body == "model" and here.leads and following.text == "when":
        return True
    if situation.body == "graph":
        return here.leads and depth <= 0
    known = here.text in situation.first_words() and (situation.body != "file" or here.leads)
    return known and depth <= (1 if situation.body == "property" and here.leads else 0)
