"""The modules of the package as syntax trees, parsed once for all tests that look at them: that takes seconds."""

from __future__ import annotations

import ast
import gc
from functools import cache
from pathlib import Path

import fairdsl

PACKAGE = Path(fairdsl.__file__).parent


@cache
def files() -> tuple[Path, ...]:
    """All modules of the package, sorted."""
    return tuple(sorted(PACKAGE.rglob("*.py")))


@cache
def tree_of(file: Path) -> ast.Module:
    """The syntax tree of a file."""
    return parsed(_text_of(file))


def parsed(text: str) -> ast.Module:
    """A syntax tree that no collection of garbage interrupts.

    What one runs may parse too, as may the threads that it lets in, and CPython 3.11 counts the depth of all trees
    together: then it raises a SystemError.
    """
    collecting = gc.isenabled()
    gc.disable()
    try:
        return ast.parse(text)
    finally:
        if collecting:
            gc.enable()


def nodes_of(file: Path, *words: str) -> tuple[ast.AST, ...]:
    """All nodes of a file's syntax tree; none where ``words`` are given and the file has none of them."""
    return _nodes_of(file) if not words or any(word in _text_of(file) for word in words) else ()


@cache
def _nodes_of(file: Path) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(tree_of(file)))


@cache
def _text_of(file: Path) -> str:
    return file.read_text(encoding="utf-8")
