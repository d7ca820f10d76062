"""docs/comparing.md shows what the commands print: its tables, models and spec are run."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from fairdsl.cli.app import cli

PAGE = (Path(__file__).parents[2] / "docs" / "comparing.md").read_text(encoding="utf-8")
_COUNTS = re.compile(r"^\| (female|male) \| (\d+) \| (\d+) \| (\d+) \|$", re.MULTILINE)
#: A command of a console block, and the lines that it prints.
_COMMAND = re.compile(r"^\$ (?P<command>.+)\n(?P<printed>(?:(?!\$ |```).*\n)*)", re.MULTILINE)


def run(command: str) -> str:
    """What a command prints; with ``> FILE`` it goes there."""
    words = shlex.split(command)
    target = words[words.index(">") + 1] if ">" in words else None
    printed = CliRunner().invoke(cli, words[1 : words.index(">") if target else None]).stdout
    if target is None:
        return printed
    Path(target).write_text(printed, encoding="utf-8")
    return ""


def test_the_page_shows_what_is_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    lines = ["sex,income,repaid"]
    for sex, income, repaid, did_not in _COUNTS.findall(PAGE):
        lines += [f"{sex},{income},yes"] * int(repaid) + [f"{sex},{income},no"] * int(did_not)
    assert len(lines) == 101
    Path("people.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    spec = re.search(r"^```fair\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    assert spec is not None
    Path("loans.fair").write_text(spec[1], encoding="utf-8")
    compared = 0
    for found in _COMMAND.finditer(PAGE, spec.end()):
        command, printed = found["command"], found["printed"]
        if command.startswith("cat "):
            Path(command.removeprefix("cat ")).write_text(printed, encoding="utf-8")
        else:
            assert run(command) == printed
            compared += command.startswith("fairdsl compare")
    assert compared == 2
