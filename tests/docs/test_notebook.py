"""The notebook runs cell by cell and comes to what it shows; ``pytest --accept`` on this file writes it again."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

NOTEBOOK = Path(__file__).parents[2] / "docs" / "first-audit.ipynb"
pytestmark = pytest.mark.sklearn


def came_of(source: str, known: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """What a cell prints, and its last value as text where it ends with one, as notebooks keep them."""
    cell = ast.parse(source)
    last = ast.Expression(cell.body.pop().value) if isinstance(cell.body[-1], ast.Expr) else None  # type: ignore[attr-defined]
    value = None
    with redirect_stdout(StringIO()) as said:
        exec(compile(cell, NOTEBOOK.name, "exec"), known)
        if last is not None:
            value = eval(compile(last, NOTEBOOK.name, "eval"), known)
    if said.getvalue():
        yield {"name": "stdout", "output_type": "stream", "text": said.getvalue().splitlines(keepends=True)}
    if value is not None:
        data = {"text/plain": str(value).splitlines(keepends=True)}
        yield {"data": data, "execution_count": None, "metadata": {}, "output_type": "execute_result"}


def test_the_notebook_comes_to_what_it_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, as_expected: Callable[[Path, str], None]
) -> None:
    pytest.importorskip("pandas")
    pytest.importorskip("skl2onnx")
    sklearn = pytest.importorskip("sklearn")
    monkeypatch.chdir(tmp_path)
    notebook, known = json.loads(NOTEBOOK.read_text(encoding="utf-8")), dict[str, Any]()
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            cell["outputs"] = list(came_of("".join(cell["source"]), known))
    assert Path("report.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    if sklearn.__version__.startswith("1.9."):  # others may learn other weights
        as_expected(NOTEBOOK, json.dumps(notebook, indent=1, ensure_ascii=False) + "\n")
