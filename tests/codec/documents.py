"""Every kind of document: each class of the package that is one."""

from __future__ import annotations

import ast
import re
from importlib import import_module
from pathlib import Path

import fairdsl
from fairdsl.codec import Document, Sealed

__all__ = ["DOCUMENTS", "file_of"]


_BASES = (Document.__name__, Sealed.__name__)
_BASED = re.compile(rf"\((?:\w+, )*(?:{'|'.join(_BASES)})\)")


def _documents() -> tuple[type[Document], ...]:
    """The classes with :class:`Document` or :class:`Sealed` for a base, by name; their modules are imported."""
    root = Path(fairdsl.__file__).parent
    found: list[type[Document]] = []
    for path in sorted(root.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        names = [node.name for node in ast.parse(text).body if _is_document(node)] if _BASED.search(text) else []
        if names:
            module = import_module(".".join(("fairdsl", *path.relative_to(root).with_suffix("").parts)))
            found += [getattr(module, name) for name in names]
    return tuple(sorted(found, key=lambda kind: kind.__name__))


def _is_document(node: ast.stmt) -> bool:
    bases = node.bases if isinstance(node, ast.ClassDef) and node.name != Sealed.__name__ else []
    return any(isinstance(base, ast.Name) and base.id in _BASES for base in bases)


DOCUMENTS = _documents()


def file_of(kind: type[Document]) -> str:
    """The name of its schema's file: ``report.schema.json`` of ``fairdsl.report/2``."""
    return f"{kind.SCHEMA.removeprefix('fairdsl.').partition('/')[0]}.schema.json"
