"""The words of a BIF file, and its blocks.

Words are separated by blanks; the signs ``{ } ( ) [ ] | , ;`` and texts in double quotes stand for themselves.
Comments are ``// ...`` and ``/* ... */``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fairdsl.diagnostics import DiagnosticError
from fairdsl.populations import errors
from fairdsl.source import SourceFile, Span

__all__ = ["HELP", "Block", "Statement", "Word", "blocks"]

_WORD = re.compile(r'//[^\n]*|/\*.*?\*/|"[^"]*"|[{}()\[\]|,;]|[^\s{}()\[\]|,;"]+', re.DOTALL)
HELP = "write it as BIF 0.15 does: `network`, `variable` and `probability` blocks with statements that end in `;`"


@dataclass(frozen=True, slots=True)
class Word:
    """A word and its place."""

    text: str
    span: Span


#: The words up to a ``;``, without it.
Statement = Sequence[Word]


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """``kind head { statements }``."""

    kind: Word
    head: Sequence[Word]
    statements: Sequence[Statement]


def blocks(source: SourceFile) -> Iterator[Block]:
    """All blocks; raises DiagnosticError (E0574) where the text does not consist of blocks."""
    words = iter(_words(source))
    for kind in words:
        head = _head(words, kind)
        yield Block(kind=kind, head=head, statements=_statements(words, kind))


def _words(source: SourceFile) -> list[Word]:
    found: list[Word] = []
    end = 0
    for match in _WORD.finditer(source.text):
        if source.text[end : match.start()].strip():
            break
        end = match.end()
        if not match.group().startswith(("//", "/*")):
            found.append(Word(match.group(), Span(source, match.start(), match.end())))
    rest = source.text[end:]
    if rest.strip():
        place = end + len(rest) - len(rest.lstrip())
        raise _unreadable(Span(source, place, place + 1), "a text that is not closed")
    if not found:
        raise DiagnosticError(errors.network_not_read(source.path, "the file is empty", None, HELP))
    return found


def _head(words: Iterator[Word], kind: Word) -> list[Word]:
    """The words before the next ``{``, which is taken as well."""
    found: list[Word] = []
    for word in words:
        if word.text == "{":
            return found
        found.append(word)
    raise _unreadable(kind.span, "no block follows")


def _statements(words: Iterator[Word], kind: Word) -> list[Statement]:
    """Up to the ``}`` that closes the block; braces inside a statement come in pairs."""
    found: list[Statement] = []
    statement: list[Word] = []
    depth = 0
    for word in words:
        if word.text == "}" and depth == 0:
            if statement:
                raise _unreadable(statement[0].span, "no `;` ends this")
            return found
        depth += {"{": 1, "}": -1}.get(word.text, 0)
        if word.text == ";" and depth == 0:
            found.append(statement)
            statement = []
        else:
            statement.append(word)
    raise _unreadable(kind.span, "no `}` closes this block")


def _unreadable(span: Span, reason: str) -> DiagnosticError:
    return DiagnosticError(errors.network_not_read(span.file.path, reason, span, HELP))
