"""Every kind of document: each class of the package that is one."""

from __future__ import annotations

import ast
from importlib import import_module
from pathlib import Path

import fairdsl
from fairdsl.codec import Document

__all__ = ["DOCUMENTS", "file_of"]


def _documents() -> tuple[type[Document], ...]:
    """The classes with :class:`Document` for a base, in the order of their names; their modules are imported."""
    root = Path(fairdsl.__file__).parent
    found: list[type[Document]] = []
    for path in sorted(root.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        names = [node.name for node in ast.parse(text).body if _is_document(node)] if "(Document)" in text else []
        if names:
            module = import_module(".".join(("fairdsl", *path.relative_to(root).with_suffix("").parts)))
            found += [getattr(module, name) for name in names]
    return tuple(sorted(found, key=lambda kind: kind.__name__))


def _is_document(node: ast.stmt) -> bool:
    return isinstance(node, ast.ClassDef) and any(isinstance(b, ast.Name) and b.id == "Document" for b in node.bases)


DOCUMENTS = _documents()


def file_of(kind: type[Document]) -> str:
    """The name of its schema's file: ``report.schema.json`` of ``fairdsl.report/2``."""
    return f"{kind.SCHEMA.removeprefix('fairdsl.').partition('/')[0]}.schema.json"
