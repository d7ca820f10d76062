"""Pages whose Python runs block by block, as one program, and whose commands print what the page says.

Comments of whole lines at the end of a block are what it prints.
"""

from __future__ import annotations

import re
import shlex
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from fairdsl.cli.app import cli

ROOT = Path(__file__).parents[2]
_BLOCK = re.compile(r"^```(?P<language>python|console)\n(?P<text>.*?)^```\s*$", re.MULTILINE | re.DOTALL)
#: Pages, and the libraries that their readers have.
PAGES = {"predictions.md": (), "scikit-learn.md": ("sklearn", "skl2onnx")}


@pytest.mark.parametrize("page", PAGES)
def test_a_page_runs(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for library in PAGES[page]:
        pytest.importorskip(library)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    known: dict[str, Any] = {}
    blocks = list(_BLOCK.finditer((ROOT / "docs" / page).read_text(encoding="utf-8")))
    assert blocks
    for block in blocks:
        text = block["text"]
        if block["language"] == "console":
            command, _, printed = text.removeprefix("$ ").partition("\n")
            if command.startswith("fairdsl "):
                assert CliRunner().invoke(cli, shlex.split(command)[1:]).output == printed
            continue
        with redirect_stdout(StringIO()) as said:
            exec(compile(text, page, "exec"), known)
        expected = re.search(r"(?:^#.*\n)+\Z", text, re.MULTILINE)
        if expected is not None:
            assert said.getvalue() == re.sub(r"^# ?", "", expected[0], flags=re.MULTILINE)
