"""Declarations of a text that were read before, in an earlier version of it: an edit leaves most of them as they were.

The grammar is LALR(1), and before each declaration the parser is in one state. So a declaration that begins there, with
the same characters and the same words behind them as far as the lexer looks ahead, is read as it was before; it is put
among the others at once, and its tree is moved to where it stands now.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from lark import Token, Tree
from lark.parsers.lalr_interactive_parser import InteractiveParser

from fairdsl.source import Anchor, SourceFile
from fairdsl.syntax.words import Branch

#: More lexemes than the terminals that look ahead (`fair.lark`) reach over: seven, as in `of when first a when b when`.
_AHEAD = re.compile(r'(?:(?:\s|#[^\n]*\n)*(?:\w+|"[^"\n]*"|.)){0,12}(?:\s|#[^\n]*\n)*', re.DOTALL)
#: The rule of a declaration that was read before.
_KEPT = "kept"
#: Declarations that are kept beside those of the last version, for text that is taken back.
_SPARE = 100


@dataclass(slots=True)
class Made:
    """A tree of a declaration, and the doc text that stands before it. ``docs``: where those within it begin."""

    node: Any
    anchor: Anchor
    doc: tuple[str, ...]
    docs: tuple[int, ...]


@dataclass(slots=True)
class Kept:
    """A declaration as it was read: its characters, those ahead of them, and what Lark made of it at ``begin``.

    ``trees`` are more than one where the text has the same declaration several times.
    """

    text: str
    ahead: str
    last: bool
    first: str
    branch: Branch
    begin: int
    trees: list[Made] = field(default_factory=list)

    def stands_in(self, text: str, start: int) -> bool:
        """Whether it is what a text goes on with."""
        behind = start + len(self.text)
        if not (text.startswith(self.text, start) and text.startswith(self.ahead, behind)):
            return False
        return (behind + len(self.ahead) == len(text)) == self.last


@dataclass(slots=True)
class Declarations:
    """Those of one file. ``fresh`` are branches of the last reading that could be kept, by their identity."""

    known: dict[str, list[Kept]] = field(default_factory=dict)
    fresh: dict[int, Kept] = field(default_factory=dict)
    _used: dict[int, int] = field(default_factory=dict)

    def find(self, text: str, token: Token) -> Kept | None:
        """The declaration that begins with a token, if it was read before."""
        start = token.start_pos or 0
        for each in self.known.get(_line(text, start), ()):
            if each.first == token.type and each.stands_in(text, start):
                return each
        return None

    def note(self, text: str, first: Token, branch: Branch, end: int) -> None:
        """A declaration has been read."""
        start = first.start_pos or 0
        found = _AHEAD.match(text, end)
        ahead = found.group() if found else ""
        last = end + len(ahead) == len(text)
        self.fresh[id(branch)] = Kept(text[start:end], ahead, last, first.type, branch, start)

    def made(
        self, kept: Kept, file: SourceFile, start: int, doc: tuple[str, ...], make: Callable[[Anchor], Made]
    ) -> Made:
        """Its tree at a place of a file, made where there is none that is free."""
        number = self._used.get(id(kept), 0)
        self._used[id(kept)] = number + 1
        if number == len(kept.trees):
            kept.trees.append(make(Anchor(file, start)))
        elif kept.trees[number].doc != doc:
            kept.trees[number] = make(Anchor(file, start))
        found = kept.trees[number]
        found.anchor.file, found.anchor.start = file, start
        return found

    def end(self, used: Sequence[Kept]) -> None:
        """A text has been read; what was used is known, and little else."""
        for each in used:
            beside = self.known.setdefault(_line(each.text, 0), [])
            if not any(each is other for other in beside):
                beside.append(each)
        if sum(map(len, self.known.values())) > len(used) + _SPARE:
            self.known = {}
            self._used.clear()
            self.end(used)
        self._used.clear()
        self.fresh.clear()


def kept_of(branch: Branch) -> Kept | None:
    """What stands for a declaration that was read before."""
    return getattr(branch.meta, _KEPT) if branch.data == _KEPT else None


def read_on(parser: InteractiveParser, text: str, known: Declarations | None) -> Branch:
    """Feed the parser the rest of its text; UnexpectedInput where it stops."""
    state, lexer = parser.parser_state, parser.lexer_thread
    values, first, end = state.value_stack, None, 0
    for token in lexer.lex(state):  # type: ignore[no-untyped-call]
        parser.feed_token(token)
        if known is not None and values[-1] is token and _is_list(values):
            if first is not None:
                known.note(text, first, values[-2].children[-1], end)
            first = token
            kept = known.find(text, token)
            if kept is not None:
                first = None
                del values[-1], state.state_stack[-1]
                _put(values[-1], kept, token.start_pos or 0)
                assert lexer.state is not None, "the parser was given a text"
                lexer.state.line_ctr.char_pos = (token.start_pos or 0) + len(kept.text)
        end = token.end_pos or 0
    branch: Branch = parser.feed_eof()  # type: ignore[no-untyped-call]
    if known is not None and first is not None:
        known.note(text, first, branch.children[-1], end)  # type: ignore[arg-type]
    return branch


def _is_list(values: Sequence[Any]) -> bool:
    """Whether the last of the values, a token, begins a declaration."""
    return len(values) > 1 and isinstance(values[-2], Tree) and values[-2].data == "_items"


def _put(items: Branch, kept: Kept, start: int) -> None:
    """Another declaration, behind the others."""
    leaf: Branch = Tree(_KEPT, [])
    meta: Any = leaf.meta
    meta.start_pos, meta.end_pos, meta.kept = start, start + len(kept.text), kept
    items.children.append(leaf)


def _line(text: str, start: int) -> str:
    """What declarations are found by."""
    end = text.find("\n", start)
    return text[start : end if end >= 0 else len(text)]
