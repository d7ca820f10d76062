"""Pages whose Python runs block by block, as one program, and whose commands print what the page says.

Comments of whole lines at the end of a block are what it prints. What a page prints of a command may be shortened at
lines of three dots; seconds are those of another machine.
"""

from __future__ import annotations

import re
import shlex
import shutil
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
PAGES = {
    "predictions.md": (),
    "scikit-learn.md": ("sklearn", "skl2onnx"),
    "boosters.md": ("pandas", "sklearn", "xgboost"),
    "api.md": (),
    "pytorch.md": ("torch", "onnxscript"),
    "keras.md": ("keras", "onnxscript", "torch"),
}
#: Pages that lead to a result, by commands alone. That of sensitivity.md takes seconds, and is held against the page
#: where what it comes to is counted again (tests/audit_sensitivity).
WALKS = ("practitioner.md", "auditor.md", "researcher.md")
_COMMAND = re.compile(r"^\$ fairdsl (?P<arguments>.*)\n(?P<printed>(?:(?!\$ ).*\n)*)", re.MULTILINE)
_SECONDS = re.compile(r"under 0\.1 s|\d+\.\d s")


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


@pytest.mark.parametrize("page", WALKS)
def test_a_walk_prints_what_the_page_says(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    blocks = (block["text"] for block in _BLOCK.finditer((ROOT / "docs" / page).read_text("utf-8")))
    commands = [command for text in blocks for command in _COMMAND.finditer(text)]
    assert commands
    for command in commands:
        ran = CliRunner().invoke(cli, shlex.split(command["arguments"]))
        assert ran.exit_code in (0, 1, 3), ran.output
        pieces = [piece for piece in re.split(r"^\.\.\.\n", command["printed"], flags=re.MULTILINE) if piece]
        assert pieces
        printed, end = _timeless(ran.output), 0
        for piece in pieces:
            start = printed.find(_timeless(piece), end)
            assert start >= 0, f"{command['arguments']}: not printed there: {piece}"
            end = start + len(_timeless(piece))


def _timeless(text: str) -> str:
    return _SECONDS.sub("0.0 s", text)
