"""From Lark's tokens to the smallest nodes: names, numbers and texts with exact spans."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TypeAlias

from lark import Token, Tree

from fairdsl.source import Anchor, MovingSpan, SourceFile, Span
from fairdsl.source.numbers import read_number
from fairdsl.syntax import tree

#: What Lark makes of a rule; nothing is filtered out, so every branch holds a token at least.
Branch: TypeAlias = Tree[Token]

#: The rules that are chained from the left: `a + b + c` is `(a + b) + c`.
CHAINED = frozenset(("sum", "product"))


def branches(branch: Branch) -> list[Branch]:
    """The children that are rules."""
    return [child for child in branch.children if isinstance(child, Tree)]


def tokens(branch: Branch, *types: str) -> list[Token]:
    """The children that are tokens of one of the given types."""
    return [child for child in branch.children if isinstance(child, Token) and child.type in types]


def begin_of(part: Token | Branch) -> int | None:
    """Where a token or a rule begins; None of a branch that has nothing yet."""
    return _edge(part, 0, "start_pos")


def end_of(part: Token | Branch) -> int | None:
    """Where a token or a rule ends; None of a branch that has nothing yet."""
    return _edge(part, -1, "end_pos")


def _edge(part: Token | Branch, child: int, key: str) -> int | None:
    """The place of the first or last token of all; Lark would note eight such numbers with every rule that it reads.

    Branches on the way keep it, for the parts of a long sum all begin at one place.
    """
    way: list[Branch] = []
    while isinstance(part, Tree) and not hasattr(part.meta, key):
        if not part.children:
            return None
        way.append(part)
        part = part.children[child]
    place: int | None = getattr(part.meta if isinstance(part, Tree) else part, key)
    for passed in way:
        setattr(passed.meta, key, place)
    return place


class WordBuilder:
    """Makes the nodes that hold a word of the text."""

    def __init__(self, file: SourceFile, original: Sequence[int] | None = None) -> None:
        """``original`` maps offsets back to the file where a mended text was read instead of it."""
        self.file = file
        self._original = original
        #: What places are counted from where they move with the text, and how far what was read lies from them now.
        self.anchor: Anchor | None = None
        self.shift = 0

    def span(self, part: Token | Branch) -> Span:
        """The characters that a token or a rule was read from."""
        start, end = begin_of(part), end_of(part)
        assert start is not None
        assert end is not None
        start, end = start + self.shift, end + self.shift
        if self._original is not None:
            start, end = self._original[start], self._original[end - 1] + 1
        if self.anchor is not None:
            return MovingSpan(self.anchor, start - self.anchor.start, max(end - start, 0))
        return Span(self.file, start, max(start, end))

    def name(self, token: Token) -> tree.Name:
        """A name; a string becomes a quoted one."""
        if token.type == "STRING":
            return tree.Name(text=token[1:-1], quoted=True, span=self.span(token))
        return tree.Name(text=str(token), span=self.span(token))

    def text(self, token: Token) -> tree.Text:
        """A string without its quotes."""
        return tree.Text(value=token[1:-1], span=self.span(token))

    def number(self, branch: Branch) -> tree.Number:
        """A number, exactly: ``80%`` and ``0.8`` are both 4/5; or the name of one."""
        written = "".join(str(child) for child in branch.children)
        if branch.data in ("named_number", "named_limit"):
            name = self.name(tokens(branch, "NAME", "PARAMETER")[0])
            return tree.NamedNumber(value=Fraction(0), text=written, name=name, span=self.span(branch))
        percent = written.endswith("%")
        value = read_number(written.removesuffix("%"))
        return tree.Number(
            value=value / 100 if percent else value, text=written, percent=percent, span=self.span(branch)
        )
