"""A backend is imported through its face, the package itself; and its options, which are known without loading it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from functools import cache

import pytest

from tests.modules import PACKAGE, files, nodes_of, parsed, tree_of

BACKENDS = sorted(path.parent.name for path in (PACKAGE / "backends").glob("*/__init__.py"))
FACE = re.compile(rf"fairdsl\.backends\.(?:{'|'.join(BACKENDS)})")
#: What lies behind a face.
INSIDE = re.compile(rf"fairdsl\.backends\.(?:{'|'.join(BACKENDS)})\.(?!options$)")


def behind_faces(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """What a file imports from behind a backend's face, also within functions and for type hints."""
    for node in nodes:
        match node:
            case ast.Import(names=names):
                yield from (alias.name for alias in names if INSIDE.match(alias.name))
            case ast.ImportFrom(module=str(module), level=0) if INSIDE.match(module):
                yield module
            case ast.ImportFrom(module=str(module), level=0, names=names) if FACE.fullmatch(module):
                offered = offered_by(module)
                yield from (f"{module}.{alias.name}" for alias in names if alias.name not in offered)


@cache
def offered_by(package: str) -> frozenset[str]:
    """The names in a face's ``__all__``, and the module of options."""
    for node in tree_of(PACKAGE.parent.joinpath(*package.split("."), "__init__.py")).body:
        match node:
            case ast.Assign(targets=[ast.Name(id="__all__")], value=value):
                return frozenset(ast.literal_eval(value)) | {"options"}
    raise AssertionError(f"{package} does not say what it offers")


def test_nobody_reaches_behind_a_face() -> None:
    found = {
        path.relative_to(PACKAGE).as_posix(): modules
        for path in files()
        if path.relative_to(PACKAGE).parts[0] != "backends"
        and (modules := list(behind_faces(nodes_of(path, "fairdsl.backends"))))
    }
    assert found == {}


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("from fairdsl.backends.search import falsify", []),
        ("from fairdsl.backends.search.falsify import falsify", ["fairdsl.backends.search.falsify"]),
        ("def f():\n    import fairdsl.backends.smt.engine", ["fairdsl.backends.smt.engine"]),
        ("from fairdsl.backends.smt import engine", ["fairdsl.backends.smt.engine"]),
        ("from fairdsl.backends.smt.options import Partition", []),
        ("from fairdsl.backends.contract import Budget", []),
    ],
)
def test_every_way_behind_a_face_is_seen(source: str, found: list[str]) -> None:
    assert list(behind_faces(ast.walk(parsed(source)))) == found
