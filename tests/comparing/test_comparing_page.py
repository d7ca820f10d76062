"""docs/comparing.md shows what the commands print about the files of examples/loans, which its scripts write."""

from __future__ import annotations

import csv
import re
import shlex
from collections import Counter
from pathlib import Path

import pytest
from click.testing import CliRunner

from fairdsl.cli.app import cli
from tests.examples.example_folders import script_of

ROOT = Path(__file__).parents[2]
LOANS = ROOT / "examples" / "loans"
PAGE = (ROOT / "docs" / "comparing.md").read_text(encoding="utf-8")
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
    Path("examples").symlink_to(ROOT / "examples")
    spec = re.search(r"^```fair\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    assert spec is not None
    assert spec[1] == (LOANS / "loans.fair").read_text(encoding="utf-8")
    compared = 0
    for found in _COMMAND.finditer(PAGE, spec.end()):
        command, printed = found["command"], found["printed"]
        if command.startswith("cat "):
            assert Path(command.removeprefix("cat ")).read_text(encoding="utf-8") == printed
        else:
            assert run(command) == printed
            compared += command.startswith("fairdsl compare")
    assert compared == 3


def test_the_scripts_write_the_files_and_the_page_counts_them(tmp_path: Path) -> None:
    script_of(LOANS, "make_data", tmp_path).main()
    script_of(LOANS, "train", tmp_path).main()
    names = {path.name for path in LOANS.iterdir() if path.suffix in (".csv", ".json")}
    assert {path.name for path in tmp_path.iterdir()} == names
    for name in names:
        assert (tmp_path / name).read_bytes() == (LOANS / name).read_bytes()
    with (LOANS / "people.csv").open(encoding="utf-8") as file:
        counted = Counter(tuple(row.values()) for row in csv.DictReader(file))
    shown = {
        (sex, income, label): int(count)
        for sex, income, repaid, did_not in _COUNTS.findall(PAGE)
        for label, count in (("yes", repaid), ("no", did_not))
    }
    assert counted == shown
