"""Mistakes end in a message and an exit code, ours in a reproducer."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NoReturn

import pytest
from click.testing import CliRunner

import fairdsl
from fairdsl.cli.app import COMMANDS, cli


@pytest.fixture
def spec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    Path("x.fair").write_text("audit\n", encoding="utf-8")
    return "x.fair"


def raising(error: BaseException) -> object:
    def fail(*_: object, **__: object) -> NoReturn:
        raise error

    return fail


def test_a_bug_of_ours_leaves_a_reproducer(monkeypatch: pytest.MonkeyPatch, spec: str) -> None:
    monkeypatch.setattr(fairdsl, "lint", raising(ValueError("no such thing")))
    result = CliRunner().invoke(cli, ["lint", spec, "--files"])
    assert result.exit_code == 70
    assert "a bug in fairdsl, not in your spec" in result.stderr
    assert "ValueError: no such thing" in result.stderr
    folder = Path(re.findall(r"reproducer +(.+)", result.stderr)[0])
    assert (folder / "x.fair").read_text(encoding="utf-8") == "audit\n"
    assert (folder / "command.txt").read_text(encoding="utf-8") == "fairdsl lint x.fair --files\n"
    assert "ValueError: no such thing" in (folder / "traceback.txt").read_text(encoding="utf-8")
    assert "python 3" in (folder / "versions.txt").read_text(encoding="utf-8")


def test_an_interruption(monkeypatch: pytest.MonkeyPatch, spec: str) -> None:
    monkeypatch.setattr(fairdsl, "lint", raising(KeyboardInterrupt()))
    result = CliRunner().invoke(cli, ["lint", spec])
    assert (result.exit_code, result.stderr) == (130, "interrupted\n")


def test_files_that_cannot_be_used(monkeypatch: pytest.MonkeyPatch, spec: str) -> None:
    monkeypatch.setattr(fairdsl, "compile", raising(PermissionError(13, "Permission denied", "out")))
    result = CliRunner().invoke(cli, ["compile", spec, "--to", "smtlib", "-o", "out"])
    assert (result.exit_code, result.stderr) == (2, "error: `out`: Permission denied\n")


def test_the_list_of_commands_is_what_the_commands_say() -> None:
    group = cli
    context = group.make_context("fairdsl", ["capabilities"])
    for name in COMMANDS:
        command = group.get_command(context, name)
        assert command is not None
        assert command.name == name
        assert command.help
        assert not command.get_short_help_str(90).endswith("..."), f"the first sentence of `{name}` is too long"


def test_an_unknown_command() -> None:
    result = CliRunner().invoke(cli, ["certify"])
    assert result.exit_code == 2
    assert "No such command 'certify'" in result.stderr


@pytest.mark.parametrize(("word", "meant"), [("chek", "check"), ("credit.fair", "check credit.fair")])
def test_a_mistyped_command(word: str, meant: str) -> None:
    result = CliRunner().invoke(cli, [word])
    assert result.exit_code == 2
    assert f"Did you mean `fairdsl {meant}`?" in result.stderr


def test_a_table_in_the_place_of_a_spec(tmp_path: Path) -> None:
    table = tmp_path / "people.csv"
    table.write_text("income,sex\n1,female\n")
    result = CliRunner().invoke(cli, ["check", str(table)], env={"COLUMNS": "500"})
    assert result.exit_code == 2
    assert "fairdsl init" in result.stderr


def test_the_version() -> None:
    assert CliRunner().invoke(cli, ["--version"]).stdout == f"fairdsl {fairdsl.__version__}\n"
