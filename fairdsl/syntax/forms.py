"""Nodes as pieces of text, by the forms of their classes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cache

from fairdsl.syntax import tree
from fairdsl.syntax.layout import Piece

_MARK = re.compile(r"\[(?:([?!]\w+) )?|\]|<(\w+)( ->| <)?>| |(?:->|[^\[\]<> ])+")


@dataclass(frozen=True, slots=True)
class _Hole:
    """``<field>``, or ``<field ->>`` with what stands between several."""

    field: str
    between: str


@dataclass(frozen=True, slots=True)
class _Group:
    """``[...]``, with the flag that it depends on, or with none on what stands in it."""

    flag: str
    parts: tuple[str | _Hole | _Group, ...]

    def written(self, node: tree.Node) -> bool:
        """Whether the node has what the group is about."""
        if self.flag:
            return bool(getattr(node, self.flag[1:])) is (self.flag[0] == "?")
        return all(getattr(node, part.field) for part in self.parts if isinstance(part, _Hole))


@cache
def _parsed(form: str) -> tuple[str | _Hole | _Group, ...]:
    return tuple(_parts(_MARK.finditer(form)))


def _parts(marks: Iterator[re.Match[str]]) -> Iterator[str | _Hole | _Group]:
    for mark in marks:
        if mark.group() == "]":
            return
        if mark.group()[0] == "[":
            yield _Group(mark[1] or "", tuple(_parts(marks)))
        else:
            yield _Hole(mark[2], mark[3] or "") if mark[2] else mark.group()


def form_pieces(node: tree.Node, pieces_of: Callable[[tree.Node], list[Piece]]) -> list[Piece]:
    """A node as its form says; ``pieces_of`` says how those in it are written."""
    row = _Row(pieces_of)
    row.add(node, _parsed(type(node).FORM.text))
    return row.ended(node)


class _Row:
    """Words gather before what follows them; a new piece begins where the form has a space behind a field."""

    def __init__(self, pieces_of: Callable[[tree.Node], list[Piece]]) -> None:
        self._pieces_of = pieces_of
        self._pieces: list[Piece] = []
        self._words = ""
        self._touching = False

    def add(self, node: tree.Node, parts: Sequence[str | _Hole | _Group]) -> None:
        for part in parts:
            match part:
                case " " if not self._words:
                    self._touching = False
                case " ":
                    self._words = f"{self._words.rstrip()} "
                case str():
                    self._words += part
                case _Hole(field=field, between=between):
                    held = getattr(node, field)
                    if isinstance(held, Enum):
                        self._words += held.value
                    else:
                        self._append(wrapped(self._words, self._held(held, between), ""))
                case _Group() if part.written(node):
                    self.add(node, part.parts)

    def ended(self, node: tree.Node) -> list[Piece]:
        if self._words.strip():
            self._append([Piece(self._words.rstrip(), node.span.start)])
        return self._pieces

    def _append(self, pieces: list[Piece]) -> None:
        if self._touching and self._pieces:
            pieces = wrapped(self._pieces.pop().text, pieces, "")
        self._pieces += pieces
        self._words, self._touching = "", True

    def _held(self, value: object, between: str) -> list[Piece]:
        match value:
            case tree.Node():
                return self._pieces_of(value)
            case tuple() if between:
                first, *rest = [(self._flat(each), each.span.start) for each in value]
                return [Piece(*first), *(Piece(f"{between.strip()} {text}", start) for text, start in rest)]
            case tuple():
                return list_pieces([(self._flat(each), _start(each)) for each in value])
        raise AssertionError(f"no form writes {value!r}")

    def _flat(self, value: tree.Node | tuple[tree.Node, ...]) -> str:
        if isinstance(value, tuple):
            names = ", ".join(map(self._flat, value))
            return names if len(value) == 1 else f"({names})"
        return " ".join(piece.text for piece in self._pieces_of(value))


def _start(value: tree.Node | tuple[tree.Node, ...]) -> int:
    return (value[0] if isinstance(value, tuple) else value).span.start


def name_text(name: tree.Name) -> str:
    """A name, in quotes where it was quoted."""
    return f'"{name.text}"' if name.quoted else name.text


def list_pieces(texts: Sequence[tuple[str, int]]) -> list[Piece]:
    """Texts and their places as pieces, with commas behind all but the last."""
    last = len(texts) - 1
    return [Piece(text + ("," if i < last else ""), start) for i, (text, start) in enumerate(texts)]


def wrapped(before: str, pieces: Sequence[Piece], after: str) -> list[Piece]:
    """The pieces with a text glued before the first and one behind the last."""
    *front, last = pieces
    whole = [*front, Piece(last.text + after, last.start, last.hard)]
    first = whole[0]
    return [Piece(before + first.text, first.start, first.hard), *whole[1:]]
