"""Every spec in the documentation is linted.

A line that ends in ``# error: E0203`` (or ``# warning: W0801``) must give exactly that finding; any other
block must be free of errors. A block marked ``fair fragment`` is part of a spec: it must be readable on its
own or inside a property, a domain, a model or a distribution.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

import fairdsl
from fairdsl.source import SourceFile
from fairdsl.syntax.pieces import AROUND

ROOT = Path(__file__).parents[2]
PAGES = [path for path in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))) if path.is_file()]
_BLOCK = re.compile(r"^```fair(?P<mark>[^\n]*)\n(?P<text>.*?)^```\s*$", re.MULTILINE | re.DOTALL)
_EXPECTED = re.compile(r"#\s*(error|warning):\s*(?P<codes>[EW]\d{4}(?:,\s*[EW]\d{4})*)\s*$")


def blocks() -> Iterator[tuple[str, str, str]]:
    """Name, mark and text of every block."""
    for page in PAGES:
        content = page.read_text(encoding="utf-8")
        for match in _BLOCK.finditer(content):
            line = content.count("\n", 0, match.start()) + 1
            yield f"{page.relative_to(ROOT)}:{line}", match["mark"].strip(), match["text"]


BLOCKS = list(blocks())


@pytest.fixture(scope="module")
def beside_specs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file in a folder of all specs, which blocks include."""
    folder = tmp_path_factory.mktemp("blocks")
    for shared in (ROOT / "specs").rglob("*.fair"):
        shutil.copy(shared, folder)
    return folder / "block.fair"


@pytest.mark.parametrize(("mark", "text"), [block[1:] for block in BLOCKS], ids=[block[0] for block in BLOCKS])
def test_a_block(mark: str, text: str, beside_specs: Path) -> None:
    assert mark in ("", "fragment")
    if mark == "fragment":
        assert _readable(text), "no place in a spec where this can stand"
        return
    beside_specs.write_text(text, encoding="utf-8")
    findings = fairdsl.lint(beside_specs)
    found = {(finding.primary.span.first.line if finding.primary else 0, finding.code) for finding in findings}
    expected = set(_expected(text))
    assert {entry for entry in found if entry[1].startswith("E")} == {e for e in expected if e[1].startswith("E")}
    assert expected <= found


def _expected(text: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(text.split("\n"), start=1):
        if match := _EXPECTED.search(line):
            yield from ((number, code.strip()) for code in match["codes"].split(","))


def _readable(text: str) -> bool:
    from fairdsl.syntax.parse import parse

    return any(parse(SourceFile("fragment", around.format(text))).complete for around in AROUND)
