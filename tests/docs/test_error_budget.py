"""The page of claims names code and tests that are there."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "error-budget.md").read_text()
ROWS = [
    [cell.strip() for cell in line.strip().strip("|").split(" | ")]
    for line in PAGE.splitlines()
    if line.startswith("| ") and not line.startswith(("| **", "| ---", "| claim"))
]


def test_every_claim_names_code_and_a_test_that_are_there() -> None:
    assert len(ROWS) > 25
    for row in ROWS:
        claim, why, code, test = row
        assert claim, row
        assert why, row
        for path in re.findall(r"`([^`]+)`", code):
            assert (ROOT / path).exists(), path
        (named,) = re.findall(r"`([^`]+)`", test)
        file, _, function = named.partition("::")
        text = (ROOT / file).read_text()
        assert not function or re.search(rf"^def {function}\(", text, re.MULTILINE), named


def test_code_that_the_text_names_is_there() -> None:
    named = re.findall(r"`([\w/]+\.py)`", PAGE)
    assert "fairdsl/ir/enclosure.py" in named
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_every_engine_has_claims() -> None:
    for engine in ("smt", "intervals", "leaf_boxes", "rates", "ssat", "sampling"):
        assert f"**`{engine}`**" in PAGE
