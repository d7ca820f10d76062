"""Every spec in ``specs/`` is free of findings, is laid out in the standard way and can be explained."""

from __future__ import annotations

from pathlib import Path

import pytest

import fairdsl
from fairdsl.semantics import front_end
from fairdsl.source import SourceFile
from fairdsl.syntax.format import format_spec
from fairdsl.syntax.parse import parse

SPECS = Path(__file__).parents[2] / "specs"
FILES = sorted(SPECS.rglob("*.fair"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.relative_to(SPECS).as_posix())
def test_a_shipped_spec(file: Path) -> None:
    assert {finding.code for finding in fairdsl.lint(file)} <= {"W0817"}  # models and tables are the reader's own
    text = file.read_text(encoding="utf-8")
    read = parse(SourceFile(str(file), text))
    assert read.spec is not None
    assert format_spec(read.spec) == text
    explained = fairdsl.explain(file)
    assert [found.name for found in explained.properties] == [
        found.name for found in front_end(str(file))[0].properties
    ]
    assert all(found.sentence and found.formula and found.clauses for found in explained.properties)


def test_names_are_unique() -> None:
    """Specs are named by their file alone in reports and solver files."""
    assert len({file.name for file in FILES}) == len(FILES)


def test_a_page_beside_them_names_each_question() -> None:
    page = (SPECS / "README.md").read_text(encoding="utf-8")
    for file in (SPECS / "fairify").glob("*-[12]-*.fair"):
        (clause,) = [
            line.strip()
            for line in file.read_text(encoding="utf-8").splitlines()
            if line.strip().startswith(("within ", "regardless ", "among "))
        ]
        assert f"`{clause}`" in page
