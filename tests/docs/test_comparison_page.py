"""docs/comparison.md: each command of its table prints the words beside it."""

from __future__ import annotations

import re
import shlex
import shutil
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import pytest
from click.testing import CliRunner

from fairdsl.cli.app import cli
from fairdsl_verify.command import main

ROOT = Path(__file__).parents[2]
_SHOWN = re.compile(r"`([^`]+)`")
#: What takes minutes, or a library, and has pages of its own that are run.
_ELSEWHERE = ("fairdsl guarantee", "fairdsl repair", "fairdsl compare")


def rows() -> list[tuple[list[str], str]]:
    """The commands of a row, and what the last of them prints; a row may be about the command before it."""
    found: list[tuple[list[str], str]] = []
    text = (ROOT / "docs" / "comparison.md").read_text(encoding="utf-8")
    for line in text[text.index("## Which question") : text.index("## What they have")].splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("|") and cells[0] not in ("question", "---"):
            commands = found[-1][0] if cells[1] == "the same" else _SHOWN.findall(cells[1])
            found.append((commands, "".join(_SHOWN.findall(cells[2]))))
    return [(commands, prints) for commands, prints in found if not commands[-1].startswith(_ELSEWHERE)]


def run(command: str) -> str:
    name, *arguments = shlex.split(command)
    if name == "fairdsl":
        return CliRunner().invoke(cli, arguments).output
    with redirect_stdout(StringIO()) as said:
        main(arguments)
    return said.getvalue()


def test_what_was_measured_stands_with_the_measurements() -> None:
    """A figure that no page of the benchmarks has is of a run that nobody can look up."""
    page = (ROOT / "docs" / "comparison.md").read_text(encoding="utf-8")
    lines = page[page.index("## What was measured") : page.index("Nothing was measured")].splitlines()
    cells = [line.split("|")[3:5] for line in lines if line.startswith("| ")][1:]
    figures = {figure for both in cells for figure in re.findall(r"\d[\d,]*[.,]\d+", "".join(both))}
    record = "".join(
        file.read_text(encoding="utf-8") for file in (ROOT / "benchmarks").rglob("*") if file.suffix in (".md", ".csv")
    )
    assert len(figures) > 15
    assert {one for one in figures if not re.search(rf"(?<![\d.,]){re.escape(one)}(?!\d)", record)} == set()


@pytest.mark.slow
def test_every_command_prints_the_words_beside_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    printed: dict[str, str] = {}
    assert len(rows()) > 14
    for commands, prints in rows():
        for command in commands:
            if command not in printed:
                printed[command] = run(command)
        assert prints, commands
        assert prints in printed[commands[-1]], printed[commands[-1]]
