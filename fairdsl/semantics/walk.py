"""All nodes of a tree, wherever they hang."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from fairdsl.syntax import tree

#: Annotations of fields that hold no node.
_WORDS = ("str", "bool", "int", "Span")
_BELOW: dict[type[tree.Node], tuple[str, ...]] = {}


def walk(node: object) -> Iterator[tree.Node]:
    """The node and everything below it, in the order of reading; sequences of nodes are walked too.

    A long sum is a tree as deep as it is long, so there is a stack and no recursion.
    """
    stack: list[object] = [node]
    while stack:
        part = stack.pop()
        if isinstance(part, tuple | list):
            stack.extend(reversed(part))
        elif isinstance(part, tree.Node):
            yield part
            kind = type(part)
            stack += [getattr(part, name) for name in (_BELOW[kind] if kind in _BELOW else _below(kind))]


def _below(kind: type[tree.Node]) -> tuple[str, ...]:
    """The fields of a class below which nodes may hang, the last one first."""
    names = (entry.name for entry in dataclasses.fields(kind) if entry.type not in _WORDS)
    _BELOW[kind] = tuple(reversed(tuple(names)))
    return _BELOW[kind]
