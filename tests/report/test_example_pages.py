"""The pages of the examples that are linked from the front page are about the files that lie beside them."""

from __future__ import annotations

import re
from hashlib import sha256
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
PAGES = sorted(EXAMPLES.glob("*/report.html"))


def test_there_are_pages() -> None:
    assert len(PAGES) >= 4


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.parent.name)
def test_a_page_is_small_and_about_these_files(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert len(text.encode()) < 300_000
    digests = {sha256(file.read_bytes()).hexdigest() for file in page.parent.iterdir() if file.is_file()}
    named = set(re.findall(r">([0-9a-f]{64})<", text))
    again = "write it again: fairdsl check examples/NAME/NAME.fair --report examples/NAME/report.html"
    assert len(named) >= 2
    assert named <= digests, again
