"""A forgiving reader of tokens for text that the grammar refuses: it never fails and knows line starts."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from fairdsl.source import SourceFile, Span


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
    """The lexemes of a file in order, closed by one of kind END. Each is made when it is looked at."""

    def __init__(self, file: SourceFile, found: list[tuple[str, int, int, bool]]) -> None:
        """``found``: of each its kind's name, its start and end, and whether it is the first on its line."""
        self._file = file
        self._found = [*found, ("end", len(file.text), len(file.text), True)]
        self._starts = [start for _, start, _, _ in self._found]
        self._made: dict[int, Lexeme] = {}

    def __getitem__(self, index: int) -> Lexeme:
        """The lexeme at an index; beyond either end, the one that closes the file."""
        index = index if 0 <= index < len(self._found) else len(self._found) - 1
        if index not in self._made:
            kind, start, end, leads = self._found[index]
            span = Span(self._file, start, end)
            self._made[index] = Lexeme(Kind(kind.replace("_", " ")), span.text, span, leads)
        return self._made[index]

    def __len__(self) -> int:
        return len(self._found)

    def __iter__(self) -> Iterator[Lexeme]:
        return (self[index] for index in range(len(self)))

    def index_at(self, offset: int) -> int:
        """The index of the lexeme that covers an offset, or of the next one."""
        index = max(bisect_right(self._starts, offset) - 1, 0)
        last = len(self._found) - 1
        return index if index == last or offset < self._found[index][2] else index + 1


def scan(file: SourceFile) -> Lexemes:
    """Cut a file into lexemes."""
    found: list[tuple[str, int, int, bool]] = []
    leads = True
    for match in _PIECE.finditer(file.text):
        kind = match.lastgroup or ""
        if kind == "skipped":
            leads = leads or "\n" in match.group()
            continue
        found.append((kind, *match.span(), leads))
        leads = False
    return Lexemes(file, found)
