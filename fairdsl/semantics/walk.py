"""All nodes of a tree, wherever they hang."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from fairdsl.syntax import tree

__all__ = ["walk"]

#: Annotations of fields that hold no node.
_WORDS = ("str", "bool", "int", "Span")
_BELOW: dict[type[tree.Node], tuple[str, ...]] = {}


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
                stack.extend(part for name in _below(type(found)) if (part := getattr(found, name)) is not None)


def _below(kind: type[tree.Node]) -> tuple[str, ...]:
    """The fields of a class below which nodes may hang, the last one first."""
    if kind not in _BELOW:
        names = (entry.name for entry in dataclasses.fields(kind) if entry.type not in _WORDS)
        _BELOW[kind] = tuple(reversed(tuple(names)))
    return _BELOW[kind]
