"""Links between pages lead somewhere, and links to a heading to one that is there."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [
    ROOT / "README.md",
    ROOT / "SECURITY.md",
    ROOT / "CHANGELOG.md",
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "examples").rglob("README.md")),
    *sorted((ROOT / "benchmarks").glob("*.md")),
    ROOT / "specs" / "README.md",
]
_LINK = re.compile(r"\]\((?P<path>[^)#\s]*)(?:#(?P<heading>[^)\s]*))?\)")
_FENCED = re.compile(r"^```.*?^```\s*$", re.MULTILINE | re.DOTALL)


@cache
def headings(page: Path) -> set[str]:
    """As GitHub makes anchors of them."""
    text = _FENCED.sub("", page.read_text("utf-8"))
    lines = (line.strip().lower() for line in re.findall(r"^#+ (.*)$", text, re.MULTILINE))
    return {re.sub(r"[^\w\- ]", "", line).replace(" ", "-") for line in lines}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    for link in _LINK.finditer(_FENCED.sub("", page.read_text("utf-8"))):
        if link["path"].startswith(("http://", "https://", "mailto:")):
            continue
        target = page.parent / link["path"] if link["path"] else page
        assert target.exists(), link[0]
        if link["heading"] and target.suffix == ".md":
            assert link["heading"] in headings(target), link[0]
