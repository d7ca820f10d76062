"""Every kind of document: random objects come back equal, fit their schema, and damaged ones end in a place."""

from __future__ import annotations

import json
from functools import cache
from hashlib import sha256
from random import Random
from typing import Any

import jsonschema
import pytest
from documents import DOCUMENTS
from hypothesis import given, settings
from hypothesis import strategies as st
from values import damaged, random_value

from fairdsl.codec import Document, MisfitError, Sealed, plain, schema
from tests.drawing import examples

SEEDS = st.integers(0, 2**32)


@cache
def validator(kind: type[Document]) -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(schema(kind))


@pytest.mark.parametrize("kind", DOCUMENTS, ids=lambda kind: kind.__name__)
@settings(max_examples=examples(0.5))
@given(seed=SEEDS)
def test_random_objects_come_back(kind: type[Document], seed: int) -> None:
    value: Any = random_value(kind, Random(seed))
    text = value.to_json()
    again = kind.from_json(text)
    assert again == value
    assert again.to_json() == text
    validator(kind).validate(json.loads(text))


def resealed(kind: type[Document], document: Any) -> Any:
    """With the digest of what it says now, or every mistake would be that of the digest."""
    if not issubclass(kind, Sealed) or "sha256" not in document:
        return document
    content = {key: value for key, value in document.items() if key != "sha256"}
    text = json.dumps(content, sort_keys=True, ensure_ascii=False).encode("utf-8", "surrogatepass")
    return content | {"sha256": sha256(text).hexdigest()}


def mutations(kind: type[Document], documents: int, each: int) -> tuple[int, int]:
    """How many damaged documents end in an error with a place, and how many are read as something else."""
    refused = read = 0
    for seed in range(documents):
        random = Random(seed)
        document = plain(random_value(kind, random))
        for _ in range(each):
            text = json.dumps(resealed(kind, damaged(document, random)))
            try:
                again = kind.from_json(text)
            except MisfitError as misfit:
                refused += misfit.position is not None and bool(misfit.place.steps or "fit together" in misfit.what)
                continue
            read += 1
            assert kind.from_json(again.to_json()) == again
    return refused, read


@pytest.mark.parametrize("kind", DOCUMENTS, ids=lambda kind: kind.__name__)
def test_damaged_documents_end_in_a_place(kind: type[Document]) -> None:
    refused, read = mutations(kind, 5, 10)
    assert refused + read == 50
    assert refused > 13


@pytest.mark.slow
@pytest.mark.parametrize("kind", DOCUMENTS, ids=lambda kind: kind.__name__)
def test_ten_thousand_damaged_documents_end_in_a_place(kind: type[Document]) -> None:
    refused, read = mutations(kind, 100, 100)
    assert refused + read == 10_000
