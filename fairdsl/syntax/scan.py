"""A forgiving reader of tokens for text that the grammar refuses: it never fails and knows line starts."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from fairdsl.source import SourceFile, Span

__all__ = ["Kind", "Lexeme", "Lexemes", "scan"]


class Kind(Enum):
    """What a lexeme looks like, right or wrong."""

    WORD = "word"
    NUMBER = "number"
    STRANGE_NUMBER = "strange number"
    STRING = "string"
    STRANGE_STRING = "strange string"
    SYMBOL = "symbol"
    END = "end"


@dataclass(frozen=True, slots=True)
class Lexeme:
    """A piece of text between white space; ``leads`` says that it is the first on its line."""

    kind: Kind
    text: str
    span: Span
    leads: bool

    @property
    def start(self) -> int:
        """Offset of the first character."""
        return self.span.start


_PIECE = re.compile(
    r"""(?P<skipped>\#[^\n]*|[\s\ufeff]+)
      | (?P<string>"[^"\n]*")
      | (?P<strange_string>"[^\n]*|'[^'\n]*'|[“”„«][^\n“”„»]*[“”„»]?|\u2018[^\n\u2018\u2019]*\u2019)
      | (?P<strange_number>[0-9]+(?:\.[0-9]+)?[eE][+-]?[0-9]+|[0-9]+(?:_[0-9]+)+|(?<![0-9.)\w])\.[0-9]+)
      | (?P<number>[0-9]+(?:\.[0-9]+)?)
      | (?P<word>[^\W0-9]\w*)
      | (?P<symbol><=>|===|!==|==>|-->|\.\.\.|\.\.|==|!=|=!|<=|>=|=<|=>|->|:=|<>|&&|\|\||\*\*|//|/\*|\*/|.)
    """,
    re.VERBOSE,
)


class Lexemes:
    """The lexemes of a file in order, closed by one of kind END."""

    def __init__(self, file: SourceFile, found: list[Lexeme]) -> None:
        end = len(file.text)
        self._all = [*found, Lexeme(Kind.END, "", Span(file, end, end), leads=True)]
        self._starts = [lexeme.start for lexeme in self._all]

    def __getitem__(self, index: int) -> Lexeme:
        """The lexeme at an index; beyond either end, the one that closes the file."""
        return self._all[index] if 0 <= index < len(self._all) else self._all[-1]

    def __len__(self) -> int:
        return len(self._all)

    def __iter__(self) -> Iterator[Lexeme]:
        return iter(self._all)

    def index_at(self, offset: int) -> int:
        """The index of the lexeme that covers an offset, or of the next one."""
        index = max(bisect_right(self._starts, offset) - 1, 0)
        last = len(self._all) - 1
        return index if index == last or offset < self._all[index].span.end else index + 1


def scan(file: SourceFile) -> Lexemes:
    """Cut a file into lexemes."""
    found: list[Lexeme] = []
    leads = True
    for match in _PIECE.finditer(file.text):
        kind = match.lastgroup or ""
        if kind == "skipped":
            leads = leads or "\n" in match.group()
            continue
        span = Span(file, match.start(), match.end())
        found.append(Lexeme(Kind(kind.replace("_", " ")), match.group(), span, leads))
        leads = False
    return Lexemes(file, found)
