"""What is said of a class and of each of its fields: its docstring's first sentence, and the comments ``#:``.

Schemas and the page about the Python API have it from here, so it is written once.
"""

from __future__ import annotations

import ast
import inspect
import sys
import tokenize
from functools import cache
from io import StringIO


@cache
def comments_of(kind: type) -> dict[str, str]:
    """What is said of each field and property, by name; of the class itself under the empty name."""
    found = {"": _sentence(kind.__doc__)} if kind.__doc__ and not kind.__doc__.startswith(f"{kind.__name__}(") else {}
    for base in reversed(kind.__mro__):
        if base.__module__.partition(".")[0] != "builtins" and base.__module__ in sys.modules:
            found |= _fields(base)
    return found


def _sentence(text: str | None) -> str:
    """The first paragraph in one line."""
    return " ".join(inspect.cleandoc(text or "").partition("\n\n")[0].split())


def _fields(kind: type) -> dict[str, str]:
    """The comments above (or behind) the fields of one class, and the docstrings of its properties."""
    body = _classes(kind.__module__).get(kind.__qualname__)
    if body is None:
        return {}
    marked, found = _marked(kind.__module__), {}
    for statement in body.body:
        match statement:
            case ast.AnnAssign(target=ast.Name(id=name)):
                lines: list[str] = []
                above = statement.lineno - 1
                while above in marked:
                    lines.insert(0, marked[above])
                    above -= 1
                text = " ".join(lines) or marked.get(statement.lineno, "")
                if text:
                    found[name] = text
            case ast.FunctionDef(name=name):
                documented = ast.get_docstring(statement)
                if documented:
                    found[name] = _sentence(documented)
    return found


@cache
def _source(module: str) -> str:
    try:
        return inspect.getsource(sys.modules[module])
    except (OSError, TypeError):
        return ""


@cache
def _classes(module: str) -> dict[str, ast.ClassDef]:
    return {node.name: node for node in ast.parse(_source(module)).body if isinstance(node, ast.ClassDef)}


@cache
def _marked(module: str) -> dict[int, str]:
    """The texts of comments ``#:``, by line."""
    tokens = tokenize.generate_tokens(StringIO(_source(module)).readline)
    return {
        token.start[0]: token.string.removeprefix("#:").strip()
        for token in tokens
        if token.type == tokenize.COMMENT and token.string.startswith("#:")
    }
