"""The schemas that ship are those that the classes say: ``pytest --accept`` writes them."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest
from documents import DOCUMENTS, file_of

import fairdsl
from fairdsl.codec import Document, schema

SCHEMAS = Path(fairdsl.__file__).parent / "schemas"


@pytest.mark.parametrize("kind", DOCUMENTS, ids=lambda kind: kind.__name__)
def test_the_shipped_schema_is_the_generated_one(
    kind: type[Document], as_expected: Callable[[Path, str], None]
) -> None:
    written = schema(kind)
    jsonschema.Draft202012Validator.check_schema(written)
    as_expected(SCHEMAS / file_of(kind), json.dumps(written, indent=2, ensure_ascii=False) + "\n")


def test_no_schema_is_left_over() -> None:
    assert {path.name for path in SCHEMAS.iterdir()} == {file_of(kind) for kind in DOCUMENTS}


def test_every_document_is_listed() -> None:
    """A class that calls itself a document and is on no list has no schema, and nobody reads it back."""
    found = {
        node.name
        for path in Path(fairdsl.__file__).parent.rglob("*.py")
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ClassDef) and any(isinstance(b, ast.Name) and b.id == "Document" for b in node.bases)
    }
    assert found == {kind.__name__ for kind in DOCUMENTS}
