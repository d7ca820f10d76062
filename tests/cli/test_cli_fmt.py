"""``fairdsl fmt``: files change only when asked, in one step, and keep their line ends."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from fairdsl.cli.app import cli

LAID_OUT = 'audit "x"\n\nprotected sex  # why\n'
ASKEW = 'audit    "x"\nprotected sex  # why\n'


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("good.fair").write_bytes(LAID_OUT.encode())
    Path("bad.fair").write_bytes(ASKEW.encode())
    Path("windows.fair").write_bytes(ASKEW.replace("\n", "\r\n").encode())
    Path("broken.fair").write_bytes(b"protect sex\n")


def run(*arguments: str, given: str | None = None) -> Result:
    return CliRunner().invoke(cli, ["fmt", *arguments], input=given)


def test_files_are_rewritten() -> None:
    Path("bad.fair").chmod(0o640)
    result = run("good.fair", "bad.fair", "windows.fair")
    assert result.exit_code == 0
    assert result.stderr == "changed bad.fair\nchanged windows.fair\n"
    assert Path("bad.fair").read_bytes() == LAID_OUT.encode()
    assert Path("windows.fair").read_bytes() == LAID_OUT.replace("\n", "\r\n").encode()
    assert Path("bad.fair").stat().st_mode & 0o777 == 0o640
    assert sorted(path.name for path in Path().iterdir()) == ["bad.fair", "broken.fair", "good.fair", "windows.fair"]


def test_check_changes_nothing() -> None:
    result = run("--check", "good.fair", "bad.fair")
    assert (result.exit_code, result.stderr) == (1, "would change bad.fair\n")
    assert Path("bad.fair").read_bytes() == ASKEW.encode()
    assert run("--check", "good.fair").exit_code == 0


def test_diff_changes_nothing() -> None:
    result = run("--diff", "bad.fair", "good.fair")
    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        "--- bad.fair",
        "+++ bad.fair (laid out)",
        "@@ -1,2 +1,3 @@",
        '-audit    "x"',
        '+audit "x"',
        "+",
        " protected sex  # why",
    ]
    assert Path("bad.fair").read_bytes() == ASKEW.encode()
    assert run("--diff", "--check", "bad.fair").exit_code == 1


def test_standard_input() -> None:
    result = run("-", given=ASKEW)
    assert (result.exit_code, result.stdout, result.stderr) == (0, LAID_OUT, "")


def test_a_file_that_cannot_be_read_does_not_stop_the_others() -> None:
    result = run("broken.fair", "bad.fair")
    assert result.exit_code == 2
    assert "--> broken.fair:1:1" in result.stderr
    assert Path("bad.fair").read_bytes() == LAID_OUT.encode()
    assert Path("broken.fair").read_bytes() == b"protect sex\n"


def test_bytes_that_are_no_text() -> None:
    Path("bad.fair").write_bytes(b"audit \xff\n")
    result = run("bad.fair")
    assert result.exit_code == 2
    assert "`bad.fair` is not text in UTF-8 (byte 7)" in result.stderr
