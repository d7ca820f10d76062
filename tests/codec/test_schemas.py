"""The schemas that ship are those that the classes say: ``pytest --accept`` writes them."""

from __future__ import annotations

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
