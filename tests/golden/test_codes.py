"""Registry, constructor functions, pages and golden examples of the codes match one to one."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from harness import cases

from fairdsl.diagnostics import CODES
from tests.modules import files, nodes_of, tree_of

ROOT = Path(__file__).parents[2]
CODE = re.compile(r"[EW]\d{4}")
#: What only Python can get wrong, a call or another package: the folders of the tests that have the examples.
OF_PYTHON = {"E0628": "pipeline", **dict.fromkeys(("E0680", "E0682", "E0683", "W0709"), "dataframes")}


def is_errors_module(path: Path) -> bool:
    """A phase's ``errors.py``, or a file of its folder ``errors``."""
    return path.stem == "errors" or path.parent.name == "errors"


def constructors(path: Path) -> Iterator[tuple[str, str]]:
    """Which function of the file writes which code."""
    for function in tree_of(path).body:
        if isinstance(function, ast.FunctionDef):
            written = (node.value for node in ast.walk(function) if isinstance(node, ast.Constant))
            for code in {value for value in written if isinstance(value, str) and CODE.fullmatch(value)}:
                yield function.name, code


def test_every_code_has_exactly_one_constructor() -> None:
    modules = [path for path in files() if is_errors_module(path)]
    count = Counter(code for path in modules for _, code in constructors(path))
    assert sorted(count) == sorted(CODES)
    assert {code: times for code, times in count.items() if times > 1} == {}


def test_nothing_else_builds_diagnostics() -> None:
    elsewhere = [
        path.relative_to(ROOT).as_posix()
        for path in files()
        if not is_errors_module(path)
        for node in nodes_of(path, "Diagnostic(")
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Diagnostic"
    ]
    assert elsewhere == []


def test_every_code_has_a_page() -> None:
    pages = {path.stem for path in (ROOT / "docs" / "errors").glob("[EW]*.md")}
    assert sorted(pages) == sorted(CODES)


def test_every_page_has_its_four_parts() -> None:
    for path in (ROOT / "docs" / "errors").glob("[EW]*.md"):
        text = path.read_text(encoding="utf-8")
        assert text.startswith(f"# {path.stem}: "), path.name
        headings = re.findall(r"^## (.+)$", text, re.MULTILINE)
        assert headings == ["What it says", "Why it matters for an audit", "Example", "Instead"], path.name


def test_every_code_has_a_golden_example() -> None:
    folders = [folder.name for folder in cases("errors")]
    assert [name for name in folders if not re.fullmatch(r"[EW]\d{4}-[a-z0-9-]+", name)] == []
    assert sorted({*(name[:5] for name in folders), *OF_PYTHON}) == sorted(CODES)
    for code, folder in OF_PYTHON.items():
        assert any(code in path.read_text(encoding="utf-8") for path in (ROOT / "tests" / folder).glob("*.py")), code


def test_codes_belong_to_their_phases() -> None:
    assert all(re.fullmatch(r"E0[1-6]\d\d|W0[78]\d\d", code) for code in CODES)
    assert list(CODES) == sorted(CODES, key=lambda code: code[1:])
