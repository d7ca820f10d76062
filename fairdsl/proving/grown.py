"""The tree of a proof while it grows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from fairdsl_verify.question import Box

#: Which part is to be shown fair, and which unfair.
Wanted = tuple[Fraction, Fraction]


@dataclass(eq=False, slots=True)
class Grown:
    """A node of the tree: a leaf with its claim, or a line with two nodes below; one, where it puts trees together."""

    claim: str = "?"
    split: str = ""
    below: tuple[Grown, ...] | None = None

    def lines(self) -> Iterator[str]:
        """The nodes in preorder."""
        waiting = [self]
        while waiting:
            one = waiting.pop()
            if one.below is None:
                yield one.claim
            else:
                yield one.split
                waiting += reversed(one.below)

    def pruned(self) -> None:
        """Halves of which nothing is said are one leaf again."""
        stack, order = [self], []
        while stack:
            one = stack.pop()
            order.append(one)
            stack += one.below or ()
        for one in reversed(order):
            if one.below is not None and all(half.below is None and half.claim == "?" for half in one.below):
                one.below, one.claim = None, "?"


class Waiting(NamedTuple):
    """A box that is not looked at yet; that of which most is open is the first, and of these the oldest."""

    negative: float
    number: int
    box: Box
    grown: Grown
