"""Whatever a golden command prints is read back: every document that it shows, as text or as JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from fairdsl.cli.printing import PRINTERS
from fairdsl.codec import Document


@pytest.fixture(autouse=True)
def documents_come_back(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Document]]:
    """Each document that a command of the test shows equals what its JSON is read as, and gives the same JSON again."""
    shown: list[Document] = []
    for kind in {type(printer) for printer in PRINTERS.values()}:
        monkeypatch.setattr(kind, "show", _recording(kind.show, shown))
    yield shown
    for document in shown:
        text = document.to_json()
        again = type(document).from_json(text)
        assert again == document
        assert again.to_json() == text


def _recording(show: Callable[..., None], shown: list[Document]) -> Callable[..., None]:
    def recording(self: Any, document: Any, as_text: Any) -> None:
        if isinstance(document, Document):
            shown.append(document)
        show(self, document, as_text)

    return recording
