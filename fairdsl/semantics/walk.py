"""All nodes of a tree, wherever they hang."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from fairdsl.syntax import tree

__all__ = ["walk"]


def walk(node: object) -> Iterator[tree.Node]:
    """The node and everything below it, in the order of reading; sequences of nodes are walked too.

    A long sum is a tree as deep as it is long, so there is a stack and no recursion.
    """
    stack: list[object] = [node]
    while stack:
        match stack.pop():
            case (tuple() | list()) as parts:
                stack.extend(reversed(parts))
            case tree.Node() as found:
                yield found
                stack.extend(getattr(found, entry.name) for entry in reversed(dataclasses.fields(found)))
