"""All nodes of a tree, wherever they hang."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from fairdsl.syntax import tree

__all__ = ["walk"]


def walk(node: object) -> Iterator[tree.Node]:
    """The node and everything below it; sequences of nodes are walked too."""
    match node:
        case tuple() | list():
            for part in node:
                yield from walk(part)
        case tree.Node():
            yield node
            for entry in dataclasses.fields(node):
                yield from walk(getattr(node, entry.name))
