"""Every library has its owners: nothing else imports it, so that it can be replaced, and is loaded only where needed.

A package that is new owns nothing, and a library that is new has no owner: both fail here until somebody decides.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.modules import PACKAGE, files, nodes_of, parsed

#: Which folders, or modules, may import a library.
OWNERS = {
    "fairdsl_verify": ("proving",),
    "click": ("cli",),
    "cvc5": ("second_opinions",),
    "distributed": ("backends/refining",),
    "h5py": ("models/keras_files",),
    "highspy": ("backends/smt",),
    "lark": ("syntax",),
    "lsprotocol": ("lsp",),
    "llvmlite": ("numerics/kernels",),
    "matplotlib": ("report",),
    "narwhals": ("dataframes",),
    "numba": ("numerics/kernels",),
    "onnx": ("models", "pruning"),
    "onnxruntime": ("models",),
    "pgmpy": ("populations",),
    "pyarrow": ("data", "counterexamples"),
    "pygls": ("lsp",),
    "pyganak": ("backends/ssat/solvers",),
    "pytest": ("integrations",),
    "pygments": ("integrations",),
    "pysat": ("backends/ssat/encode",),
    "pysdd": ("backends/ssat/solvers",),
    "rich": ("cli",),
    "skl2onnx": ("models",),
    "threadpoolctl": ("numerics",),
    "z3": ("backends/smt",),
}
#: A module of such a library in quotes, as ``import_module`` takes it.
MODULE = re.compile(rf"(?:{'|'.join(OWNERS)})(?:\.\w+)+")
#: Import statements, and some prose: the package behind ``from``, all behind ``import``.
IMPORTS = re.compile(r"(?:^|[;:])[ \t]*(?:from[ \t]+(\w+)|import[ \t]+(.+))", re.MULTILINE)
#: What everybody computes with, and the package itself.
ANYBODY = {"fairdsl", "numpy"} | sys.stdlib_module_names


def imported(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """The top-level names of all modules that a file imports, also within functions, or names to import them later."""
    for node in nodes:
        match node:
            case ast.Import(names=names):
                yield from (alias.name.split(".")[0] for alias in names)
            case ast.ImportFrom(module=str(module), level=0):
                yield module.split(".")[0]
            case ast.Constant(value=str(name)) if MODULE.fullmatch(name):
                yield name.split(".")[0]


@cache
def imported_by(file: Path) -> frozenset[str]:
    """What a file imports that others may own; most files import nothing of that kind, and are not parsed."""
    return frozenset(imported(nodes_of(file))) if may_be_owned(file.read_text(encoding="utf-8")) else frozenset()


def may_be_owned(text: str) -> bool:
    """Whether a text has an import, or what looks like one, of what is not everybody's."""
    named = (package or re.sub(r"[ \t]as[ \t]+\w+|\.\w+", "", every) for package, every in IMPORTS.findall(text))
    return any(not ANYBODY.issuperset(re.findall(r"\w+", each)) for each in named) or MODULE.search(text) is not None


def strangers(path: str, imports: Iterable[str]) -> list[str]:
    """The libraries among those that a file of the package imports which it does not own."""
    names = sorted(set(imports) - ANYBODY)
    return [name for name in names if not any(path.startswith(f"{owner}/") for owner in OWNERS.get(name, ()))]


def test_nobody_imports_what_it_does_not_own() -> None:
    found = {
        path: libraries
        for file in files()
        if (libraries := strangers(path := file.relative_to(PACKAGE).as_posix(), imported_by(file)))
    }
    assert found == {}


@pytest.mark.parametrize(
    ("path", "source", "found"),
    [
        ("plan/new.py", "import z3", ["z3"]),
        ("backends/smt/new.py", "import z3", []),
        ("backends/smtp/new.py", "import z3", ["z3"]),
        ("plan/new.py", "if True: import os, z3.z3 as z", ["z3"]),
        ("cli/new.py", "def f():\n    from onnx import load", ["onnx"]),
        ("models/new.py", "import importlib\nimportlib.import_module('z3.z3')", ["z3"]),
        ("newcomer/new.py", "import pandas.core", ["pandas"]),
        ("ir/new.py", "import numpy, os\nfrom . import x\nfrom fairdsl import check", []),
    ],
)
def test_the_table_sees_every_way_to_import(path: str, source: str, found: list[str]) -> None:
    assert strangers(path, imported(ast.walk(parsed(source)))) == found
    assert may_be_owned(source) >= bool(found)


def test_every_owner_is_there_and_owns_something() -> None:
    owned = {
        (library, owner)
        for library, owners in OWNERS.items()
        for owner in owners
        for file in (PACKAGE / owner).rglob("*.py")
        if library in imported_by(file)
    }
    assert owned == {(library, owner) for library, owners in OWNERS.items() for owner in owners}
