"""Commands that a text names have the options that it gives them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from fairdsl.cli.app import cli

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "examples").rglob("README.md"))]
_COMMAND = re.compile(
    r"`fairdsl (?P<name>[a-z]+)(?P<rest>[^`\n]*)`|^\$ fairdsl (?P<typed>[a-z]+)(?P<line>.*)$", re.MULTILINE
)


def unknown(text: str) -> Iterator[str]:
    """What is named and is not a command, or no option of the command."""
    context = click.Context(cli)
    for found in _COMMAND.finditer(text):
        name, rest = (found["name"], found["rest"]) if found["name"] else (found["typed"], found["line"])
        command = cli.get_command(context, name)
        if command is None:
            yield name
            continue
        known = {"--help"} | {option for each in command.params for option in (*each.opts, *each.secondary_opts)}
        yield from (f"{name} {option}" for option in re.findall(r"--[a-z][\w-]*", rest) if option not in known)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_options_that_are_named_are_there(page: Path) -> None:
    assert list(unknown(page.read_text(encoding="utf-8"))) == []


def test_the_test_sees_what_is_wrong() -> None:
    assert list(unknown("`fairdsl lint SPEC --against F`, `fairdsl chek`")) == ["lint --against", "chek"]
