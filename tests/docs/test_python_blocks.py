"""The Python of the tour runs as it stands, and prints what it says it prints."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
_BLOCK = re.compile(r"^```python\n(?P<text>.*?)^```\s*$", re.MULTILINE | re.DOTALL)
BLOCKS = [match["text"] for match in _BLOCK.finditer((ROOT / "docs" / "tour.md").read_text(encoding="utf-8"))]


def test_there_are_blocks() -> None:
    assert BLOCKS


@pytest.mark.parametrize(
    "text", [pytest.param(text, marks=[pytest.mark.slow] if "fairdsl.check" in text else []) for text in BLOCKS]
)
def test_a_block(text: str, tmp_path: Path) -> None:
    """Comments of whole lines behind the last statement are its output; other blocks have only to run."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    search_path = {"PYTHONPATH": str(ROOT), **os.environ}
    run = subprocess.run(
        [sys.executable, "-c", text], cwd=tmp_path, env=search_path, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    said = re.search(r"(?:^# .*\n)+\Z", text, re.MULTILINE)
    if said is not None:
        assert run.stdout == re.sub(r"^# ", "", said[0], flags=re.MULTILINE)
