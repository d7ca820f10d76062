"""``fairdsl fmt``: files change only when asked, in one step, and keep their line ends."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pytest
from click.testing import CliRunner, Result

from fairdsl.cli.app import cli
from fairdsl.diagnostics import Diagnostic, DiagnosticError
from fairdsl.source import SourceFile

LAID_OUT = "audit  x\n"


@pytest.fixture(autouse=True)
def formatter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A formatter whose standard layout is one text, and which cannot read `broken`."""

    def format_spec(source: SourceFile) -> str:
        if "broken" in source.text:
            raise DiagnosticError(Diagnostic(code="E0203", title=f"broken {source.path}"))
        return LAID_OUT

    module = ModuleType("fairdsl.syntax.format")
    module.format_spec = format_spec  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "fairdsl.syntax.format", module)
    monkeypatch.chdir(tmp_path)
    Path("good.fair").write_bytes(LAID_OUT.encode())
    Path("bad.fair").write_bytes(b"audit x\n")
    Path("windows.fair").write_bytes(b"audit x\r\n")
    Path("broken.fair").write_bytes(b"broken\n")


def run(*arguments: str, given: str | None = None) -> Result:
    return CliRunner().invoke(cli, ["fmt", *arguments], input=given)


def test_files_are_rewritten() -> None:
    Path("bad.fair").chmod(0o640)
    result = run("good.fair", "bad.fair", "windows.fair")
    assert result.exit_code == 0
    assert result.stderr == "changed bad.fair\nchanged windows.fair\n"
    assert Path("bad.fair").read_bytes() == b"audit  x\n"
    assert Path("windows.fair").read_bytes() == b"audit  x\r\n"
    assert Path("bad.fair").stat().st_mode & 0o777 == 0o640
    assert sorted(path.name for path in Path().iterdir()) == ["bad.fair", "broken.fair", "good.fair", "windows.fair"]


def test_check_changes_nothing() -> None:
    result = run("--check", "good.fair", "bad.fair")
    assert (result.exit_code, result.stderr) == (1, "would change bad.fair\n")
    assert Path("bad.fair").read_bytes() == b"audit x\n"
    assert run("--check", "good.fair").exit_code == 0


def test_diff_changes_nothing() -> None:
    result = run("--diff", "bad.fair", "good.fair")
    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        "--- bad.fair",
        "+++ bad.fair (laid out)",
        "@@ -1 +1 @@",
        "-audit x",
        "+audit  x",
    ]
    assert Path("bad.fair").read_bytes() == b"audit x\n"
    assert run("--diff", "--check", "bad.fair").exit_code == 1


def test_standard_input() -> None:
    result = run("-", given="audit x\n")
    assert (result.exit_code, result.stdout, result.stderr) == (0, LAID_OUT, "")


def test_a_file_that_cannot_be_read_does_not_stop_the_others() -> None:
    result = run("broken.fair", "bad.fair")
    assert result.exit_code == 2
    assert "error[E0203]: broken broken.fair" in result.stderr
    assert Path("bad.fair").read_bytes() == b"audit  x\n"
    assert Path("broken.fair").read_bytes() == b"broken\n"


def test_bytes_that_are_no_text() -> None:
    Path("bad.fair").write_bytes(b"audit \xff\n")
    result = run("bad.fair")
    assert result.exit_code == 2
    assert "`bad.fair` is not text in UTF-8 (byte 7)" in result.stderr
